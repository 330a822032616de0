package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
)

// The entropy latch is set in two places: in this daemon, which then draws no tape, and in the ledger, which then takes
// no commit from any daemon. Package main writes the one into the other. An administrator clears both at once.

// ClearLatch runs the generator's start-up test. If the test passes, ClearLatch opens this daemon's latch and writes
// that the ledger's latch is cleared. If it fails, or the entry cannot be written, the latch stays set; a failed test
// is ErrEntropy. If this daemon is latched and the ledger does not say so, an entry says that first.
func (d *Dealer) ClearLatch(ctx context.Context, actor audit.Actor, reason string,
	act *audit.ActEntry) (recorded api.Recorded, err error) {
	if err := api.CheckReason(reason); err != nil {
		return api.Recorded{}, err
	}
	if err := d.cfg.Ledger.Refresh(ctx); err != nil {
		return api.Recorded{}, err
	}
	cause, own := d.cfg.Entropy.Latched()
	stands := d.cfg.Ledger.Live().Latched
	if !own && !stands {
		return api.Recorded{}, api.Illegal(audit.RuleLatch, "neither the ledger's latch nor that of this daemon is set")
	}
	if err := d.testGenerator(own, reason); err != nil {
		return api.Recorded{}, fmt.Errorf("%w: %w", api.ErrEntropy, err)
	}
	if !stands { // by itself, because it ends every act that waits to clear the latch (docs/SPEC.md section 5.8)
		_, err = d.append(ctx, actor, nil, &audit.Event{Kind: audit.EventLatchSet, Latch: audit.Latch(cause.Reason)})
	}
	if err == nil {
		recorded, err = d.append(ctx, actor, act, &audit.Event{Kind: audit.EventLatchClear, Reason: reason})
	}
	if err != nil && own {
		// The entry was not written, so nobody cleared the latch. Other ledgers of this daemon
		// may not say yet that it was set.
		d.cfg.Entropy.Trip(entropy.ReasonOperator)
	}
	return recorded, err
}

// testGenerator runs the start-up test, which opens this daemon's latch if that is set.
func (d *Dealer) testGenerator(latched bool, reason string) error {
	if !latched {
		return d.cfg.Entropy.SelfTest()
	}
	err := d.cfg.Entropy.Clear(reason)
	if errors.Is(err, entropy.ErrNotLatched) { // another call was first
		return d.cfg.Entropy.SelfTest()
	}
	return err
}

// SubmitAct appends an act that administrators signed, and the entry that the act approves. body is nil for an act that
// waits or cancels. act is nil if an act that waits approves body.
func (d *Dealer) SubmitAct(ctx context.Context, actor audit.Actor, act *audit.ActEntry, body audit.Body) (api.Recorded,
	error) {
	if act == nil { // the rules ask for an act only where two administrators are needed, and a daemon always
		p, err := d.cfg.Ledger.Persons(ctx)
		if err != nil {
			return api.Recorded{}, err
		}
		digest := audit.Approved(actor.Identity, body)
		waits := func(w rules.WaitingAct) bool { return w.Digest == digest && d.cfg.Now() < w.Expires }
		if !slices.ContainsFunc(p.Waiting, waits) {
			return api.Recorded{}, api.Illegal(audit.RuleAct, "no act that waits approves this entry")
		}
	}
	switch b := body.(type) {
	case nil:
		return d.append(ctx, actor, act)
	case *audit.Key:
		a, err := d.cfg.Ledger.AddKey(ctx, actor, b, act)
		if err != nil {
			return api.Recorded{}, err
		}
		return api.Recorded{Index: a.Index, Receipt: a.Receipt.Text()}, nil
	case *audit.Event:
		if b.Kind == audit.EventLatchClear {
			return d.ClearLatch(ctx, actor, b.Reason, act)
		}
	}
	return d.append(ctx, actor, act, body)
}

// SetSwitch sets a kill switch. Open shuffles can still be dealt. If it is set already, the error is an *audit.Illegal.
func (d *Dealer) SetSwitch(ctx context.Context, actor audit.Actor, req api.SwitchRequest) (api.Recorded, error) {
	e, err := req.Event()
	if err != nil {
		return api.Recorded{}, err
	}
	return d.append(ctx, actor, nil, e)
}

// SetTable opens or closes a table. If the table is so already, the error is an *audit.Illegal.
func (d *Dealer) SetTable(ctx context.Context, actor audit.Actor, table string, open bool) (api.Recorded, error) {
	if err := audit.CheckName(table); err != nil {
		return api.Recorded{}, api.Invalid("table", err.Error())
	}
	e := &audit.Event{Kind: audit.EventTableClose, Name: table}
	if open {
		e.Kind = audit.EventTableOpen
	}
	return d.append(ctx, actor, nil, e)
}

// ChangeCredential creates or revokes a token or certificate. If it is so already, the error is an *audit.Illegal.
func (d *Dealer) ChangeCredential(ctx context.Context, actor audit.Actor, c *audit.Credential) (api.Recorded, error) {
	if c.Kind == audit.CredentialRevoked {
		if err := api.CheckReason(c.Reason); err != nil {
			return api.Recorded{}, err
		}
	}
	return d.append(ctx, actor, nil, c)
}

// append writes the bodies in one batch, behind the act unless it is nil, and returns the last entry.
func (d *Dealer) append(ctx context.Context, actor audit.Actor, act *audit.ActEntry, bodies ...audit.Body) (
	api.Recorded, error) {
	if act != nil {
		bodies = slices.Insert(bodies, 0, audit.Body(act))
	}
	appended, err := d.cfg.Ledger.Append(ctx, ledger.Proposal{Actor: actor, Bodies: bodies})
	if err != nil {
		return api.Recorded{}, err
	}
	last := appended[len(appended)-1]
	return api.Recorded{Index: last.Index, Receipt: last.Receipt.Text()}, nil
}
