package audit

import (
	"crypto/sha256"
)

// Terms name the document or the list that says what the values of a shuffle mean: the hash of a
// published document, or the root of a list of tickets (docs/SPEC.md section 5.2).
type Terms struct {
	Kind  TermsKind
	Count uint64   // TermsTicketList: tickets in the list
	Hash  [32]byte // TermsHash of the document; TermsTicketList: the root
}

// TermsHash returns the hash by which a context names a document of that kind.
func TermsHash(kind TermsKind, document []byte) [32]byte {
	return sha256.Sum256(append(append([]byte("shuffled/v1/terms\x00"), byte(kind)), document...))
}

func (t *Terms) fields(k *coder) {
	switch code(k, "terms", &t.Kind, &codesOfTerms); t.Kind {
	case TermsTicketList:
		k.u64("tickets", &t.Count)
		k.hash("root of the tickets", &t.Hash)
	default:
		k.hash("hash of the terms", &t.Hash)
	}
}

// Equal reports whether both are the same; nil is none.
func (t *Terms) Equal(u *Terms) bool { return t == u || t != nil && u != nil && *t == *u }
