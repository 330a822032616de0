package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	ended   *audit.DisclosureEntry // how the ledger discloses the tape; nil: open, or continued
	closeAt int64
	closeBy int64        // of the chain, if the shuffle was continued
	owner   string       // identity
	extent  audit.Extent // what the owner may do
	taken   []taken      // takeovers
	reveals []revealed
	rows    []ledger.Row // all, in order; the commit first
	held    []byte       // what recent.hold sealed; nil: nothing
}

// taken is one stored takeover.
type taken struct {
	row  ledger.Row
	from string // the owner before
}

// dealt is one stored deal.
type dealt struct {
	row  ledger.Row
	deal *audit.Deal
}

// record reads a shuffle behind the store's barrier, so that an answer from it is durable. It
// believes the rows only if the ledger knows each as its own and the rules hold for them together,
// because the rows say to whom cards are opened. ErrNotFound for an id that is no commit.
func (d *Dealer) record(ctx context.Context, id uint64) (*record, error) {
	return d.read(ctx, d.durable, id)
}

// glance is record without the barrier, or from what this daemon remembers. It serves for an
// append only: the append is durable only together with the entries that glance shows. No answer
// and no error comes from glance, because a row that is lost in a failover looks like a false one.
func (d *Dealer) glance(ctx context.Context, id uint64) (*record, error) {
	if r, ok := d.recent.get(id); ok {
		return r, nil
	}
	return d.look(ctx, id)
}

// look is glance of the store: it shows what any daemon wrote.
func (d *Dealer) look(ctx context.Context, id uint64) (*record, error) {
	if r, err := d.read(ctx, d.visible, id); err == nil {
		return r, nil
	}
	return d.record(ctx, id)
}

func (d *Dealer) read(ctx context.Context, from shuffles, id uint64) (*record, error) {
	rows, err := d.rows(ctx, from, id)
	if err != nil {
		return nil, err
	}
	if err := d.cfg.Ledger.Authentic(ctx, rows); err != nil {
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
	if err := audit.CheckShuffleUnder(d.cfg.Ledger.GenesisEntry(), placed); err != nil {
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

// add adds the next entry of the shuffle.
func (r *record) add(row ledger.Row, e audit.Entry) {
	r.rows = append(r.rows, row)
	switch b := e.Body.(type) {
	case *audit.Commit:
		r.row, r.commit, r.at = row, b, e.Time
		r.owner, r.extent, r.closeBy = e.Actor.Identity, audit.ExtentPlay, b.CloseBy
	case *audit.Mix:
		r.mix = b
	case *audit.Deal:
		r.deals = append(r.deals, dealt{row, b})
	case *audit.Close:
		r.closed, r.closeAt = b, e.Time
	case *audit.Takeover:
		r.taken = append(r.taken, taken{row, r.owner})
		r.owner, r.extent = e.Actor.Identity, b.Extent
	case *audit.Reveal:
		r.reveals = append(r.reveals, revealed{row, b, e.Actor.Identity})
	}
	if told, ok := audit.DisclosedBy(e.Body); ok {
		r.ended = &told
	}
}

// continued reports whether the cards are in a child, and the tape is not disclosed.
func (r *record) continued() bool { return r.closed != nil && r.ended == nil }

// notOpen refuses what takes an open shuffle.
func (r *record) notOpen() error {
	return illegal(audit.RuleNotOpen, "shuffle %d is not open", r.id)
}

// rows reads the rows of a shuffle, that of its commit first.
func (d *Dealer) rows(ctx context.Context, from shuffles, id uint64) ([]ledger.Row, error) {
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
func (d *Dealer) absent(ctx context.Context, id uint64) error {
	none := fmt.Errorf("%w: the ledger has no shuffle %d", ErrNotFound, id)
	if id >= d.cfg.Ledger.Head().Size {
		return none
	}
	row, err := d.entryAt(ctx, id)
	if err != nil {
		return err
	}
	// The entry itself says what it is, because a column may have been changed.
	if err := d.cfg.Ledger.Authentic(ctx, []ledger.Row{row}); err != nil {
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
	return notShown(id)
}

// entryAt reads the row of an entry; ErrNotFound if there is none yet.
func (d *Dealer) entryAt(ctx context.Context, index uint64) (ledger.Row, error) {
	for row, err := range d.cfg.Store.Rows(ctx, d.cfg.Ledger.ID(), index, index+1) {
		switch {
		case err != nil:
			return ledger.Row{}, fmt.Errorf("reading entry %d: %w", index, ledger.Unavailable(err))
		case row.Index != index:
			return ledger.Row{}, fmt.Errorf("%w: the database shows entry %d instead of entry %d", ledger.ErrFrozen, row.Index, index)
		}
		return row, nil
	}
	if index < d.cfg.Ledger.Head().Size {
		return ledger.Row{}, notShown(index)
	}
	return ledger.Row{}, ErrNotFound
}

// notShown: the ledger has an entry that the database does not show at the moment.
func notShown(index uint64) error {
	return fmt.Errorf("%w: the database does not show entry %d", ledger.ErrUnavailable, index)
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

// rowOf returns the row of the mix or of the close, which may come after takeovers.
func (r *record) rowOf(t audit.Type) ledger.Row {
	return r.rows[slices.IndexFunc(r.rows, func(row ledger.Row) bool { return row.Type == t })]
}

// playedAt returns the index of the first mix or deal, audit.MaxInteger for none.
func (r *record) playedAt() uint64 {
	switch {
	case r.mix != nil:
		return r.rowOf(audit.TypeMix).Index
	case len(r.deals) > 0:
		return r.deals[0].row.Index
	}
	return audit.MaxInteger
}
