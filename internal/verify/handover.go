package verify

import (
	"bytes"
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
	keys, err := e.handedOn(keys)
	if err != nil {
		return "", err
	}
	if _, err := audit.OpenCheckpoint(e.receipts[0].Checkpoint, keys...); err != nil {
		return "", err
	}
	if e.early != nil && !bytes.Equal(e.early.Checkpoint, e.receipts[0].Checkpoint) {
		if _, err := audit.OpenCheckpoint(e.early.Checkpoint, keys...); err != nil {
			return "", fmt.Errorf("the early checkpoint: %w", err)
		}
	}
	if len(e.keys) > 0 {
		whose += ", or by one that it handed on to"
	}
	return fmt.Sprintf("%d entries of %s, signed by %s", e.head.Size, e.head.Origin, whose), nil
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
	return fmt.Sprintf("%d entries lead to the checkpoint's root", len(e.receipts)), nil
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
