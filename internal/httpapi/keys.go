package httpapi

import (
	"shuffled/internal/audit"
)

// GetKeys answers with the keys and policies that the ledger's entries name, oldest first. The administrators, and the
// acts that need two of them, are the answer of GetActs. A co-dealer's keys are those of its own ledger.
func (s *Server) GetKeys(c *call) error {
	g := c.ledger.Log.Genesis()
	answer := Keys{Origin: g.Origin, Production: g.Production, Keys: []Key{}}
	for _, r := range c.ledger.Log.KeyHistory().Records {
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
