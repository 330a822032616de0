package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// record is what the ledger holds of one shuffle.
type record struct {
	id      uint64
	row     ledger.Row // of the commit
	commit  *audit.Commit
	at      int64 // time of the commit
	mix     *audit.Mix
	deals   []dealt
	closed  *audit.Close
	closeAt int64
	rows    []ledger.Row // all, in order; the commit first
}

// dealt is one stored deal.
type dealt struct {
	row  ledger.Row
	deal *audit.Deal
}

// record reads a shuffle behind the store's barrier, so that whatever is
// answered from it is durable everywhere. The rows are believed only after the
// ledger knows each as its own and the rules hold for them together: cards are
// opened to whom they name. ErrNotFound for an id that is no commit.
func (d *Dealer) record(ctx context.Context, id uint64) (*record, error) {
	rows, err := d.cfg.Store.ByShuffle(ctx, d.cfg.Ledger.ID(), id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && len(rows) == 0 {
		return nil, fmt.Errorf("shuffle %d: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading shuffle %d: %w", id, ledger.Unavailable(err))
	}
	if rows[0].Index != id {
		return nil, fmt.Errorf("%w: entry %d in the place of shuffle %d", ledger.ErrFrozen, rows[0].Index, id)
	}
	if err := d.cfg.Ledger.Authentic(ctx, rows); err != nil {
		return nil, fmt.Errorf("reading shuffle %d: %w", id, err)
	}
	r := &record{id: id, row: rows[0], rows: rows}
	placed := []audit.Placed{{Index: 0, Entry: d.cfg.Ledger.GenesisEntry()}}
	for _, row := range rows {
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		placed = append(placed, audit.Placed{Index: row.Index, Entry: e})
		switch b := e.Body.(type) {
		case *audit.Commit:
			r.commit, r.at = b, e.Time
		case *audit.Mix:
			r.mix = b
		case *audit.Deal:
			r.deals = append(r.deals, dealt{row, b})
		case *audit.Close:
			r.closed, r.closeAt = b, e.Time
		}
	}
	if r.commit == nil {
		return nil, fmt.Errorf("shuffle %d: %w", id, ErrNotFound)
	}
	if err := audit.CheckShuffle(placed); err != nil {
		return nil, fmt.Errorf("%w: the rows of shuffle %d: %w", ledger.ErrFrozen, id, err)
	}
	return r, nil
}

// next returns the next place to deal.
func (r *record) next() int {
	if len(r.deals) == 0 {
		return 0
	}
	last := r.deals[len(r.deals)-1].deal
	return last.First + last.Count()
}

// dealAt returns the deal that starts at place first.
func (r *record) dealAt(first int) (dealt, bool) {
	i := slices.IndexFunc(r.deals, func(d dealt) bool { return d.deal.First == first })
	if i < 0 {
		return dealt{}, false
	}
	return r.deals[i], true
}

// closeRow returns the row of the close.
func (r *record) closeRow() ledger.Row { return r.rows[len(r.rows)-1] }

// table is a shuffle laid open: every value, salt and proof of it. It holds
// undealt cards and stays inside this package.
type table struct {
	tape  []byte
	tree  *audit.DeckTree
	order audit.Order
}

// open recovers the tape of a recorded shuffle, from its close or by the sealing
// key, and computes everything from it. A tape that does not open the commitment
// or does not lead to the deck root is an error: nothing is dealt from it.
func (d *Dealer) open(r *record) (*table, error) {
	tape, err := d.tape(r)
	if err != nil {
		return nil, err
	}
	c := r.commit
	if audit.Commitment(c.Context.Encode(), tape) != c.Commitment {
		return nil, fmt.Errorf("shuffle %d: the tape does not open the commitment", r.id)
	}
	out, err := c.Context.Recipe.Run(tape)
	if err != nil {
		return nil, fmt.Errorf("shuffle %d: %w", r.id, err)
	}
	t := &table{tape: tape, tree: audit.NewDeckTree(out.Values, audit.Salts(c.Commitment, tape, len(out.Values)))}
	if t.tree.Root() != tlog.Hash(c.DeckRoot) {
		return nil, fmt.Errorf("shuffle %d: the tape does not lead to the deck root", r.id)
	}
	if len(c.Context.Plan) > 0 && r.mix == nil {
		return t, nil
	}
	t.order, err = audit.NewOrder(tlog.RecordHash(r.row.Entry), c, r.mix)
	return t, err
}

func (d *Dealer) tape(r *record) ([]byte, error) {
	if r.closed != nil && r.closed.Form == audit.FormTape {
		return r.closed.Tape, nil
	}
	tape, err := d.cfg.Keys.Open(d.cfg.Ledger.Info().Origin, r.commit.Commitment, r.row.Sealed)
	if err != nil {
		d.cfg.Log.Error("opening a sealed tape", "shuffle", r.id, "error", err)
		return nil, fmt.Errorf("shuffle %d: %w", r.id, ErrSealed)
	}
	return tape, nil
}

// cards returns the openings of the places first … first+count−1.
func (d *Dealer) cards(ctx context.Context, r *record, t *table, first, count int) ([]audit.Card, error) {
	names, err := d.deckNames(ctx, r.commit.Context)
	if err != nil {
		return nil, err
	}
	cards := make([]audit.Card, count)
	for i := range cards {
		o := t.tree.Open(t.order.Position(first + i))
		name := ""
		if names != nil {
			name = names[o.Value]
		}
		cards[i] = audit.NewCard(first+i, o, name)
	}
	return cards, nil
}
