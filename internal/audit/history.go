package audit

// KeyRecord is what an entry says of one key, or of the witness policy. A reader does not change its slices.
type KeyRecord struct {
	Index   uint64   // of the entry
	Time    int64    // of the entry, UTC milliseconds
	Subject Subject  // what it is about
	ID      [32]byte // KeyID of the key, or of the retired one; zeros for a policy
	Public  []byte   // type byte and public key; nil for a policy and a retirement
	Policy  []byte   // policy: C2SP tlog-policy
	Retired Subject  // retirement: the subject of the retired key
	From    int64    // retirement: UTC milliseconds from which the key deserves no trust
	Origin  string   // co_dealer: of its ledger, whose key and policy are Public and Policy; "": none any more
}

// KeyRecords returns what the entry at index says of keys: a genesis of its signing key, then of its auditor keys, then
// of its policy if it has one; a key entry one thing, and any other entry nothing.
func KeyRecords(index uint64, e Entry) (all []KeyRecord) {
	add := func(r KeyRecord) {
		if r.Index, r.Time = index, e.Time; r.Subject != SubjectPolicy && r.Subject != SubjectRetirement {
			r.ID = KeyID(r.Public)
		}
		all = append(all, r)
	}
	switch b := e.Body.(type) {
	case *Genesis:
		add(KeyRecord{Subject: SubjectSigning, Public: b.SigningKey})
		for _, k := range b.AuditorKeys {
			add(KeyRecord{Subject: SubjectAuditor, Public: k})
		}
		if len(b.Policy) > 0 {
			add(KeyRecord{Subject: SubjectPolicy, Policy: b.Policy})
		}
	case *Key:
		add(KeyRecord{Subject: b.Subject, ID: b.ID, Public: b.Public, Policy: b.Policy, Retired: b.Retired,
			From: b.From, Origin: b.Origin})
	}
	return all
}

// SigningKeyOf returns the signing key that an entry brings, type byte first; nil for none.
func SigningKeyOf(e Entry) []byte {
	switch b := e.Body.(type) {
	case *Genesis:
		return b.SigningKey
	case *Key:
		if b.Subject == SubjectSigning {
			return b.Public
		}
	}
	return nil
}
