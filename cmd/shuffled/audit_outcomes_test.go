package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/keys"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/internal/term/termtest"
)

// hashed is the part of the name of a file that only the bundle says.
var hashed = regexp.MustCompile(`-[0-9a-f]{64}`)

// outcomeOf is what a file of audit outcomes should have of a shuffle.
func outcomeOf(t *testing.T, s inspecttest.Made, mixed bool) []uint32 {
	t.Helper()
	c, values := s.Commit.Context, s.Values
	seed := openings.MixSeed(s.Leaf, nil)
	if mixed {
		seed = openings.MixSeed(s.Leaf, []audit.MixValue{{Source: audit.SourceSlot, Slot: s.Slots[0]}})
	}
	var err error
	switch {
	case c.IsNumbers():
		values, err = shuffle.Numbers(int(c.Of), values)
	case c.Parent != nil: // the order of its list of cards
		var out shuffle.Outcome
		out, err = c.Recipe.Run(s.Tape)
		values = out.Values
	case mixed && c.IsDraw():
		values, err = shuffle.Shift(seed, c.Recipe.Ranges, values)
	case mixed:
		values = nil
		places, failed := shuffle.Mix(seed, len(s.Values))
		for _, p := range places {
			values = append(values, s.Values[p])
		}
		err = failed
	}
	must(t, err)
	return values
}

// TestAuditOutcomes: the command writes each outcome of closed shuffles, void ones too, in the order of their commits,
// a file for each kind, with a manifest that the battery reads; and none of a ledger with a fault.
func TestAuditOutcomes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	_, kinds := inspecttest.Kinds(at("bundle"), 3)
	outcomes := func(out string, args ...string) (string, string, int) {
		return command(t, append([]string{"audit", "verify", "--outcomes", at(out)}, args...)...)
	}
	if out, errs, code := outcomes("all", at("bundle"), "--key", inspecttest.VKey()); code != term.ExitOK ||
		!strings.Contains(out, "10 files with outcomes in ") || !strings.Contains(out, " standard-52.bin") {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	files, err := filepath.Glob(at("all/*.bin"))
	if err != nil || len(files) != len(kinds) {
		t.Errorf("%q, want %d files: %v", files, len(kinds), err)
	}
	for _, file := range files {
		name := hashed.ReplaceAllString(filepath.Base(file), "")
		var m struct {
			SHA256              string
			Bytes               int
			Outcomes, Positions int
			Format              struct {
				Name        string
				ValueBytes  int `json:"value_bytes"`
				RecordBytes int `json:"record_bytes"`
			}
			Deck       struct{ Names []string }
			Parameters struct {
				K        uint32
				Distinct bool
				Ranges   []uint32
			}
		}
		text, err := os.ReadFile(file + ".json")
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		must(t, err)
		var want []byte
		for _, s := range kinds[name] {
			for _, v := range outcomeOf(t, s, strings.HasSuffix(name, ".mixed.bin")) {
				want = append(want, binary.BigEndian.AppendUint32(nil, v)[4-m.Format.ValueBytes:]...)
			}
		}
		got, err := os.ReadFile(file)
		if sum := sha256.Sum256(want); err != nil || !bytes.Equal(got, want) || m.Bytes != len(want) ||
			len(want) == 0 || m.SHA256 != hex.EncodeToString(sum[:]) || m.Outcomes != len(kinds[name]) ||
			m.Format.RecordBytes != m.Positions*m.Format.ValueBytes || m.Format.Name != "bin" {
			t.Errorf("%s: %x, want %x: %s, %v", name, got, want, text, err)
		}
		c := kinds[name][0].Commit.Context
		switch p := m.Parameters; {
		case !c.IsDraw() && len(m.Deck.Names) != c.Recipe.Cards, c.IsNumbers() != p.Distinct,
			name == "draws.bin" && !slices.Equal(p.Ranges, c.Recipe.Ranges),
			c.IsDraw() && p.K == 0 && p.Ranges == nil:
			t.Errorf("%s: %s", name, text)
		}
	}

	pair := inspecttest.NewPair(at("house"), at("co-dealer"))
	pair.Play("t1", inspecttest.Mixed(1, 0, false))
	pair.Finish()
	other, err := keys.GenerateSigning("other.example/shuffles")
	must(t, err)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"one table":   {[]string{at("bundle"), "--table", "t2"}, term.ExitOK, "2 files"},
		"no such":     {[]string{at("bundle"), "--table", "t3"}, term.ExitOK, "0 files"},
		"another key": {[]string{at("bundle"), "--key", other.VKey()}, term.ExitFails, "FAILED"},
		"json":        {[]string{at("bundle"), "--json"}, term.ExitOK, "{"},
		"a pair":      {[]string{at("house"), at("co-dealer")}, term.ExitUsage, "--outcomes are for one ledger"},
		"a co-dealer": {[]string{at("co-dealer")}, term.ExitOK, "orders-52.bin"},
		"blind":       {[]string{at("house")}, term.ExitOK, "1 file with outcomes"},
	} {
		if out, errs, code := outcomes(name, c.args...); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s%s", name, code, c.code, c.want, out, errs)
		} else if _, err := os.Stat(at(name)); (err == nil) != (code == term.ExitOK) {
			t.Errorf("%s: exit code %d, directory: %v", name, code, err)
		}
	}
	if _, errs, code := outcomes("all", at("bundle")); code != term.ExitUsage ||
		!strings.Contains(errs, "nothing is overwritten") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestOutcomesJudged: of each kind of file the battery judges the outcomes, or says in one sentence why there is no
// test for them.
func TestOutcomesJudged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, termtest.Build(dir, "shuffled-lab"))
	_, kinds := inspecttest.Kinds(filepath.Join(dir, "bundle"), 50)
	if out, errs, code := command(t, "audit", "verify", filepath.Join(dir, "bundle"), "--outcomes",
		filepath.Join(dir, "out")); code != term.ExitOK {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	files, err := filepath.Glob(filepath.Join(dir, "out", "*.bin"))
	if err != nil || len(files) != len(kinds) {
		t.Fatalf("%q: %v", files, err)
	}
	refused := map[string]string{
		"shoe-8-first-60.bin": "only 60 of 416 cards were written: whole orders are judged",
		"numbers-6-of-49.bin": "numbers without repeats are not judged: each depends on those before",
		"draws.bin":           "draws of several ranges are not judged: the tests of draws are for values of one range",
	}
	for _, file := range files {
		want := refused[hashed.ReplaceAllString(filepath.Base(file), "")]
		battery := exec.Command(filepath.Join(dir, "shuffled-lab"), "battery", "--from", file)
		said, _ := battery.CombinedOutput()
		switch code := battery.ProcessState.ExitCode(); {
		case want != "" && (code != term.ExitUsage || !strings.Contains(string(said), want)):
			t.Errorf("%s: exit code %d, want %q: %s", file, code, want, said)
		case want == "" && !strings.Contains(string(said), "Accepted by") &&
			!strings.Contains(string(said), "sample too small: ") && // of so few no test of chance is possible
			!strings.Contains(string(said), "borderline"): // as one fair sample in a thousand is
			t.Errorf("%s: exit code %d: %s", file, code, said)
		}
	}
}
