package inspect

import (
	"crypto/ed25519"
	"encoding/json"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"shuffled/internal/disclosure"
	"shuffled/internal/inspect/inspecttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inspectDir checks the bundle in dir.
func inspectDir(t testing.TB, dir string, opts Options) *Report {
	t.Helper()
	b, err := OpenBundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, _, at := b.manifest.Times(); opts.At == 0 {
		opts.At = at
	}
	r, err := Run(t.Context(), b, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestHonest: a ledger with everything in it holds, at the level that the caller's trust gives.
func TestHonest(t *testing.T) {
	dir := t.TempDir()
	l := inspecttest.Honest(dir, 400)
	l.Finish()
	if len(l.Illegal) > 0 {
		t.Fatalf("the generator broke rules: %v", l.Illegal)
	}
	r := inspectDir(t, dir, Options{})
	if r.Verdict != Consistent {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
	r = inspectDir(t, dir, Options{VKey: inspecttest.VKey(), Shuffles: filepath.Join(t.TempDir(), "s"),
		Auditors: []*disclosure.Auditor{inspecttest.Auditor()}})
	if r.Verdict != Proved {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
	r = inspectDir(t, dir, Options{Policy: inspecttest.Policy(true, 2, "w2", "w3", "w4")})
	if r.Verdict != Proved {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
}

type key = ed25519.PrivateKey

// TestQuorumOfTheNewest: the trusted quorum must have cosigned the newest cosigned
// checkpoint. That it cosigned an older one says nothing of what came since.
func TestQuorumOfTheNewest(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Cosigned("w1", "w2", "w3")
	l.hand("t2")
	l.Cosigned("w1", "w2")
	l.hand("t3")
	l.Cosigned("w2", "w3")
	l.Finish()
	for _, test := range []struct {
		name   string
		policy []byte
		want   []string
	}{
		{"two of three", inspecttest.Policy(true, 2, "w1", "w2", "w3"), nil},
		{"the second", inspecttest.Policy(true, 1, "w2"), nil},
		{"the two", inspecttest.Policy(true, 2, "w2", "w3"), nil},
		{"all three, who cosigned the first", inspecttest.Policy(true, 3, "w1", "w2", "w3"), []string{"quorum"}},
		{"the first, that cosigned the first and the second", inspecttest.Policy(true, 1, "w1"), []string{"quorum"}},
		{"the two of the second", inspecttest.Policy(true, 2, "w1", "w2"), []string{"quorum"}},
		{"another", inspecttest.Policy(true, 1, "x1"), []string{"quorum"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantFaults(t, inspectDir(t, l.Dir, Options{Policy: test.policy}),
				test.want)
		})
	}
}
