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

// checkSigners refuses a private key that has another ledger's name, and keys of which none is
// or was in force: then this is the configuration of another ledger.
func (l *core) checkSigners() error {
	known := false
	for _, s := range l.cfg.Signers {
		if s.Name() != l.cfg.Info.Origin {
			return fmt.Errorf("a signing key has the origin %q, which is not this ledger's", s.Name())
		}
		known = known || slices.ContainsFunc(l.keys.Load().Signing,
			func(k audit.KeyInForce) bool { return k.Key.KeyHash() == s.KeyHash() })
	}
	if !known {
		return errors.New("none of the given signing keys is a key of this ledger")
	}
	return nil
}

// signer returns the private half of key, nil if it is not available.
func (l *core) signer(key note.Verifier) note.Signer {
	for _, s := range l.cfg.Signers {
		if s.KeyHash() == key.KeyHash() {
			return s
		}
	}
	return nil
}

// canSign returns ErrNoKey if a signing key in force is not here, or if its holder did not sign
// when it was asked last. It asks no holder. It runs on the sequencer's goroutine.
func (l *core) canSign() error {
	for _, k := range l.keys.Load().InForce() {
		if l.signer(k.Key) == nil {
			vkey, _ := audit.VKey(l.cfg.Info.Origin, k.Public) // k.Key was made of it
			return fmt.Errorf("%w: entry %d brought %s; start this daemon with its file among signing_keys", ErrNoKey,
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
func (l *core) attend() {
	for !l.stopping(l.cfg.Probe) {
		var why *error
		if away, ok := l.signer(l.keys.Load().InForce()[0].Key).(interface{ Present() error }); ok {
			if err := away.Present(); err != nil {
				err = fmt.Errorf("%w: %w", ErrNoKey, err)
				why = &err
			}
		}
		l.absent.Store(why)
	}
}

// signersFor returns the private halves of keys, each once, those of Ed25519 first.
func (l *core) signersFor(keys []note.Verifier) (signers []note.Signer) {
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

// SignHead signs a checkpoint. With Ed25519 the same head gives the same bytes.
func SignHead(signer note.Signer, size uint64, root tlog.Hash) (Head, error) {
	return signHead(size, root, signer)
}

// signHead signs a checkpoint with each of the signers, in their order.
func signHead(size uint64, root tlog.Hash, signers ...note.Signer) (Head, error) {
	text := audit.Checkpoint{Origin: signers[0].Name(), Size: size, Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		return Head{}, fmt.Errorf("%w: signing the checkpoint: %w", ErrNoKey, err)
	}
	return Head{Size: size, Root: root, Checkpoint: signed}, nil
}

// ownKeys returns verifiers for all private keys that are available.
func (l *core) ownKeys() (keys []note.Verifier) {
	for _, s := range l.cfg.Signers {
		if knows, ok := s.(verifying); ok {
			keys = append(keys, knows.Verifier())
		} else {
			keys = append(keys, ownKey{s})
		}
	}
	return keys
}

// verifying is a signer of ML-DSA-44: no two of its signatures are alike.
type verifying interface{ Verifier() note.Verifier }

// ownKey checks a signature by making it again: Ed25519 makes the same signature of the same text. So a daemon that
// holds a key knows what the key signed, even if the database went back and no longer names the key.
type ownKey struct{ note.Signer }

func (k ownKey) Verify(msg, sig []byte) bool {
	if public, ok := k.Signer.(note.Verifier); ok { // another process has the private half
		return public.Verify(msg, sig)
	}
	again, err := k.Sign(msg)
	return err == nil && bytes.Equal(again, sig)
}

// markKeys are the keys that may have signed the high-water mark: all that the ledger ever had,
// and all that are available here.
func (l *core) markKeys() []note.Verifier {
	return append(audit.Verifiers(l.keys.Load().Signing), l.ownKeys()...)
}

// witnessedKeys are the keys under which a checkpoint that a witness shows is evidence of
// another history: markKeys without retired keys. Otherwise the thief of a retired key could
// stop the ledger by a witness that still knows the key.
func (l *core) witnessedKeys() []note.Verifier {
	signing := l.keys.Load().Signing
	return slices.DeleteFunc(l.markKeys(), func(key note.Verifier) bool {
		return slices.ContainsFunc(signing,
			func(k audit.KeyInForce) bool { return k.Retired && k.Key.KeyHash() == key.KeyHash() })
	})
}

// KeyHistory returns what the newest entries known here say of keys. The caller does not change it.
func (l *core) KeyHistory() *audit.History { return l.keys.Load() }

// maxHandovers is how many signing keys a transcript has room for (docs/SPEC.md section 8).
const maxHandovers = 1024

// Handovers returns, for each signing key after the genesis's whose entry a head covers, the receipt of that entry
// under the head, and the checkpoint that both keys signed. With these a verifier that trusts an older key follows to
// the key in force. If there are more than a transcript has room for, it returns none.
func (l *core) Handovers(ctx context.Context, head Head) (all []audit.Handover, err error) {
	signing := l.keys.Load().Signing[1:]
	if len(signing) > maxHandovers {
		return nil, nil
	}
	var rows []Row
	for _, k := range signing {
		if k.Index >= head.Size {
			break
		}
		first, err := l.handover(ctx, k.Index)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{Index: k.Index, Entry: first.Entry})
		all = append(all, audit.Handover{Checkpoint: string(first.Checkpoint)})
	}
	head.Checkpoint = nil
	receipts, err := l.ReceiptsUnder(ctx, rows, head)
	for i, r := range receipts {
		all[i].Receipt = r.Text()
	}
	return all, err
}

// handover returns the first receipt of a signing key's entry.
func (l *core) handover(ctx context.Context, index uint64) (first audit.Receipt, err error) {
	if known, ok := l.handovers.Load(index); ok {
		return known.(audit.Receipt), nil
	}
	row, err := l.Row(ctx, index)
	if err != nil {
		return first, err
	}
	text, err := l.FirstReceipt(ctx, row)
	if err == nil {
		first, err = audit.ParseReceipt(text)
	}
	if err == nil {
		l.handovers.Store(index, first)
	}
	return first, err
}
