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
	if _, _, at := b.Period(); opts.At == 0 {
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
