package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term/termtest"
)

// TestOperate runs the commands for a running daemon against one.
func TestOperate(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	_, other := sampleKey(t, "other.example")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "operate"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHUFFLED_URL", d.url)
			env.Setenv("DEALER", filepath.Join(d.data, "dealer.token"))
			env.Setenv("DEALER_TOKEN", d.token("dealer.token"))
			env.Setenv("VKEY", filepath.Join(d.data, "main.vkey"))
			env.Setenv("OTHER", other)
			return nil
		},
		Cmds: termtest.Commands(),
	})
}
