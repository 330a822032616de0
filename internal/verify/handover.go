package verify

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// handover is a signing key's entry, proved under the checkpoint that the key
// before it and this one signed: an element of the member keys.
type handover struct {
	apart
	key *audit.Key // from entries on
}

// handoverEntries: each is of a signing key, the last entry of its checkpoint,
// and they ascend.
func (e *evidence) handoverEntries() error {
	for i := range e.keys {
		h := &e.keys[i]
		entry, err := audit.ParseEntry(h.Entry)
		if err != nil {
			return fmt.Errorf("the key of entry %d: %w", h.Index, err)
		}
		key, ok := entry.Body.(*audit.Key)
		switch {
		case !ok || key.Subject != audit.SubjectSigning:
			return fmt.Errorf("entry %d, among the keys, is of no signing key", h.Index)
		case i > 0 && h.Index <= e.keys[i-1].Index:
			return fmt.Errorf("the key of entry %d stands behind that of entry %d", h.Index, e.keys[i-1].Index)
		case h.head.Size != h.Index+1 || h.head.Size > e.head.Size:
			return fmt.Errorf("the key of entry %d is proved under a checkpoint of %d entries", h.Index, h.head.Size)
		}
		h.key = key
	}
	return nil
}

// handedOn returns the trusted keys with those that they handed on to. The member
// keys is one chain from the genesis's key: each element is signed by the key
// before it and by its own, so that from the first that a trusted key signed all
// are handed on to. Trust goes forwards only, for a key is replaced because it may
// be in other hands.
func (e *evidence) handedOn(trusted []note.Verifier) ([]note.Verifier, error) {
	if len(e.keys) == 0 {
		return trusted, nil
	}
	before, err := audit.Verifier(e.genesis.Origin, e.genesis.SigningKey)
	if err != nil {
		return nil, err
	}
	all, follows := slices.Clone(trusted), false
	for _, h := range e.keys {
		next, err := audit.Verifier(e.genesis.Origin, h.key.Public)
		if err != nil {
			return nil, fmt.Errorf("the key of entry %d: %w", h.Index, err)
		}
		for _, key := range []note.Verifier{before, next} {
			if _, err := audit.OpenCheckpoint(h.Checkpoint, key); err != nil {
				return nil, fmt.Errorf("the key of entry %d was not handed on to: %w", h.Index, err)
			}
		}
		if !follows {
			_, err := audit.OpenCheckpoint(h.Checkpoint, trusted...)
			follows = err == nil
		}
		if follows {
			all = append(all, next)
		}
		before = next
	}
	return all, nil
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
