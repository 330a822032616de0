package verify

import (
	"cmp"
	"fmt"
	"slices"

	"shuffled/internal/audit"
)

// receipt is a receipt under judgement.
type receipt struct {
	evidence
	data []byte
}

func (r *receipt) format() (string, error) {
	one, err := audit.ParseReceipt(string(r.data))
	if err != nil {
		return "", err
	}
	r.receipts = []audit.Receipt{one}
	return "", r.under(one.Checkpoint)
}

func (r *receipt) entries() (string, error) {
	e, passed, err := audit.ParseEntryCodes(r.receipts[0].Entry)
	if err != nil {
		return "", err
	}
	index := r.receipts[0].Index
	r.v.passOver(index, passed)
	if (e.Body.Type() == audit.TypeGenesis) != (index == 0) {
		return "", fmt.Errorf("entry %d is a %s, where a genesis is entry 0 and no other", index, e.Body.Type())
	}
	r.v.ID = audit.ShuffleOf(e.Body)
	r.v.Entry = &Entry{Index: index, Type: e.Body.Type().String(), Time: timestamp(e.Time),
		Identity: e.Actor.Identity, Credential: e.Actor.Credential}
	switch b := e.Body.(type) {
	case *audit.Genesis:
		r.genesis = b
		r.v.Production = b.Production
	case *audit.Commit:
		r.commit = b
		r.v.showCommit(index, b, e.Time)
	case *audit.Close:
		r.v.showClose(b, e.Time)
	case *audit.Key:
		if b.Subject == audit.SubjectSigning {
			r.keys = []handover{{apart{r.receipts[0], r.head}, b}}
		}
	}
	return fmt.Sprintf("entry %d is a %s", index, e.Body.Type()), nil
}

// witnesses: a quorum over this checkpoint saw this entry. When it did, and before which other
// entries, only a transcript shows.
func (r *receipt) witnesses() (string, error) {
	if err := r.quorum(); err != nil {
		return "", err
	}
	r.seen = r.signed
	return "the quorum cosigned this checkpoint, and so saw this entry", nil
}

func (r *receipt) origin() (string, error) {
	switch g, c := r.genesis, r.commit; {
	case g != nil:
		return g.Origin, r.ofLedger(g.Type(), g.Origin)
	case c != nil:
		return c.Context.Origin, r.ofLedger(c.Type(), c.Context.Origin)
	}
	return "", notChecked("such an entry names no ledger")
}

// passOver counts the codes of an entry that this version passed over.
func (v *Verdict) passOver(index uint64, codes []audit.Code) {
	v.PassedOver = audit.PassOver(v.PassedOver, index, codes)
	slices.SortFunc(v.PassedOver, func(a, b audit.Passed) int {
		return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(a.Code, b.Code))
	})
}

// showCommit fills in what a commit says.
func (v *Verdict) showCommit(id uint64, c *audit.Commit, at int64) {
	v.ID, v.Table, v.Serial, v.GameRef = id, c.Context.Table, c.Serial, c.GameRef
	v.Production = c.Context.Production
	v.Commitment, v.DeckRoot = encode(c.Commitment), encode(c.DeckRoot)
	v.Disclosure = c.Context.Disclosure.String()
	v.CommittedAt, v.CloseBy = timestamp(at), timestamp(c.CloseBy)
	v.Places, v.EndAt = c.Context.Recipe.Positions(), c.Context.EndAt
}

// showClose fills in what a close says.
func (v *Verdict) showClose(c *audit.Close, at int64) {
	v.State, v.ClosedAt = "closed", timestamp(at)
	if c.Outcome == audit.OutcomeContinued {
		v.State = "continued" // until its disclosure
	}
	v.Outcome, v.Reason = c.Outcome.String(), c.Reason.String()
}
