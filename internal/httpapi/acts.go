package httpapi

import (
	"errors"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// GetActs answers with the administrators, the acts that need two of them, and the acts that wait.
func (s *Server) GetActs(c *call) error {
	p, err := c.ledger.Log.Persons(c.r.Context())
	if err != nil {
		return err
	}
	a := Acts{Genesis: encodeHash(p.Genesis), Newest: p.Newest, Administrators: []Administrator{},
		TwoPersons: []string{},
		Delay:      int(p.Delay), Waiting: []WaitingAct{}, Size: p.Head.Size, Root: encodeHash(p.Head.Root)}
	for _, one := range p.Administrators {
		vkey, err := audit.VKey(one.Name, one.Key)
		if err != nil {
			return err
		}
		a.Administrators = append(a.Administrators, Administrator{Name: one.Name, Vkey: vkey})
	}
	for _, act := range p.TwoPersons {
		a.TwoPersons = append(a.TwoPersons, act.String())
	}
	for _, w := range p.Waiting {
		a.Waiting = append(a.Waiting, WaitingAct{Entry: w.Index, Due: Timestamp(w.Due), Expires: Timestamp(w.Expires),
			Digest: encodeHash(w.Digest)})
	}
	return c.json(a)
}

// SubmitAct writes an act that administrators signed, with the entry that it approves.
func (s *Server) SubmitAct(c *call) error {
	asked, err := reads(c, c.submitted)
	if err != nil {
		return err
	}
	recorded, err := c.ledger.Dealer.SubmitAct(c.r.Context(), c.caller.actor, asked.act, asked.body)
	illegal, _ := errors.AsType[*audit.Illegal](err)
	switch {
	case illegal != nil && illegal.Code == audit.RuleLatch:
		// The latch is not set, and the code latch would tell that it is.
		return &refusal{code: CodeInvalidRequest, field: "body", rule: "must clear a latch that is set, and the ledger's " +
			"is not: nothing is to be done"}
	case errors.Is(err, ledger.ErrPolicy):
		return &refusal{code: CodePolicy, detail: err.Error()} // which witness, and why not
	}
	return c.answer(recorded, err)
}

// submittedAct is an act with the body that it approves. One of them may be nil.
type submittedAct struct {
	act  *audit.ActEntry
	body audit.Body
}

func (c *call) submitted(req *ActRequest) (a submittedAct, err error) {
	if req.Act == nil && req.Body == nil {
		return a, refuseValue("act", "must be given, except with the entry that an act which waits approves")
	}
	if req.Act != nil {
		signed, err := audit.ParseBody(audit.TypeAct, req.Act)
		if err != nil {
			return a, refuseValue("act", "must be the body of an act, as shuffled act writes it: "+err.Error())
		}
		a.act = signed.(*audit.ActEntry)
	}
	if (req.Type == nil) != (req.Body == nil) {
		return a, refuseValue("body", "must be given if type is given, and only then")
	}
	if req.Type != nil {
		if a.body, err = audit.ParseBody(audit.Type(*req.Type), req.Body); err != nil {
			return a, refuseValue("body", "must be the body of the entry that the act approves: "+err.Error())
		}
	}
	if _, ok := a.body.(*audit.Takeover); ok != (c.caller.role == audit.RoleDealer) {
		return a, &refusal{code: CodeForbidden, field: "type",
			detail: "a dealer submits takeovers, and an admin everything else"}
	}
	return a, nil
}

// SetSwitch sets a kill switch.
func (s *Server) SetSwitch(c *call) error {
	return do(c, api.SwitchRequest{}, c.ledger.Dealer.SetSwitch)
}

// ListSwitches answers with the kill switches that are set.
func (s *Server) ListSwitches(c *call) error {
	set, err := c.ledger.Log.Switches(c.r.Context())
	if err != nil {
		return err
	}
	answer := SwitchList{Switches: make([]Switch, len(set))}
	for i, one := range set {
		answer.Switches[i] = Switch{Scope: SwitchScope(one.Scope.String()), Table: optional(one.Table)}
		if one.Scope == audit.ScopeDeck {
			answer.Switches[i].DeckHash = optional(encodeHash(one.Deck))
		}
	}
	return c.json(answer)
}

// SetTable opens or closes a table.
func (s *Server) SetTable(c *call) error {
	asked, err := reads(c, func(req *TableRequest) (*TableRequest, error) {
		if req.Action != TableRequestActionOpen && req.Action != TableRequestActionClose {
			return nil, refuseWord("action", string(req.Action), "open", "close")
		}
		return req, nil
	})
	if err != nil {
		return err
	}
	return c.answer(c.ledger.Dealer.SetTable(c.r.Context(), c.caller.actor, asked.Table,
		asked.Action == TableRequestActionOpen))
}

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

func credentialAnswer(h rules.Holder, now int64) Credential {
	a := Credential{
		Credential: h.ID, Form: CredentialForm(h.Form.String()), Role: Role(h.Role.String()), Identity: h.Identity,
		Tables: h.Tables, State: CredentialStateInForce, Entry: h.Index, Created: Timestamp(h.Created),
		Expires: optional(Timestamp(h.Expires)),
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
		Role: audit.ParseRole(string(*req.Role)), Identity: *req.Identity, Tables: slices.Clone(req.Tables),
		Expires: before(req.Expires)} // 0, as of a back end without a time, would be "never"
	if ledger.IsCertificate(c.ID) {
		c.Form = audit.FormCertificate
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
	var hash [32]byte
	if err := decodeOctets(hash[:], *req.Hash); err != nil {
		return nil, refuseValue("hash", err.Error())
	}
	c.Digest = c.Opens(hash)
	return c, nil
}

// TakeOverShuffle gives a shuffle another owner.
func (s *Server) TakeOverShuffle(c *call, id ID) error {
	return do(c, api.TakeoverRequest{}, on(id, c.ledger.Dealer.Takeover))
}
