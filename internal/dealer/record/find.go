package dealer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// reader reads shuffles from the ledger and its store, and opens their tapes.
type reader struct {
	ledger  *sequencer.Ledger
	store   ledger.Store
	entropy *entropy.Source // its latch is set where a deck is foul
	keys    *seal.Keyring
	log     *slog.Logger

	durable, visible shuffles
	byKey            *loader[[32]byte, ledger.Row] // commits by key tag
	recent           *recent
	tables           *lru.Cache[uint64, string] // of shuffles, by id
}

// tablesKnown is of how many shuffles the tables are kept in memory.
const tablesKnown = 20_000

// newReader returns a reader of the ledger, whose store this is.
func newReader(of *sequencer.Ledger, store ledger.Store, source *entropy.Source, keys *seal.Keyring,
	log *slog.Logger) *reader {
	readers := shuffleLoader(store, of.ID(), ledger.Durable)
	tables, _ := lru.New[uint64, string](tablesKnown) // no error: the size is positive
	return &reader{ledger: of, store: store, entropy: source, keys: keys, log: log, tables: tables, recent: newRecent(),
		durable: ledger.NewApart(shuffleLoader(store, of.ID(), ledger.Durable), readers),
		visible: ledger.NewApart(shuffleLoader(store, of.ID(), ledger.Visible), readers),
		byKey:   commitLoader(store, of.ID())}
}

// record reads a shuffle behind the store's barrier, so that an answer from it is durable. It
// believes the rows only if the ledger knows each as its own and the rules hold for them together,
// because the rows say to whom cards are opened. ErrNotFound for an id that is no commit.
func (d *reader) record(ctx context.Context, id uint64) (*record, error) {
	return d.read(ctx, d.durable, id)
}

// glance is record without the barrier, or from what this daemon remembers. It serves for an
// append only: the append is durable only together with the entries that glance shows. No answer
// and no error comes from glance, because a row that is lost in a failover looks like a false one.
func (d *reader) glance(ctx context.Context, id uint64) (*record, error) {
	if r, ok := d.recent.get(id); ok {
		return r, nil
	}
	return d.look(ctx, id)
}

// look is glance of the store: it shows what any daemon wrote.
func (d *reader) look(ctx context.Context, id uint64) (*record, error) {
	if r, err := d.read(ctx, d.visible, id); err == nil {
		return r, nil
	}
	return d.record(ctx, id)
}

func (d *reader) read(ctx context.Context, from shuffles, id uint64) (*record, error) {
	rows, err := d.rows(ctx, from, id)
	if err != nil {
		return nil, err
	}
	if err := d.ledger.Authentic(ctx, rows); err != nil {
		return nil, fmt.Errorf("reading shuffle %d: %w", id, err)
	}
	r := &record{id: id}
	var placed []audit.Placed
	for _, row := range rows {
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		placed = append(placed, audit.Placed{Index: row.Index, Entry: e})
		r.add(row, e)
	}
	if r.commit == nil {
		return nil, fmt.Errorf("%w: the ledger has no shuffle %d", ErrNotFound, id)
	}
	// The ledger was opened with this genesis.
	if err := audit.CheckShuffleUnder(d.ledger.GenesisEntry(), placed); err != nil {
		return nil, fmt.Errorf("%w: the rows of shuffle %d: %w", ledger.ErrFrozen, id, err)
	}
	if !r.continued() {
		return r, nil
	}
	// The child's commit is the entry before the close.
	child, err := d.read(ctx, from, r.rowOf(audit.TypeClose).Index-1)
	if err != nil {
		return nil, err
	}
	r.owner, r.extent, r.closeBy = child.owner, child.extent, child.closeBy
	return r, nil
}

// rows reads the rows of a shuffle, that of its commit first.
func (d *reader) rows(ctx context.Context, from shuffles, id uint64) ([]ledger.Row, error) {
	rows, err := from.Of(ctx).find(ctx, id)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, d.absent(ctx, id)
	case err != nil:
		return nil, fmt.Errorf("reading shuffle %d: %w", id, ledger.Unavailable(err))
	case rows[0].Index != id:
		return nil, fmt.Errorf("%w: the database shows entry %d instead of shuffle %d", ledger.ErrFrozen, rows[0].Index, id)
	}
	return rows, nil
}

// absent returns why no commit with this id was found: ErrNotFound if the entry is another one, or if there is none
// yet. A database without an entry that the ledger has was left behind in a failover.
func (d *reader) absent(ctx context.Context, id uint64) error {
	none := fmt.Errorf("%w: the ledger has no shuffle %d", ErrNotFound, id)
	if id >= d.ledger.Head().Size {
		return none
	}
	row, err := d.ledger.Row(ctx, id)
	if err != nil {
		return err
	}
	// The entry itself says what it is, because a column may have been changed.
	if err := d.ledger.Authentic(ctx, []ledger.Row{row}); err != nil {
		return err
	}
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return fmt.Errorf("reading entry %d: %w", id, err)
	}
	if _, ok := e.Body.(*audit.Commit); !ok {
		return none
	}
	if row.Type != audit.TypeCommit {
		return fmt.Errorf("%w: the row of entry %d does not say that it is a commit", ledger.ErrFrozen, id)
	}
	return fmt.Errorf("%w: the database does not show shuffle %d", ledger.ErrUnavailable, id)
}

// witnessWait is how long a deal waits for the witnesses at most: a few times as long as they may
// take, and shorter than the time limit of a request.
const witnessWait = 6 * time.Second

// AwaitWitnesses waits until a quorum of witnesses has cosigned a checkpoint that covers the entry
// id, if the genesis asks for witnesses. So no card is shown before outsiders have the commitment
// to its order. It returns ledger.ErrNotWitnessed if they take too long.
func (d *reader) AwaitWitnesses(ctx context.Context, id uint64) error {
	if d.ledger.Genesis().Deals != audit.DealsCosigned {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, witnessWait)
	defer cancel()
	return d.ledger.AwaitCosigned(ctx, id)
}

// Table returns the name of a shuffle's table, which never changes. It checks only the commit, so that it answers also
// if another entry or the tape of the shuffle is damaged. ErrNotFound for an id that is no commit.
func (d *reader) Table(ctx context.Context, id uint64) (string, error) {
	if name, ok := d.tables.Get(id); ok {
		return name, nil
	}
	row, err := d.commitOf(ctx, d.visible, id)
	if err != nil { // as in glance, no error comes from what may not be durable
		row, err = d.commitOf(ctx, d.durable, id)
	}
	if err != nil {
		return "", err
	}
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return "", fmt.Errorf("reading entry %d: %w", id, err)
	}
	c, ok := e.Body.(*audit.Commit)
	if !ok {
		return "", fmt.Errorf("%w: the ledger has no shuffle %d", ErrNotFound, id)
	}
	d.KnowTable(id, c.Context.Table)
	return c.Context.Table, nil
}

// KnowTable notes the table of a shuffle, which its commit names.
func (d *reader) KnowTable(id uint64, table string) { d.tables.Add(id, table) }

// commitOf reads the row of a commit, and checks that it is of this ledger.
func (d *reader) commitOf(ctx context.Context, from shuffles, id uint64) (ledger.Row, error) {
	rows, err := d.rows(ctx, from, id)
	if err != nil {
		return ledger.Row{}, err
	}
	if err := d.ledger.Authentic(ctx, rows[:1]); err != nil {
		return ledger.Row{}, fmt.Errorf("shuffle %d: %w", id, err)
	}
	return rows[0], nil
}

// deckNames returns the card names of a shuffle, nil for a draw list.
func (d *reader) deckNames(ctx context.Context, c *audit.Context) ([]string, error) {
	if c.IsDraw() {
		return nil, nil
	}
	if deck, ok := shuffle.Published(c.DeckHash); ok {
		return deck.Cards(), nil
	}
	cards, err := d.store.Deck(ctx, d.ledger.ID(), c.DeckHash)
	if err != nil {
		return nil, fmt.Errorf("reading the deck: %w", ledger.Unavailable(err))
	}
	if deck, err := shuffle.NewDeck(cards); err != nil || deck.Hash() != c.DeckHash {
		return nil, fmt.Errorf("%w: the stored deck is not the deck of the commit", ledger.ErrFrozen)
	}
	return slices.Clip(cards), nil
}

// ofKey reads the row of the commit with this key tag, and checks that it is of this ledger. It returns
// ledger.ErrNotFound for none.
func (d *reader) ofKey(ctx context.Context, tag [32]byte) (ledger.Row, error) {
	row, err := d.byKey.find(ctx, tag)
	if err != nil {
		return row, fmt.Errorf("looking up the idempotency key: %w", ledger.Unavailable(err))
	}
	return row, d.ledger.Authentic(ctx, []ledger.Row{row})
}
