package main

import (
	"log/slog"
	"path/filepath"
	"testing"

	"shuffled/internal/cli/host"
	"shuffled/internal/config"
)

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
