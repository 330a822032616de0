package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// checkSigners refuses a private key that has another ledger's name, and keys of which none is
// or was in force: then this is the configuration of another ledger.
func (l *Ledger) checkSigners() error {
	known := false
	for _, s := range l.cfg.Signers {
		if s.Name() != l.cfg.Info.Origin {
			return fmt.Errorf("a signing key has the origin %q, which is not this ledger's", s.Name())
		}
		known = known || slices.ContainsFunc(l.shown.keys.Load().Signing,
			func(k audit.KeyInForce) bool { return k.Key.KeyHash() == s.KeyHash() })
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
	for _, k := range l.shown.keys.Load().InForce() {
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
func (l *Ledger) attend() {
	for !l.stopping(l.cfg.Probe) {
		var why *error
		if away, ok := l.signer(l.shown.keys.Load().InForce()[0].Key).(interface{ Present() error }); ok {
			if err := away.Present(); err != nil {
				err = fmt.Errorf("%w: %w", ErrNoKey, err)
				why = &err
			}
		}
		l.absent.Store(why)
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

// ownKeys returns verifiers for all private keys that are available.
func (l *Ledger) ownKeys() (keys []note.Verifier) {
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
func (l *Ledger) markKeys() []note.Verifier {
	return append(audit.Verifiers(l.shown.keys.Load().Signing), l.ownKeys()...)
}

// witnessedKeys are the keys under which a checkpoint that a witness shows is evidence of
// another history: markKeys without retired keys. Otherwise the thief of a retired key could
// stop the ledger by a witness that still knows the key.
func (l *Ledger) witnessedKeys() []note.Verifier {
	signing := l.shown.keys.Load().Signing
	return slices.DeleteFunc(l.markKeys(), func(key note.Verifier) bool {
		return slices.ContainsFunc(signing,
			func(k audit.KeyInForce) bool { return k.Retired && k.Key.KeyHash() == key.KeyHash() })
	})
}
