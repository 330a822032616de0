package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
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
func (l *Ledger) showKeys() {
	if shown := l.shown.keys.Load(); shown != nil && l.memory.state.KeyCount() == l.keyCount {
		return
	}
	history, err := historyOf(l.shown.genesis, l.memory.state.KeyEntries())
	if err != nil {
		// Every check of a signing key's entry has made a verifier of the key before.
		panic("ledger: " + err.Error())
	}
	l.keyCount = l.memory.state.KeyCount()
	l.shown.keys.Store(history)
}

// rotates reports whether the proposal changes the signing key.
func rotates(p *Proposal) bool {
	return slices.ContainsFunc(p.Bodies, func(b audit.Body) bool {
		k, ok := b.(*audit.Key)
		return ok && k.Subject == audit.SubjectSigning
	})
}

// checkRotation refuses a new signing key that does not stand alone in its batch, or behind the act that approves it:
// the checkpoint of the batch has the signatures of both keys (docs/SPEC.md section 9). It refuses a key whose private
// half is not here as well, because this daemon could not go on under it.
func (l *Ledger) checkRotation(p *Proposal) error {
	if !rotates(p) {
		return nil
	}
	last := len(p.Bodies) - 1
	k, ok := p.Bodies[last].(*audit.Key)
	if !ok || last > 1 || last == 1 && p.Bodies[0].Type() != audit.TypeAct {
		return errors.New("a batch with a signing key must hold only this key, and in front of it at most the act that approves it")
	}
	key, err := audit.Verifier(l.cfg.Info.Origin, k.Public)
	if err != nil {
		return NotTaken("%s", err)
	}
	if l.signer(key) == nil {
		return NotTaken("this daemon does not hold the private half of the new signing key")
	}
	return nil
}

// sign signs the head of a draft with the keys in force before the draft. If the draft rotates the key, the new key
// signs too, and both signatures are checked: nobody could go on from a checkpoint that lacks one.
func (l *Ledger) sign(rotates bool, size uint64, root tlog.Hash) (Head, error) {
	now := audit.Verifiers(l.shown.keys.Load().InForce())
	if !rotates {
		return SignHead(size, root, l.signersFor(now)...)
	}
	next, err := historyOf(l.shown.genesis, l.memory.state.KeyEntries()) // the state is ahead of the head
	if err != nil {
		return Head{}, err
	}
	head, err := SignHead(size, root, l.signersFor(slices.Concat(now, audit.Verifiers(next.InForce())))...)
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
func (l *Ledger) checkHandovers(ctx context.Context, head Head, keys *audit.History, from uint64) error {
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

// AddKey writes a key entry behind the act that approves it. Its errors are those of Append and two more. An
// *audit.Illegal of audit.RuleKey refuses a signing key whose private half is not here, or that a witness does not
// know: nobody could go on with the ledger. ErrPolicy refuses a policy whose witnesses do not cosign now.
func (l *Ledger) AddKey(ctx context.Context, actor audit.Actor, k *audit.Key, act *audit.ActEntry) (Appended, error) {
	if err := l.Ready(); err != nil {
		return Appended{}, err
	}
	var err error
	switch k.Subject {
	case audit.SubjectPolicy:
		err = l.tryPolicy(ctx, k.Policy)
	case audit.SubjectSigning:
		err = l.tryKey(ctx, k.Public)
	}
	if err != nil {
		return Appended{}, err
	}
	bodies := []audit.Body{k}
	if act != nil {
		bodies = []audit.Body{act, k}
	}
	appended, err := l.Append(ctx, Proposal{Actor: actor, Bodies: bodies})
	if errors.Is(err, audit.ErrUnknown) {
		return Appended{}, NotTaken("%s", err) // a key of a later type in a policy
	}
	if err != nil {
		return Appended{}, err
	}
	return appended[len(appended)-1], nil
}

// tryKey asks the witnesses whether they know a new signing key of the ledger. A witness that does not know it would
// cosign nothing above its entry. A witness that cannot be reached is no reason to refuse the key.
//
// Each witness is sent the newest head, signed with the new key, with the old size 0. A
// witness checks the signature before the size (C2SP tlog-witness). So one that knows the key
// answers with the size of its own checkpoint, or cosigns the head if it has none.
func (l *Ledger) tryKey(ctx context.Context, public []byte) error {
	key, err := audit.Verifier(l.cfg.Info.Origin, public)
	if err != nil {
		return NotTaken("%s", err)
	}
	if l.signer(key) == nil {
		return NotTaken("this daemon does not hold the private half of the new signing key: start it with the file of that " +
			"key among signing_keys")
	}
	inForce := audit.Verifiers(l.shown.keys.Load().InForce())
	same := func(k note.Verifier) bool { return audit.IsMLDSA(k) == audit.IsMLDSA(key) }
	if !slices.ContainsFunc(inForce, same) {
		return nil // the first key of ML-DSA-44: a witness that does not know it goes on with that of Ed25519
	}
	signers := l.signersFor(append(slices.DeleteFunc(inForce, same), key)) // a witness may ask for both algorithms
	if slices.Contains(signers, nil) {
		return NotTaken("this daemon does not hold the private half of the other signing key in force: start it with the " +
			"file of that key among signing_keys")
	}
	head := l.Head()
	policy := l.Policies().At(head.Size)
	if !policy.Asks() {
		return nil
	}
	head, err = SignHead(head.Size, head.Root, signers...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, gateway.Timeout)
	defer cancel()
	unaware := make([]string, len(policy.Witnesses))
	var group sync.WaitGroup
	for i, one := range policy.Witnesses {
		group.Go(func() {
			asked, err := l.witnesses.reachWitness([]audit.Witness{one})
			if err == nil {
				_, err = asked.AddCheckpoint(ctx, 0, nil, head.Checkpoint)
			}
			if errors.Is(err, gateway.ErrRefused) && !errors.Is(err, gateway.ErrContradicts) {
				unaware[i] = one.Name
			}
		})
	}
	group.Wait()
	unaware = slices.DeleteFunc(unaware, func(name string) bool { return name == "" })
	if len(unaware) > 0 {
		return NotTaken("start the witnesses that do not know the new signing key, or the other one in force, with that "+
			"key as another --log: %s", strings.Join(unaware, ", "))
	}
	return nil
}
