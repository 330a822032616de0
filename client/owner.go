package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
)

// clockSkew is how far the daemon's clock may be behind this host's before an entry
// counts as older than the first try of its request.
const clockSkew = 10 * time.Second

type firstTried struct{}

// FirstTried returns a context for requests that were tried before, since the time at: by
// this program before it was started again, or by another one with its journal. Without
// it, a request that was answered before this client tried it is a *Fault: somebody else
// made it, ahead of the game.
func FirstTried(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, firstTried{}, at)
}

// began returns when the request was tried first, and whether that was before this call.
func began(ctx context.Context) (at time.Time, again bool) {
	if at, ok := ctx.Value(firstTried{}).(time.Time); ok {
		return at, true
	}
	return time.Now(), false
}

type openTries struct{}

// in is the context of the call, in which send notes a try that may have been done.
func (a asked) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, openTries{}, a.open)
}

// noteOpen notes that the outcome of a try is not known.
func noteOpen(ctx context.Context) {
	if open, ok := ctx.Value(openTries{}).(*atomic.Bool); ok {
		open.Store(true)
	}
}

// identity is whose entries the client's answers are of. Config.Identity says it, or the
// first entry that shows the client's own token.
type identity struct {
	credential string                 // public id of the token, "" without one
	known      atomic.Pointer[string] // of the service
}

func newIdentity(cfg *Config) *identity {
	i := new(identity)
	if id, _, ok := strings.Cut(cfg.Token, "."); ok {
		i.credential = id
	}
	if cfg.Identity != "" {
		i.known.Store(&cfg.Identity)
	}
	return i
}

// foreign says why an entry is not an answer to a request of this client, or "": it is of
// another identity, or older than the request.
func (i *identity) foreign(by audit.Actor, at int64, first time.Time) string {
	known := i.known.Load()
	switch {
	case known != nil && by.Identity != *known:
		return fmt.Sprintf("it was done by %s, and not by %s", by.Identity, *known)
	case known == nil && i.credential != "" && by.Credential != i.credential:
		return fmt.Sprintf("it was done with %s, and not with this client's token", by.Credential)
	case at < first.Add(-clockSkew).UnixMilli():
		return fmt.Sprintf("it was done at %s, before this client asked for it",
			time.UnixMilli(at).UTC().Format(time.RFC3339))
	}
	if known == nil && by.Credential == i.credential {
		i.known.Store(&by.Identity)
	}
	return ""
}

// said is what an answer says of its entry.
type said struct {
	receipt  string
	index    uint64 // anyIndex if only the receipt says it
	time     Timestamp
	repeated bool
}

// acted returns the entry of a command about a shuffle: proved, of this client, within the
// shuffle's life, and of the body that was asked for, which is tells.
func acted[B audit.Body](ctx context.Context, c *Client, s *Committed, says said, when asked, answer []byte,
	is func(B) bool) (e proved, body B, err error) {
	if e, err = c.prove(ctx, says.receipt, says.index, when, answer); err != nil {
		return e, body, err
	}
	body, ok := e.Body.(B)
	if !ok || !s.during(e) || !is(body) {
		what := fmt.Sprintf("the %s in the ledger is another one", body.Type())
		return e, body, &Fault{What: what, Answer: answer}
	}
	return e, body, c.own(e, says, when, answer)
}

// own returns a *Fault for an answer that misstates its entry, or whose entry is foreign.
// A repeat answers this client only if a try before it may have been done.
// That an answer is a repeat can be refuted only if it says that it is none: the entry
// was in the ledger before the request was made.
func (c *Client) own(e proved, says said, when asked, answer []byte) error {
	what := ""
	switch {
	case says.time.UnixMilli() != e.Time:
		what = "its time is not the one in the ledger"
	case !says.repeated && e.index < when.since:
		what = "the request was answered before, and the answer does not say so"
	case says.repeated && !when.again && !when.open.Load():
		what = fmt.Sprintf("it was done at %s, before this client asked for it",
			time.UnixMilli(e.Time).UTC().Format(time.RFC3339))
	default:
		what = c.identity.foreign(e.Actor, e.Time, when.first)
	}
	if what != "" {
		return &Fault{What: what, Answer: answer}
	}
	return nil
}

// TakeOver makes this client's identity the owner of a shuffle of another one, and returns
// when that is proved to stand in the ledger. See docs/CLIENT.md: with the extent close,
// which is the default, it can be closed and nothing else. From, the owner before, is
// the daemon's word, which Transcript proves.
func (c *Client) TakeOver(ctx context.Context, s *Committed, req TakeoverRequest) (*Takeover, error) {
	when := c.command(ctx)
	answer, err := c.takeOverShuffle(when.in(ctx), s.ID, req)
	taken, err := decoded[Takeover](answer, err)
	if err != nil {
		return nil, err
	}
	extent, repeated := ExtentClose, bool(deref(taken.Repeated))
	if req.Extent != nil {
		extent = *req.Extent
	}
	if repeated { // it is told again for as long as it holds, whatever the reason now
		when.first, when.again = taken.Time.Time, true
	}
	_, _, err = acted(ctx, c, s, said{taken.Receipt, anyIndex, taken.Time, repeated}, when, answer,
		func(b *audit.Takeover) bool {
			return b.Shuffle == s.ID && b.Extent.String() == string(extent) && (b.Reason == req.Reason || repeated)
		})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// under is the request with an idempotency key: one of NewKey says when it was made, so
// that a program that kept it needs no FirstTried.
func (a asked) under(key string) asked {
	if at, ok := keyTime(key); ok {
		// Nobody guesses its random bits: a commit under it is of who made the key.
		a.again = true
		if at.Before(a.first) {
			a.first = at
		}
	}
	return a
}
