package httpapi

import (
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// GetKeys answers with the keys and policies that the ledger's entries name, oldest first. The administrators, and the
// acts that need two of them, are the answer of GetActs. A co-dealer's keys are those of its own ledger.
func (s *Server) GetKeys(c *call) error {
	g := c.ledger.Log.Genesis()
	answer := Keys{Origin: g.Origin, Production: g.Production, Keys: []Key{}}
	for _, r := range c.ledger.Log.KeyHistory() {
		if r.Subject == audit.SubjectAdministrator || r.Subject == audit.SubjectTwoPersons ||
			r.Subject == audit.SubjectCoDealer {
			continue
		}
		k, err := keyAnswer(g.Origin, r)
		if err != nil {
			return err
		}
		answer.Keys = append(answer.Keys, k)
	}
	return c.json(answer)
}

func keyAnswer(origin string, r audit.KeyRecord) (k Key, err error) {
	k = Key{Entry: Index(r.Index), Time: Timestamp(r.Time), Subject: KeySubject(r.Subject.String())}
	if r.Subject == audit.SubjectPolicy {
		k.Policy = new(string(r.Policy))
		return k, nil
	}
	k.ID = new(encodeHash(r.ID))
	switch r.Subject {
	case audit.SubjectSigning:
		vkey, err := audit.VKey(origin, r.Public)
		k.Vkey = &vkey
		return k, err
	case audit.SubjectRetirement:
		k.Retired, k.From = new(KeyRetired(r.Retired.String())), new(Timestamp(r.From))
	default:
		k.Public = r.Public
	}
	return k, nil
}

// AddKey writes a key entry.
func (s *Server) AddKey(c *call) error {
	body, err := reads(c, func(req *KeyRequest) (*audit.Key, error) { return keyBody(c.ledger.Log.Info().Origin, req) })
	if err != nil {
		return err
	}
	a, err := c.ledger.Log.AddKey(c.r.Context(), c.caller.actor, body, nil)
	if errors.Is(err, ledger.ErrPolicy) {
		return &refusal{code: CodePolicy, detail: err.Error()} // which witness, and why not
	}
	if err != nil {
		return err
	}
	return c.json(Appended{Index: Index(a.Index), Receipt: a.Receipt.Text()})
}

// keyBody is the entry that is asked for. Each subject has members of its own.
func keyBody(origin string, req *KeyRequest) (*audit.Key, error) {
	members := []struct {
		name  string
		there bool
		of    KeyRequestSubject
		needs bool
	}{
		{"vkey", req.Vkey != nil, KeyRequestSubjectSigning, true},
		{"public", req.Public != nil, KeyRequestSubjectAuditor, true},
		{"policy", req.Policy != nil, KeyRequestSubjectPolicy, true},
		{"retired", req.Retired != nil, KeyRequestSubjectRetirement, true},
		{"id", req.ID != nil, KeyRequestSubjectRetirement, true},
		{"from", req.From != nil, KeyRequestSubjectRetirement, false},
	}
	for _, m := range members {
		if m.there && m.of != req.Subject {
			return nil, &refusal{code: CodeInvalidRequest, field: m.name, rule: "must be left out, except with the subject " +
				string(m.of)}
		}
		if !m.there && m.of == req.Subject && m.needs {
			return nil, &refusal{code: CodeInvalidRequest, field: m.name, rule: "must be given with this subject"}
		}
	}
	switch req.Subject {
	case KeyRequestSubjectSigning:
		key, err := audit.ParseVKey(*req.Vkey)
		if err != nil {
			return nil, refuseValue("vkey", err.Error())
		}
		if key.Name() != origin {
			return nil, &refusal{code: CodeInvalidRequest, field: "vkey", rule: "must be a key of this ledger"}
		}
		public, err := audit.SigningKey(*req.Vkey)
		return &audit.Key{Subject: audit.SubjectSigning, Public: public}, err
	case KeyRequestSubjectAuditor:
		return &audit.Key{Subject: audit.SubjectAuditor, Public: req.Public}, nil
	case KeyRequestSubjectPolicy:
		if n := len(*req.Policy); n > audit.MaxPolicy {
			return nil, refuseValue("policy", fmt.Sprintf(
				"has %d bytes and must have at most %d: name fewer witnesses, of ML-DSA-44 up to 18", n, audit.MaxPolicy))
		}
		return &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(*req.Policy)}, nil
	case KeyRequestSubjectRetirement:
		return retirement(req)
	}
	return nil, refuseWord("subject", string(req.Subject), "signing", "auditor", "policy", "retirement")
}

func retirement(req *KeyRequest) (*audit.Key, error) {
	id, err := decodeHash("id", *req.ID)
	if err != nil {
		return nil, err
	}
	k := &audit.Key{Subject: audit.SubjectRetirement, ID: id, From: time.Now().UnixMilli()}
	if req.From != nil {
		k.From = int64(*req.From)
	}
	switch *req.Retired {
	case KeyRequestRetiredSigning:
		k.Retired = audit.SubjectSigning
	case KeyRequestRetiredDisclosure:
		k.Retired = audit.SubjectDisclosure
	case KeyRequestRetiredAuditor:
		k.Retired = audit.SubjectAuditor
	default:
		return nil, refuseWord("retired", string(*req.Retired), "signing", "disclosure", "auditor")
	}
	return k, nil
}
