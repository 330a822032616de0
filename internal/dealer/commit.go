package dealer

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/outcome"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// commitRequest is a request for a commit, of cards or draws.
type commitRequest struct {
	context *audit.Context
	deck    shuffle.Deck // zero for a draw list and a child
	made    any          // the request
	closeBy *api.Time
	gameRef string
	child   *api.ShuffleRequest // when its Parent is set

	request [32]byte // requestHash
	tag     [32]byte // of the commit
}

// shuffleAnswer is the answer to a request for a commit, the same when it is repeated. kept is what is kept with c.
func shuffleAnswer(id uint64, c *audit.Commit, at int64, receipt string, kept []byte) api.Shuffle {
	_, coDealer := record.KeptWith(c, kept)
	return api.Shuffle{Answered: api.Answered{Time: api.Time(at)}, ID: id, Table: c.Context.Table, Serial: c.Serial,
		Commitment: c.Commitment, DeckRoot: c.DeckRoot, CloseBy: api.Time(c.CloseBy), Receipt: receipt,
		CoDealer: coDealer}
}

// committed draws a tape and appends the commit to it.
func (d *Dealer) committed(ctx context.Context, actor audit.Actor, a *commitRequest) (_ api.Shuffle, err error) {
	c, from, err := d.settle(ctx, actor, a)
	if err != nil {
		return api.Shuffle{}, err
	}
	defer from.wipe()
	order, err := d.blind.TakeOrder(ctx, c, a.closeBy)
	if err != nil {
		return api.Shuffle{}, err
	}
	proposed := false
	defer func() {
		if order != nil && err != nil && (!proposed || unwritten(err) || errors.Is(err, ledger.ErrOverloaded)) {
			d.cfg.CoDealer.Unused(order.Origin, order.Receipt) // because no commit names the order
		}
	}()
	if err := ctx.Err(); err != nil {
		return api.Shuffle{}, err // the caller has left, and nothing was written
	}
	commit, sealed, t, err := d.commit(c, from)
	if err != nil {
		return api.Shuffle{}, err
	}
	defer t.Wipe()
	commit.KeyTag, commit.Request, commit.GameRef = a.tag, a.request, a.gameRef
	if a.closeBy != nil {
		commit.CloseBy = int64(*a.closeBy)
	}
	if order != nil {
		sealed = append(sealed, order.Receipt...)
	}
	p := ledger.Proposal{Actor: actor, Bodies: []audit.Body{commit}, Kept: [][]byte{sealed}, Decks: d.newDecks(a)}
	proposed = true
	appended, err := d.appendCommit(ctx, c, p, from)
	if err != nil {
		return api.Shuffle{}, err
	}
	if a.deck.Name() != "" { // published: the list of these is fixed, so that the notes do not grow without bound
		d.decks.Store(a.deck.Hash(), true)
	}
	e := appended[0] // a parent's close may stand behind it
	d.shuffles.Recent.Hold(e.Index, commit, t)
	return shuffleAnswer(e.Index, e.Entry.Body.(*audit.Commit), e.Entry.Time, e.Receipt.Text(), sealed), nil
}

// settle does what must be done before a tape is drawn. It returns the context of the commit, and
// the parent of a child, which the caller wipes.
func (d *Dealer) settle(ctx context.Context, actor audit.Actor, a *commitRequest) (_ *audit.Context, _ *parent,
	err error) {
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
	if err := cmp.Or(d.checkTerms(ctx, &c), d.blind.MayOrder(&c)); err != nil {
		return nil, nil, err
	}
	if err := d.checkDisclosable(ctx, &c); err != nil {
		return nil, nil, err
	}
	if len(c.Mixed()) > 0 && !c.IsDraw() && c.Recipe.Take == 1 {
		return nil, nil, api.Invalid("mix",
			"must move cards among at least two that are taken: take more cards, and deal one")
	}
	c.Plan = slices.Clone(c.Plan)
	if err := d.checkRound(&c, a.closeBy); err != nil {
		return nil, nil, err
	}
	return &c, opened, nil
}

// commit draws a tape for the context, and returns the commit with the sealed tape. The inputs of a child are sealed
// with its tape. The caller wipes what is opened: then only the sealed tape is left, and what Recent holds encrypted.
func (d *Dealer) commit(c *audit.Context, from *parent) (_ *audit.Commit, sealed []byte, t *record.Opened, err error) {
	t = new(record.Opened)
	defer func() {
		if err != nil {
			t.Wipe()
		}
	}()
	tape, out, err := outcome.Make(d.cfg.Entropy, c.Recipe)
	if errors.Is(err, entropy.ErrLatched) {
		return nil, nil, nil, fmt.Errorf("%w: %w", api.ErrEntropy, err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	t.Tape, t.Values, t.EndAt = tape, out.Values, max(out.EndAt, c.EndAt)
	if d.cfg.Watch != nil {
		d.cfg.Watch(c.Recipe, out)
	}
	var inputs []uint32
	if from != nil {
		defer clear(out.Values)
		inputs = from.inputs
		if t.Values, err = d.shuffles.InputsIn(c, out.Values, inputs); err != nil {
			return nil, nil, t, err
		}
	}
	context := c.Encode()
	commitment := openings.Commitment(context, tape)
	t.Tree = openings.DeckOf(commitment, context, tape, t.Values)
	plain := seal.Join(tape, inputs)
	defer clear(plain)
	if sealed, err = d.cfg.Keys.Seal(c.Origin, commitment, plain); err != nil {
		return nil, nil, t, fmt.Errorf("sealing a tape: %w", err)
	}
	made := &audit.Commit{Context: c, Commitment: commitment, DeckRoot: t.Tree.Root()}
	if _, blind := c.CoDealer(); blind {
		key := audit.AskKey(commitment, tape)
		defer clear(key)
		made.AskKey = key.Public().(ed25519.PublicKey)
	}
	return made, sealed, t, nil
}

// newDecks returns the deck to be written with a commit, because receipts have only its hash. It
// returns none for a published deck that the store has, for a draw list and for a child.
func (d *Dealer) newDecks(a *commitRequest) []ledger.Deck {
	if a.deck.Len() == 0 {
		return nil
	}
	hash := a.deck.Hash()
	if _, ok := d.decks.Load(hash); ok {
		return nil
	}
	return []ledger.Deck{{Hash: hash, List: a.deck.Bytes()}}
}

// appendCommit appends a commit, which is the body of the proposal. The close of its parent comes
// behind the commit of a child. It does not disclose the tape: the cards that were dealt follow from it.
func (d *Dealer) appendCommit(ctx context.Context, c *audit.Context, p ledger.Proposal,
	from *parent) ([]ledger.Appended, error) {
	if from != nil {
		if from.moving {
			p.Rests = []ledger.Rest{from.record.Rest()}
		}
		p.Bodies = append(p.Bodies, &audit.Close{Shuffle: from.record.ID, Outcome: audit.OutcomeContinued})
	}
	if c.Disclosure == audit.DisclosurePublic {
		return d.propose(ctx, p)
	}
	return d.appendUnder(ctx, func(*ledger.Disclosure) (ledger.Proposal, error) { return p, nil })
}

// AnyDeck among Config.Decks lets the ledger commit every deck.
const AnyDeck = "any"

// ErrDeck reports a deck that the settings do not let the ledger commit.
var ErrDeck = errors.New("the settings of the ledger do not allow the deck")

// allowed returns ErrDeck for a deck that no setting names. That stops who has a dealer's token, and not the house. A
// child has the deck of its parent, and an order for another ledger is of positions by its rule.
func (d *Dealer) allowed(a *commitRequest) error {
	if a.deck.Len() == 0 || a.context.ForLedger != "" ||
		allows(d.cfg.Decks, d.cfg.Ledger.Genesis().Production, a.deck) {
		return nil
	}
	return fmt.Errorf("%w: %s, of the hash %s, is not in \"decks\" of the ledger", ErrDeck,
		cmp.Or(a.deck.Name(), "a deck without a name"), base64Of(a.deck))
}

func allows(decks []string, production bool, deck shuffle.Deck) bool {
	if len(decks) == 0 {
		_, published := shuffle.Published(deck.Hash())
		return published || !production
	}
	return slices.ContainsFunc(decks, func(name string) bool {
		named, ok := shuffle.Named(name)
		return name == AnyDeck || name == base64Of(deck) || ok && named.Hash() == deck.Hash()
	})
}

func base64Of(deck shuffle.Deck) string { return tlog.Hash(deck.Hash()).String() }
