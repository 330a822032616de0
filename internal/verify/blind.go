package verify

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// order is the co-dealer's part of a transcript: the order of places, in a ledger of its own.
type order struct {
	proofs []apart // of commit, deals, close
	keys   []handover

	entries []audit.Entry // of proofs
	commit  *audit.Commit
	deals   []*audit.Deal
	closed  *audit.Close // nil: none
	asked   int          // places of deals
	holds   bool         // the step co_dealer, and heads show one history
}

// boundHeads is the part of format that bounds the member co_dealer, and the paths of last entries.
func (t *transcript) boundHeads() error {
	var heads []audit.Last
	if w := t.file.Witnessed; w != nil {
		heads = append(heads, w.Last)
	}
	if f := t.file.CoDealer; f != nil {
		n := len(f.Receipts)
		if n < 1 || n > maxReceipts || len(f.Keys) > maxKeys || f.Heads != nil && len(f.Heads) != n-1 {
			return malformed("co_dealer: too few or too many receipts, heads or keys")
		}
		heads = append(heads, f.Heads...)
	}
	if slices.ContainsFunc(heads, func(l audit.Last) bool { return len(l.Proof) > audit.MaxProof }) {
		return malformed("the path of a checkpoint's last entry has more than %d hashes", audit.MaxProof)
	}
	return nil
}

// parseCoDealer is the part of format for the texts in the member co_dealer.
func (t *transcript) parseCoDealer() (err error) {
	f, origin := t.file.CoDealer, ""
	if f == nil {
		return nil
	}
	t.second = new(order)
	for i, text := range f.Receipts {
		var r apart
		if r.Receipt, err = audit.ParseReceipt(text); err == nil {
			r.head, err = checkpointIn(r.Checkpoint, origin)
		}
		if err != nil {
			return fmt.Errorf("receipt %d of the co-dealer: %w", i, err)
		}
		t.second.proofs, origin = append(t.second.proofs, r), r.head.Origin
	}
	t.second.keys, err = parseHandovers(f.Keys, origin)
	return err
}

// orderEntries is the part of entries for the co-dealer: a commit, deals and at most one close of
// one order, ascending, and only if the plan names a co-dealer.
func (t *transcript) orderEntries() error {
	_, named := t.commit.Context.CoDealer()
	if named != (t.second != nil) {
		return errors.New("the member co_dealer stands in the file of a shuffle whose plan names one, and in no other")
	}
	if !named {
		return nil
	}
	o := t.second
	for i, r := range o.proofs {
		e, _, err := audit.ParseEntryCodes(r.Entry)
		if err != nil {
			return fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
		}
		if i > 0 && r.Index <= o.proofs[i-1].Index || o.closed != nil {
			return fmt.Errorf("entry %d of the co-dealer stands out of order", r.Index)
		}
		id, ok := o.proofs[0].Index, i > 0
		switch b := e.Body.(type) {
		case *audit.Commit:
			o.commit, t.bound.Second, ok = b, b, i == 0
		case *audit.Deal:
			o.deals, o.asked, ok = append(o.deals, b), o.asked+b.Count(), ok && b.Shuffle == id
		case *audit.Close:
			o.closed, ok = b, ok && b.Shuffle == id && b.Outcome != audit.OutcomeContinued // an order has no child
		default:
			ok = false
		}
		if !ok {
			return fmt.Errorf("entry %d of the co-dealer, of type %s, is no part of its order %d", r.Index, e.Body.Type(), id)
		}
		o.entries = append(o.entries, e)
	}
	if err := handoverEntries(o.keys); err != nil {
		return fmt.Errorf("the co-dealer: %w", err)
	}
	return nil
}

// asked holds the co-dealer's entries against those of the shuffle: its order is the one that the plan names, and the
// holder of the ask key asked for each deal, after the entry that stands before it, for the same runs.
func (t *transcript) asked() (string, error) {
	o := t.second
	if o == nil {
		return "", notChecked("the shuffle has no co-dealer")
	}
	planned, _ := t.commit.Context.CoDealer()
	if p := o.proofs[0]; p.head.Origin != planned.Origin || p.Index != planned.Index ||
		tlog.RecordHash(p.Entry) != tlog.Hash(planned.Leaf) {
		return "", errors.New("the co-dealer's commit is not the one that the plan names")
	}
	err := audit.CheckOrder(t.commit, o.commit)
	if err != nil {
		return "", err
	}
	if len(o.deals) < len(t.deals) {
		return "", fmt.Errorf("%d deals of the co-dealer for %d", len(o.deals), len(t.deals))
	}
	at := 0
	of := audit.Foreign{Index: t.file.ID, Leaf: t.commitLeaf()}
	before := t.commitLeaf()
	for i, p := range t.placed {
		leaf := tlog.RecordHash(t.receipts[i].Entry)
		switch b := p.Entry.Body.(type) {
		case *audit.Mix:
			before = leaf
		case *audit.Deal:
			d, r := o.deals[at], o.proofs[at+1]
			at++
			if b.Blind.Deal != (audit.Foreign{Index: r.Index, Leaf: tlog.RecordHash(r.Entry)}) ||
				b.Blind.Head != (audit.Head{Size: r.head.Size, Root: r.head.Root}) {
				return "", fmt.Errorf("entry %d names another deal of the co-dealer than entry %d, or another checkpoint over it",
					p.Index, r.Index)
			}
			if d.First != b.First || !slices.Equal(d.Runs, b.Runs) {
				return "", fmt.Errorf("the co-dealer was asked for other runs than entry %d has", p.Index)
			}
			if err := audit.CheckAsked(d, t.commit, of, before); err != nil {
				return "", fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
			}
			before = leaf
		}
	}
	if err = t.unplayed(o.deals[at:], o.proofs[at+1:], of, before); err == nil && o.closed != nil {
		err = o.closed.EndsOrder(t.closing, o.asked)
	}
	return fmt.Sprintf("%d requests, each behind the entry before it", len(t.deals)), err
}

// unplayed: after the last deal the co-dealer gave at most one more, of the next places, and the close names it.
func (t *transcript) unplayed(rest []*audit.Deal, proofs []apart, of audit.Foreign, before tlog.Hash) error {
	var named *audit.Blind
	if t.closed != nil {
		named = t.closed.Unplayed()
	}
	switch {
	case named == nil && len(t.file.CoDealer.Unplayed) > 0:
		return errors.New("the file opens what was not played, and the close names none")
	case named == nil && len(rest) == 0:
		return nil
	case t.mix == nil && len(t.commit.Context.Mixed()) > 0:
		return errors.New("what was not played was asked for, and the mix is missing")
	case named == nil || len(rest) != 1:
		return fmt.Errorf("%d deals of the co-dealer were not dealt on, and the close names %t", len(rest), named != nil)
	case named.Deal != audit.Foreign{Index: proofs[0].Index, Leaf: tlog.RecordHash(proofs[0].Entry)}:
		return errors.New("the close names another deal of the co-dealer as not played")
	case rest[0].First != t.second.asked-rest[0].Count(), t.second.asked > t.commit.Context.Recipe.Positions():
		return fmt.Errorf("what was not played, from place %d on, are not the next places", rest[0].First)
	}
	if want := len(rest[0].Opens()); len(named.Values) != want && len(named.Values) > 0 {
		return fmt.Errorf("the close names %d values of the co-dealer that were not played, and %d were asked for",
			len(named.Values), want)
	}
	if err := audit.CheckAsked(rest[0], t.commit, of, before); err != nil {
		return err
	}
	return t.openUnplayed(rest[0], named)
}

// openUnplayed: the file opens each place that the close has a value for, as if it had been dealt.
func (t *transcript) openUnplayed(d *audit.Deal, named *audit.Blind) error {
	cards := t.file.CoDealer.Unplayed
	if len(cards) != len(named.Values) {
		return fmt.Errorf("the close names %d values that were not played, and the file opens %d", len(named.Values),
			len(cards))
	}
	t.bound.Order.Give(&audit.Deal{First: d.First, Runs: d.Runs, Blind: named})
	places, ranges := d.Opens(), t.commit.Context.Recipe.Ranges
	for i, c := range cards {
		place := places[i] // unplayed: a value for each of them, or none
		if v := named.Values[i]; ranges != nil && (place >= len(ranges) || v < 1 || v > ranges[place]) {
			return fmt.Errorf("the close names %d of the co-dealer for place %d, which is out of range", v, place)
		}
		if t.commit.Context.IsNumbers() && place != len(t.file.Cards)+i {
			return fmt.Errorf("place %d was not played: which number it shows hangs on places that are not shown", place)
		}
		if c.Place != place {
			return fmt.Errorf("place %d was not played, and the file opens place %d", place, c.Place)
		}
		if err := t.bound.Open(t.opened[len(t.file.Cards)+i]); err != nil {
			return fmt.Errorf("place %d, which was not played: %w", place, err)
		}
	}
	return nil
}

// coDealer holds the co-dealer's evidence against what the caller trusts for it.
func (t *transcript) coDealer() (string, error) {
	o, p := t.second, t.trust.second
	switch {
	case o == nil:
		return "", notChecked("the shuffle has no co-dealer")
	case p == nil:
		return "", notChecked("no policy for the co-dealer is given")
	case len(p.Logs) == 0:
		return "", notChecked("the co-dealer's policy pins no key")
	case p.Overlap() == 0:
		return "", notChecked("two quorums of the co-dealer's policy share no witness")
	}
	origin := o.proofs[0].head.Origin
	if err := t.apartFrom(p, origin); err != nil {
		return "", err
	}
	chain := &succession{trusted: p.Logs, public: p.LogKeys}
	if err := chain.follow(origin, o.keys); err != nil {
		return "", fmt.Errorf("the co-dealer: %w", err)
	}
	heads := t.file.CoDealer.Heads
	if err := errors.Join(o.grew(heads), t.oneHistory()); err != nil {
		return "", err
	}
	for _, r := range o.proofs {
		if _, err := chain.signed(r.Checkpoint, r.head.Size); err != nil {
			return "", fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
		}
		if err := quorum(p, r.Checkpoint); err != nil {
			return "", fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
		}
	}
	found := fmt.Sprintf("%d entries of %s", len(o.proofs), origin)
	if o.holds = len(heads) == len(o.proofs)-1; !o.holds {
		found += ", of which the file does not show that they are of one history"
	}
	return found, nil
}

// grew: each receipt leads to the root of its checkpoint, whose tree begins with that of the checkpoint before. The
// first one that covers the entry of a key begins with that of the checkpoint that the key signed.
func (o *order) grew(heads []audit.Last) error {
	for i, r := range o.proofs {
		err := r.CheckInclusion(r.head)
		if err == nil && i > 0 && heads != nil {
			err = r.head.CheckPrefix(o.proofs[i-1].head, heads[i-1])
		}
		if err != nil {
			return fmt.Errorf("entry %d of the co-dealer: %w", r.Index, err)
		}
	}
	for _, h := range o.keys {
		i := slices.IndexFunc(o.proofs, func(r apart) bool { return r.head.Size > h.Index })
		if i < 0 {
			return fmt.Errorf("the key of entry %d of the co-dealer is above each of its checkpoints", h.Index)
		}
		if err := h.under(o.proofs[i].head); err != nil {
			return fmt.Errorf("the co-dealer: %w", err)
		}
	}
	return nil
}

// oneHistory: at each size a ledger has one root: the co-dealer's in its checkpoints in the file and in the close of
// the house, the house's in its own in the file and in the deals of the order, which name what the co-dealer was shown.
// The step asked compared those in the deals of the house.
func (t *transcript) oneHistory() error {
	heads := []audit.Checkpoint{t.head}
	if t.early != nil {
		heads = append(heads, t.early.head)
	}
	for _, h := range t.keys {
		heads = append(heads, h.head)
	}
	for _, d := range t.second.deals {
		heads = append(heads, audit.Checkpoint{Origin: t.head.Origin, Size: d.Asked.Head.Size, Root: d.Asked.Head.Root})
	}
	for _, r := range t.second.proofs {
		heads = append(heads, r.head)
	}
	if t.closed != nil && t.closed.Blind != nil {
		h := t.closed.Blind.Head
		heads = append(heads, audit.Checkpoint{Origin: t.second.proofs[0].head.Origin, Size: h.Size, Root: h.Root})
	}
	roots := make(map[audit.Checkpoint]tlog.Hash) // by origin and size alone
	for _, h := range heads {
		at := audit.Checkpoint{Origin: h.Origin, Size: h.Size}
		if root, ok := roots[at]; ok && root != h.Root {
			return fmt.Errorf("%d entries of %s have two roots: it was forked, or the other party wrote another root", h.Size,
				h.Origin)
		}
		roots[at] = h.Root
	}
	return nil
}

// apartFrom: the co-dealer is no part of the house, as far as keys and names show it.
func (t *transcript) apartFrom(p *trust.Policy, origin string) error {
	if origin == t.head.Origin {
		return fmt.Errorf("%s is the house's own ledger", origin)
	}
	second := slices.Clone(p.LogKeys)
	for _, h := range t.second.keys {
		second = append(second, h.key.Public)
	}
	own := func(public []byte) bool { return t.signs(public) || trust.Among(t.trust.Public)(public) }
	if slices.ContainsFunc(second, own) {
		return errors.New("a key of the co-dealer is the house's")
	}
	if err := p.CheckWitnesses(t.head.Origin, own); err != nil {
		return fmt.Errorf("the co-dealer's policy, where the ledger is the house's: %w", err)
	}
	if err := t.trust.Policy.CheckWitnesses(origin, trust.Among(second)); err != nil {
		return fmt.Errorf("the house's policy, where the ledger is the co-dealer's: %w", err)
	}
	return nil
}

// dealtOn says of a closed shuffle whether the co-dealer opened more of its places than were dealt, or named as not
// played (docs/SPEC-BLIND.md section 8). The co-dealer's ledger has a void order that follows nothing only undealt.
func (t *transcript) dealtOn() {
	o := t.second
	if o == nil || t.closed == nil {
		return
	}
	switch end := o.closed; {
	case o.holds && end != nil && end.Follows != nil && end.Follows.Places > o.asked:
		t.v.DealtOn, t.v.NotDealtOn = OpenedOnly, end.Follows.Places-o.asked
	case end == nil, !o.holds, end.Reason == audit.ReasonTapeLost && end.Follows == nil,
		end.Outcome == audit.OutcomeExpired && end.Follows == nil:
		t.v.DealtOn = DealtOnNotShown
	}
}

// blind returns what the verdict says to a caller who trusts a co-dealer, if the steps hold: what
// was asked for, or why the shuffle is not blind.
func (t *transcript) blind() (*Blind, string) {
	o := t.second
	switch {
	case t.trust.second == nil:
		return nil, ""
	case o == nil:
		return nil, NotNamed
	case t.v.Verdict != Proved, len(t.trust.second.Logs) == 0:
		return nil, NotPinned
	case t.trust.second.Overlap() == 0:
		return nil, NotShared
	case len(o.deals) == 0:
		return nil, NotDealt
	case !o.holds:
		return nil, NotOneHistory
	}
	b := &Blind{CoDealer: o.proofs[0].head.Origin, Requests: []Request{}, Closed: o.closed != nil,
		OrderChecked: slices.ContainsFunc(t.v.Steps,
			func(s Step) bool { return s.Name == stepOrder && s.Result == StepOK })}
	for i, d := range o.deals {
		r := Request{Place: d.First, Places: d.Count(), Time: timestamp(o.entries[i+1].Time),
			Unplayed: i >= len(t.deals)}
		for _, run := range d.Runs {
			r.Runs = append(r.Runs, Run{Places: run.Count, Purpose: run.Purpose.String(), Recipient: run.Recipient,
				Public: run.Public, Round: run.Round})
		}
		if d.Asked.State != [32]byte{} {
			r.State = encode(d.Asked.State)
			if history := t.trust.given.History; history != nil {
				r.History = HistoryDiffers
				if line, ok := audit.BehindLine(history, d.Asked.State); ok {
					r.History, r.Line = HistoryChecked, &line
				}
			}
		}
		if r.Unplayed {
			r.Cards = t.unplayedCards(d)
		}
		b.Requests = append(b.Requests, r)
	}
	return b, ""
}
