package audit

import (
	"crypto/sha256"
	"slices"
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

// checkTerms is the rule terms of a commit.
func (s *State) checkTerms(c *Context) error {
	if c.Parent != nil {
		// checkParent found it.
		p, _ := s.open.find(c.Parent.ID)
		if of := p.commit().Context.Terms; !of.equal(c.Terms) {
			return illegal(RuleTerms, "the terms are not those of the parent, shuffle %d", c.Parent.ID)
		}
		return nil
	}
	switch t := c.Terms; {
	case t == nil:
	case t.Kind == TermsWheel && (!c.IsDraw() || c.IsNumbers()):
		return illegal(RuleTerms, "a wheel is of a draw list only")
	case t.Kind == TermsWheel && slices.ContainsFunc(c.Recipe.Ranges,
		func(k uint32) bool { return k != c.Recipe.Ranges[0] }):
		return illegal(RuleTerms, "every range of a wheel's draw list is its total, and these differ")
	case t.Kind == TermsTicketList && (!c.IsNumbers() || t.Count != uint64(c.Of)):
		return illegal(RuleTerms, "a list of %d tickets is of as many numbers only", t.Count)
	}
	return nil
}

// equal reports whether both are the same; nil is none.
func (t *Terms) equal(u *Terms) bool { return t == u || t != nil && u != nil && *t == *u }
