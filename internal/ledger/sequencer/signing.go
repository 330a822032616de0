package sequencer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/witness/gateway"
)

// checkSigners refuses a private key that has another ledger's name, and keys of which none is
// or was in force: then this is the configuration of another ledger.
func (l *Ledger) checkSigners() error {
	known := false
	for _, s := range l.cfg.Signers {
		if s.Name() != l.cfg.Info.Origin {
			return fmt.Errorf("a signing key has the origin %q, which is not this ledger's", s.Name())
		}
		known = known || slices.ContainsFunc(l.shown.Keys.Load().Signing,
			func(k trust.KeyInForce) bool { return k.Key.KeyHash() == s.KeyHash() })
	}
	if !known {
		return errors.New("none of the given signing keys is a key of this ledger")
	}
	return nil
}

// signer returns the private half of key, nil if it is not available.
func (l *Ledger) signer(key note.Verifier) note.Signer {
	for _, s := range l.cfg.Signers {
		if s.KeyHash() == key.KeyHash() {
			return s
		}
	}
	return nil
}

// canSign returns ErrNoKey if a signing key in force is not here, or if its holder did not sign
// when it was asked last. It asks no holder. It runs on the sequencer's goroutine.
func (l *Ledger) canSign() error {
	for _, k := range l.shown.Keys.Load().InForce() {
		if l.signer(k.Key) == nil {
			vkey, _ := audit.VKey(l.cfg.Info.Origin, k.Public) // k.Key was made of it
			return fmt.Errorf("%w: entry %d brought %s; start this daemon with its file among signing_keys", ledger.ErrNoKey,
				k.Index, vkey)
		}
	}
	if why := l.absent.Load(); why != nil {
		return *why
	}
	return nil
}

// attend asks the holder of the Ed25519 key in force, if it is another process, for a signature at every probe. It runs
// on a goroutine of its own from Open until Close, so that nothing waits for a holder that hangs.
func (l *Ledger) attend() {
	for !l.stopping(l.cfg.Probe) {
		var why error
		if away, ok := l.signer(l.shown.Keys.Load().InForce()[0].Key).(interface{ Present() error }); ok {
			if err := away.Present(); err != nil {
				why = fmt.Errorf("%w: %w", ledger.ErrNoKey, err)
			}
		}
		l.absent.Store(&why)
	}
}

// signersFor returns the private halves of keys, each once, those of Ed25519 first.
func (l *Ledger) signersFor(keys []note.Verifier) (signers []note.Signer) {
	for _, mldsa := range []bool{false, true} {
		for i, key := range keys {
			twice := slices.ContainsFunc(keys[:i], func(k note.Verifier) bool { return k.KeyHash() == key.KeyHash() })
			if audit.IsMLDSA(key) == mldsa && !twice {
				signers = append(signers, l.signer(key))
			}
		}
	}
	return signers
}

// verifying is a signer of ML-DSA-44: no two of its signatures are alike.
type verifying interface{ Verifier() note.Verifier }

// ownKey checks a signature by making it again: Ed25519 makes the same signature of the same text. So a daemon that
// holds a key knows what the key signed, even if the database went back and no longer names the key.
type ownKey struct{ note.Signer }

func (k ownKey) Verify(msg, sig []byte) bool {
	again, err := k.Sign(msg)
	return err == nil && bytes.Equal(again, sig)
}

// markKeys are the keys that may have signed the high-water mark: all that the ledger ever had,
// and all that are available here.
func (l *Ledger) markKeys() []note.Verifier {
	keys := trust.Verifiers(l.shown.Keys.Load().Signing)
	for _, s := range l.cfg.Signers {
		switch s := s.(type) {
		case verifying:
			keys = append(keys, s.Verifier())
		case note.Verifier: // another process has the private half
			keys = append(keys, s)
		default:
			keys = append(keys, ownKey{s})
		}
	}
	return keys
}

// witnessedKeys are the keys under which a checkpoint that a witness shows is evidence of
// another history: markKeys without retired keys. Otherwise the thief of a retired key could
// stop the ledger by a witness that still knows the key.
func (l *Ledger) witnessedKeys() []note.Verifier {
	signing := l.shown.Keys.Load().Signing
	return slices.DeleteFunc(l.markKeys(), func(key note.Verifier) bool {
		return slices.ContainsFunc(signing,
			func(k trust.KeyInForce) bool { return k.Retired && k.Key.KeyHash() == key.KeyHash() })
	})
}

// historyOf returns the history that a genesis and the key entries of a state make. It does not
// change: after further key entries another one is made from the state.
func historyOf(genesis audit.Entry, keys []rules.KeyEntry) (*trust.History, error) {
	h := new(trust.History)
	err := h.Take(0, genesis)
	for _, k := range keys {
		err = errors.Join(err, h.Take(k.Index, audit.Entry{Time: k.Time, Body: k.Key}))
	}
	return h, err
}

// showKeys shows what the entries say of keys, if there are new key entries. It must come before the head that covers
// these is shown, and after the state was committed. It runs on the sequencer's goroutine.
func (l *Ledger) showKeys() {
	if shown := l.shown.Keys.Load(); shown != nil && l.memory.State.KeyCount() == l.keyCount {
		return
	}
	history, err := historyOf(l.shown.Genesis, l.memory.State.KeyEntries())
	if err != nil {
		// Every check of a signing key's entry has made a verifier of the key before.
		panic("ledger: " + err.Error())
	}
	l.keyCount = l.memory.State.KeyCount()
	l.shown.Keys.Store(history)
}

// rotates reports whether the proposal changes the signing key.
func rotates(p *ledger.Proposal) bool {
	return slices.ContainsFunc(p.Bodies, func(b audit.Body) bool {
		k, ok := b.(*audit.Key)
		return ok && k.Subject == audit.SubjectSigning
	})
}

// checkRotation refuses a new signing key that does not stand alone in its batch, or behind the act that approves it:
// the checkpoint of the batch has the signatures of both keys (docs/SPEC.md section 9). It refuses a key whose private
// half is not here as well, because this daemon could not go on under it.
func (l *Ledger) checkRotation(p *ledger.Proposal) error {
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
		return ledger.NotTaken("%s", err)
	}
	if l.signer(key) == nil {
		return ledger.NotTaken("this daemon does not hold the private half of the new signing key")
	}
	return nil
}

// sign signs the head of a draft with the keys in force before the draft. If the draft rotates the key, the new key
// signs too, and both signatures are checked: nobody could go on from a checkpoint that lacks one.
func (l *Ledger) sign(rotates bool, size uint64, root tlog.Hash) (ledger.Head, error) {
	now := trust.Verifiers(l.shown.Keys.Load().InForce())
	if !rotates {
		return ledger.SignHead(size, root, l.signersFor(now)...)
	}
	next, err := historyOf(l.shown.Genesis, l.memory.State.KeyEntries()) // the state is ahead of the head
	if err != nil {
		return ledger.Head{}, err
	}
	head, err := ledger.SignHead(size, root, l.signersFor(slices.Concat(now, trust.Verifiers(next.InForce())))...)
	if err != nil {
		return ledger.Head{}, err
	}
	return head, handsOn(next, size-1, head.Checkpoint)
}

func handsOn(keys *trust.History, index uint64, signed []byte) error {
	if err := keys.HandsOn(index, signed); err != nil {
		return fmt.Errorf("the checkpoint that hands on from one signing key to the next: %w", err)
	}
	return nil
}

// checkHandovers refuses a signing key of an entry from an index on without its checkpoint: the first checkpoint that
// covers the entry must cover nothing above it, and the keys before and after the entry must have signed it. Otherwise
// the database could name any key as the ledger's. The keys and the head cover the entries.
func (l *Ledger) checkHandovers(ctx context.Context, head ledger.Head, keys *trust.History, from uint64) error {
	for _, k := range keys.Signing[1:] {
		if k.Index < from {
			continue
		}
		first, err := l.cfg.Store.CheckpointAfter(ctx, l.ID(), k.Index)
		if err != nil {
			return fmt.Errorf("reading the checkpoint after entry %d: %w", k.Index, err)
		}
		if err := handsOn(keys, k.Index, first.Checkpoint); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ledger.ErrFrozen, k.Index, err)
		}
		root, err := l.RootAt(ctx, head, k.Index+1)
		if err != nil {
			return err
		}
		c, err := audit.CheckpointText(first.Checkpoint)
		if err != nil || c.Size != k.Index+1 || c.Root != root {
			return fmt.Errorf("%w: entry %d: the checkpoint that hands on the signing key is of another head",
				ledger.ErrFrozen, k.Index)
		}
	}
	return nil
}

// AddKey writes a key entry behind the act that approves it. Its errors are those of Append and two more. An
// *audit.Illegal of audit.RuleKey refuses a signing key whose private half is not here, or that a witness does not
// know: nobody could go on with the ledger. ErrPolicy refuses a policy whose witnesses do not cosign now.
func (l *Ledger) AddKey(ctx context.Context, actor audit.Actor, k *audit.Key, act *audit.ActEntry) (ledger.Appended,
	error) {
	if err := l.Ready(); err != nil {
		return ledger.Appended{}, err
	}
	var err error
	switch k.Subject {
	case audit.SubjectPolicy:
		err = l.TryPolicy(ctx, k.Policy)
	case audit.SubjectSigning:
		err = l.tryKey(ctx, k.Public)
	}
	if err != nil {
		return ledger.Appended{}, err
	}
	bodies := []audit.Body{k}
	if act != nil {
		bodies = []audit.Body{act, k}
	}
	appended, err := l.Append(ctx, ledger.Proposal{Actor: actor, Bodies: bodies})
	if errors.Is(err, audit.ErrUnknown) {
		return ledger.Appended{}, ledger.NotTaken("%s", err) // a key of a later type in a policy
	}
	if err != nil {
		return ledger.Appended{}, err
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
		return ledger.NotTaken("%s", err)
	}
	if l.signer(key) == nil {
		return ledger.NotTaken("this daemon does not hold the private half of the new signing key: start it with the " +
			"file of that key among signing_keys")
	}
	inForce := trust.Verifiers(l.shown.Keys.Load().InForce())
	same := func(k note.Verifier) bool { return audit.IsMLDSA(k) == audit.IsMLDSA(key) }
	if !slices.ContainsFunc(inForce, same) {
		return nil // the first key of ML-DSA-44: a witness that does not know it goes on with that of Ed25519
	}
	signers := l.signersFor(append(slices.DeleteFunc(inForce, same), key)) // a witness may ask for both algorithms
	if slices.Contains(signers, nil) {
		return ledger.NotTaken("this daemon does not hold the private half of the other signing key in force: start it with the " +
			"file of that key among signing_keys")
	}
	head := l.Head()
	policy := l.Policies().At(head.Size)
	if !policy.Asks() {
		return nil
	}
	head, err = ledger.SignHead(head.Size, head.Root, signers...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, gateway.Timeout)
	defer cancel()
	unaware := make([]string, len(policy.Witnesses))
	var group sync.WaitGroup
	for i, one := range policy.Witnesses {
		group.Go(func() {
			asked, err := l.Rounds.ReachWitness([]trust.Witness{one})
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
		return ledger.NotTaken("start the witnesses that do not know the new signing key, or the other one in force, with that "+
			"key as another --log: %s", strings.Join(unaware, ", "))
	}
	return nil
}
