package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// historyOf returns the history that a genesis and the key entries of a state make. It does not
// change: after further key entries another one is made from the state.
func historyOf(genesis audit.Entry, keys []audit.KeyEntry) (*audit.History, error) {
	h := new(audit.History)
	err := h.Take(0, genesis)
	for _, k := range keys {
		err = errors.Join(err, h.Take(k.Index, audit.Entry{Time: k.Time, Body: k.Key}))
	}
	return h, err
}

// showKeys shows what the entries say of keys, if there are new key entries. It must come before the head that covers
// these is shown, and after the state was committed. It runs on the sequencer's goroutine.
func (l *core) showKeys() {
	if shown := l.keys.Load(); shown != nil && l.state.KeyCount() == l.keyCount {
		return
	}
	history, err := historyOf(l.genesis, l.state.KeyEntries())
	if err != nil {
		// Every check of a signing key's entry has made a verifier of the key before.
		panic("ledger: " + err.Error())
	}
	l.keyCount = l.state.KeyCount()
	l.keys.Store(history)
}

// rotates reports whether the proposal changes the signing key.
func (p *Proposal) rotates() bool {
	return slices.ContainsFunc(p.Bodies, func(b audit.Body) bool {
		k, ok := b.(*audit.Key)
		return ok && k.Subject == audit.SubjectSigning
	})
}

// checkRotation refuses a new signing key that does not stand alone in its batch, or behind the act that approves it:
// the checkpoint of the batch has the signatures of both keys (docs/SPEC.md section 9). It refuses a key whose private
// half is not here as well, because this daemon could not go on under it.
func (l *core) checkRotation(p *Proposal) error {
	if !p.rotates() {
		return nil
	}
	last := len(p.Bodies) - 1
	k, ok := p.Bodies[last].(*audit.Key)
	if !ok || last > 1 || last == 1 && p.Bodies[0].Type() != audit.TypeAct {
		return errors.New("a batch with a signing key must hold only this key, and in front of it at most the act that approves it")
	}
	key, err := audit.Verifier(l.cfg.Info.Origin, k.Public)
	if err != nil {
		return notTaken("%s", err)
	}
	if l.signer(key) == nil {
		return notTaken("this daemon does not hold the private half of the new signing key")
	}
	return nil
}

// sign signs the head of a draft with the keys in force before the draft. If the draft rotates the key, the new key
// signs too, and both signatures are checked: nobody could go on from a checkpoint that lacks one.
func (l *core) sign(rotates bool, size uint64, root tlog.Hash) (Head, error) {
	now := audit.Verifiers(l.keys.Load().InForce())
	if !rotates {
		return signHead(size, root, l.signersFor(now)...)
	}
	next, err := historyOf(l.genesis, l.state.KeyEntries()) // the state is ahead of the head
	if err != nil {
		return Head{}, err
	}
	head, err := signHead(size, root, l.signersFor(slices.Concat(now, audit.Verifiers(next.InForce())))...)
	if err != nil {
		return Head{}, err
	}
	return head, handsOn(next, size-1, head.Checkpoint)
}

func handsOn(keys *audit.History, index uint64, signed []byte) error {
	if err := keys.HandsOn(index, signed); err != nil {
		return fmt.Errorf("the checkpoint that hands on from one signing key to the next: %w", err)
	}
	return nil
}

// checkHandovers refuses a signing key of an entry from an index on without its checkpoint: the first checkpoint that
// covers the entry must cover nothing above it, and the keys before and after the entry must have signed it. Otherwise
// the database could name any key as the ledger's. The keys and the head cover the entries.
func (l *core) checkHandovers(ctx context.Context, head Head, keys *audit.History, from uint64) error {
	for _, k := range keys.Signing[1:] {
		if k.Index < from {
			continue
		}
		first, err := l.cfg.Store.CheckpointAfter(ctx, l.id, k.Index)
		if err != nil {
			return fmt.Errorf("reading the checkpoint after entry %d: %w", k.Index, err)
		}
		if err := handsOn(keys, k.Index, first.Checkpoint); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrFrozen, k.Index, err)
		}
		root, err := l.rootAt(ctx, head, k.Index+1)
		if err != nil {
			return err
		}
		c, err := audit.CheckpointText(first.Checkpoint)
		if err != nil || c.Size != k.Index+1 || c.Root != root {
			return fmt.Errorf("%w: entry %d: the checkpoint that hands on the signing key is of another head",
				ErrFrozen, k.Index)
		}
	}
	return nil
}

func notTaken(format string, args ...any) error {
	return &audit.Illegal{Code: audit.RuleKey, Detail: fmt.Sprintf(format, args...)}
}
