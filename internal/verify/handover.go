package verify

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// handover is an element of the member keys: the entry of a signing key, proved under the
// checkpoint that the key before it and this key signed.
type handover struct {
	apart
	key *audit.Key // from entries on
}

// handoverEntries: each is of a signing key, the last entry of its checkpoint, of at most
// size entries, and they ascend.
func handoverEntries(keys []handover, size uint64) error {
	for i := range keys {
		h := &keys[i]
		entry, err := audit.ParseEntry(h.Entry)
		if err != nil {
			return fmt.Errorf("the key of entry %d: %w", h.Index, err)
		}
		key, ok := entry.Body.(*audit.Key)
		switch {
		case !ok || key.Subject != audit.SubjectSigning:
			return fmt.Errorf("entry %d, among the keys, is of no signing key", h.Index)
		case i > 0 && h.Index <= keys[i-1].Index:
			return fmt.Errorf("the key of entry %d stands behind that of entry %d", h.Index, keys[i-1].Index)
		case h.head.Size != h.Index+1 || h.head.Size > size:
			return fmt.Errorf("the key of entry %d is proved under a checkpoint of %d entries", h.Index, h.head.Size)
		}
		h.key = key
	}
	return nil
}

// signature checks each checkpoint of the file once.
func (e *evidence) signature() (string, error) {
	keys, whose := e.trust.Keys, "the trusted key"
	if len(keys) == 0 {
		if e.genesis == nil {
			return "", notChecked("nothing is trusted, and the file has no genesis with a key")
		}
		key, err := audit.Verifier(e.genesis.Origin, e.genesis.SigningKey)
		if err != nil {
			return "", err
		}
		keys, whose = []note.Verifier{key}, "the key of the file's own genesis, which nothing vouches for"
	}
	chain, err := e.handedOn(keys)
	if err != nil {
		return "", err
	}
	signed, err := chain.signed(e.signed, e.head.Size)
	if err != nil {
		return "", err
	}
	if e.early != nil && !bytes.Equal(e.early.Checkpoint, e.signed) {
		if _, err := chain.signed(e.early.Checkpoint, e.early.head.Size); err != nil {
			return "", fmt.Errorf("the early checkpoint: %w", err)
		}
	}
	if len(chain.later) > 0 {
		whose += ", or by one that it handed on to"
	}
	return fmt.Sprintf("%s of %s, signed by %s, with %s", many(e.head.Size, "entry", "entries"), e.head.Origin, whose,
		signed), nil
}

func (e *evidence) inclusion() (string, error) {
	for _, r := range e.receipts {
		if err := r.CheckInclusion(e.head); err != nil {
			return "", fmt.Errorf("entry %d: %w", r.Index, err)
		}
	}
	if e.early != nil {
		if err := e.early.CheckInclusion(e.early.head); err != nil {
			return "", fmt.Errorf("the early checkpoint: %w", err)
		}
		if e.early.head.Size == e.head.Size && e.early.head.Root != e.head.Root {
			return "", fmt.Errorf("two signed checkpoints of %d entries have different roots: the ledger was forked",
				e.head.Size)
		}
	}
	for _, h := range e.keys {
		if err := h.included(e); err != nil {
			return "", err
		}
	}
	return many(len(e.receipts), "entry leads", "entries lead") + " to the checkpoint's root", nil
}

// succession says which keys a checkpoint of the file needs.
type succession struct {
	trusted []note.Verifier
	later   []successor // by index
}

// successor is a key of the member keys.
type successor struct {
	index    uint64 // of its entry
	key      note.Verifier
	handedOn bool // the trusted keys, or those that they handed on to, signed its checkpoint
	pinned   bool // it is a trusted key of ML-DSA-44
}

// succeeding begins at the trusted keys of a ledger: those of others sign nothing of it.
func succeeding(trusted []note.Verifier, origin string) *succession {
	return &succession{trusted: slices.DeleteFunc(slices.Clone(trusted),
		func(k note.Verifier) bool { return k.Name() != origin })}
}

// handedOn follows the member keys. They are one chain from the genesis's key: the keys before an element and its own
// key sign its checkpoint. Trust goes forwards only, because a key is replaced when it may be in other hands.
func (e *evidence) handedOn(trusted []note.Verifier) (*succession, error) {
	s := succeeding(trusted, e.head.Origin)
	if e.genesis == nil {
		return s, s.forwards(e.keys)
	}
	if len(e.keys) == 0 {
		return s, nil
	}
	var history audit.History
	if err := history.Take(0, audit.Entry{Body: e.genesis}); err != nil {
		return nil, err
	}
	for _, h := range e.keys {
		if err := history.Take(h.Index, audit.Entry{Body: h.key}); err != nil {
			return nil, fmt.Errorf("the key of entry %d: %w", h.Index, err)
		}
		if err := history.HandsOn(h.Index, h.Checkpoint); err != nil {
			return nil, fmt.Errorf("the key of entry %d was not handed on to: %w", h.Index, err)
		}
		next := history.Signing[len(history.Signing)-1].Key
		pinned := audit.IsMLDSA(next) && holds(e.trust.Public, h.key.Public)
		s.later = append(s.later, successor{h.Index, next, false, pinned})
	}
	var handed []note.Verifier
	for i := range s.later {
		k, keys := &s.later[i], s.trusted
		if !audit.IsMLDSA(k.key) { // what signs in the place of a trusted key is handed on to by that
			keys = s.asked(e.keys[i].head.Size)
		}
		_, err := audit.OpenCheckpoint(e.keys[i].Checkpoint, slices.Concat(keys, handed)...)
		if k.handedOn = err == nil; k.handedOn {
			handed = append(handed, k.key)
		}
	}
	return s, nil
}

// forwards follows keys without a genesis in front of them: each signed the checkpoint of which its entry is the last.
// The checkpoint of a receipt alone may be larger, when other keys are in force: then nothing follows from its key.
func (s *succession) forwards(keys []handover) error {
	for _, h := range keys {
		if h.head.Size > h.Index+1 {
			continue
		}
		next, err := audit.Verifier(h.head.Origin, h.key.Public)
		if err == nil {
			_, err = audit.OpenCheckpoint(h.Checkpoint, next)
		}
		if err != nil {
			return fmt.Errorf("the key of entry %d: %w", h.Index, err)
		}
		_, why := s.signed(h.Checkpoint, h.Index)
		s.later = append(s.later, successor{h.Index, next, why == nil, false})
	}
	return nil
}

// asked returns the trusted keys that sign a checkpoint of that size. A key of ML-DSA-44 does not,
// if the file shows its entry at that index or a later one.
func (s *succession) asked(size uint64) []note.Verifier {
	return slices.DeleteFunc(slices.Clone(s.trusted), func(t note.Verifier) bool {
		return audit.IsMLDSA(t) && slices.ContainsFunc(s.later,
			func(k successor) bool { return k.pinned && size <= k.index && k.key.KeyHash() == t.KeyHash() })
	})
}

// signed checks the signatures of a checkpoint, and returns the algorithms of their keys. Of the keys that are trusted
// or were handed on to, one of each algorithm signs. If the file shows a key of ML-DSA-44 below the checkpoint's size,
// a key of that algorithm signs as well, even if none is trusted.
func (s *succession) signed(checkpoint []byte, size uint64) (string, error) {
	keys := s.asked(size)
	var shown note.Verifier
	for _, k := range s.later {
		mldsa := audit.IsMLDSA(k.key)
		if k.handedOn && (!mldsa || k.index < size) {
			keys = append(keys, k.key)
		}
		if mldsa && k.index < size {
			shown = k.key
		}
	}
	if _, err := audit.OpenCheckpoint(checkpoint, keys...); err != nil {
		return "", err
	}
	mldsa := slices.DeleteFunc(slices.Clone(keys), func(k note.Verifier) bool { return !audit.IsMLDSA(k) })
	if len(mldsa) == 0 && shown != nil {
		mldsa = []note.Verifier{shown}
		if _, err := audit.OpenCheckpoint(checkpoint, shown); err != nil {
			return "", fmt.Errorf("the ML-DSA-44 key of an entry below: %w", err)
		}
	}
	switch {
	case len(mldsa) == 0:
		return "Ed25519 alone", nil
	case len(mldsa) == len(keys):
		return "ML-DSA-44 alone", nil
	}
	return "Ed25519 and ML-DSA-44", nil
}

// included is the part of inclusion for an element of keys.
func (h *handover) included(e *evidence) error {
	if err := h.CheckInclusion(h.head); err != nil {
		return fmt.Errorf("the key of entry %d: %w", h.Index, err)
	}
	if h.head.Size == e.head.Size && h.head.Root != e.head.Root ||
		e.early != nil && h.head.Size == e.early.head.Size && h.head.Root != e.early.head.Root {
		return fmt.Errorf("two signed checkpoints of %d entries have different roots: the ledger was forked",
			h.head.Size)
	}
	return nil
}
