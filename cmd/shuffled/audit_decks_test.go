package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

// TestAuditDecks: the command writes the orders of closed shuffles, void ones too, in the order of their commits, with
// a manifest that the battery reads; and none of a ledger with a fault.
func TestAuditDecks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	l := inspecttest.New(at("bundle"), "decks", inspecttest.Plain())
	first, second, third := l.Commit("t1"), l.Commit("t2"), l.Commit("t1")
	third.Close(audit.OutcomeVoid, audit.ReasonMisdeal) // its close comes first
	first.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	second.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	l.Commit("t3") // open
	l.Finish()
	var want []byte
	for _, s := range []*inspecttest.Shuffle{first, second, third} {
		for _, v := range s.Values {
			want = append(want, byte(v))
		}
	}
	other, err := keys.GenerateSigning("other.example/shuffles")
	if err != nil {
		t.Fatal(err)
	}
	decks := func(out string, args ...string) (string, string, int) {
		return command(t, append([]string{"audit", "decks", at("bundle"), "--out", at(out)}, args...)...)
	}
	if out, errs, code := decks("all.bin", "--key", inspecttest.VKey()); code != term.ExitOK ||
		!strings.HasPrefix(out, "3 orders of standard-52 in ") {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	got, err := os.ReadFile(at("all.bin"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, want %x: %v", got, want, err)
	}
	text, err := os.ReadFile(at("all.bin.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		SHA256    string
		Bytes     int
		Outcomes  int
		Positions int
		Format    struct{ Name string }
		Deck      struct{ Names []string }
	}
	sum := sha256.Sum256(want)
	if err := json.Unmarshal(text, &m); err != nil || m.SHA256 != hex.EncodeToString(sum[:]) || m.Bytes != 156 ||
		m.Outcomes != 3 || m.Positions != 52 || m.Format.Name != "bin" || len(m.Deck.Names) != 52 {
		t.Errorf("%s: %v", text, err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"one table":   {[]string{"--table", "t2"}, term.ExitOK, "1 order of"},
		"no such":     {[]string{"--deck", "shoe-8"}, term.ExitCannot, "no order was written"},
		"no deck":     {[]string{"--deck", "tarot"}, term.ExitUsage, "--deck must be one of"},
		"another key": {[]string{"--key", other.VKey()}, term.ExitFails, "no order was written"},
	} {
		if out, errs, code := decks(name+".bin", c.args...); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s%s", name, code, c.code, c.want, out, errs)
		} else if _, err := os.Stat(at(name + ".bin")); (err == nil) != (code == term.ExitOK) {
			t.Errorf("%s: exit code %d, file: %v", name, code, err)
		}
	}
	if _, errs, code := decks("all.bin"); code != term.ExitUsage || !strings.Contains(errs, "no file is overwritten") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
