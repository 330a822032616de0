package dealer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
)

// keyTries bounds how often one request makes way for another daemon's key
// entries before it is refused.
const keyTries = 4

// keyring knows the newest disclosure key of the ledger. The private half of
// none is here, or anywhere in the house (package disclosure).
type keyring struct {
	newest atomic.Pointer[ledger.Disclosure] // as the ledger last told; others may have written since
	turn   chan struct{}                     // capacity 1, held to ask the ledger or to make a key
}

func newKeyring() *keyring { return &keyring{turn: make(chan struct{}, 1)} }

// disclosureKey returns the newest disclosure key when it serves, and otherwise
// makes one: when there is none, when the auditors changed after it, and for a
// commit also when it is older than the period of rotation. Without an auditor
// key in force it is audit.RuleDisclosureKey.
func (d *Dealer) disclosureKey(ctx context.Context, serves func(*ledger.Disclosure) bool) (*ledger.Disclosure, error) {
	if k := d.keys.newest.Load(); k != nil && serves(k) {
		return k, nil
	}
	select {
	case d.keys.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.keys.turn }()
	for range keyTries {
		k, err := d.cfg.Ledger.Disclosure(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking for the disclosure key: %w", err)
		}
		if serves(&k) {
			d.keys.newest.Store(&k)
			return &k, nil
		}
		if err := d.makeKey(ctx, k.Auditors); err != nil {
			return nil, err
		}
		serves = usable // it is new, whatever the clock says of its age
	}
	return nil, &audit.Illegal{Code: audit.RuleDisclosureKey,
		Detail: "the auditors change faster than a key can be made for them"}
}

// makeKey appends a new disclosure key for these auditors. Nothing is written,
// and it is no error, when they are no longer those in force.
func (d *Dealer) makeKey(ctx context.Context, auditors [][]byte) error {
	if len(auditors) == 0 {
		return &audit.Illegal{Code: audit.RuleDisclosureKey, Detail: "no auditor key is in force in this ledger"}
	}
	body, err := disclosure.Body(d.cfg.Ledger.Info().Origin, auditors)
	if err != nil {
		return &audit.Illegal{Code: audit.RuleDisclosureKey, Detail: err.Error()}
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

// usable: a tape can be sealed to it.
func usable(k *ledger.Disclosure) bool { return k.Usable }

// young: moreover it is not due for rotation.
func (d *Dealer) young(k *ledger.Disclosure) bool {
	return k.Usable && d.cfg.Now()-k.At < d.cfg.Rotation.Milliseconds()
}

// appendUnder appends what needs a disclosure key, under the newest one. When
// another daemon's key or another auditor came first, nothing was written, and
// it is proposed again under the key of that time.
func (d *Dealer) appendUnder(ctx context.Context, serves func(*ledger.Disclosure) bool,
	propose func(*ledger.Disclosure) (ledger.Proposal, error)) (appended []ledger.Appended, err error) {
	for range keyTries {
		k, err := d.disclosureKey(ctx, serves)
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
		d.keys.newest.CompareAndSwap(k, nil)
	}
	return nil, &audit.Illegal{Code: audit.RuleDisclosureKey,
		Detail: "disclosure keys change faster than a tape can be sealed to one"}
}

// appendCommit appends a commit to this context, which is the proposal's body; with
// disclosure to auditors under a disclosure key; a child's with its parent's close behind
// it.
func (d *Dealer) appendCommit(ctx context.Context, c *audit.Context, p ledger.Proposal,
	from *parent) ([]ledger.Appended, error) {
	if from != nil {
		return d.appendChild(ctx, c, p, from)
	}
	if c.Disclosure == audit.DisclosurePublic {
		return d.propose(ctx, p)
	}
	return d.appendUnder(ctx, usable, func(*ledger.Disclosure) (ledger.Proposal, error) { return p, nil })
}

// appendClose appends the close of a shuffle behind other bodies, in one batch.
// It discloses the tape as the commit declared: in the clear only to everybody,
// else sealed to the auditors before it comes near the sequencer. The tape stays the
// caller's: the sequencer may still hold what it was given when the caller has left.
func (d *Dealer) appendClose(ctx context.Context, actor audit.Actor, r *record, tape []byte, req CloseRequest,
	before ...audit.Body) ([]ledger.Appended, error) {
	final, err := req.finalReveal("", r.id)
	if err != nil {
		return nil, err
	}
	if final != nil {
		before = append(before[:len(before):len(before)], final)
	}
	propose := func(c *audit.Close) ledger.Proposal {
		c.Shuffle, c.Outcome, c.Reason = r.id, req.Outcome, req.Reason
		return ledger.Proposal{Actor: actor, Bodies: append(before[:len(before):len(before)], c)}
	}
	if r.commit.Context.Disclosure == audit.DisclosurePublic {
		return d.propose(ctx, propose(&audit.Close{Form: audit.FormTape, Tape: bytes.Clone(tape)}))
	}
	return d.appendUnder(ctx, usable, func(k *ledger.Disclosure) (ledger.Proposal, error) {
		c, err := d.sealedClose(r, k, tape)
		if err != nil {
			return ledger.Proposal{}, err
		}
		return propose(c), nil
	})
}

// sealedClose is a close that tells the tape to auditors.
func (d *Dealer) sealedClose(r *record, k *ledger.Disclosure, tape []byte) (*audit.Close, error) {
	sealed, err := disclosure.Seal(k.Public, d.cfg.Ledger.Info().Origin, r.id, r.commit.Commitment, tape)
	if err != nil {
		return nil, fmt.Errorf("shuffle %d: %w", r.id, err)
	}
	return &audit.Close{Form: audit.FormSealed, Key: k.Key, Tape: sealed}, nil
}

// breaks reports whether err is the refusal by a rule.
func breaks(err error, rule string) bool {
	var illegal *audit.Illegal
	return errors.As(err, &illegal) && illegal.Code == rule
}
