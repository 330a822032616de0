package blind

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// foreign is an entry of another ledger, proved under a checkpoint of it.
type foreign struct {
	audit.Foreign
	body       audit.Body
	signed     []byte
	checkpoint audit.Checkpoint // signed, without its signatures
}

// parseForeign reads a receipt of another ledger. It does not check who signed the checkpoint.
func parseForeign(text string) (f foreign, err error) {
	r, e, err := audit.ReceiptEntry(text)
	if err == nil {
		f.checkpoint, err = audit.CheckpointText(r.Checkpoint)
	}
	if err == nil {
		err = r.CheckInclusion(f.checkpoint)
	}
	f.Foreign, f.body, f.signed = audit.Foreign{Index: r.Index, Leaf: tlog.RecordHash(r.Entry)}, e.Body, r.Checkpoint
	return f, err
}

// Next are the next places of an order.
type Next struct {
	Origin string // of the co-dealer's ledger
	Order  uint64
	First  int
	Since  uint64 // entries of the co-dealer's checkpoint that the shuffle has
}

// Order is the co-dealer's order for a blind shuffle.
type Order struct {
	audit.Foreign
	Origin  string // of the co-dealer's ledger
	Receipt string
	commit  *audit.Commit
	head    audit.Head // of the receipt
}

// parseOrder reads the receipt of an order.
func parseOrder(receipt string) (*Order, error) {
	f, err := parseForeign(receipt)
	if err != nil {
		return nil, err
	}
	commit, ok := f.body.(*audit.Commit)
	if !ok {
		return nil, fmt.Errorf("entry %d of the co-dealer is no commit", f.Index)
	}
	head := audit.Head{Size: f.checkpoint.Size, Root: f.checkpoint.Root}
	return &Order{f.Foreign, commit.Context.Origin, receipt, commit, head}, nil
}

// orderOf returns the co-dealer's order of a blind shuffle. It believes the database only if the
// order is the one that the plan names.
func orderOf(r *record.Record) (*Order, error) {
	_, receipt := record.KeptWith(r.Commit, r.Row.Kept)
	o, err := parseOrder(receipt)
	if err != nil {
		return nil, fmt.Errorf("%w: the stored order of shuffle %d: %w", ledger.ErrFrozen, r.ID, err)
	}
	planned, _ := r.Commit.Context.CoDealer()
	if o.Foreign != (audit.Foreign{Index: planned.Index, Leaf: planned.Leaf}) || o.Origin != planned.Origin {
		return nil, fmt.Errorf("%w: the stored order of shuffle %d is not the order that its plan names", ledger.ErrFrozen, r.ID)
	}
	return o, nil
}

// seenOf returns the newest checkpoint of the order's ledger that the shuffle has.
func seenOf(r *record.Record, o *Order) audit.Head {
	if last := len(r.Deals) - 1; last >= 0 {
		return r.Deals[last].Deal.Blind.Head
	}
	return o.head
}

// nextOf names the next places of the order.
func nextOf(r *record.Record, o *Order) Next {
	return Next{o.Origin, o.Index, r.Next(), seenOf(r, o).Size}
}

// entered checks that a co-dealer's deal is under its checkpoint, that the tree of this begins with that of the
// checkpoint that the shuffle has, and that the holder of the tape asked for the deal behind the newest entry of the
// shuffle. It returns what the house writes of the deal, without its values.
func entered(r *record.Record, o *Order, g record.Given, first int) (*audit.Blind, *audit.Deal, error) {
	f, err := parseForeign(g.Receipt)
	head, seen := f.checkpoint, seenOf(r, o)
	if err == nil {
		err = head.CheckPrefix(audit.Checkpoint{Size: seen.Size, Root: seen.Root}, g.Last)
	}
	if err != nil {
		return nil, nil, err
	}
	d, ok := f.body.(*audit.Deal)
	if !ok || head.Origin != o.Origin || d.Shuffle != o.Index || d.First != first {
		return nil, nil, errors.New("the co-dealer's entry is not the deal that was asked for")
	}
	of := audit.Foreign{Index: r.ID, Leaf: tlog.RecordHash(r.Row.Entry)}
	if err := audit.CheckAsked(d, r.Commit, of, tlog.RecordHash(r.Before().Entry)); err != nil {
		return nil, nil, err
	}
	return &audit.Blind{Deal: f.Foreign, Head: audit.Head{Size: head.Size, Root: head.Root}}, d, nil
}

// opens returns the values of a deal's places that are not aside. The openings must lead to the deck root of the order,
// and the house must be allowed to write the values: a foul deck has a deck root, too.
func opens(r *record.Record, o *Order, d *audit.Deal, cards []openings.Card) (values []uint32, err error) {
	places := d.Opens()
	if len(places) != len(cards) {
		return nil, fmt.Errorf("%d openings for %d places", len(cards), len(places))
	}
	var given []uint32 // for the shuffle so far
	for _, at := range r.Deals {
		given = append(given, at.Deal.Blind.Values...)
	}
	before := len(given)
	for i, card := range cards {
		opening, err := card.Opening()
		if err != nil {
			return nil, err
		}
		if card.Place != places[i] || opening.Position != card.Place {
			return nil, fmt.Errorf("place %d was opened instead of place %d", card.Place, places[i])
		}
		err = opening.Check(openings.TagOf(o.commit), tlog.Hash(o.commit.DeckRoot), o.commit.Context.Recipe.Positions())
		if err != nil {
			return nil, fmt.Errorf("place %d: %w", card.Place, err)
		}
		if err := audit.MayGive(r.Commit.Context, card.Place, card.Value, given); err != nil {
			return nil, err
		}
		given = append(given, card.Value)
	}
	return given[before:], nil
}
