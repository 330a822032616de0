package blind

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// The side of a co-dealer (docs/BLIND.md). A shuffle that is an order for another ledger is dealt only behind entries
// of that ledger. The house of that ledger proves them under a checkpoint that a quorum of its witnesses cosigned.

// houseOf returns the house that an order is for.
func (d *Sides) houseOf(origin string) (House, error) {
	h, ok := d.Houses[origin]
	if !ok {
		return h, api.Illegal(audit.RuleCoDealer,
			"this daemon gives no orders for the ledger %s: its policy is not among the houses of the configuration", origin)
	}
	return h, nil
}

// proves returns the entry that a receipt of the house proves, under a checkpoint that the house's quorum cosigned.
func (h House) proves(origin, field, text string) (f foreign, err error) {
	if f, err = parseForeign(text); err == nil {
		_, err = audit.OpenCheckpoint(f.signed, h.Keys...)
	}
	if err == nil && (f.checkpoint.Origin != origin || !h.Policy.Satisfied(f.signed)) {
		err = errors.New("the checkpoint is of another ledger, or lacks the quorum")
	}
	if err != nil {
		return foreign{}, api.Invalid(field, fmt.Sprintf("must be a receipt of %s under a checkpoint that its quorum cosigned: %s",
			origin, err))
	}
	return f, nil
}

// usedBy returns the shuffle of the house that an order was dealt for. ok is false if the order was not dealt from.
func usedBy(r *record.Record) (of audit.Foreign, ok bool) {
	if r.Commit.Context.ForLedger == "" || len(r.Deals) == 0 {
		return of, false
	}
	return r.Deals[0].Deal.Asked.Commit, true
}

// CheckFollows checks the receipt that the close of an order follows: of the close of the house's
// shuffle that the order was dealt for.
func (d *Sides) CheckFollows(r *record.Record, req *Ending) error {
	origin := r.Commit.Context.ForLedger
	of, used := usedBy(r)
	switch {
	case req.Request.Follows == "":
		return nil // the rule co_dealer says when one is needed
	case origin == "" || !used:
		return api.Illegal(audit.RuleCoDealer,
			"follows must be left out, except for an order for another ledger that was dealt from")
	}
	h, err := d.houseOf(origin)
	if err != nil {
		return err
	}
	f, err := h.proves(origin, "follows", req.Request.Follows)
	if err != nil {
		return err
	}
	c, ok := f.body.(*audit.Close)
	if !ok || c.Shuffle != of.Index || c.Outcome == audit.OutcomeContinued {
		return api.Invalid("follows", fmt.Sprintf("must be the receipt of the close of shuffle %d of %s", of.Index, origin))
	}
	req.Follows, req.End.Follows = &audit.Follows{Foreign: f.Foreign, Places: r.Next()}, req.Request.Follows
	return nil
}

// MayOrder refuses an order for a ledger that is not among the houses of the configuration. A production ledger gives
// orders only if its deals wait for witnesses and any two quorums of the house's policy share one.
func (d *Sides) MayOrder(c *audit.Context) error {
	if c.ForLedger == "" {
		return nil
	}
	h, err := d.houseOf(c.ForLedger)
	if err != nil {
		return err
	}
	if c.Production && (d.Ledger.Genesis().Deals != audit.DealsCosigned || h.Policy.Overlap() == 0) {
		return api.Illegal(audit.RuleCoDealer, "the deals of a production ledger that gives orders must wait for "+
			"witnesses, and any two quorums of the house's policy must share a witness")
	}
	return nil
}

// CheckAsking checks a request for the next places of an order against the house's ledger, and fills in what the deal
// says of the request.
func (d *Sides) CheckAsking(r *record.Record, deal *audit.Deal, a *api.Asking) error {
	origin := r.Commit.Context.ForLedger
	h, err := d.houseOf(origin)
	if err != nil {
		return err
	}
	if size := d.Ledger.Head().Size; a.Since > size {
		return sinceBeyond(size)
	}
	of, err := h.proves(origin, "asked.commit", a.Commit)
	if err != nil {
		return err
	}
	commit, ok := of.body.(*audit.Commit)
	if !ok {
		return api.Invalid("asked.commit", "must be the receipt of a commit")
	}
	planned, _ := commit.Context.CoDealer()
	if planned.Index != r.ID || tlog.Hash(planned.Leaf) != tlog.RecordHash(r.Row.Entry) {
		return api.Invalid("asked.commit", fmt.Sprintf("must be of a shuffle whose plan names the order %d", r.ID))
	}
	if err := audit.CheckOrder(commit, r.Commit); err != nil {
		return api.Illegal(audit.RuleCoDealer, "%s", err)
	}
	if first, ok := usedBy(r); ok && first != of.Foreign {
		return api.Illegal(audit.RuleCoDealer, "the order is already used by shuffle %d of %s", first.Index, origin)
	}
	before := of
	if a.After != "" {
		if before, err = h.proves(origin, "asked.after", a.After); err != nil {
			return err
		}
		if before.checkpoint != of.checkpoint {
			return api.Invalid("asked.after", "must be a receipt under the same checkpoint as asked.commit")
		}
	}
	if err := comesAfter(r, of.Index, commit, before.body); err != nil {
		return err
	}
	deal.Asked = &audit.Asked{Commit: of.Foreign, After: before.Leaf,
		Head:  audit.Head{Size: of.checkpoint.Size, Root: of.checkpoint.Root},
		State: a.State, Ask: a.Ask}
	if err := audit.CheckAsked(deal, commit, of.Foreign, tlog.Hash(before.Leaf)); err != nil {
		return api.Illegal(audit.RuleCoDealer, "%s", err)
	}
	return nil
}

// comesAfter returns why the next deal of an order does not come behind this entry of the house's
// shuffle. The first deal comes behind the mix, or behind the commit if the plan needs no mix. Each
// further deal comes behind the house's deal that names the last deal of the order.
func comesAfter(r *record.Record, shuffle uint64, commit *audit.Commit, before audit.Body) error {
	ok, want := false, "the deal that names the last deal of the order"
	switch b := before.(type) {
	case *audit.Commit:
		ok = b.Commitment == commit.Commitment && len(r.Deals) == 0 && len(commit.Context.Mixed()) == 0
	case *audit.Mix:
		ok = len(r.Deals) == 0 && b.Shuffle == shuffle
	case *audit.Deal:
		last := len(r.Deals) - 1
		ok = last >= 0 && b.Shuffle == shuffle && b.Blind != nil && b.Blind.Deal == audit.Foreign{
			Index: r.Deals[last].Row.Index, Leaf: tlog.RecordHash(r.Deals[last].Row.Entry)}
	}
	if len(r.Deals) == 0 {
		want = "the commit, or the mix if its plan has one"
	}
	if !ok {
		return api.Illegal(audit.RuleCoDealer,
			"asked.after must be the entry of the house's shuffle that comes before this deal: %s", want)
	}
	return nil
}

// ProveOrder proves a deal of an order to the house, and what the house asked to see of how the ledger grew. If the
// deals of this ledger wait for witnesses, the proof is under the first checkpoint with the deal that the witnesses
// cosigned, so that it is the same for ever.
func (d *Sides) ProveOrder(ctx context.Context, row ledger.Row, since uint64) (receipt string, last *audit.Last,
	err error) {
	head, err := d.orderHead(ctx, row.Index)
	if err == nil && since > head.Size {
		err = sinceBeyond(head.Size)
	}
	rows := []ledger.Row{row}
	if err == nil && since > 0 {
		var before ledger.Row
		before, err = d.Ledger.Row(ctx, since-1)
		rows = append(rows, before)
	}
	if err != nil {
		return "", nil, err
	}
	proved, err := d.Ledger.ReceiptsUnder(ctx, rows, head)
	if err != nil {
		return "", nil, err
	}
	if since > 0 {
		last = new(proved[1].Last())
	}
	return proved[0].Text(), last, nil
}

func sinceBeyond(size uint64) error {
	return api.Invalid("asked.since", fmt.Sprintf("must be at most %d, the entries that this ledger has", size))
}

// orderHead returns the head under which a deal of an order is proved.
func (d *Sides) orderHead(ctx context.Context, index uint64) (ledger.Head, error) {
	if d.Ledger.Genesis().Deals != audit.DealsCosigned {
		return d.Ledger.FirstHead(ctx, index)
	}
	if err := d.Shuffles.AwaitWitnesses(ctx, index); err != nil {
		return ledger.Head{}, err
	}
	head, err := d.Ledger.FirstCosigned(ctx, index)
	if errors.Is(err, ledger.ErrNotFound) {
		err = fmt.Errorf("%w: entry %d", ledger.ErrNotWitnessed, index)
	}
	return head, err
}

// AskedAgain reports whether a stored deal of an order is the answer to this request.
func AskedAgain(at record.Dealt, a *api.Asking) bool {
	stored := at.Deal.Asked
	return (stored == nil) == (a == nil) && (a == nil || stored.State == a.State && stored.Ask == a.Ask)
}
