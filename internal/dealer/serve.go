package dealer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/outcome"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// Config is what a dealer works with. All of it is required but for Round, Watch
// and Rotation.
type Config struct {
	Ledger  *ledger.Ledger
	Store   ledger.Store // the ledger's
	Entropy *entropy.Source
	Keys    *seal.Keyring
	Log     *slog.Logger
	Now     func() int64 // UTC milliseconds, for the word "overdue" and the age of disclosure keys only

	// Round fetches the signature of a round of quicknet; nil: callers bring it.
	Round func(ctx context.Context, round uint64) ([48]byte, error)

	// Watch is shown every outcome between its tape and its commit, so that nothing
	// that becomes of the commit chooses what is seen. It keeps none, and does not
	// make a commit wait. nil: nobody watches.
	Watch func(shuffle.Recipe, shuffle.Outcome)

	// Rotation is the age at which a commit makes a new disclosure key; 0 for a day.
	Rotation time.Duration
}

// Dealer serves one ledger. It is safe for concurrent use; it holds no state of
// any shuffle.
type Dealer struct {
	cfg              Config
	keys             *keyring
	underway         singleflight
	commits          *loader[[32]byte, ledger.Row] // by key tag
	durable, visible *loader[uint64, []ledger.Row] // shuffles by id
	public           *loader[uint64, []ledger.Row] // durable, of what is asked under ledger.AsReader
	decks            sync.Map                      // hashes of published decks that the store holds

	batches *semaphore.Weighted // of maxInBatches: commits of batches that are worked on
}

// New returns a dealer.
func New(cfg Config) *Dealer {
	if cfg.Rotation == 0 {
		cfg.Rotation = 24 * time.Hour
	}
	return &Dealer{cfg: cfg, keys: newKeyring(), batches: semaphore.NewWeighted(maxInBatches), commits: commitLoader(cfg.Store, cfg.Ledger.ID()), durable: shuffleLoader(cfg.Store, cfg.Ledger.ID(), ledger.Durable), visible: shuffleLoader(cfg.Store, cfg.Ledger.ID(), ledger.Visible), public: publicLoader(cfg.Store, cfg.Ledger.ID())}
}

// Ledger returns the ledger that the dealer serves.
func (d *Dealer) Ledger() *ledger.Ledger { return d.cfg.Ledger }

// Shuffle draws a tape, commits to the order it gives, and answers when the
// commit is durable. The same key and request get the same answer for ever;
// another request under the key is ErrKeyReused. A refused request uses no key.
// A child's parent ends as continued in the same batch, and its tape is disclosed
// as its own commit declared.
func (d *Dealer) Shuffle(ctx context.Context, actor audit.Actor, key string, req ShuffleRequest) (Shuffle, error) {
	c, deck, err := req.context(d.cfg.Ledger.Genesis())
	return d.begin(ctx, actor, key, asked{
		context: c, deck: deck, hash: req.hash, closeBy: req.CloseBy, gameRef: req.GameRef, child: &req,
	}, err)
}

// asked is a request for a commit, of cards or draws.
type asked struct {
	context *audit.Context
	deck    shuffle.Deck    // zero for a draw list and a child
	hash    func() [32]byte // of the request, which is valid
	closeBy *int64
	gameRef string
	child   *ShuffleRequest // when its Parent is set
}

// begin commits to what was asked for; invalid is what is wrong with it.
func (d *Dealer) begin(ctx context.Context, actor audit.Actor, key string, a asked, invalid error) (Shuffle, error) {
	if err := audit.CheckIdempotencyKey(key); err != nil {
		return Shuffle{}, &RequestError{"Idempotency-Key", err.Error()}
	}
	if invalid != nil {
		return Shuffle{}, invalid
	}
	c := a.context
	tag, hash := audit.KeyTag(c.Origin, actor.Identity, c.Table, key), a.hash()
	end, err := d.underway.begin(ctx, tag)
	if err != nil {
		return Shuffle{}, err
	}
	defer end()
	// The key is looked up before any entropy is drawn: a retry draws no tape. Where
	// the ledger is sure that it is new, that is not asked of the store. A child's is,
	// for with the child its parent's tape goes there.
	taken := (a.child == nil || a.child.Parent == nil) && d.cfg.Ledger.NewKey(tag)
	if !taken {
		if s, err := d.repeatShuffle(ctx, tag, hash); !errors.Is(err, ledger.ErrNotFound) {
			return s, err
		}
	}
	for range childTries {
		s, err := d.newShuffle(ctx, actor, tag, hash, a)
		if err == nil || !errors.Is(err, errParentMoved) && !mayRepeat(ctx, err, taken) {
			return s, err
		}
		// A copy of this request may have been first.
		if s, err := d.repeatShuffle(ctx, tag, hash); !errors.Is(err, ledger.ErrNotFound) {
			return s, err
		}
		if !errors.Is(err, errParentMoved) {
			return Shuffle{}, err
		}
	}
	return Shuffle{}, &audit.Illegal{Code: audit.RuleParent, Detail: "the parent is being dealt from"}
}

// mayRepeat reports whether a refused request may be one that was answered before:
// a copy of it may have been first, or its key was only taken for new. Who is told
// to come back comes back, and who has left is told nothing else.
func mayRepeat(ctx context.Context, err error, taken bool) bool {
	var illegal *audit.Illegal
	if errors.As(err, &illegal) {
		return true
	}
	for _, later := range []error{ledger.ErrUnknownOutcome, ledger.ErrOverloaded, ledger.ErrClosed} {
		if errors.Is(err, later) {
			return false
		}
	}
	return taken && ctx.Err() == nil
}

// newShuffle draws a tape and appends the commit to it.
func (d *Dealer) newShuffle(ctx context.Context, actor audit.Actor, tag, hash [32]byte, a asked) (Shuffle, error) {
	c, from, err := d.settle(ctx, actor, a)
	if err != nil {
		return Shuffle{}, err
	}
	defer from.wipe()
	commit, sealed, err := d.commit(c, from)
	if err != nil {
		return Shuffle{}, err
	}
	a.complete(commit, tag, hash)
	p := ledger.Proposal{Actor: actor, Bodies: []audit.Body{commit}, Sealed: [][]byte{sealed}, Deck: d.newDeck(&a)}
	appended, err := d.appendCommit(ctx, c, p, from)
	var duplicate *ledger.DuplicateError
	if errors.As(err, &duplicate) {
		s, err := d.repeatShuffle(ctx, tag, hash)
		return s, d.refused(err, duplicate)
	}
	if err != nil {
		return Shuffle{}, err
	}
	d.keptDeck(p.Deck)
	return shuffleAnswer(appended[0].Index, appended[0].Entry.Body.(*audit.Commit), appended[0].Entry.Time, appended[0].Receipt.Text()), nil
}

// refused says what it means that a key was refused as a repeated one and then was
// not found: a server that was left behind in a failover was asked, or a failover
// has lost what was remembered of it.
func (d *Dealer) refused(err error, duplicate *ledger.DuplicateError) error {
	if errors.Is(err, ledger.ErrNotFound) {
		d.cfg.Ledger.ForgetKeys(duplicate.Tags...)
		return fmt.Errorf("%w: the database does not show a key that it has", ledger.ErrUnavailable)
	}
	return err
}

// settle does what must be done before a tape is drawn, and returns the context
// that it is spent on, with the parent of a child, which the caller wipes.
func (d *Dealer) settle(ctx context.Context, actor audit.Actor, a asked) (_ *audit.Context, _ *parent, err error) {
	c, opened := *a.context, (*parent)(nil)
	defer func() {
		if err != nil {
			opened.wipe()
		}
	}()
	if a.child != nil && a.child.Parent != nil {
		if opened, err = d.inherit(ctx, actor, &c, a.child); err != nil {
			return nil, nil, err
		}
	}
	if c.Disclosure == audit.DisclosureAuditor {
		// Refused, where it must be, before a tape is drawn.
		if _, err := d.disclosureKey(ctx, d.young); err != nil {
			return nil, nil, err
		}
	}
	if len(c.Plan) > 0 && !c.IsDraw() && c.Recipe.Take == 1 {
		return nil, nil, &RequestError{"mix", "moves cards among those that are taken, and one has nowhere to go: take more, and deal one"}
	}
	c.Plan = slices.Clone(c.Plan)
	d.chooseRound(&c)
	if err := d.checkRound(&c, a.closeBy); err != nil {
		return nil, nil, err
	}
	return &c, opened, nil
}

// complete writes into a commit what no tape decides.
func (a *asked) complete(c *audit.Commit, tag, hash [32]byte) {
	c.KeyTag, c.Request, c.GameRef = tag, hash, a.gameRef
	if a.closeBy != nil {
		c.CloseBy = *a.closeBy
	}
}

// commit spends a fresh tape on the context and seals it, with a child's inputs. The
// tape and what came of it are wiped: until the first deal only the sealed one is left.
func (d *Dealer) commit(c *audit.Context, from *parent) (*audit.Commit, []byte, error) {
	tape, out, err := outcome.Make(d.cfg.Entropy, c.Recipe)
	if errors.Is(err, entropy.ErrLatched) {
		return nil, nil, fmt.Errorf("%w: %w", ErrEntropy, err)
	}
	if err != nil {
		return nil, nil, err
	}
	defer clear(tape)
	defer clear(out.Values)
	if d.cfg.Watch != nil {
		d.cfg.Watch(c.Recipe, out)
	}
	values, inputs := out.Values, []uint32(nil)
	if from != nil {
		inputs = from.inputs
		if values, err = d.inputsIn(c, values, inputs); err != nil {
			return nil, nil, err
		}
		defer clear(values)
	}
	commitment := audit.Commitment(c.Encode(), tape)
	root := audit.DeckRoot(commitment, tape, values)
	plain := seal.Join(tape, inputs)
	defer clear(plain)
	sealed, err := d.cfg.Keys.Seal(c.Origin, commitment, plain)
	if err != nil {
		return nil, nil, fmt.Errorf("sealing a tape: %w", err)
	}
	return &audit.Commit{Context: c, Commitment: commitment, DeckRoot: root}, sealed, nil
}

// repeatShuffle answers a key that is in the ledger; ledger.ErrNotFound when it
// is not.
func (d *Dealer) repeatShuffle(ctx context.Context, tag, hash [32]byte) (Shuffle, error) {
	row, c, at, err := d.keyed(ctx, tag, hash)
	if err != nil {
		return Shuffle{}, err
	}
	receipt, err := d.cfg.Ledger.FirstReceipt(ctx, row)
	if err != nil {
		return Shuffle{}, err
	}
	answer := shuffleAnswer(row.Index, c, at, receipt)
	answer.Repeated = true
	return answer, nil
}

// keyed returns the stored commit under a key, if it was made for the request with
// this hash; ErrKeyReused for another one.
func (d *Dealer) keyed(ctx context.Context, tag, hash [32]byte) (row ledger.Row, c *audit.Commit, at int64, err error) {
	if row, err = d.commits.find(ctx, tag); err != nil {
		return row, nil, 0, fmt.Errorf("looking up the idempotency key: %w", ledger.Unavailable(err))
	}
	if err := d.cfg.Ledger.Authentic(ctx, []ledger.Row{row}); err != nil {
		return row, nil, 0, err
	}
	c, at, err = committedUnder(row, tag)
	if err == nil && c.Request != hash {
		err = ErrKeyReused
	}
	return row, c, at, err
}

// committedUnder reads the commit under a tag, and its time, from its row's entry.
func committedUnder(row ledger.Row, tag [32]byte) (*audit.Commit, int64, error) {
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return nil, 0, fmt.Errorf("reading entry %d: %w", row.Index, err)
	}
	c, ok := e.Body.(*audit.Commit)
	if !ok || c.KeyTag != tag {
		return nil, 0, fmt.Errorf("%w: entry %d is no commit under this key", ledger.ErrFrozen, row.Index)
	}
	return c, e.Time, nil
}

func shuffleAnswer(id uint64, c *audit.Commit, at int64, receipt string) Shuffle {
	return Shuffle{Answered: Answered{Time: at}, ID: id, Table: c.Context.Table, Serial: c.Serial,
		Commitment: c.Commitment, DeckRoot: c.DeckRoot, CloseBy: c.CloseBy, Receipt: receipt}
}

// newDeck returns the deck to be written with the first commit that names it, for
// receipts name its hash; nil for one that the store holds, for a draw list and for the
// cards of a parent.
func (d *Dealer) newDeck(a *asked) *ledger.Deck {
	if a.deck.Len() == 0 {
		return nil
	}
	hash := a.deck.Hash()
	if _, ok := d.decks.Load(hash); ok {
		return nil
	}
	return &ledger.Deck{Hash: hash, Cards: a.deck.Cards()}
}

// keptDeck notes that the store holds a published deck: a closed list, that cannot
// grow without bound.
func (d *Dealer) keptDeck(deck *ledger.Deck) {
	if deck == nil {
		return
	}
	if _, ok := shuffle.Published(deck.Hash); ok {
		d.decks.Store(deck.Hash, true)
	}
}

// deckNames returns the card names of a shuffle, nil for a draw list.
func (d *Dealer) deckNames(ctx context.Context, c *audit.Context) ([]string, error) {
	if c.IsDraw() {
		return nil, nil
	}
	if deck, ok := shuffle.Published(c.DeckHash); ok {
		return deck.Cards(), nil
	}
	cards, err := d.cfg.Store.Deck(ctx, d.cfg.Ledger.ID(), c.DeckHash)
	if err != nil {
		return nil, fmt.Errorf("reading the deck: %w", ledger.Unavailable(err))
	}
	if deck, err := shuffle.NewDeck(cards); err != nil || deck.Hash() != c.DeckHash {
		return nil, fmt.Errorf("%w: the stored deck is another than the one committed to", ledger.ErrFrozen)
	}
	return slices.Clip(cards), nil
}
