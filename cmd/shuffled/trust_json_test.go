package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/cli/host"
	"shuffled/internal/config"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// TestVerifyJSONWithoutTrust: trust that cannot be read is the same verdict for any
// file, in JSON as in docs/SPEC.md section 10, and a mistake in the command line.
func TestVerifyJSONWithoutTrust(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(policy, []byte("quorum nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, trust := range [][]string{{"--key", "a+b+c"}, {"--policy", policy}} {
		code, out, errs := said(t, "", append([]string{"verify", "missing.json", "--json"}, trust...)...)
		var v verify.Verdict
		if err := json.Unmarshal([]byte(out), &v); err != nil || v.Verdict != verify.CannotJudge || v.Unknown == "" ||
			len(v.Steps) != 0 || v.Steps == nil {
			t.Errorf("%v: %v, %s", trust, err, out)
		}
		if code != term.ExitUsage || !strings.Contains(errs, trust[0][2:]) && !strings.Contains(errs, "nobody") {
			t.Errorf("%v: exit code %d, %s", trust, code, errs)
		}
	}
}

// TestDevKeepsSigningKeys: a rotation in a sandbox names the next key in the file of configuration.
func TestDevKeepsSigningKeys(t *testing.T) {
	t.Parallel()
	s := &sandbox{t: t, cfg: config.Default()}
	s.cfg.Data = t.TempDir()
	s.cfg.Ledgers = []config.Ledger{{Name: host.SandboxLedger, SigningKeys: []string{"next.key"}}}
	s.cfg.Resolve()
	start := newWaiting(slog.New(slog.DiscardHandler), func(string) {})
	defer start.stop()
	if err := (serveCmd{Dev: true}).prepare(t.Context(), s.cfg, start.begin("", "")); err != nil {
		t.Fatal(err)
	}
	if l := s.cfg.Ledgers; len(l) != 1 || len(l[0].SigningKeys) != 1 ||
		filepath.Base(l[0].SigningKeys[0]) != "next.key" {
		t.Errorf("%+v", l)
	}
}
