package audit

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
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

func (s *State) applyGenesis(g *Genesis) {
	s.genesis = g
	s.persons.begin(g)
	s.keys = keys{signing: g.SigningKey, policy: g.Policy, auditors: make(map[[32]byte][]byte),
		known: map[[32]byte]standing{KeyID(g.SigningKey): {subject: SubjectSigning}}}
	for _, k := range g.AuditorKeys {
		s.keys.known[KeyID(k)] = standing{subject: SubjectAuditor}
		s.keys.auditors[KeyID(k)] = k
	}
}

// checkGenesis: the keys of a genesis can be used, and its policy asks for witnesses if its deals need them.
func checkGenesis(g *Genesis) error {
	if err := soundKey(SubjectSigning, g.SigningKey); err != nil {
		return err
	}
	for _, k := range g.AuditorKeys {
		if err := soundKey(SubjectAuditor, k); err != nil {
			return err
		}
		if err := checkType(g, slices.Values(g.AuditorKeys), k[0]); err != nil {
			return err
		}
	}
	for _, a := range g.Administrators {
		if err := soundKey(SubjectAdministrator, a.Key); err != nil {
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
	return illegal(RuleKey, "the key of administrator %s is a signing key of the ledger: an administrator has a key of their own", administrator)
}

// soundKey refuses a key that parses but cannot be trusted or used.
func soundKey(subject Subject, public []byte) error {
	if subject == SubjectSigning && public[0] == KeyMLDSA {
		return nil // any bytes of its size are a key
	}
	if subject == SubjectSigning || subject == SubjectAdministrator {
		if err := CheckEd25519(public[1:]); err != nil {
			return illegal(RuleKey, "the %s key: %s", subject, err)
		}
	} else if kem, _ := KEMOf(public); CheckSealingKey(public) != nil {
		return illegal(RuleKey, "the %s key: %s", subject, kem.Problem)
	}
	return nil
}

// checkPolicy: a policy can be read, asks for witnesses if deals need them, and none of its witnesses is the ledger
// itself. One with a witness key of a later type cannot be judged.
func checkPolicy(text []byte, g *Genesis, signing func(public []byte) bool) error {
	p, err := ParsePolicy(text)
	switch {
	case errors.Is(err, ErrUnknown):
		return err
	case err != nil:
		return illegal(RuleKey, "%s", err)
	case g.Deals == DealsCosigned && !p.Asks():
		return illegal(RuleKey, "the policy asks for no witness, and deals need a cosigned commit")
	}
	if err := p.CheckWitnesses(g.Origin, signing); err != nil {
		return illegal(RuleKey, "%s", err)
	}
	return nil
}

// IsSigningKey reports whether a key, type byte first, is or was a signing key of the ledger.
func (s *State) IsSigningKey(public []byte) bool {
	return s.keys.known[KeyID(public)].subject == SubjectSigning
}

func (s *State) checkKey(k *Key) error {
	switch k.Subject {
	case SubjectSigning, SubjectAuditor, SubjectDisclosure:
		return s.checkNewKey(k)
	case SubjectPolicy:
		return checkPolicy(k.Policy, s.genesis, s.IsSigningKey)
	case SubjectRetirement:
		return s.checkRetirement(k)
	case SubjectAdministrator:
		return s.checkAdministrator(k)
	case SubjectTwoPersons:
		return checkTwoPersons(s.genesis.Production, len(s.persons.inForce), k.Acts)
	case SubjectCoDealer:
		return s.checkCoDealer(k)
	}
	return nil
}

// checkNewKey: a key is sound and new; a signing key is nobody else's, a sealing key of the ledger's one type.
func (s *State) checkNewKey(k *Key) error {
	if _, known := s.keys.known[KeyID(k.Public)]; known {
		return illegal(RuleKey, "the %s key stood in the ledger before", k.Subject)
	}
	if err := soundKey(k.Subject, k.Public); err != nil {
		return err
	}
	if k.Subject == SubjectSigning {
		if s.persons.stood[string(k.Public)] {
			return illegal(RuleKey, "the signing key stood in the ledger as the key of an administrator")
		}
		return cmp.Or(s.checkNotWitness(k.Public), s.checkApart(k.Public))
	}
	if err := checkType(s.genesis, maps.Values(s.keys.auditors), k.Public[0]); err != nil {
		return err
	}
	if k.Subject == SubjectDisclosure {
		return s.checkWraps(k)
	}
	if len(s.keys.auditors) >= MaxAuditors {
		return illegal(RuleKey, "at most %d auditor keys are in force", MaxAuditors)
	}
	return nil
}

// checkNotWitness: a signing key is no key of a witness of the newest policy.
func (s *State) checkNotWitness(public []byte) error {
	p, err := ParsePolicy(s.keys.policy)
	if err != nil {
		return nil // there is none; or it was checked when it was set, and is of a later type
	}
	if err := p.CheckWitnesses(s.genesis.Origin, func(k []byte) bool { return bytes.Equal(k, public) }); err != nil {
		return illegal(RuleKey, "%s", err)
	}
	return nil
}

func (s *State) checkRetirement(k *Key) error {
	known := s.keys.known[k.ID]
	switch {
	case known.subject != k.Retired:
		return illegal(RuleKey, "no %s key with that id stands in the ledger", k.Retired)
	case known.retired:
		return illegal(RuleKey, "the %s key was retired before", k.Retired)
	case k.Retired == SubjectSigning && slices.ContainsFunc(s.SigningKeys(),
		func(public []byte) bool { return k.ID == KeyID(public) }):
		return illegal(RuleKey, "the signing key in force is replaced before it is retired")
	case k.Retired == SubjectAuditor && len(s.keys.auditors) == 1:
		return illegal(RuleKey, "the last auditor key in force is not retired")
	}
	return nil
}

func (s *State) applyKey(k *Key, index uint64, now int64) {
	kept := *k
	kept.Wraps = nil
	s.keys.entries = append(s.keys.entries, KeyEntry{index, now, &kept})
	switch k.Subject {
	case SubjectSigning:
		if k.Public[0] == KeyMLDSA {
			s.keys.mldsa = k.Public
		} else {
			s.keys.signing = k.Public
		}
		s.know(KeyID(k.Public), standing{subject: SubjectSigning})
	case SubjectDisclosure:
		s.keys.disclosure = disclosure{index: index, at: now, public: k.Public}
		s.know(KeyID(k.Public), standing{subject: SubjectDisclosure})
	case SubjectAuditor:
		s.know(KeyID(k.Public), standing{subject: SubjectAuditor})
		s.setAuditor(KeyID(k.Public), k.Public)
	case SubjectPolicy:
		s.keys.policy = k.Policy
	case SubjectCoDealer:
		s.keys.coDealer = &kept
	case SubjectRetirement:
		s.know(k.ID, standing{subject: k.Retired, retired: true})
		s.retire(k)
	case SubjectAdministrator:
		s.persons.put(Administrator{k.Name, k.Public}, k.Admin)
	case SubjectTwoPersons:
		s.persons.acts, s.persons.delay = k.Acts, k.Delay
	}
}

func (s *State) know(id [32]byte, now standing) {
	before, ok := s.keys.known[id]
	s.keys.known[id] = now
	s.push(func() {
		if s.keys.known[id] = before; !ok {
			delete(s.keys.known, id)
		}
	})
}
