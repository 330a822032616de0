package record

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// Reader reads shuffles from the ledger and its store, and opens their tapes.
type Reader struct {
	ledger  *sequencer.Ledger
	store   ledger.Store
	entropy *entropy.Source // its latch is set where a deck is foul
	keys    *seal.Keyring
	log     *slog.Logger

	Recent Recent
	tables *lru.Cache[uint64, string] // of shuffles, by id
}

// tablesKnown is of how many shuffles the tables are kept in memory.
const tablesKnown = 20_000

// New returns a reader of the ledger, whose store this is. It keeps recent shuffles in the cache.
func New(of *sequencer.Ledger, store ledger.Store, source *entropy.Source, keys *seal.Keyring, cache *Cache,
	log *slog.Logger) *Reader {
	tables, _ := lru.New[uint64, string](tablesKnown) // no error: the size is positive
	return &Reader{ledger: of, store: store, entropy: source, keys: keys, log: log, tables: tables,
		Recent: Recent{cache, of.ID()}}
}

// visible is what Visible asks for: an append may rest on it. A reader appends nothing, and gets what is durable.
var visible = ledger.NewApart(ledger.Visible, ledger.Durable)

// Durable reads a shuffle behind the store's barrier, so that an answer from it is durable. It
// believes the rows only if the ledger knows each as its own and the rules hold for them together,
// because the rows say to whom cards are opened. ErrNotFound for an id that is no commit.
func (d *Reader) Durable(ctx context.Context, id uint64) (*Record, error) {
	return d.read(ctx, ledger.Durable, id)
}

// Remembered is Durable without the barrier, or from what this daemon remembers. It serves for an
// append only: the append is durable only together with the entries that Remembered shows. No answer
// and no error comes from Remembered, because a row that is lost in a failover looks like a false one.
func (d *Reader) Remembered(ctx context.Context, id uint64) (*Record, error) {
	if r, ok := d.Recent.get(id); ok {
		return r, nil
	}
	return d.Visible(ctx, id)
}

// Visible is Remembered of the store: it shows what any daemon wrote.
func (d *Reader) Visible(ctx context.Context, id uint64) (*Record, error) {
	if r, err := d.read(ctx, visible.Of(ctx), id); err == nil {
		return r, nil
	}
	return d.Durable(ctx, id)
}

func (d *Reader) read(ctx context.Context, s ledger.Standing, id uint64) (*Record, error) {
	rows, err := d.rows(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if err := d.ledger.Authentic(ctx, rows); err != nil {
		return nil, fmt.Errorf("reading shuffle %d: %w", id, err)
	}
	r := &Record{ID: id}
	var placed []rules.Placed
	for _, row := range rows {
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		placed = append(placed, rules.Placed{Index: row.Index, Entry: e})
		r.add(row, e)
	}
	if r.Commit == nil {
		return nil, fmt.Errorf("%w: the ledger has no shuffle %d", api.ErrNotFound, id)
	}
	// The ledger was opened with this genesis.
	if err := rules.CheckShuffleUnder(d.ledger.GenesisEntry(), placed); err != nil {
		return nil, fmt.Errorf("%w: the rows of shuffle %d: %w", ledger.ErrFrozen, id, err)
	}
	if !r.Continued() {
		return r, nil
	}
	// The child's commit is the entry before the close.
	child, err := d.read(ctx, s, r.RowOf(audit.TypeClose).Index-1)
	if err != nil {
		return nil, err
	}
	r.Owner, r.Extent, r.CloseBy = child.Owner, child.Extent, child.CloseBy
	return r, nil
}

// rows reads the rows of a shuffle, that of its commit first.
func (d *Reader) rows(ctx context.Context, s ledger.Standing, id uint64) ([]ledger.Row, error) {
	list, err := d.store.ByShuffles(ctx, d.ledger.ID(), s, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading shuffle %d: %w", id, ledger.Unavailable(err))
	case len(list[0]) == 0:
		return nil, d.absent(ctx, id)
	case list[0][0].Index != id:
		return nil, fmt.Errorf("%w: the database shows entry %d instead of shuffle %d", ledger.ErrFrozen, list[0][0].Index, id)
	}
	return list[0], nil
}

// absent returns why no commit with this id was found: ErrNotFound if the entry is another one, or if there is none
// yet. A database without an entry that the ledger has was left behind in a failover.
func (d *Reader) absent(ctx context.Context, id uint64) error {
	none := fmt.Errorf("%w: the ledger has no shuffle %d", api.ErrNotFound, id)
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
func (d *Reader) AwaitWitnesses(ctx context.Context, id uint64) error {
	if d.ledger.Genesis().Deals != audit.DealsCosigned {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, witnessWait)
	defer cancel()
	return d.ledger.AwaitCosigned(ctx, id)
}

// Table returns the name of a shuffle's table, which never changes. It checks only the commit, so that it answers also
// if another entry or the tape of the shuffle is damaged. ErrNotFound for an id that is no commit.
func (d *Reader) Table(ctx context.Context, id uint64) (string, error) {
	if name, ok := d.tables.Get(id); ok {
		return name, nil
	}
	commit := func(s ledger.Standing) (rows []ledger.Row, err error) {
		if rows, err = d.rows(ctx, s, id); err == nil {
			err = d.ledger.Authentic(ctx, rows[:1])
		}
		return rows, err
	}
	rows, err := commit(visible.Of(ctx))
	if err != nil { // as in Remembered, no error comes from what may not be durable
		rows, err = commit(ledger.Durable)
	}
	if err != nil {
		return "", fmt.Errorf("shuffle %d: %w", id, err)
	}
	e, err := audit.ParseEntry(rows[0].Entry)
	if err != nil {
		return "", fmt.Errorf("reading entry %d: %w", id, err)
	}
	c, ok := e.Body.(*audit.Commit)
	if !ok {
		return "", fmt.Errorf("%w: the ledger has no shuffle %d", api.ErrNotFound, id)
	}
	d.KnowTable(id, c.Context.Table)
	return c.Context.Table, nil
}

// KnowTable notes the table of a shuffle, which its commit names.
func (d *Reader) KnowTable(id uint64, table string) { d.tables.Add(id, table) }

// DeckNames returns the card names of a shuffle, nil for a draw list.
func (d *Reader) DeckNames(ctx context.Context, c *audit.Context) ([]string, error) {
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

// ByKey reads the row of the commit with this key tag, proved to be of this ledger; ledger.ErrNotFound for none.
func (d *Reader) ByKey(ctx context.Context, tag [32]byte) (ledger.Row, error) {
	rows, err := d.store.ByKeyTags(ctx, d.ledger.ID(), tag)
	switch {
	case err != nil:
		return ledger.Row{}, fmt.Errorf("looking up the idempotency key: %w", ledger.Unavailable(err))
	case len(rows) == 0:
		return ledger.Row{}, ledger.ErrNotFound
	}
	return rows[0], d.ledger.Authentic(ctx, rows)
}
