package demo

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"shuffled/internal/audit"
	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

// TestDemoNoticesWhatRootFinds: the demonstration fails if the next card can be found at the house, in a file or in
// the memory of a process, and if the search does not find what is there.
func TestDemoNoticesWhatRootFinds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory of another process is read on Linux only")
	}
	t.Parallel()
	deck, _ := shuffle.Named("standard-52")
	recipe := shuffle.Recipe{Cards: 52, Take: 52}
	opened := func(fill byte) *openedTape {
		tape := make([]byte, recipe.TapeLen())
		for i := range tape {
			tape[i] = byte(i)*fill + fill
		}
		out, err := recipe.Run(tape)
		if err != nil {
			t.Fatal(err)
		}
		return &openedTape{commit: &audit.Commit{Context: &audit.Context{Recipe: recipe, DeckHash: deck.Hash()}},
			key: []byte(strings.Repeat(string(rune(fill)), 32)), tape: tape, values: out.Values}
	}
	a, of := opened(7), opened(11)
	for name, c := range map[string]struct {
		memory, file string
		want         string
	}{
		"nothing":        {memory: hex.EncodeToString(a.key), file: string(a.key)},
		"no key":         {file: string(a.key), want: "does not find"},
		"no key on disk": {memory: hex.EncodeToString(a.key), want: "does not find"},
		"order in memory": {memory: hex.EncodeToString(a.key) + fmt.Sprint(of.values), file: string(a.key),
			want: "finds the co-dealer's order, as decimals, in memory"},
		"tape on disk": {memory: hex.EncodeToString(a.key), file: string(a.key) + string(of.tape),
			want: "finds the co-dealer's tape, as bytes, in /"},
	} {
		process := exec.Command("sleep", "60")
		process.Env = []string{"HELD=" + c.memory}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		d := &daemon{dir: t.TempDir(), process: process}
		if err := os.WriteFile(filepath.Join(d.dir, "sealing.key"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &blindly{demo: &demo{Sheet: auditcli.Sheet{Sheet: term.Sheet{W: 80}}, out: io.Discard},
			pair: &pair{casino: d}}
		err := b.search(a, of)
		if err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		process.Process.Kill()
		process.Wait()
	}
}
