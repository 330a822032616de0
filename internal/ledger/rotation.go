package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// signingKey is a key that signs the checkpoints of every size above the index of its entry, up
// to the entry of the next key of its algorithm.
type signingKey struct {
	index   uint64
	id      [32]byte
	vkey    string
	key     note.Verifier
	retired bool
}

// keyHistory is what the entries say of keys, in their order. It does not change: after further
// key entries another one is made from the state.
type keyHistory struct {
	records []audit.KeyRecord
	signing []signingKey // at least the genesis's
}

// historyOf returns the history that a genesis and the key entries of a state make.
func historyOf(genesis audit.Entry, keys []audit.KeyEntry) (h keyHistory, err error) {
	h.records = audit.KeyRecords(0, genesis)
	for _, k := range keys {
		h.records = append(h.records, audit.KeyRecords(k.Index, audit.Entry{Time: k.Time, Body: k.Key})...)
	}
	for _, r := range h.records {
		switch r.Subject {
		case audit.SubjectSigning:
			vkey, err := audit.VKey(genesis.Body.(*audit.Genesis).Origin, r.Public)
			if err != nil {
				return h, fmt.Errorf("the signing key of entry %d: %w", r.Index, err)
			}
			key, err := audit.ParseVKey(vkey)
			if err != nil {
				return h, fmt.Errorf("the signing key of entry %d: %w", r.Index, err)
			}
			h.signing = append(h.signing, signingKey{index: r.Index, id: r.ID, vkey: vkey, key: key})
		case audit.SubjectRetirement:
			for i := range h.signing {
				h.signing[i].retired = h.signing[i].retired || h.signing[i].id == r.ID
			}
		}
	}
	return h, nil
}

// inForce returns the newest signing keys: that of Ed25519, then that of ML-DSA-44 if there is one.
func (h keyHistory) inForce() []signingKey { return h.of(audit.MaxInteger) }

// at returns the keys that sign the checkpoint of a size of at least 1. The history must cover
// the entries below that size.
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

// verifiers returns the signing keys that the ledger ever had, oldest first. Retired ones are
// among them if retired is true.
func (h keyHistory) verifiers(retired bool) (keys []note.Verifier) {
	for _, k := range h.signing {
		if retired || !k.retired {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// showKeys shows what the entries say of keys, if there are new key entries. It must come before the head that covers
// these is shown, and after the state was committed. It runs on the sequencer's goroutine.
func (l *Ledger) showKeys() {
	if shown := l.keys.Load(); shown != nil && l.state.KeyCount() == l.keyCount {
		return
	}
	history, err := historyOf(l.genesis, l.state.KeyEntries())
	if err != nil {
		// Every check of a signing key's entry has made a verifier of the key before.
		panic("ledger: " + err.Error())
	}
	l.keyCount = l.state.KeyCount()
	l.keys.Store(&history)
}

// newestKeys returns the signing keys that are in force after all entries of the state. The
// state is ahead of the head while a batch is prepared or read.
func (l *Ledger) newestKeys() (keys []note.Verifier, err error) {
	for _, public := range l.state.SigningKeys() {
		key, err := audit.Verifier(l.state.Genesis().Origin, public)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
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
func (l *Ledger) checkRotation(p *Proposal) error {
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

// sign signs the head of a draft with the keys in force before the draft. If the draft brings a new key, that key signs
// too, and both signatures are checked: nobody could go on from a checkpoint that lacks one.
func (l *Ledger) sign(d *draft, size uint64, root tlog.Hash) (Head, error) {
	now := verifiersOf(l.keys.Load().inForce())
	if !d.requests[0].rotates() {
		return signHead(size, root, l.signersFor(now)...)
	}
	next, err := l.newestKeys()
	if err != nil {
		return Head{}, err
	}
	head, err := signHead(size, root, l.signersFor(slices.Concat(now, next))...)
	if err != nil {
		return Head{}, err
	}
	return head, handsOn(head.Checkpoint, now, next)
}

// handsOn returns an error unless both the keys before an entry and the keys after it signed the checkpoint.
func handsOn(signed []byte, old, next []note.Verifier) error {
	for _, keys := range [][]note.Verifier{old, next} {
		if _, err := audit.OpenCheckpoint(signed, keys...); err != nil {
			return fmt.Errorf("the checkpoint that hands on from one signing key to the next: %w", err)
		}
	}
	return nil
}

// handovers are the entries of signing keys among entries that are read from the store. They are collected first and
// checked later, so that the store is not asked for their checkpoints while its rows are being read.
type handovers []handover

type handover struct {
	index uint64
	root  tlog.Hash // of the entries up to it
}

// note takes in an entry, which is the last of the leaves that follow on the tree.
func (h *handovers) note(t *tree, e audit.Entry, leaves []tlog.Hash) error {
	if _, genesis := e.Body.(*audit.Genesis); genesis || audit.SigningKeyOf(e) == nil {
		return nil
	}
	g, err := t.extend(leaves)
	if err != nil {
		return err
	}
	root, err := g.root()
	*h = append(*h, handover{uint64(g.size - 1), root})
	return err
}

// handoversOf returns the handovers of a restored state. Their roots come from the tree of that state.
func handoversOf(s *audit.State, under tlog.HashReader) (h handovers, err error) {
	for _, k := range s.KeyEntries() {
		if k.Key.Subject != audit.SubjectSigning {
			continue
		}
		root, err := tlog.TreeHash(int64(k.Index+1), under)
		if err != nil {
			return nil, err
		}
		h = append(h, handover{k.Index, root})
	}
	return h, nil
}

// check refuses handovers without their checkpoint: the first checkpoint that covers the entry of a signing key must
// cover nothing above it, and the keys before and after the entry must have signed it. Otherwise the database could
// name any key as the ledger's. The state must cover the entries.
func (h handovers) check(ctx context.Context, l *Ledger, genesis audit.Entry, s *audit.State) error {
	if len(h) == 0 {
		return nil
	}
	keys, err := historyOf(genesis, s.KeyEntries())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFrozen, err)
	}
	for _, one := range h {
		head, err := l.cfg.Store.CheckpointAfter(ctx, l.id, one.index)
		if err != nil {
			return fmt.Errorf("reading the checkpoint after entry %d: %w", one.index, err)
		}
		old := keys.at(one.index)
		if err := handsOn(head.Checkpoint, old, keys.at(one.index+1)); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrFrozen, one.index, err)
		}
		c, err := audit.OpenCheckpoint(head.Checkpoint, old...)
		if err != nil || c.Size != one.index+1 || c.Root != one.root {
			return fmt.Errorf("%w: entry %d: the checkpoint that hands on the signing key is of another head",
				ErrFrozen, one.index)
		}
	}
	return nil
}
