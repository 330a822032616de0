package httpapi

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

// TestCredentials creates a token by the API, uses it, revokes it, and reads the list.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{private: true})
	const route = "/v1/main/credentials"
	before := read[CredentialList](t, s.get(route, s.auditorToken)).Credentials
	states := make(map[string]CredentialState)
	for i, c := range before {
		states[c.Credential] = c.State
		if c.Entry != s.size-uint64(len(before))-1+uint64(i) || c.Form != CredentialFormToken || c.Created == 0 ||
			(c.Revoked != nil) != (c.State == CredentialStateRevoked) {
			t.Errorf("credential %d: %+v", i, c)
		}
	}
	for token, want := range map[string]CredentialState{s.dealerToken: "in_force", s.expired: "expired",
		s.revoked: "revoked", s.unknown: ""} {
		if got := states[idOf(token)]; got != want {
			t.Errorf("%s is %q, not %q", idOf(token), got, want)
		}
	}

	id, secret := keys.NewToken()
	bearer := string(secret.Bytes())
	_, part, _ := keys.SplitToken(bearer)
	expires := Timestamp(s.clock.Now().Add(time.Hour).UnixMilli())
	at, err := expires.MarshalText()
	must(t, err)
	hash := sha256.Sum256([]byte(part))
	create := fmt.Sprintf(`{"action":"create","credential":%q,"role":"dealer","identity":"tables-7",`+
		`"tables":["b","a"],"expires":%q,"hash":%q}`, id, at, encodeHash(hash))
	if got := s.status(bearer); got != 401 {
		t.Errorf("before: %d", got)
	}
	made := read[Appended](t, s.admin(route, create))
	receipt, err := audit.ParseReceipt(made.Receipt)
	if err != nil || receipt.Index != made.Index {
		t.Fatalf("%+v: %v", made, err)
	}
	entry, err := audit.ParseEntry(receipt.Entry)
	if c, ok := entry.Body.(*audit.Credential); err != nil || !ok || c.Digest != c.Opens(hash) ||
		entry.Actor != (audit.Actor{Identity: "admin", Credential: idOf(s.adminToken)}) ||
		strings.Contains(string(receipt.Entry), string(hash[:])) {
		t.Errorf("%+v: %v", entry, err)
	}
	shuffle := read[Shuffle](t, s.by(bearer, "/v1/main/shuffles", "k", `{"table":"a","deck":"short-36"}`))
	if state := read[ShuffleState](t, s.get(fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID),
		bearer)); state.Owner != "tables-7" {
		t.Errorf("%+v", state)
	}

	list := read[CredentialList](t, s.get(route, s.regulatorToken)).Credentials
	if c := list[len(list)-1]; len(list) != len(before)+1 || c.Credential != id || c.Entry != made.Index ||
		c.Identity != "tables-7" || c.Role != RoleDealer ||
		fmt.Sprint(c.Tables) != "[a b]" || value(c.Expires) != expires || c.State != CredentialStateInForce {
		t.Errorf("%+v", c)
	}
	over := fmt.Sprintf(`{"action":"revoke","credential":%q,"reason":"left the house"}`, id)
	read[Appended](t, s.admin(route, over))
	if got := s.status(bearer); got != 401 {
		t.Errorf("revoked: %d", got)
	}
	s.admin(route, over).want(t, CodeCredential, "")
	s.admin(route, create).want(t, CodeCredential, "") // an id stands once, for ever
	list = read[CredentialList](t, s.get(route, s.adminToken)).Credentials
	if c := list[len(list)-1]; c.State != CredentialStateRevoked || c.Revoked == nil || *c.Revoked < c.Created {
		t.Errorf("%+v", c)
	}
}

// TestCredentialRefusals wants a sentence that says what to do for everything that is wrong, and nothing written.
func TestCredentialRefusals(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	id := func() string { name, _ := keys.NewToken(); return name }
	hash := encodeHash([32]byte{1})
	good := func() string {
		return fmt.Sprintf(`{"action":"create","credential":%q,"role":"dealer","identity":"i","tables":["a","b"],`+
			`"expires":"2030-01-02T03:04:05Z","hash":%q}`, id(), hash)
	}
	size := s.ledger.Live().Size
	many := `"t0"`
	for i := range 256 {
		many += fmt.Sprintf(`,"t%d"`, i+1)
	}
	for _, c := range []struct {
		from, to string // in a good body
		code     Code
		field    string
		says     string
	}{
		{`"create"`, `"make"`, CodeInvalidValue, "action", "must be create or revoke"},
		{`"action":"create",`, ``, CodeInvalidValue, "action", "must be create or revoke"},
		{`"create"`, `"revoke"`, CodeInvalidValue, "action", "must be create when role, identity, tables, expires or hash is given"},
		{`"credential":"tok_`, `"credential":"a b`, CodeInvalidValue, "credential", "letters, digits"},
		{`"credential":"tok_`, `"token":"tok_`, CodeUnknownMember, "token", ""},
		{`"role":"dealer",`, ``, CodeInvalidValue, "role",
			"must be given with the action create: dealer, auditor, regulator or blind"},
		{`"role":"dealer"`, `"role":"house"`, CodeInvalidValue, "role", "must be dealer, auditor, regulator or blind"},
		{`"identity":"i",`, ``, CodeInvalidValue, "identity", "must be given with the action create: a name of 1 to 64 letters"},
		{`"identity":"i"`, `"identity":""`, CodeInvalidValue, "identity", "a name of 1 to 64 letters"},
		{`"identity":"i"`, `"identity":"Jane Doe"`, CodeInvalidValue, "identity", "a name of 1 to 64 letters"},
		{`"identity":"i"`, `"identity":"daemon"`, CodeCredential, "", "reserved"},
		{`"identity":"i"`, `"identity":"operator"`, CodeCredential, "", "reserved"},
		{`"tables":["a","b"]`, `"tables":[]`, CodeInvalidValue, "tables",
			"must have 1 to 256 tables, or be left out for all tables"},
		{`"tables":["a","b"]`, `"tables":[` + many + `]`, CodeInvalidValue, "tables", "must have 1 to 256 tables"},
		{`"tables":["a","b"]`, `"tables":["a b"]`, CodeInvalidValue, "tables", "must hold names, and one of them must have only"},
		{`"tables":["a","b"]`, `"tables":["b","a","b"]`, CodeInvalidValue, "tables",
			"must name each table once, and names b twice"},
		{`"role":"dealer"`, `"role":"admin"`, CodeInvalidValue, "role", "an act makes an admin's credential"},
		{`"2030-01-02T03:04:05Z"`, `"tomorrow"`, CodeInvalidValue, "expires", ""},
		{`,"hash":"` + hash + `"`, ``, CodeInvalidValue, "hash", "must be given with the action create: SHA-256 of the secret"},
		{hash, "AAAA", CodeInvalidValue, "hash", "must be 32 bytes in padded base64"},
		{hash, "x", CodeInvalidValue, "hash", "must be 32 bytes in padded base64"},
		{`"action"`, `"reason":"r","action"`, CodeInvalidValue, "reason", "must be left out, except with the action revoke"},
	} {
		body := good()
		bad := strings.Replace(body, c.from, c.to, 1)
		if bad == body {
			t.Errorf("%s is not in %s", c.from, body)
		}
		got := s.admin("/v1/main/credentials", bad)
		if got.want(t, c.code, c.field); !strings.Contains(value(got.problem(t).Detail), c.says) {
			t.Errorf("%s → %.60s: %s", c.from, c.to, got.body)
		}
	}
	revoked := func(members, says string, code Code, field string) {
		t.Helper()
		got := s.admin("/v1/main/credentials", `{"action":"revoke",`+members+`}`)
		if got.want(t, code, field); !strings.Contains(value(got.problem(t).Detail), says) {
			t.Errorf("%s: %s", members, got.body)
		}
	}
	mine := fmt.Sprintf(`"credential":%q`, s.dealerID)
	revoked(mine, "", CodeInvalidRequest, "reason")
	revoked(mine+`,"reason":" "`, "must say why", CodeInvalidRequest, "reason")
	revoked(mine+`,"reason":"two\nlines"`, "", CodeInvalidRequest, "reason")
	revoked(mine+`,"reason":"r","hash":"`+hash+`"`, "must be create when", CodeInvalidValue, "action")
	revoked(`"credential":"tok_nobody","reason":"r"`, "No credential tok_nobody was created", CodeCredential, "")
	revoked(fmt.Sprintf(`"credential":%q,"reason":"r"`, idOf(s.revoked)), "was revoked before", CodeCredential, "")
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written", got-size)
	}
	if got := s.status(s.dealerToken); got != 200 {
		t.Errorf("the token that was not revoked: %d", got)
	}
	read[Appended](t, s.admin("/v1/main/credentials", good())) // so it was the changes
}

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

// TestExpiredFromTheBeginning: the first moment of 1970 is a time, and not "never".
func TestExpiredFromTheBeginning(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	id, secret := keys.NewToken()
	_, part, _ := keys.SplitToken(string(secret.Bytes()))
	read[Appended](t, s.admin("/v1/main/credentials", fmt.Sprintf(`{"action":"create","credential":%q,"role":"dealer",`+
		`"identity":"i","expires":"1970-01-01T00:00:00Z","hash":%q}`, id, encodeHash(sha256.Sum256([]byte(part))))))
	if got := s.status(string(secret.Bytes())); got != 401 {
		t.Errorf("%d with a token that expired in 1970", got)
	}
}
