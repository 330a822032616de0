package demo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"shuffled/client"
	"shuffled/internal/audit"
	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// newDemo opens a house for a test and plays the given acts.
func newDemo(t *testing.T, acts func(*demo) []func(context.Context) error) *demo {
	t.Helper()
	d := &demo{Sheet: auditcli.Sheet{Sheet: term.Sheet{W: 80}}, out: io.Discard, files: make(map[string][]byte)}
	var err error
	if d.house, err = openDemoHouse(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.house.close(); err != nil {
			t.Error(err)
		}
	})
	d.trust = verify.Trust{VKey: d.house.key.VKey()}
	for _, act := range acts(d) {
		if err := act(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestDemoNoticesWhatIsNotAsTold: the demonstration fails when something that it
// shows as caught is not, or something that it shows as proved is not.
func TestDemoNoticesWhatIsNotAsTold(t *testing.T) {
	t.Parallel()
	d := newDemo(t, func(d *demo) []func(context.Context) error {
		return []func(context.Context) error{d.commit, d.deal, d.onePlayer, d.closeHand, d.stranger, d.mix}
	})
	if err := d.holdsFor("x", d.files[mixFile], client.NewSlot(demoOrigin, demoTable)); err == nil {
		t.Error("a plan without the player's slot")
	}
	if err := d.holdsFor("x", d.files[transcriptFile], client.NewSlot(demoOrigin, demoTable)); err == nil {
		t.Error("a hand without a plan")
	}
	if len(d.trust.Slots) != 0 {
		t.Error("a slot's value is still trusted")
	}
	honest := d.files[transcriptFile]
	if err := d.catch("nothing", "x", honest, "openings"); err == nil || !strings.Contains(err.Error(), `"proved"`) {
		t.Errorf("a forgery that is not one: %v", err)
	}
	forged, _, _, err := alterCard(honest)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.catch("a card", "x", forged, "tape"); err == nil {
		t.Error("a forgery that another step caught")
	}
	if _, err := d.expect("x", forged, ""); err == nil {
		t.Error("a forgery that was to be proved")
	}
	if len(d.caught) != 0 || d.files["x"] != nil {
		t.Error("what did not go as told was kept")
	}
	if err := d.house.alterRow(t.Context(), "nobody", "anybody"); err == nil {
		t.Error("a row that was not altered")
	}
}

// TestDemoNoticesLeaks: a player's file that holds another card, or the salt of one, is not shown as a proof.
func TestDemoNoticesLeaks(t *testing.T) {
	t.Parallel()
	d := newDemo(t, func(d *demo) []func(context.Context) error {
		return []func(context.Context) error{d.commit, d.deal, d.onePlayer}
	})
	all, err := d.house.dealer.Transcript(t.Context(), d.id, api.View{Identity: demoActor.Identity})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.keepsSecrets(t.Context(), all, verify.File(d.files[playerFile], d.trust)); err == nil {
		t.Error("a file with every salt passed for the player's")
	}
	if err := d.keepsSecrets(t.Context(), all, verify.File(all, d.trust)); err == nil {
		t.Error("a file with every card passed for the player's")
	}
}

// TestDemoNoticesAnUntouchedRow: the act about the database fails if the ledger opens.
func TestDemoNoticesAnUntouchedRow(t *testing.T) {
	t.Parallel()
	d := newDemo(t, func(d *demo) []func(context.Context) error {
		return []func(context.Context) error{d.commit, d.deal}
	})
	if err := d.house.close(); err != nil {
		t.Fatal(err)
	}
	if err := d.house.openStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := refusedStart(d.house.openLedger(t.Context())); err == nil {
		t.Error("a ledger that opens passed for a refused one")
	}
}

// TestKeepFiles: nothing that is there is written over.
func TestKeepFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if err := keepFiles(dir, map[string][]byte{"a": []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if err := keepFiles(dir, map[string][]byte{"a": []byte("2")}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing over a file: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != "1" {
		t.Errorf("%q, %v", b, err)
	}
}

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
