package httpapi

import (
	"errors"

	"shuffled/internal/audit"
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
		return &refusal{code: CodeInvalidRequest, detail: illegal.Detail}
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
