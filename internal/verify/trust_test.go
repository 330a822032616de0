package verify

import "testing"

// ownPolicy has a witness of that name and key.
func ownPolicy(name string, key, log keyPair) []byte {
	key.name = name
	vkey, _ := key.witnessKey()
	return []byte("log " + log.vkey + "\nwitness a " + vkey + "\nquorum a\n")
}

// TestTrust: what cannot be read is the caller's mistake, not the file's.
func TestTrust(t *testing.T) {
	t.Parallel()
	h := open(t)
	file := []byte(h.receipt(0).Text())
	for name, trust := range map[string]Trust{
		"a key and a policy":               {VKey: h.key.vkey, Policy: []byte("quorum none\n")},
		"a damaged key":                    {VKey: h.key.vkey[1:]},
		"an empty policy":                  {Policy: []byte{}},
		"a witness with the ledger's name": {Policy: ownPolicy(h.key.name, newKey(t, h.key.name, "w1"), h.key)},
		"a witness with the ledger's key":  {Policy: ownPolicy("witness.example/own", h.key, h.key)},
	} {
		v := File(file, trust)
		if trust.Check() == nil || v.Verdict != CannotJudge || v.Unknown == "" || v.Failed != "" {
			t.Errorf("%s: %v, %+v", name, trust.Check(), v)
		}
	}
	must(t, Trust{}.Check())
}
