package dealer

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/outcome"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// Config is what a dealer works with. All of it is required except Round, Watch and Rotation.
type Config struct {
	Ledger  *ledger.Ledger
	Store   ledger.Store // the ledger's
	Entropy *entropy.Source
	Keys    *seal.Keyring
	Log     *slog.Logger
	// Now is the time in UTC milliseconds. It decides which shuffles are overdue, which round of the
	// beacon a plan gets, how long an order must stay open, and when a disclosure key is too old.
	// The ledger gives entries their times.
	Now func() int64

	// Round fetches the signature of a round of quicknet; nil: callers bring it.
	Round func(ctx context.Context, round uint64) ([48]byte, error)

	// Watch gets every outcome, after its tape is drawn and before its commit is written. So what
	// becomes of the commit does not choose what Watch gets. It keeps no outcome, and does not make
	// a commit wait. nil: outcomes are not watched.
	Watch func(shuffle.Recipe, shuffle.Outcome)

	// CoDealer reaches the co-dealers of the ledger; nil: none.
	CoDealer CoDealer
	// Houses are the ledgers that this one deals orders for, by origin; nil: none.
	Houses map[string]House

	// Decks are those that the ledger may commit, as in package config.
	Decks []string

	// Rotation is the age at which a commit makes a new disclosure key; 0 for a day.
	Rotation time.Duration
}

// Dealer serves one ledger. It is safe for concurrent use. What it remembers of shuffles is a cache of the ledger.
type Dealer struct {
	cfg              Config
	newestKey        atomic.Pointer[ledger.Disclosure] // for disclosure; other daemons may have written since
	keyTurn          *semaphore.Weighted               // held to ask the ledger for a disclosure key or to make one
	underway         singleflight
	byKey            *loader[[32]byte, ledger.Row] // commits by key tag
	durable, visible shuffles
	recent           *recent
	wheels           *lru.Cache[[32]byte, *terms.Document] // that were read, by hash
	decks            sync.Map                              // hashes of published decks that the store holds
	conflicts        atomic.Uint64
}

// Orders reports whether the ledger deals orders for others.
func (d *Dealer) Orders() bool { return len(d.cfg.Houses) > 0 }

// Conflicts counts requests of houses for places of an order that another request was given.
func (d *Dealer) Conflicts() uint64 { return d.conflicts.Load() }

// New returns a dealer.
func New(cfg Config) *Dealer {
	cfg.Rotation = cmp.Or(cfg.Rotation, 24*time.Hour)
	store, id := cfg.Store, cfg.Ledger.ID()
	durable := shuffleLoader(store, id, ledger.Durable)
	readers := shuffleLoader(store, id, ledger.Durable)
	wheels, _ := lru.New[[32]byte, *terms.Document](maxWheels) // no error: the size is positive
	return &Dealer{
		cfg: cfg, keyTurn: semaphore.NewWeighted(1), byKey: commitLoader(store, id),
		durable: ledger.NewApart(durable, readers),
		visible: ledger.NewApart(shuffleLoader(store, id, ledger.Visible), readers),
		recent:  newRecent(),
		wheels:  wheels,
	}
}

// Ledger returns the ledger that the dealer serves.
func (d *Dealer) Ledger() *ledger.Ledger { return d.cfg.Ledger }

// Shuffle draws a tape, commits to the order that the tape gives, and answers when the commit is
// durable. The same key and request get the same answer for ever; another request under the key
// is ErrKeyReused. A refused request leaves its key free. The parent of a child is closed as
// continued in the same batch; its tape is disclosed when the last child of the chain closes.
func (d *Dealer) Shuffle(ctx context.Context, actor audit.Actor, key string, req ShuffleRequest) (Shuffle, error) {
	c, deck, err := req.context(d.cfg.Ledger.Genesis())
	return d.serve(ctx, actor, key, &asked{
		context: c, deck: deck, made: req, closeBy: req.CloseBy, gameRef: req.GameRef, child: &req,
	}, err)
}

// asked is a request for a commit, of cards or draws.
type asked struct {
	context *audit.Context
	deck    shuffle.Deck // zero for a draw list and a child
	made    any          // the request
	closeBy *Time
	gameRef string
	child   *ShuffleRequest // when its Parent is set

	request [32]byte // requestHash
	tag     [32]byte // of the commit
}

// committed draws a tape and appends the commit to it.
func (d *Dealer) committed(ctx context.Context, actor audit.Actor, a *asked) (Shuffle, error) {
	c, from, err := d.settle(ctx, actor, a)
	if err != nil {
		return Shuffle{}, err
	}
	defer from.wipe()
	order, err := d.takeOrder(ctx, c, a.closeBy)
	if err != nil {
		return Shuffle{}, err
	}
	if err := ctx.Err(); err != nil {
		return Shuffle{}, err // the caller has left, and nothing was written
	}
	commit, sealed, t, err := d.commit(c, from)
	if err != nil {
		return Shuffle{}, err
	}
	defer t.wipe()
	commit.KeyTag, commit.Request, commit.GameRef = a.tag, a.request, a.gameRef
	if a.closeBy != nil {
		commit.CloseBy = int64(*a.closeBy)
	}
	if order != nil {
		sealed = append(sealed, order.receipt...)
	}
	p := ledger.Proposal{Actor: actor, Bodies: []audit.Body{commit}, Kept: [][]byte{sealed}, Decks: d.newDecks(a)}
	appended, err := d.appendCommit(ctx, c, p, from)
	if err != nil {
		if order != nil && unwritten(err) { // then no commit names the order
			d.cfg.CoDealer.Unused(order.origin, order.receipt)
		}
		return Shuffle{}, err
	}
	if a.deck.Name() != "" { // published: the list of these is fixed, so that the notes do not grow without bound
		d.decks.Store(a.deck.Hash(), true)
	}
	e := appended[0] // a parent's close may stand behind it
	d.recent.hold(e.Index, commit, t)
	return shuffleAnswer(e.Index, e.Entry.Body.(*audit.Commit), e.Entry.Time, e.Receipt.Text(), sealed), nil
}

// settle does what must be done before a tape is drawn. It returns the context of the commit, and
// the parent of a child, which the caller wipes.
func (d *Dealer) settle(ctx context.Context, actor audit.Actor, a *asked) (_ *audit.Context, _ *parent, err error) {
	c, opened := *a.context, (*parent)(nil)
	c.Genesis = d.cfg.Ledger.GenesisHash()
	defer func() {
		if err != nil {
			opened.wipe()
		}
	}()
	if err := d.allowed(a); err != nil {
		return nil, nil, err
	}
	if a.child != nil && a.child.Parent != nil {
		if opened, err = d.inherit(ctx, actor, &c, a.child); err != nil {
			return nil, nil, err
		}
	}
	if err := cmp.Or(d.checkTerms(ctx, &c), d.orders(&c)); err != nil {
		return nil, nil, err
	}
	if err := d.checkDisclosable(ctx, &c); err != nil {
		return nil, nil, err
	}
	if len(c.Mixed()) > 0 && !c.IsDraw() && c.Recipe.Take == 1 {
		return nil, nil, &RequestError{"mix",
			"must move cards among at least two that are taken: take more cards, and deal one"}
	}
	c.Plan = slices.Clone(c.Plan)
	d.chooseRound(&c)
	if err := d.checkRound(&c, a.closeBy); err != nil {
		return nil, nil, err
	}
	return &c, opened, nil
}

// commit draws a tape for the context, and returns the commit with the sealed tape. The inputs of a child are sealed
// with its tape. The caller wipes what is opened: then only the sealed tape is left, and what recent holds encrypted.
func (d *Dealer) commit(c *audit.Context, from *parent) (_ *audit.Commit, sealed []byte, t *opened, err error) {
	t = new(opened)
	defer func() {
		if err != nil {
			t.wipe()
		}
	}()
	tape, out, err := outcome.Make(d.cfg.Entropy, c.Recipe)
	if errors.Is(err, entropy.ErrLatched) {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrEntropy, err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	t.tape, t.values, t.endAt = tape, out.Values, max(out.EndAt, c.EndAt)
	if d.cfg.Watch != nil {
		d.cfg.Watch(c.Recipe, out)
	}
	var inputs []uint32
	if from != nil {
		defer clear(out.Values)
		inputs = from.inputs
		if t.values, err = d.inputsIn(c, out.Values, inputs); err != nil {
			return nil, nil, t, err
		}
	}
	context := c.Encode()
	commitment := audit.Commitment(context, tape)
	t.tree = audit.DeckOf(commitment, context, tape, t.values)
	plain := seal.Join(tape, inputs)
	defer clear(plain)
	if sealed, err = d.cfg.Keys.Seal(c.Origin, commitment, plain); err != nil {
		return nil, nil, t, fmt.Errorf("sealing a tape: %w", err)
	}
	made := &audit.Commit{Context: c, Commitment: commitment, DeckRoot: t.tree.Root()}
	if _, blind := c.CoDealer(); blind {
		made.AskKey = audit.AskKey(commitment, tape).Public().(ed25519.PublicKey)
	}
	return made, sealed, t, nil
}

// shuffleAnswer is the answer to a request for a commit, the same when it is repeated. kept is what is kept with c.
func shuffleAnswer(id uint64, c *audit.Commit, at int64, receipt string, kept []byte) Shuffle {
	_, coDealer := keptWith(c, kept)
	return Shuffle{Answered: Answered{Time: Time(at)}, ID: id, Table: c.Context.Table, Serial: c.Serial,
		Commitment: c.Commitment, DeckRoot: c.DeckRoot, CloseBy: Time(c.CloseBy), Receipt: receipt, CoDealer: coDealer}
}
