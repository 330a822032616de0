package rules

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// SigningKey returns the Ed25519 signing key in force, type byte first, nil before the
// genesis. The caller does not change it, nor the keys that follow.
func (s *State) SigningKey() []byte { return s.keys.signing }

// SigningKeys returns the signing keys in force, which all sign: that of Ed25519, then
// that of ML-DSA-44 if there is one.
func (s *State) SigningKeys() [][]byte {
	all := [][]byte{s.keys.signing, s.keys.mldsa}
	return slices.DeleteFunc(all, func(k []byte) bool { return k == nil })
}

// KeyEntries returns the key entries that took effect, by index: with the genesis
// they are all that the ledger says of keys.
func (s *State) KeyEntries() []KeyEntry { return slices.Clone(s.keys.entries) }

// KeyCount returns how many KeyEntries there are.
func (s *State) KeyCount() int { return len(s.keys.entries) }

func (s *State) applyGenesis(g *audit.Genesis) {
	s.genesis = g
	p := &s.persons
	p.inForce, p.stood = make(map[string][]byte), make(map[string]bool)
	for _, a := range g.Administrators {
		p.put(a, audit.ChangeAdd)
	}
	p.acts, p.delay = g.TwoPersons, g.Delay
	s.keys = keys{signing: g.SigningKey, policy: g.Policy, auditors: make(map[[32]byte][]byte),
		known: map[[32]byte]standing{audit.KeyID(g.SigningKey): {subject: audit.SubjectSigning}}}
	for _, k := range g.AuditorKeys {
		s.keys.known[audit.KeyID(k)] = standing{subject: audit.SubjectAuditor}
		s.keys.auditors[audit.KeyID(k)] = k
	}
}

// checkGenesis: the keys of a genesis can be used, and its policy asks for witnesses if its deals need them.
func checkGenesis(g *audit.Genesis) error {
	if err := soundKey(audit.SubjectSigning, g.SigningKey); err != nil {
		return err
	}
	for _, k := range g.AuditorKeys {
		if err := soundKey(audit.SubjectAuditor, k); err != nil {
			return err
		}
		if err := checkType(g, slices.Values(g.AuditorKeys), k[0]); err != nil {
			return err
		}
	}
	for _, a := range g.Administrators {
		if err := soundKey(audit.SubjectAdministrator, a.Key); err != nil {
			return err
		}
		if bytes.Equal(a.Key, g.SigningKey) {
			return signsBoth(a.Name)
		}
	}
	if len(g.Policy) > 0 { // with deals cosigned none without parses
		own := func(public []byte) bool { return bytes.Equal(public, g.SigningKey) }
		if err := checkPolicy(g.Policy, g, own); err != nil {
			return err
		}
	}
	return checkTwoPersons(g.Production, len(g.Administrators), g.TwoPersons)
}

// signsBoth: the key that signs checkpoints lies on the daemon's host. Its holder is not one of two persons as well.
func signsBoth(administrator string) error {
	return illegal(audit.RuleKey, "the key of administrator %s is a signing key of the ledger: an administrator has a key of their own", administrator)
}

// soundKey refuses a key that parses but cannot be trusted or used.
func soundKey(subject audit.Subject, public []byte) error {
	if subject == audit.SubjectSigning && public[0] == audit.KeyMLDSA {
		return nil // any bytes of its size are a key
	}
	if subject == audit.SubjectSigning || subject == audit.SubjectAdministrator {
		if err := audit.CheckEd25519(public[1:]); err != nil {
			return illegal(audit.RuleKey, "the %s key: %s", subject, err)
		}
	} else if _, _, err := audit.ParseSealingKey(public); err != nil {
		kem, _ := audit.KEMOf(public)
		return illegal(audit.RuleKey, "the %s key: %s", subject, kem.Problem)
	}
	return nil
}

// checkPolicy: a policy can be read, asks for witnesses if deals need them, and none of its witnesses is the ledger
// itself. One with a witness key of a later type cannot be judged.
func checkPolicy(text []byte, g *audit.Genesis, signing func(public []byte) bool) error {
	p, err := trust.ParsePolicy(text)
	switch {
	case errors.Is(err, audit.ErrUnknown):
		return err
	case err != nil:
		return illegal(audit.RuleKey, "%s", err)
	case g.Deals == audit.DealsCosigned && !p.Asks():
		return illegal(audit.RuleKey, "the policy asks for no witness, and deals need a cosigned commit")
	}
	if err := p.CheckWitnesses(g.Origin, signing); err != nil {
		return illegal(audit.RuleKey, "%s", err)
	}
	return nil
}

// IsSigningKey reports whether a key, type byte first, is or was a signing key of the ledger.
func (s *State) IsSigningKey(public []byte) bool {
	return s.keys.known[audit.KeyID(public)].subject == audit.SubjectSigning
}

func (s *State) checkKey(k *audit.Key) error {
	switch k.Subject {
	case audit.SubjectSigning, audit.SubjectAuditor, audit.SubjectDisclosure:
		return s.checkNewKey(k)
	case audit.SubjectPolicy:
		return checkPolicy(k.Policy, s.genesis, s.IsSigningKey)
	case audit.SubjectRetirement:
		return s.checkRetirement(k)
	case audit.SubjectAdministrator:
		return s.checkAdministrator(k)
	case audit.SubjectTwoPersons:
		return checkTwoPersons(s.genesis.Production, len(s.persons.inForce), k.Acts)
	case audit.SubjectCoDealer:
		return s.checkCoDealer(k)
	}
	return nil
}

// checkNewKey: a key is sound and new; a signing key is nobody else's, a sealing key of the ledger's one type.
func (s *State) checkNewKey(k *audit.Key) error {
	if _, known := s.keys.known[audit.KeyID(k.Public)]; known {
		return illegal(audit.RuleKey, "the %s key stood in the ledger before", k.Subject)
	}
	if err := soundKey(k.Subject, k.Public); err != nil {
		return err
	}
	if k.Subject == audit.SubjectSigning {
		if s.persons.stood[string(k.Public)] {
			return illegal(audit.RuleKey, "the signing key stood in the ledger as the key of an administrator")
		}
		return cmp.Or(s.checkNotWitness(k.Public), s.checkApart(k.Public))
	}
	if err := checkType(s.genesis, maps.Values(s.keys.auditors), k.Public[0]); err != nil {
		return err
	}
	if k.Subject == audit.SubjectDisclosure {
		return s.checkWraps(k)
	}
	if len(s.keys.auditors) >= audit.MaxAuditors {
		return illegal(audit.RuleKey, "at most %d auditor keys are in force", audit.MaxAuditors)
	}
	return nil
}

// checkNotWitness: a signing key is no key of a witness of the newest policy.
func (s *State) checkNotWitness(public []byte) error {
	p, err := trust.ParsePolicy(s.keys.policy)
	if err != nil {
		return nil // there is none; or it was checked when it was set, and is of a later type
	}
	if err := p.CheckWitnesses(s.genesis.Origin, func(k []byte) bool { return bytes.Equal(k, public) }); err != nil {
		return illegal(audit.RuleKey, "%s", err)
	}
	return nil
}

func (s *State) checkRetirement(k *audit.Key) error {
	known := s.keys.known[k.ID]
	switch {
	case known.subject != k.Retired:
		return illegal(audit.RuleKey, "no %s key with that id stands in the ledger", k.Retired)
	case known.retired:
		return illegal(audit.RuleKey, "the %s key was retired before", k.Retired)
	case k.Retired == audit.SubjectSigning && slices.ContainsFunc(s.SigningKeys(),
		func(public []byte) bool { return k.ID == audit.KeyID(public) }):
		return illegal(audit.RuleKey, "the signing key in force is replaced before it is retired")
	case k.Retired == audit.SubjectAuditor && len(s.keys.auditors) == 1:
		return illegal(audit.RuleKey, "the last auditor key in force is not retired")
	}
	return nil
}

func (s *State) applyKey(k *audit.Key, index uint64, now int64) {
	kept := *k
	kept.Wraps = nil
	s.keys.entries = append(s.keys.entries, KeyEntry{index, now, &kept})
	switch k.Subject {
	case audit.SubjectSigning:
		if k.Public[0] == audit.KeyMLDSA {
			s.keys.mldsa = k.Public
		} else {
			s.keys.signing = k.Public
		}
		s.know(audit.KeyID(k.Public), standing{subject: audit.SubjectSigning})
	case audit.SubjectDisclosure:
		s.keys.disclosure = disclosure{index: index, at: now, public: k.Public}
		s.know(audit.KeyID(k.Public), standing{subject: audit.SubjectDisclosure})
	case audit.SubjectAuditor:
		s.know(audit.KeyID(k.Public), standing{subject: audit.SubjectAuditor})
		s.setAuditor(audit.KeyID(k.Public), k.Public)
	case audit.SubjectPolicy:
		s.keys.policy = k.Policy
	case audit.SubjectCoDealer:
		s.keys.coDealer = &kept
	case audit.SubjectRetirement:
		s.know(k.ID, standing{subject: k.Retired, retired: true})
		s.retire(k)
	case audit.SubjectAdministrator:
		s.persons.put(audit.Administrator{Name: k.Name, Key: k.Public}, k.Admin)
	case audit.SubjectTwoPersons:
		s.persons.acts, s.persons.delay = k.Acts, k.Delay
	}
}

func (s *State) know(id [32]byte, now standing) { set(s, s.keys.known, id, now, true) }
