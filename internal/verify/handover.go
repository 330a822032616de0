package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// handover is an element of the member keys: the entry of a signing key, and the checkpoint of which it is the last,
// which the keys before it and this key signed.
type handover struct {
	apart            // proved under the larger checkpoint that judges the file; a receipt alone: under its own
	key   *audit.Key // from entries on
}

// prefix is the member witnessed: an earlier checkpoint, and the path of its last entry in the tree of the receipts.
type prefix struct {
	signed []byte
	head   audit.Checkpoint
	audit.Last
}

// parseHandovers is the part of format for the keys of a ledger.
func parseHandovers(keys []audit.Handover, origin string) (all []handover, err error) {
	for i, k := range keys {
		var h handover
		if h.Receipt, err = parseBare(k.Receipt); err == nil {
			h.Checkpoint = []byte(k.Checkpoint)
			h.head, err = checkpointIn(h.Checkpoint, origin)
		}
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		all = append(all, h)
	}
	return all, nil
}

// handoverEntries: each is of a signing key, the last entry of its checkpoint, and they ascend.
func handoverEntries(keys []handover) error {
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
		case h.head.Size != h.Index+1:
			return fmt.Errorf("the key of entry %d is handed on to in a checkpoint of %d entries", h.Index, h.head.Size)
		}
		h.key = key
	}
	return nil
}

// signature checks each checkpoint of the file once.
func (e *evidence) signature() (string, error) {
	keys, public, whose := e.trust.Keys, e.trust.Public, "the trusted key"
	if len(keys) == 0 {
		if e.genesis == nil {
			return "", notChecked("nothing is trusted, and the file has no genesis with a key")
		}
		key, err := audit.Verifier(e.genesis.Origin, e.genesis.SigningKey)
		if err != nil {
			return "", err
		}
		keys, public = []note.Verifier{key}, [][]byte{e.genesis.SigningKey}
		whose = "the key of the file's own genesis, which nothing vouches for"
	}
	chain := &succession{trusted: keys, public: public}
	if e.genesis != nil && len(e.keys) > 0 { // without any, nothing is asked of the genesis's key
		if err := chain.Take(0, audit.Entry{Body: e.genesis}); err != nil {
			return "", err
		}
	}
	if err := chain.follow(e.head.Origin, e.keys); err != nil {
		return "", err
	}
	signed, err := chain.signed(e.signed, e.head.Size)
	if err != nil {
		return "", err
	}
	if e.early != nil && !bytes.Equal(e.early.signed, e.signed) {
		if _, err := chain.signed(e.early.signed, e.early.head.Size); err != nil {
			return "", fmt.Errorf("the early checkpoint: %w", err)
		}
	}
	if len(chain.Signing) > 0 {
		whose += ", or by one that it handed on to"
	}
	return fmt.Sprintf("%s of %s, signed by %s, with %s", many(e.head.Size, "entry", "entries"), e.head.Origin, whose,
		signed), nil
}

// inclusion: each head of the ledger in the file is the head of a beginning of the tree that the receipts lead to.
func (e *evidence) inclusion() (string, error) {
	for _, r := range e.receipts {
		if err := r.CheckInclusion(e.head); err != nil {
			return "", fmt.Errorf("entry %d: %w", r.Index, err)
		}
	}
	if p := e.early; p != nil {
		if err := e.head.CheckPrefix(p.head, p.Last); err != nil {
			return "", fmt.Errorf("the early checkpoint: %w", err)
		}
		if p.head.Size <= e.v.ID {
			return "", fmt.Errorf("the early checkpoint of %d entries ends in front of commit %d", p.head.Size, e.v.ID)
		}
	}
	if e.v.Kind == KindTranscript { // a receipt alone of a signing key's entry was checked above
		for _, h := range e.keys {
			if err := h.under(e.head); err != nil {
				return "", err
			}
		}
	}
	return many(len(e.receipts), "entry leads", "entries lead") + " to the checkpoint's root", nil
}

// under returns nil if the tree of head begins with that of the checkpoint that the key signed.
func (h handover) under(head audit.Checkpoint) error {
	if err := head.CheckPrefix(h.head, h.Last()); err != nil {
		return fmt.Errorf("the key of entry %d: %w", h.Index, err)
	}
	return nil
}

// succession says which keys count on a checkpoint of the ledger (docs/SPEC.md section 10.1.1).
type succession struct {
	trust.History // of the keys that the file shows
	trusted       []note.Verifier
	public        [][]byte        // of trusted, type byte first
	handedOn      map[uint64]bool // by the index of the entry: trusted keys led to it
}

// follow takes keys in: the keys before an element and its own key sign its checkpoint. Trust goes forwards only,
// because a key is replaced when it may be in other hands. If the entry of a receipt alone is not the last of its
// checkpoint, nothing follows from its key.
func (s *succession) follow(origin string, keys []handover) error {
	s.Origin, s.handedOn = cmp.Or(s.Origin, origin), make(map[uint64]bool)
	if len(keys) == 1 && keys[0].head.Size != keys[0].Index+1 {
		return nil
	}
	for _, h := range keys {
		if err := s.Take(h.Index, audit.Entry{Body: h.key}); err != nil {
			return fmt.Errorf("the key of entry %d: %w", h.Index, err)
		}
	}
	for _, h := range keys {
		if err := s.HandsOn(h.Index, h.Checkpoint); err != nil {
			return fmt.Errorf("the key of entry %d was not handed on to: %w", h.Index, err)
		}
		_, why := s.signed(h.Checkpoint, h.head.Size)
		s.handedOn[h.Index] = why == nil
	}
	return nil
}

// counting returns the keys that count on a checkpoint of a size, those that are trusted and those that were handed on
// to, if the file does not show another key in force there. A key that is replaced signs the checkpoint that hands on.
func (s *succession) counting(size uint64) (keys []note.Verifier) {
	inForce := append(s.At(size), s.At(max(size, 1)-1)...)
	shown := func(among []trust.KeyInForce, public []byte) bool {
		return slices.ContainsFunc(among, func(k trust.KeyInForce) bool { return bytes.Equal(k.Public, public) })
	}
	for i, key := range s.trusted {
		if key.Name() == s.Origin && (shown(inForce, s.public[i]) || !shown(s.Signing, s.public[i])) {
			keys = append(keys, key)
		}
	}
	for _, k := range inForce {
		if s.handedOn[k.Index] {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// signed checks the signatures of a checkpoint, and returns the algorithms of their keys. Of the keys that count, one
// of each algorithm signs. If none of them is of ML-DSA-44, and the file shows one below the checkpoint's size, that
// one signs as well.
func (s *succession) signed(checkpoint []byte, size uint64) (string, error) {
	keys := s.counting(size)
	if len(keys) > 0 && !slices.ContainsFunc(keys, audit.IsMLDSA) {
		for _, k := range s.At(size) {
			if audit.IsMLDSA(k.Key) {
				keys = append(keys, k.Key)
			}
		}
	}
	if _, err := audit.OpenCheckpoint(checkpoint, keys...); err != nil {
		return "", err
	}
	mldsa := slices.ContainsFunc(keys, audit.IsMLDSA)
	switch {
	case !mldsa:
		return "Ed25519 alone", nil
	case !slices.ContainsFunc(keys, func(k note.Verifier) bool { return !audit.IsMLDSA(k) }):
		return "ML-DSA-44 alone", nil
	}
	return "Ed25519 and ML-DSA-44", nil
}
