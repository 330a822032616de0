package verify

import "testing"

// TestTrust: what cannot be read is the caller's mistake, not the file's.
func TestTrust(t *testing.T) {
	t.Parallel()
	h := open(t)
	file := []byte(h.receipt(0).Text())
	for name, trust := range map[string]Trust{
		"a key and a policy": {VKey: h.key.vkey, Policy: []byte("quorum none\n")},
		"a damaged key":      {VKey: h.key.vkey[1:]},
		"an empty policy":    {Policy: []byte{}},
	} {
		v := File(file, trust)
		if trust.Check() == nil || v.Verdict != CannotJudge || v.Unknown == "" || v.Failed != "" {
			t.Errorf("%s: %v, %+v", name, trust.Check(), v)
		}
	}
	must(t, Trust{}.Check())
}
