package httpapi

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"testing"

	"shuffled/internal/audit"
)

// TestTrustInManyKeys: however often a ledger changed its signing key, its own
// evidence is judged under keys that can be read, the first and the newest among
// them, and under none that was retired.
func TestTrustInManyKeys(t *testing.T) {
	t.Parallel()
	const origin = "example.com/main"
	key := func(i int) []byte {
		seed := sha256.Sum256(fmt.Append(nil, i))
		return append([]byte{1}, ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)...)
	}
	for _, n := range []int{1, 2, 64, 65, 200} {
		var history []audit.KeyRecord
		for i := range n {
			history = append(history, audit.KeyRecord{Subject: audit.SubjectSigning, ID: audit.KeyID(key(i)),
				Public: key(i)})
		}
		retired := key(n)
		history = append(history, audit.KeyRecord{Subject: audit.SubjectSigning, ID: audit.KeyID(retired),
			Public: retired},
			audit.KeyRecord{Subject: audit.SubjectRetirement, ID: audit.KeyID(retired), Retired: audit.SubjectSigning})
		trust := trustIn(origin, history)
		if err := trust.Check(); err != nil {
			t.Fatalf("%d keys: %v", n, err)
		}
		var text []byte
		if text = trust.Policy; n == 1 {
			text = []byte("log " + trust.VKey + "\nquorum none\n")
		}
		p, err := audit.ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Logs) != min(n, maxLogs) {
			t.Errorf("%d keys: %d are trusted", n, len(p.Logs))
		}
		for name, want := range map[string]struct {
			key  []byte
			here bool
		}{"first": {key(0), true}, "newest": {key(n - 1), true}, "retired": {retired, false}} {
			v, err := audit.Verifier(origin, want.key)
			if err != nil {
				t.Fatal(err)
			}
			here := false
			for _, log := range p.Logs {
				here = here || log.KeyHash() == v.KeyHash()
			}
			if here != want.here {
				t.Errorf("%d keys, the %s one: trusted %t", n, name, here)
			}
		}
	}
}
