package ledger

import "context"

// Role is what a token's holder may do.
type Role uint8

// The roles. A dealer commits, deals and closes; an auditor reads what is
// disclosed to auditors; an admin does what no game needs: keys, switches, tables;
// a regulator reads what an auditor reads, and leaves an Access for each request.
const (
	RoleDealer    Role = 1
	RoleAuditor   Role = 2
	RoleAdmin     Role = 3
	RoleRegulator Role = 4
)

var roleNames = map[Role]string{RoleDealer: "dealer", RoleAuditor: "auditor", RoleAdmin: "admin", RoleRegulator: "regulator"}

// String returns the role's word.
func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role with the word s, 0 for none.
func ParseRole(s string) Role {
	for r, name := range roleNames {
		if name == s {
			return r
		}
	}
	return 0
}

// Token is an API token of one ledger as a store keeps it: the secret itself is
// nowhere.
type Token struct {
	ID      string   // public id: the actor of the entries it causes
	Role    Role     //
	Hash    [32]byte // SHA-256 of the secret
	Created int64    // UTC milliseconds
	Expires int64    // UTC milliseconds, 0 for never
	Revoked int64    // UTC milliseconds, 0 while in force

	// Tables are the tables whose shuffles the holder may work on and read; nil for
	// all of them. A list without a table is refused by the stores.
	Tables []string
}

// TokenStore keeps tokens beside the evidence. Tokens are not evidence: they
// can be revoked.
type TokenStore interface {
	// PutToken adds a token; ErrExists when the id is taken.
	PutToken(ctx context.Context, id ID, t Token) error
	// Token returns the token with the public id, or ErrNotFound.
	Token(ctx context.Context, id ID, token string) (Token, error)
	// Tokens lists all tokens of a ledger by creation.
	Tokens(ctx context.Context, id ID) ([]Token, error)
	// RevokeToken marks a token revoked at the time, once; ErrNotFound when there
	// is none in force with that id.
	RevokeToken(ctx context.Context, id ID, token string, at int64) error
}
