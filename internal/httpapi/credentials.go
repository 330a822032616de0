package httpapi

import (
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// ListCredentials answers with every token and certificate that was created.
func (s *Server) ListCredentials(c *call) error {
	all, err := c.ledger.Log.Credentials(c.r.Context())
	if err != nil {
		return err
	}
	answer := CredentialList{Credentials: make([]Credential, len(all))}
	now := s.cfg.Now().UnixMilli()
	for i, h := range all {
		answer.Credentials[i] = credentialAnswer(h, now)
	}
	return c.json(answer)
}

func credentialAnswer(h audit.Holder, now int64) Credential {
	a := Credential{
		Credential: h.ID, Form: CredentialForm(h.Form.String()), Role: Role(h.Role.String()), Identity: h.Identity,
		Tables: h.Tables, State: CredentialStateInForce, Entry: h.Index, Created: Timestamp(h.Created),
	}
	if h.Expires != 0 {
		a.Expires = new(Timestamp(h.Expires))
	}
	switch {
	case h.Revoked != 0:
		a.State, a.Revoked = CredentialStateRevoked, new(Timestamp(h.Revoked))
	case h.Expires != 0 && h.Expires <= now:
		a.State = CredentialStateExpired
	}
	return a
}

// ChangeCredential creates or revokes a token or certificate.
func (s *Server) ChangeCredential(c *call) error {
	asked, err := reads(c, credentialBody)
	if err != nil {
		return err
	}
	return c.answer(c.ledger.Dealer.ChangeCredential(c.r.Context(), c.caller.actor, asked))
}

// credentialBody is the entry that is asked for.
func credentialBody(req *CredentialRequest) (*audit.Credential, error) {
	if err := audit.CheckName(req.Credential); err != nil {
		return nil, refuseValue("credential", err.Error())
	}
	created := req.Role != nil || req.Identity != nil || req.Tables != nil || req.Expires != nil || req.Hash != nil
	switch {
	case req.Action == CredentialRequestActionRevoke && created:
		return nil, refuseValue("action", "must be create when role, identity, tables, expires or hash is given")
	case req.Action == CredentialRequestActionRevoke:
		return &audit.Credential{Kind: audit.CredentialRevoked, ID: req.Credential, Reason: value(req.Reason)}, nil
	case req.Action != CredentialRequestActionCreate:
		return nil, refuseWord("action", string(req.Action), "create", "revoke")
	case req.Reason != nil:
		return nil, refuseValue("reason", "must be left out, except with the action revoke")
	case req.Role == nil:
		return nil, refuseValue("role", "must be given with the action create: dealer, auditor, regulator or blind")
	case req.Identity == nil || audit.CheckName(*req.Identity) != nil:
		return nil, refuseValue("identity",
			"must be given with the action create: a name of 1 to 64 letters, digits, '.', '_' and '-'")
	case req.Hash == nil:
		return nil, refuseValue("hash", "must be given with the action create: SHA-256 of the secret")
	}
	return createdBody(req)
}

func createdBody(req *CredentialRequest) (*audit.Credential, error) {
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: req.Credential, Form: audit.FormToken,
		Role: audit.ParseRole(string(*req.Role)), Identity: *req.Identity, Tables: slices.Clone(req.Tables)}
	if ledger.IsCertificate(c.ID) {
		c.Form = audit.FormCertificate
	}
	if req.Expires != nil {
		c.Expires = int64(*req.Expires)
	}
	switch c.Role {
	case 0:
		return nil, refuseWord("role", string(*req.Role), "dealer", "auditor", "regulator", "blind")
	case audit.RoleAdmin:
		return nil, refuseValue("role",
			"must not be admin: an act makes an admin's credential (shuffled act do admin_credential)")
	}
	slices.Sort(c.Tables)
	for i, table := range c.Tables {
		if err := audit.CheckName(table); err != nil {
			return nil, refuseValue("tables", "must hold names, and one of them "+err.Error())
		}
		if i > 0 && c.Tables[i-1] == table {
			return nil, refuseValue("tables", "must name each table once, and names "+table+" twice")
		}
	}
	if req.Tables != nil && (len(c.Tables) == 0 || len(c.Tables) > audit.MaxTables) {
		return nil, refuseValue("tables", "must have 1 to 256 tables, or be left out for all tables")
	}
	hash, err := decodeHash("hash", *req.Hash)
	if err != nil {
		return nil, err
	}
	c.Digest = c.Opens(hash)
	return c, nil
}

// TakeOverShuffle gives a shuffle another owner.
func (s *Server) TakeOverShuffle(c *call, id ID) error {
	return do(c, dealer.TakeoverRequest{}, on(id, c.ledger.Dealer.Takeover))
}
