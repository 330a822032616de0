package dealer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
)

// keyTries is how often a request is tried while other daemons write key entries.
const keyTries = 4

// disclosureKey returns the newest disclosure key if it serves, and otherwise makes one. serves is
// usable or young. If no auditor key is in force, the error is audit.RuleDisclosureKey.
func (d *Dealer) disclosureKey(ctx context.Context, serves func(*ledger.Disclosure) bool) (*ledger.Disclosure, error) {
	if k := d.newestKey.Load(); k != nil && serves(k) {
		return k, nil
	}
	if err := d.keyTurn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer d.keyTurn.Release(1)
	for range keyTries {
		k, err := d.cfg.Ledger.Disclosure(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking for the disclosure key: %w", err)
		}
		if serves(&k) {
			d.newestKey.Store(&k)
			return &k, nil
		}
		if err := d.makeKey(ctx, k.Auditors); err != nil {
			return nil, err
		}
		serves = usable // the key is new, also if the clocks of two hosts differ
	}
	return nil, illegal(audit.RuleDisclosureKey, "the auditors change faster than a key can be made for them")
}

// checkDisclosable refuses a commit with disclosure to auditors, before a tape is drawn, if no
// disclosure key can be had. A key that is due for rotation is replaced first.
func (d *Dealer) checkDisclosable(ctx context.Context, c *audit.Context) error {
	if c.Disclosure != audit.DisclosureAuditor {
		return nil
	}
	_, err := d.disclosureKey(ctx, d.young)
	return err
}

// makeKey appends a new disclosure key for these auditors. If other auditors are in force now, it
// writes nothing and returns no error.
func (d *Dealer) makeKey(ctx context.Context, auditors [][]byte) error {
	if len(auditors) == 0 {
		return illegal(audit.RuleDisclosureKey, "no auditor key is in force in this ledger")
	}
	body, err := disclosure.Body(d.cfg.Ledger.Info().Origin, auditors)
	if err != nil {
		return illegal(audit.RuleDisclosureKey, "%s", err)
	}
	appended, err := d.cfg.Ledger.Append(ctx, ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{body}})
	if breaks(err, audit.RuleKey) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("appending a disclosure key: %w", err)
	}
	d.cfg.Log.Info("made a disclosure key", "ledger", d.cfg.Ledger.Info().Name, "entry", appended[0].Index, "auditors",
		len(auditors))
	return nil
}

// usable: there is a key, and it is wrapped to exactly the auditors in force.
func usable(k *ledger.Disclosure) bool { return k.Usable }

// young: the key is usable and not due for rotation.
func (d *Dealer) young(k *ledger.Disclosure) bool {
	return k.Usable && d.cfg.Now()-k.At < d.cfg.Rotation.Milliseconds()
}

// appendUnder appends a proposal under the newest disclosure key. If the ledger refuses it because
// another key or auditor came first, appendUnder proposes again under the key that is newest then.
func (d *Dealer) appendUnder(ctx context.Context,
	propose func(*ledger.Disclosure) (ledger.Proposal, error)) (appended []ledger.Appended, err error) {
	for range keyTries {
		k, err := d.disclosureKey(ctx, usable)
		if err != nil {
			return nil, err
		}
		p, err := propose(k)
		if err != nil {
			return nil, err
		}
		appended, err = d.propose(ctx, p)
		if !breaks(err, audit.RuleDisclosureKey) {
			return appended, err
		}
		d.newestKey.CompareAndSwap(k, nil)
	}
	return nil, illegal(audit.RuleDisclosureKey, "the disclosure keys change faster than a tape can be sealed to the newest")
}

// appendCommit appends a commit, which is the body of the proposal. The close of its parent comes
// behind the commit of a child.
func (d *Dealer) appendCommit(ctx context.Context, c *audit.Context, p ledger.Proposal,
	from *parent) ([]ledger.Appended, error) {
	if from != nil {
		from.continued(&p)
	}
	if c.Disclosure == audit.DisclosurePublic {
		return d.propose(ctx, p)
	}
	return d.appendUnder(ctx, func(*ledger.Disclosure) (ledger.Proposal, error) { return p, nil })
}

// appendClose appends in one batch: the entries of before, the final reveal, the close of a shuffle, and the
// disclosures of its ancestors. It fails if the tape of an ancestor cannot be opened. The caller keeps and clears the
// tape. The sequencer gets a copy, because it may still need the tape after the caller has left.
func (d *Dealer) appendClose(ctx context.Context, actor audit.Actor, r *record, tape []byte, req CloseRequest,
	before ...audit.Body) ([]ledger.Appended, error) {
	final, err := req.finalReveal("", r.id)
	if err != nil {
		return nil, err
	}
	if final != nil {
		before = append(before[:len(before):len(before)], final)
	}
	above, lost, err := d.ancestors(ctx, r)
	defer wipeAll(above)
	if err == nil {
		err = lost
	}
	if err != nil {
		return nil, err
	}
	return d.appendEnd(ctx, actor, tapeOf{r, tape}, above, req, before...)
}

// tapeOf is a shuffle with its tape; nil: the tape is lost.
type tapeOf struct {
	record *record
	tape   []byte
}

func wipeAll(tapes []tapeOf) {
	for _, t := range tapes {
		clear(t.tape)
	}
}

// ancestors returns the tapes that the end of a shuffle discloses in addition to its own, the root
// first. lost is why one of them cannot be opened, nil if all can.
func (d *Dealer) ancestors(ctx context.Context, r *record) (above []tapeOf, lost, err error) {
	for p := r.commit.Context.Parent; p != nil; {
		parent, err := d.look(ctx, p.ID)
		if err != nil {
			return above, nil, err
		}
		if !parent.continued() {
			break
		}
		tape, inputs, err := d.tape(ctx, parent, maxAncestors)
		clear(inputs)
		switch {
		case errors.Is(err, ErrSealed):
			lost = err
		case err != nil:
			return above, nil, err
		}
		above = slices.Insert(above, 0, tapeOf{parent, tape})
		p = parent.commit.Context.Parent
	}
	return above, lost, nil
}

// appendEnd appends the close of the last shuffle, behind the entries of before, and then the disclosures of its
// ancestors. If one of them was dealt from or revealed since it was read, appendEnd reads all of them again.
func (d *Dealer) appendEnd(ctx context.Context, actor audit.Actor, last tapeOf, above []tapeOf, req CloseRequest,
	before ...audit.Body) (appended []ledger.Appended, err error) {
	all := append([]tapeOf{last}, above...)
	propose := func(k *ledger.Disclosure) (ledger.Proposal, error) {
		return d.ending(ctx, actor, all, req, k, before)
	}
	for range endTries {
		if slices.ContainsFunc(all, tapeOf.forAuditors) {
			appended, err = d.appendUnder(ctx, propose)
		} else if p, unmade := propose(nil); unmade == nil {
			appended, err = d.propose(ctx, p)
		} else {
			err = unmade
		}
		if !errors.Is(err, errMoved) {
			return appended, err
		}
		if in, ok := ctx.Value(turnKey{}).(turn); ok && in.round.together {
			return nil, &RequestError{"operations", fmt.Sprintf("must not deal or reveal shuffle %d in front of its close, "+
				"because its tape is for auditors and the batch is for all or none: give the close with the deal", last.record.id)}
		}
		for i := range all {
			if all[i].record, err = d.record(ctx, all[i].record.id); err != nil {
				return nil, err
			}
		}
		if err := d.unplayedBehind(ctx, all[0].record, &req, before); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the deals and reveals of shuffle %d leave no time for its close", ledger.ErrOverloaded,
		last.record.id)
}

// endTries is how often a close is tried while its shuffle is dealt from or revealed.
const endTries = 8

// ending is the proposal of appendEnd. Each entry discloses its tape as the commit declared. A tape for auditors is
// sealed before the sequencer gets it, and the openings of public places are kept with it.
func (d *Dealer) ending(ctx context.Context, actor audit.Actor, all []tapeOf, req CloseRequest,
	k *ledger.Disclosure, before []audit.Body) (ledger.Proposal, error) {
	p := ledger.Proposal{Actor: actor, Bodies: slices.Clone(before), Kept: make([][]byte, len(before))}
	if len(before) > 0 {
		p.Kept[0] = req.given
	}
	for _, b := range before {
		if dealt, ok := b.(*audit.Deal); ok && dealt.Blind != nil {
			req.blind = &audit.Blind{Head: dealt.Blind.Head}
		}
	}
	with := p.Kept
	for i, t := range all {
		told, err := d.disclose(t, k)
		var end keptEnd
		if i == 0 {
			end = req.end
		}
		if t.forAuditors() || t.record.blind() {
			p.Rests = append(p.Rests, t.record.rest())
		}
		if err == nil && t.forAuditors() {
			end.Cards, err = d.openings(ctx, t.record, before, with)
		}
		if err != nil {
			return p, err
		}
		var body audit.Body = &audit.DisclosureEntry{Shuffle: told.Shuffle, Form: told.Form, Tape: told.Tape,
			Key: told.Key}
		if i == 0 {
			body = &audit.Close{Shuffle: told.Shuffle, Outcome: req.Outcome, Reason: req.Reason, Form: told.Form,
				Tape: told.Tape, Key: told.Key, Follows: req.follows, Blind: req.blind}
			before, with = nil, nil // they are of the last shuffle, and not of its ancestors
		}
		kept, err := json.Marshal(end)
		if err != nil {
			return p, err
		}
		if string(kept) == "{}" {
			kept = nil
		}
		p.Bodies, p.Kept = append(p.Bodies, body), append(p.Kept, kept)
	}
	return p, nil
}

// forAuditors reports whether the tape is sealed to a disclosure key.
func (t tapeOf) forAuditors() bool {
	return t.tape != nil && t.record.commit.Context.Disclosure == audit.DisclosureAuditor
}

// disclose is how the entry that ends a shuffle discloses its tape: in the clear to everybody, or
// sealed to the auditors; with no tape if it is lost.
func (d *Dealer) disclose(t tapeOf, k *ledger.Disclosure) (audit.DisclosureEntry, error) {
	out := audit.DisclosureEntry{Shuffle: t.record.id}
	switch {
	case t.tape == nil:
		return out, nil
	case !t.forAuditors():
		out.Form, out.Tape = audit.FormTape, bytes.Clone(t.tape)
		return out, nil
	}
	sealed, err := disclosure.Seal(k.Public, d.cfg.Ledger.Info().Origin, t.record.id, t.record.commit.Commitment,
		t.tape)
	if err != nil {
		return out, fmt.Errorf("shuffle %d: %w", t.record.id, err)
	}
	out.Form, out.Key, out.Tape = audit.FormSealed, k.Key, sealed
	return out, nil
}

// breaks reports whether err is the refusal by this rule.
func breaks(err error, rule string) bool {
	illegal, ok := errors.AsType[*audit.Illegal](err)
	return ok && illegal.Code == rule
}
