package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// ErrNoKey: the private half of the signing key in force is not available. Nothing
// is signed; reads go on. A restart with the key ends it.
var ErrNoKey = errors.New("the signing key in force is not at hand: signing stopped")

// checkSigners: every private key is of this ledger, and one of them was or is
// in force, or this is the configuration of another ledger.
func (l *Ledger) checkSigners() error {
	known := false
	for _, s := range l.cfg.Signers {
		if s.Name() != l.cfg.Info.Origin {
			return fmt.Errorf("a signing key is of %q", s.Name())
		}
		known = known || slices.ContainsFunc(l.history.signing,
			func(k signingKey) bool { return k.key.KeyHash() == s.KeyHash() })
	}
	if !known {
		return errors.New("no signing key that was given is one of this ledger")
	}
	return nil
}

// signer returns the private half of key, nil when it is not available.
func (l *Ledger) signer(key note.Verifier) note.Signer {
	for _, s := range l.cfg.Signers {
		if s.KeyHash() == key.KeyHash() {
			return s
		}
	}
	return nil
}

// canSign returns ErrNoKey unless the signing key in force is available. It runs on
// the sequencer's goroutine.
func (l *Ledger) canSign() error {
	if k := l.history.inForce(); l.signer(k.key) == nil {
		return fmt.Errorf("%w: entry %d brought %s; start this daemon with its file among signing_keys", ErrNoKey,
			k.index, k.vkey)
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

// sign signs the head of a draft: with the key in force before it, and where the
// draft brings another one with that one behind it. A checkpoint that begins a
// key is checked before it leaves: nobody could go on from a wrong one.
func (l *Ledger) sign(d *draft, size uint64, root tlog.Hash) (Head, error) {
	now := l.history.inForce().key
	if !d.requests[0].rotates() {
		return signHead(size, root, l.signer(now))
	}
	next, err := audit.Verifier(l.cfg.Info.Origin, l.state.SigningKey())
	if err != nil {
		return Head{}, err
	}
	head, err := signHead(size, root, l.signer(now), l.signer(next))
	if err != nil {
		return Head{}, err
	}
	return head, handsOn(head.Checkpoint, now, next)
}

// handsOn: both keys signed the checkpoint.
func handsOn(signed []byte, old, next note.Verifier) error {
	for _, key := range []note.Verifier{old, next} {
		if _, err := audit.OpenCheckpoint(signed, key); err != nil {
			return fmt.Errorf("the checkpoint that hands on from one signing key to the next: %w", err)
		}
	}
	return nil
}

// SignHead signs a checkpoint. Ed25519 is deterministic: the same head gives the
// same bytes.
func SignHead(signer note.Signer, size uint64, root tlog.Hash) (Head, error) {
	return signHead(size, root, signer)
}

// signHead signs a checkpoint with each of the signers, in their order.
func signHead(size uint64, root tlog.Hash, signers ...note.Signer) (Head, error) {
	text := audit.Checkpoint{Origin: signers[0].Name(), Size: size, Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		return Head{}, fmt.Errorf("signing the checkpoint: %w", err)
	}
	return Head{Size: size, Root: root, Checkpoint: signed}, nil
}

// handover is a signing key's entry whose checkpoint is yet to be looked at. The
// store is not asked for it while its rows are being read.
type handover struct {
	index     uint64
	root      tlog.Hash // of the entries up to it
	old, next note.Verifier
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
		c, err := audit.OpenCheckpoint(head.Checkpoint, h.old)
		if err != nil || c.Size != h.index+1 || c.Root != h.root {
			return fmt.Errorf("%w: entry %d: the checkpoint that hands on the signing key is of another head",
				ErrFrozen, h.index)
		}
	}
	return nil
}

// ownKeys check what the keys available signed.
func (l *Ledger) ownKeys() (keys []note.Verifier) {
	for _, s := range l.cfg.Signers {
		keys = append(keys, ownKey{s})
	}
	return keys
}

// ownKey checks a signature by making it again, as Ed25519 makes the same one of
// the same text. A database that went back does not name the keys that came
// later; who holds one still knows what it signed.
type ownKey struct{ note.Signer }

func (k ownKey) Verify(msg, sig []byte) bool {
	again, err := k.Sign(msg)
	return err == nil && bytes.Equal(again, sig)
}

// markKeys are the keys that the high-water mark may be signed with: any that
// the ledger ever had, or that is available for it.
func (l *Ledger) markKeys() []note.Verifier {
	return append(l.keys.Load().verifiers(true), l.ownKeys()...)
}

// witnessedKeys are the keys under which a checkpoint that a witness shows is
// evidence of another history: as markKeys, except what was retired, or a thief
// of an old key could stop the ledger with any witness that still takes it.
func (l *Ledger) witnessedKeys() []note.Verifier {
	h := l.keys.Load()
	keys := h.verifiers(false)
	for _, own := range l.ownKeys() {
		if !slices.ContainsFunc(h.signing,
			func(k signingKey) bool { return k.retired && k.key.KeyHash() == own.KeyHash() }) {
			keys = append(keys, own)
		}
	}
	return keys
}
