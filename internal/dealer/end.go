package dealer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/dealer/record"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
)

// appendClose appends in one batch: the entries of before, the final reveal, the close of a shuffle, and the
// disclosures of its ancestors. It fails if the tape of an ancestor cannot be opened. The caller keeps and clears the
// tape. The sequencer gets a copy, because it may still need the tape after the caller has left.
func (d *Dealer) appendClose(ctx context.Context, actor audit.Actor, r *record.Record, tape []byte, req blind.Ending,
	before ...audit.Body) ([]ledger.Appended, error) {
	final, err := req.Request.FinalReveal("", r.ID)
	if err != nil {
		return nil, err
	}
	if final != nil {
		before = append(before[:len(before):len(before)], final)
	}
	above, lost, err := d.ancestors(ctx, r)
	defer wipeAll(above)
	if err := cmp.Or(err, lost); err != nil {
		return nil, err
	}
	return d.appendEnd(ctx, actor, tapeOf{r, tape}, above, req, before...)
}

// tapeOf is a shuffle with its tape; nil: the tape is lost.
type tapeOf struct {
	record *record.Record
	tape   []byte
}

func wipeAll(tapes []tapeOf) {
	for _, t := range tapes {
		clear(t.tape)
	}
}

// ancestors returns the tapes that the end of a shuffle discloses in addition to its own, the root
// first. lost is why one of them cannot be opened, nil if all can.
func (d *Dealer) ancestors(ctx context.Context, r *record.Record) (above []tapeOf, lost, err error) {
	for p := r.Commit.Context.Parent; p != nil; {
		parent, err := d.shuffles.Visible(ctx, p.ID)
		if err != nil {
			return above, nil, err
		}
		if !parent.Continued() {
			break
		}
		tape, err := d.shuffles.TapeOf(ctx, parent)
		switch {
		case errors.Is(err, api.ErrSealed):
			lost = err
		case err != nil:
			return above, nil, err
		}
		above = slices.Insert(above, 0, tapeOf{parent, tape})
		p = parent.Commit.Context.Parent
	}
	return above, lost, nil
}

// appendEnd appends the close of the last shuffle, behind the entries of before, and then the disclosures of its
// ancestors. If one of them was dealt from or revealed since it was read, appendEnd reads all of them again.
func (d *Dealer) appendEnd(ctx context.Context, actor audit.Actor, last tapeOf, above []tapeOf, req blind.Ending,
	before ...audit.Body) (appended []ledger.Appended, err error) {
	all := append([]tapeOf{last}, above...)
	propose := func(k *ledger.Disclosure) (ledger.Proposal, error) {
		return d.proposeEnd(ctx, actor, all, req, k, before)
	}
	together := together(ctx) // then it is proposed once, and not from memory
	for try := range endTries {
		for i := 0; i < len(all) && (together || try > 0); i++ {
			if all[i].record, err = d.shuffles.Durable(ctx, all[i].record.ID); err != nil {
				return nil, err
			}
		}
		if try > 0 {
			if err := d.blind.UnplayedBehind(ctx, all[0].record, &req, before); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(all, tapeOf.forAuditors) {
			appended, err = d.appendUnder(ctx, propose)
		} else if p, unmade := propose(nil); unmade == nil {
			appended, err = d.propose(ctx, p)
		} else {
			err = unmade
		}
		if !errors.Is(err, record.ErrMoved) {
			return appended, err
		}
		if together {
			return nil, api.Invalid("operations", fmt.Sprintf("must not deal or reveal shuffle %d in front of its close, "+
				"because its tape is for auditors and the batch is for all or none: give the close with the deal", last.record.ID))
		}
	}
	return nil, fmt.Errorf("%w: the deals and reveals of shuffle %d leave no time for its close", ledger.ErrOverloaded,
		last.record.ID)
}

// endTries is how often a close is tried while its shuffle is dealt from or revealed.
const endTries = 8

// proposeEnd is the proposal of appendEnd. Each entry discloses its tape as the commit declared. A tape for auditors is
// sealed before the sequencer gets it, and the openings of public places are kept with it.
func (d *Dealer) proposeEnd(ctx context.Context, actor audit.Actor, all []tapeOf, req blind.Ending,
	k *ledger.Disclosure, before []audit.Body) (ledger.Proposal, error) {
	p := ledger.Proposal{Actor: actor, Bodies: slices.Clone(before), Kept: make([][]byte, len(before))}
	if len(before) > 0 {
		p.Kept[0] = req.Given
	}
	for _, b := range before {
		if dealt, ok := b.(*audit.Deal); ok && dealt.Blind != nil {
			req.Blind = &audit.Blind{Head: dealt.Blind.Head}
		}
	}
	with := p.Kept
	for i, t := range all {
		told, err := d.disclose(t, k)
		var end record.KeptEnd
		if i == 0 {
			end = req.End
		}
		if t.forAuditors() || t.record.Blind() {
			p.Rests = append(p.Rests, t.record.Rest())
		}
		if err == nil && t.forAuditors() {
			then := t.record.After(before, with)
			end.Cards, err = d.shownCards(ctx, then, nil, then.Public())
		}
		var kept []byte
		if err == nil && !reflect.ValueOf(end).IsZero() {
			kept, err = json.Marshal(end)
		}
		if err != nil {
			return p, err
		}
		var body audit.Body = &told
		if i == 0 {
			body = &audit.Close{Shuffle: told.Shuffle, Outcome: req.Request.Outcome, Reason: req.Request.Reason,
				Form: told.Form, Tape: told.Tape, Key: told.Key, Follows: req.Follows, Blind: req.Blind}
			before, with = nil, nil // they are of the last shuffle, and not of its ancestors
		}
		p.Bodies, p.Kept = append(p.Bodies, body), append(p.Kept, kept)
	}
	return p, nil
}

// forAuditors reports whether the tape is sealed to a disclosure key.
func (t tapeOf) forAuditors() bool {
	return t.tape != nil && t.record.Commit.Context.Disclosure == audit.DisclosureAuditor
}

// disclose is how the entry that ends a shuffle discloses its tape: in the clear to everybody, or
// sealed to the auditors; with no tape if it is lost.
func (d *Dealer) disclose(t tapeOf, k *ledger.Disclosure) (audit.DisclosureEntry, error) {
	out := audit.DisclosureEntry{Shuffle: t.record.ID}
	switch {
	case t.tape == nil:
		return out, nil
	case !t.forAuditors():
		out.Form, out.Tape = audit.FormTape, bytes.Clone(t.tape)
		return out, nil
	}
	sealed, err := disclosure.Seal(k.Public, d.cfg.Ledger.Info().Origin, t.record.ID, t.record.Commit.Commitment,
		t.tape)
	if err != nil {
		return out, fmt.Errorf("shuffle %d: %w", t.record.ID, err)
	}
	out.Form, out.Key, out.Tape = audit.FormSealed, k.Key, sealed
	return out, nil
}

// closed answers a close that was appended. shown is the answer to a final reveal in front of it,
// without time and receipt; nil: none.
func closed(appended []ledger.Appended, shown *api.Reveal) api.Close {
	at := slices.IndexFunc(appended, func(a ledger.Appended) bool { return a.Entry.Body.Type() == audit.TypeClose })
	answer := closeAnswer(appended[at].Entry.Body.(*audit.Close))
	answer.Time, answer.Receipt = api.Time(appended[at].Entry.Time), appended[at].Receipt.Text()
	if shown != nil {
		before := appended[at-1]
		shown.Time, shown.Receipt = api.Time(before.Entry.Time), before.Receipt.Text()
		answer.Reveal = shown
	}
	return answer
}

// closeAnswer is the answer to a close without its time and receipts. It has the tape only if the
// close discloses it to everybody.
func closeAnswer(c *audit.Close) (a api.Close) {
	if c.Form == audit.FormTape {
		a.Tape = c.Tape
	}
	return a
}
