package dealer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// The same idempotency key with the same request gets the same answer for ever, and draws no second tape. The answer is
// in the ledger alone. The hash in a commit says which request it was made for.

// Shuffle draws a tape, commits to the order that the tape gives, and answers when the commit is
// durable. The same key and request get the same answer for ever; another request under the key
// is ErrKeyReused. A refused request leaves its key free. The parent of a child is closed as
// continued in the same batch; its tape is disclosed when the last child of the chain closes.
func (d *Dealer) Shuffle(ctx context.Context, actor audit.Actor, key string, req api.ShuffleRequest) (api.Shuffle,
	error) {
	c, deck, err := req.Context(d.cfg.Ledger.Genesis())
	return d.serve(ctx, actor, key, &commitRequest{
		context: c, deck: deck, made: req, closeBy: req.CloseBy, gameRef: req.GameRef, child: &req,
	}, err)
}

// Draws commits to drawn values as [Dealer.Shuffle] commits to cards.
func (d *Dealer) Draws(ctx context.Context, actor audit.Actor, key string, req api.DrawsRequest) (api.Shuffle, error) {
	c, deck, err := req.Context(d.cfg.Ledger.Genesis())
	return d.serve(ctx, actor, key, &commitRequest{
		context: c, deck: deck, made: req, closeBy: req.CloseBy, gameRef: req.GameRef,
	}, err)
}

// repeated answers from the commit under the key: ErrKeyReused if it was made for another request,
// ledger.ErrNotFound if there is none.
func (d *Dealer) repeated(ctx context.Context, a *commitRequest) (api.Shuffle, error) {
	row, err := d.shuffles.ByKey(ctx, a.tag)
	if err != nil {
		return api.Shuffle{}, err
	}
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return api.Shuffle{}, fmt.Errorf("reading entry %d: %w", row.Index, err)
	}
	c, ok := e.Body.(*audit.Commit)
	switch {
	case !ok || c.KeyTag != a.tag:
		return api.Shuffle{}, fmt.Errorf("%w: entry %d is no commit under this key", ledger.ErrFrozen, row.Index)
	case c.Request != a.request:
		return api.Shuffle{}, api.ErrKeyReused
	}
	receipt, err := d.cfg.Ledger.FirstReceipt(ctx, row)
	if err != nil {
		return api.Shuffle{}, err
	}
	answer := shuffleAnswer(row.Index, c, e.Time, receipt, row.Kept)
	answer.Repeated = true
	return answer, nil
}

// requestLabel starts the hash of a request (docs/SPEC.md section 5.3).
const requestLabel = "shuffled/v1/request\x00"

// requestHash is the hash of a request as it was parsed: absent members are absent, and no default is filled in. So it
// is the same when the ledger's defaults change. A member that is added later must be left out where it is absent.
func requestHash(req any) [32]byte {
	b, err := json.Marshal(req)
	if err != nil {
		panic("dealer: a request has no JSON: " + err.Error()) // its types are those of this package
	}
	return sha256.Sum256(append([]byte(requestLabel), b...))
}

// serve answers a request for a commit from the commit under its key. If there is none, it draws
// a tape and commits to what comes of it. invalid is what is wrong with the request.
//
// If a rule refuses the commit, or a key that is in the ledger does, a copy of the request may have been first, through
// another daemon: serve looks the key up again. If the parent of a child was dealt from, serve tries again.
func (d *Dealer) serve(ctx context.Context, actor audit.Actor, key string, a *commitRequest,
	invalid error) (api.Shuffle, error) {
	if err := audit.CheckIdempotencyKey(key); err != nil {
		return api.Shuffle{}, api.Invalid("Idempotency-Key", err.Error())
	}
	if invalid != nil {
		return api.Shuffle{}, invalid
	}
	a.request = requestHash(a.made)
	a.tag = audit.KeyTag(a.context.Origin, actor.Identity, a.context.Table, key)
	end, err := d.alone(ctx, a.tag)
	if err != nil {
		return api.Shuffle{}, err
	}
	defer end()
	var refused error // why the try before wrote nothing
	for try := 0; ; try++ {
		if s, err := d.repeated(ctx, a); !errors.Is(err, ledger.ErrNotFound) {
			return s, err
		}
		if _, ok := errors.AsType[*ledger.DuplicateError](refused); ok { // the database was left behind in a failover
			return api.Shuffle{}, fmt.Errorf("%w: the database refuses a key as used, and does not show its entry",
				ledger.ErrUnavailable)
		}
		if refused != nil && !errors.Is(refused, record.ErrMoved) {
			return api.Shuffle{}, refused
		}
		if try == childTries {
			return api.Shuffle{}, api.Illegal(audit.RuleParent, "the parent was dealt from during every try to make the child")
		}
		s, err := d.committed(ctx, actor, a)
		if err == nil || !unwritten(err) && !errors.Is(err, record.ErrMoved) {
			return s, err
		}
		refused = err // a copy of the request may have been first
	}
}

// alone lets one request for a commit under a key go at a time. It waits for its turn under the tag, until the queue
// deadline of ctx; the caller must call end. A copy then finds the answer in the ledger. Unlike singleflight of x/sync
// it shares no result: a copy may be another request under the same key, its caller may leave, and its answer says that
// it is a repeated one. Copies at another daemon do not wait; the ledger keeps them apart. Nor does an operation of a
// batch: the rest of the batch waits for it, so of two copies of a batch each would wait for the other.
func (d *Dealer) alone(ctx context.Context, tag [32]byte) (end func(), err error) {
	if ctx.Value(turnKey{}) != nil {
		return func() {}, nil
	}
	done := make(chan struct{})
	for {
		ahead, waits := d.underway.LoadOrStore(tag, done)
		if !waits {
			return func() {
				d.underway.Delete(tag)
				close(done)
			}, nil
		}
		if _, err := ledger.Await(ctx, ahead.(chan struct{}), "the same request is under way"); err != nil {
			return nil, err
		}
	}
}

// childTries is how often the commit of a child is tried while its parent is being dealt from.
const childTries = 4
