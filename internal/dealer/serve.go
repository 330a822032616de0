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

// Config is what a dealer works with. All of it is required except Round, Watch
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
	byKey            *loader[[32]byte, ledger.Row] // commits by key tag
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
	store, id := cfg.Store, cfg.Ledger.ID()
	return &Dealer{
		cfg: cfg, keys: newKeyring(), batches: semaphore.NewWeighted(maxInBatches), byKey: commitLoader(store, id),
		durable: shuffleLoader(store, id, ledger.Durable), visible: shuffleLoader(store, id, ledger.Visible),
		public: publicLoader(store, id),
	}
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
	return one(d.serve(ctx, actor, key, &asked{
		context: c, deck: deck, hash: req.hash, closeBy: req.CloseBy, gameRef: req.GameRef, child: &req, count: 1,
	}, err))
}

// one returns the only shuffle of an answer.
func one(all []Shuffle, err error) (s Shuffle, _ error) {
	if err == nil {
		s = all[0]
	}
	return s, err
}

// asked is a request for commits, of cards or draws, under one key.
type asked struct {
	context *audit.Context
	deck    shuffle.Deck    // zero for a draw list and a child
	hash    func() [32]byte // of the request, which is valid
	closeBy *int64
	gameRef string
	child   *ShuffleRequest // when its Parent is set
	count   int             // of commits

	request [32]byte   // hash()
	tags    [][32]byte // of the commits, in order
}

// serve answers a request for commits; invalid is what is wrong with it. It looks the
// key up, draws the tapes, appends the commits and answers. The key is looked up before
// any entropy is drawn: a retry draws no tape.
//
// If a rule or a key that stands in the ledger refuses the commits, a copy of the request
// may have been first, through another daemon, and the key is looked up again. A child
// whose parent was dealt from is tried again.
func (d *Dealer) serve(ctx context.Context, actor audit.Actor, key string, a *asked, invalid error) ([]Shuffle, error) {
	if err := audit.CheckIdempotencyKey(key); err != nil {
		return nil, &RequestError{"Idempotency-Key", err.Error()}
	}
	if invalid != nil {
		return nil, invalid
	}
	a.request = a.hash()
	for i := range a.count {
		a.tags = append(a.tags, audit.KeyTagOf(a.context.Origin, actor.Identity, a.context.Table, key, i))
	}
	end, err := d.underway.begin(ctx, a.tags[0])
	if err != nil {
		return nil, err
	}
	defer end()
	var refused error // why the try before wrote nothing
	for try := 0; ; try++ {
		if s, err := d.repeated(ctx, a); !errors.Is(err, ledger.ErrNotFound) {
			return s, err
		}
		if refused != nil && !errors.Is(refused, errParentMoved) {
			return nil, notRepeated(refused)
		}
		if try == childTries {
			return nil, &audit.Illegal{Code: audit.RuleParent, Detail: "the parent is being dealt from"}
		}
		s, err := d.commits(ctx, actor, a)
		if err == nil || !mayRepeat(err) {
			return s, err
		}
		refused = err
	}
}

// mayRepeat reports whether a request that was refused may be one that was answered
// before: a copy of it was first.
func mayRepeat(err error) bool {
	var illegal *audit.Illegal
	var duplicate *ledger.DuplicateError
	return errors.As(err, &illegal) || errors.As(err, &duplicate) || errors.Is(err, errParentMoved)
}

// notRepeated is the answer to a request that was refused and is not under its key. If
// that is what it was refused for, a server that was left behind in a failover was asked.
func notRepeated(refused error) error {
	var duplicate *ledger.DuplicateError
	if errors.As(refused, &duplicate) {
		return fmt.Errorf("%w: the database does not show a key that it has", ledger.ErrUnavailable)
	}
	return refused
}

// commits draws the tapes and appends the commits to them.
func (d *Dealer) commits(ctx context.Context, actor audit.Actor, a *asked) ([]Shuffle, error) {
	leave, err := d.enterBatches(ctx, len(a.tags))
	if err != nil {
		return nil, err
	}
	defer leave()
	c, from, err := d.settle(ctx, actor, a)
	if err != nil {
		return nil, err
	}
	defer from.wipe()
	n := len(a.tags)
	p := ledger.Proposal{Actor: actor, Bodies: make([]audit.Body, n), Sealed: make([][]byte, n), Deck: d.newDeck(a)}
	for i, tag := range a.tags {
		if err := ctx.Err(); err != nil {
			return nil, err // nobody waits for it, and nothing was written
		}
		commit, sealed, err := d.commit(c, from)
		if err != nil {
			return nil, err
		}
		commit.KeyTag, commit.Request, commit.GameRef = tag, a.request, a.gameRef
		if a.closeBy != nil {
			commit.CloseBy = *a.closeBy
		}
		p.Bodies[i], p.Sealed[i] = commit, sealed
	}
	appended, err := d.appendCommits(ctx, c, p, from)
	if err != nil {
		return nil, err
	}
	d.keptDeck(p.Deck)
	answers := make([]Shuffle, n) // a parent's close may stand behind the commit
	for i, e := range appended[:n] {
		answers[i] = shuffleAnswer(e.Index, e.Entry.Body.(*audit.Commit), e.Entry.Time, e.Receipt.Text())
	}
	return answers, nil
}

// settle does what must be done before a tape is drawn, and returns the context
// that it is spent on, with the parent of a child, which the caller wipes.
func (d *Dealer) settle(ctx context.Context, actor audit.Actor, a *asked) (_ *audit.Context, _ *parent, err error) {
	c, opened := *a.context, (*parent)(nil)
	c.Genesis = d.cfg.Ledger.GenesisHash()
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
	if err := d.checkTerms(ctx, &c); err != nil {
		return nil, nil, err
	}
	if c.Disclosure == audit.DisclosureAuditor {
		// Refused, where it must be, before a tape is drawn.
		if _, err := d.disclosureKey(ctx, d.young); err != nil {
			return nil, nil, err
		}
	}
	if len(c.Plan) > 0 && !c.IsDraw() && c.Recipe.Take == 1 {
		return nil, nil, &RequestError{"mix",
			"moves cards among those that are taken, and one has nowhere to go: take more, and deal one"}
	}
	c.Plan = slices.Clone(c.Plan)
	d.chooseRound(&c)
	if err := d.checkRound(&c, a.closeBy); err != nil {
		return nil, nil, err
	}
	return &c, opened, nil
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
	context := c.Encode()
	commitment := audit.Commitment(context, tape)
	root := audit.DeckRoot(commitment, context, tape, values)
	plain := seal.Join(tape, inputs)
	defer clear(plain)
	sealed, err := d.cfg.Keys.Seal(c.Origin, commitment, plain)
	if err != nil {
		return nil, nil, fmt.Errorf("sealing a tape: %w", err)
	}
	return &audit.Commit{Context: c, Commitment: commitment, DeckRoot: root}, sealed, nil
}

// repeated answers a key that is in the ledger; ledger.ErrNotFound when it is not. The
// commits stand or fall together, so the first one speaks for all.
func (d *Dealer) repeated(ctx context.Context, a *asked) ([]Shuffle, error) {
	row, commit, at, err := d.keyed(ctx, a.tags[0], a.request)
	if err != nil {
		return nil, err
	}
	rows, commits := []ledger.Row{row}, []*audit.Commit{commit}
	if len(a.tags) > 1 {
		if rows, commits, err = d.committed(ctx, row.Index, a.tags); err != nil {
			return nil, err
		}
	}
	receipts, err := d.cfg.Ledger.FirstReceipts(ctx, rows)
	if err != nil {
		return nil, err
	}
	answers := make([]Shuffle, len(rows))
	for i := range rows {
		answers[i] = shuffleAnswer(rows[i].Index, commits[i], at, receipts[i])
		answers[i].Repeated = true
	}
	return answers, nil
}

// keyed returns the stored commit under a key, if it was made for the request with
// this hash; ErrKeyReused for another one.
func (d *Dealer) keyed(ctx context.Context, tag, hash [32]byte) (row ledger.Row, c *audit.Commit, at int64, err error) {
	if row, err = d.byKey.find(ctx, tag); err != nil {
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
