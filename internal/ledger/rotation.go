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

// signingKey is a key that signs the checkpoints of every size above its entry's
// index, until the next one of its algorithm.
type signingKey struct {
	index   uint64
	id      [32]byte
	vkey    string
	key     note.Verifier
	retired bool
}

// keyHistory is what the entries say of keys, in their order. A published one
// never changes: the sequencer makes the next one out of it.
type keyHistory struct {
	origin  string
	records []audit.KeyRecord
	signing []signingKey // at least the genesis's
}

// with returns the history after the entry at index, and whether it brought a
// signing key. h is not changed.
func (h keyHistory) with(e audit.Entry, index uint64) (next keyHistory, signs bool, err error) {
	if g, ok := e.Body.(*audit.Genesis); ok {
		h.origin = g.Origin
	}
	for _, r := range audit.KeyRecords(index, e) {
		h.records = append(h.records, r)
		switch r.Subject {
		case audit.SubjectSigning:
			signs = true
			if h, err = h.sign(r.Public, index); err != nil {
				return h, signs, err
			}
		case audit.SubjectRetirement:
			h.signing = slices.Clone(h.signing)
			for i := range h.signing {
				h.signing[i].retired = h.signing[i].retired || h.signing[i].id == r.ID
			}
		}
	}
	return h, signs, nil
}

func (h keyHistory) sign(public []byte, index uint64) (keyHistory, error) {
	vkey, err := audit.VKey(h.origin, public)
	if err != nil {
		return h, fmt.Errorf("the signing key of entry %d: %w", index, err)
	}
	key, err := audit.ParseVKey(vkey)
	if err != nil {
		return h, fmt.Errorf("the signing key of entry %d: %w", index, err)
	}
	h.signing = append(h.signing, signingKey{index: index, id: audit.KeyID(public), vkey: vkey, key: key})
	return h, nil
}

// inForce returns the newest signing keys: that of Ed25519, then that of ML-DSA-44 if
// there is one.
func (h keyHistory) inForce() []signingKey { return h.of(audit.MaxInteger) }

// at returns the keys that sign the checkpoint of a size, which is at least 1
// and of entries that the history is of.
func (h keyHistory) at(size uint64) []note.Verifier { return verifiersOf(h.of(size)) }

func (h keyHistory) of(size uint64) []signingKey {
	keys := h.signing[:1:1] // the genesis's is of Ed25519
	for _, k := range h.signing[1:] {
		switch {
		case k.index >= size:
			return keys
		case !audit.IsMLDSA(k.key):
			keys = append([]signingKey{k}, keys[1:]...)
		default:
			keys = append(keys[:1:1], k)
		}
	}
	return keys
}

func verifiersOf(all []signingKey) (keys []note.Verifier) {
	for _, k := range all {
		keys = append(keys, k.key)
	}
	return keys
}

// verifiers returns every signing key that the ledger had, or only those that
// were not retired, oldest first.
func (h keyHistory) verifiers(retired bool) (keys []note.Verifier) {
	for _, k := range h.signing {
		if retired || !k.retired {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// AddKey writes a key entry for an administrator: a signing key, an auditor key,
// a witness policy or a retirement. Alongside what Append returns it is an
// *audit.Illegal of audit.RuleKey when the entry would leave a ledger that nobody
// can go on with: a signing key whose private half is not here or that
// a witness does not know; and ErrPolicy for a policy whose witnesses do not
// cosign now.
func (l *Ledger) AddKey(ctx context.Context, actor audit.Actor, k *audit.Key, act *audit.ActEntry) (Appended, error) {
	if k.Subject == audit.SubjectDisclosure {
		return Appended{}, notTaken("a disclosure key is made when a tape needs one")
	}
	if _, err := (audit.Entry{Actor: actor, Body: k}).Encode(); err != nil {
		return Appended{}, notTaken("%s", err)
	}
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
		return Appended{}, notTaken("%s", err) // a key of a later type in a policy
	}
	if err != nil {
		return Appended{}, err
	}
	return appended[len(appended)-1], nil
}

func notTaken(format string, args ...any) error {
	return &audit.Illegal{Code: audit.RuleKey, Detail: fmt.Sprintf(format, args...)}
}

// tryKey asks the witnesses whether they know a new signing key of the ledger: a
// witness that does not would cosign nothing after its entry. One that cannot be
// reached is told later.
//
// The question is the newest head under the new key with the old size 0. A witness
// looks at the signature before the size (C2SP tlog-witness), so one that knows the
// key answers with the size it is at, and changes nothing.
func (l *Ledger) tryKey(ctx context.Context, public []byte) error {
	key, err := audit.Verifier(l.cfg.Info.Origin, public)
	if err != nil {
		return notTaken("%s", err)
	}
	if l.signer(key) == nil {
		return notTaken("this daemon does not hold the private half of the new signing key")
	}
	inForce := verifiersOf(l.keys.Load().inForce())
	same := func(k note.Verifier) bool { return audit.IsMLDSA(k) == audit.IsMLDSA(key) }
	if !slices.ContainsFunc(inForce, same) {
		return nil // the first key of ML-DSA-44: a witness that does not know it goes on with that of Ed25519
	}
	signers := l.signersFor(append(slices.DeleteFunc(inForce, same), key)) // a witness may ask for both algorithms
	if slices.Contains(signers, nil) {
		return notTaken("this daemon does not hold the private half of the other signing key in force: start it with the " +
			"file of that key among signing_keys")
	}
	head := l.Head()
	policy := l.witnesses.policies.shown.Load().at(head.Size)
	if !policy.Asks() {
		return nil
	}
	head, err = signHead(head.Size, head.Root, signers...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, gateway.Timeout)
	defer cancel()
	unaware := make([]string, len(policy.Witnesses))
	var group sync.WaitGroup
	for i, one := range policy.Witnesses {
		group.Go(func() {
			asked, err := l.reachWitness([]audit.Witness{one})
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
		return notTaken("these witnesses do not know the new signing key, or not the other one in force: %s",
			strings.Join(unaware, ", "))
	}
	return nil
}

// rotates reports whether the proposal changes the signing key.
func (p *Proposal) rotates() bool {
	return slices.ContainsFunc(p.Bodies, func(b audit.Body) bool {
		k, ok := b.(*audit.Key)
		return ok && k.Subject == audit.SubjectSigning
	})
}

// checkRotation: a new signing key stands alone in its batch, or behind the act that
// approves it. The checkpoint of the batch carries the signatures of both keys
// (docs/SPEC.md section 9), and the daemon that writes it can go on under it.
func (l *Ledger) checkRotation(p *Proposal) error {
	if !p.rotates() {
		return nil
	}
	last := len(p.Bodies) - 1
	k, ok := p.Bodies[last].(*audit.Key)
	if !ok || last > 1 || last == 1 && p.Bodies[0].Type() != audit.TypeAct {
		return errors.New("a signing key is the last of a batch of its own, with no more than its act in front")
	}
	key, err := audit.Verifier(l.cfg.Info.Origin, k.Public)
	if err != nil {
		return &audit.Illegal{Code: audit.RuleKey, Detail: err.Error()}
	}
	if l.signer(key) == nil {
		return &audit.Illegal{Code: audit.RuleKey,
			Detail: "this daemon does not hold the private half of the new signing key"}
	}
	return nil
}

// handsOn: the keys before and after an entry signed the checkpoint.
func handsOn(signed []byte, old, next []note.Verifier) error {
	for _, keys := range [][]note.Verifier{old, next} {
		if _, err := audit.OpenCheckpoint(signed, keys...); err != nil {
			return fmt.Errorf("the checkpoint that hands on from one signing key to the next: %w", err)
		}
	}
	return nil
}

// handover is a signing key's entry whose checkpoint is yet to be looked at. The
// store is not asked for it while its rows are being read.
type handover struct {
	index     uint64
	root      tlog.Hash // of the entries up to it
	old, next []note.Verifier
}

// checkHandovers: the first checkpoint that covers a signing key's entry covers
// nothing behind it and is signed with the key before it, too. Without that the
// database could name any key as the ledger's.
func (l *Ledger) checkHandovers(ctx context.Context, all []handover) error {
	for _, h := range all {
		head, err := l.cfg.Store.CheckpointAfter(ctx, l.id, h.index)
		if err != nil {
			return fmt.Errorf("reading the checkpoint after entry %d: %w", h.index, err)
		}
		if err := handsOn(head.Checkpoint, h.old, h.next); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrFrozen, h.index, err)
		}
		c, err := audit.OpenCheckpoint(head.Checkpoint, h.old...)
		if err != nil || c.Size != h.index+1 || c.Root != h.root {
			return fmt.Errorf("%w: entry %d: the checkpoint that hands on the signing key is of another head",
				ErrFrozen, h.index)
		}
	}
	return nil
}

// handover notes that the entry at index, the last of the leaves that follow on
// the tree, brought a signing key.
func (l *Ledger) handover(leaves []tlog.Hash, index uint64, old, next keyHistory) (handover, error) {
	h := handover{index: index, old: verifiersOf(old.inForce()), next: verifiersOf(next.inForce())}
	g, err := l.tree.extend(leaves)
	if err == nil {
		h.root, err = g.root()
	}
	return h, err
}

// historyOf makes the history of keys of a state, and checks every hand-over in it
// as a fold does.
func (l *Ledger) historyOf(ctx context.Context, under tlog.HashReader, genesis audit.Entry,
	keys []audit.KeyEntry) (keyHistory, error) {
	history, _, err := keyHistory{}.with(genesis, 0)
	if err != nil {
		return keyHistory{}, err
	}
	var handovers []handover
	for _, k := range keys {
		old := history
		var signs bool
		history, signs, err = history.with(audit.Entry{Time: k.Time, Body: k.Key}, k.Index)
		if err != nil {
			return keyHistory{}, err
		}
		if !signs {
			continue
		}
		root, err := tlog.TreeHash(int64(k.Index+1), under)
		if err != nil {
			return keyHistory{}, err
		}
		handovers = append(handovers, handover{index: k.Index, root: root, old: verifiersOf(old.inForce()),
			next: verifiersOf(history.inForce())})
	}
	return history, l.checkHandovers(ctx, handovers)
}
