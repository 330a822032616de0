package dealer

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
)

// keyTries is how often a request is tried while other daemons write key entries.
const keyTries = 4

// disclosureKey returns the newest disclosure key if it serves, and otherwise makes one. serves holds for usable keys
// only. If no auditor key is in force, the error is audit.RuleDisclosureKey.
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
	return nil, api.Illegal(audit.RuleDisclosureKey, "the auditors change faster than a key can be made for them")
}

// checkDisclosable refuses a commit with disclosure to auditors, before a tape is drawn, if no
// disclosure key can be had. A key that is due for rotation is replaced first.
func (d *Dealer) checkDisclosable(ctx context.Context, c *audit.Context) error {
	if c.Disclosure != audit.DisclosureAuditor {
		return nil
	}
	_, err := d.disclosureKey(ctx, func(k *ledger.Disclosure) bool {
		return k.Usable && d.cfg.Now()-k.At < d.cfg.Rotation.Milliseconds()
	})
	return err
}

// makeKey appends a new disclosure key for these auditors. If other auditors are in force now, it
// writes nothing and returns no error.
func (d *Dealer) makeKey(ctx context.Context, auditors [][]byte) error {
	if len(auditors) == 0 {
		return api.Illegal(audit.RuleDisclosureKey, "no auditor key is in force in this ledger")
	}
	body, err := disclosure.Body(d.cfg.Ledger.Info().Origin, auditors)
	if err != nil {
		return api.Illegal(audit.RuleDisclosureKey, "%s", err)
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
		if together(ctx) { // whose proposals are all refused by now
			return nil, fmt.Errorf("%w: there is a newer disclosure key", ledger.ErrOverloaded)
		}
	}
	return nil, api.Illegal(audit.RuleDisclosureKey, "the disclosure keys change faster than a tape can be sealed to the newest")
}

// breaks reports whether err is the refusal by this rule.
func breaks(err error, rule string) bool {
	illegal, ok := errors.AsType[*audit.Illegal](err)
	return ok && illegal.Code == rule
}
