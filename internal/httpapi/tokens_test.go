package httpapi

import (
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

// write appends the bodies in one batch, as a command of an operator does.
func (s *stack) write(bodies ...audit.Body) []ledger.Appended {
	s.t.Helper()
	appended, err := s.ledger.Append(s.t.Context(), ledger.Proposal{Actor: audit.Operator, Bodies: bodies})
	must(s.t, err)
	return appended
}

// newToken returns the entry that creates a token of the role, of an identity that is
// named as the role, changed by change, which may be nil; and the token itself.
func newToken(role audit.Role, change func(*audit.Credential)) (c *audit.Credential, bearer string) {
	id, secret := keys.NewToken()
	bearer = string(secret.Bytes())
	c = &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormToken, Role: role,
		Identity: role.String()}
	if change != nil {
		change(c)
	}
	_, part, _ := keys.SplitToken(bearer)
	c.Digest = c.Opens(keys.HashToken(part))
	return c, bearer
}

// putToken makes a token, as newToken does.
func (s *stack) putToken(role audit.Role, change func(*audit.Credential)) (id, bearer string) {
	s.t.Helper()
	c, bearer := newToken(role, change)
	s.write(c)
	return c.ID, bearer
}

// revoke is the entry that ends a credential.
func revoke(id string) *audit.Credential {
	return &audit.Credential{Kind: audit.CredentialRevoked, ID: id, Reason: "a test"}
}

// of returns a change of newToken: the identity.
func of(identity string) func(*audit.Credential) {
	return func(c *audit.Credential) { c.Identity = identity }
}

// makeTokens makes all tokens of the stack, in one batch.
func (s *stack) makeTokens() {
	s.t.Helper()
	var all []audit.Body
	put := func(role audit.Role, change func(*audit.Credential)) (id, bearer string) {
		c, bearer := newToken(role, change)
		all = append(all, c)
		return c.ID, bearer
	}
	s.dealerID, s.dealerToken = put(audit.RoleDealer, nil)
	_, s.auditorToken = put(audit.RoleAuditor, nil)
	_, s.adminToken = put(audit.RoleAdmin, nil)
	_, s.regulatorToken = put(audit.RoleRegulator, nil)
	_, s.tableToken = put(audit.RoleDealer, func(c *audit.Credential) { c.Tables = []string{"a", "b"} })
	_, s.otherToken = put(audit.RoleDealer, of("another"))
	_, s.expired = put(audit.RoleDealer, func(c *audit.Credential) { c.Expires = s.clock.Now().UnixMilli() })
	id, revoked := put(audit.RoleDealer, nil)
	s.revoked = revoked
	s.write(append(all, revoke(id))...)
	_, unknown := keys.NewToken()
	s.unknown = string(unknown.Bytes())
	_, secret, _ := keys.SplitToken(s.unknown)
	s.wrong = s.dealerID + "." + secret
}

// house is the actor of the stack's first dealer, for what a test does in process.
func (s *stack) house() audit.Actor {
	return audit.Actor{Identity: audit.RoleDealer.String(), Credential: s.dealerID}
}

// idOf is the public id of a token.
func idOf(bearer string) string {
	id, _, _ := strings.Cut(bearer, ".")
	return id
}
