package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/lab"
)

// labRun is the command in this process: exit code and both outputs.
func labRun(t *testing.T, args ...string) (code int, out, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"battery"}, args...), term.Streams{Out: &o, Err: &e})
	return code, o.String(), e.String()
}

// stream returns the same numbers every time.
func stream(n byte) *rand.Rand {
	return rand.New(rand.NewChaCha8([32]byte{n, 'b', 'a', 't', 't', 'e', 'r', 'y'}))
}

// shuffler shuffles with numbers from rng; sattolo never leaves a card in place.
func shuffler(rng *rand.Rand, n int, sattolo bool) func() []uint32 {
	return func() []uint32 {
		deck := make([]uint32, n)
		for i := range deck {
			deck[i] = uint32(i)
		}
		for i := n - 1; i > 0; i-- {
			j := rng.IntN(i + 1)
			if sattolo {
				j = rng.IntN(i)
			}
			deck[i], deck[j] = deck[j], deck[i]
		}
		return deck
	}
}

func wheel(rng *rand.Rand, k uint32) func() []uint32 {
	return func() []uint32 { return []uint32{1 + rng.Uint32N(k)} }
}

// writeDump writes outcomes and their manifest as lab decks and lab draws do.
func writeDump(t *testing.T, name string, sample lab.Sample, next func() []uint32) {
	t.Helper()
	var data []byte
	width := sample.RecordBytes() / sample.Recipe.Positions()
	for range sample.Count {
		for _, v := range next() {
			data = append(data, binary.BigEndian.AppendUint32(nil, v)[4-width:]...)
		}
	}
	sum := sha256.Sum256(data)
	m := sample.Manifest(&lab.Written{Bytes: uint64(len(data)), SHA256: hex.EncodeToString(sum[:]), Workers: 1})
	m.Parameters = map[string]any{}
	if sample.Recipe.Ranges != nil {
		m.Parameters["k"] = sample.Recipe.Ranges[0]
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string][]byte{name: data, name + ".json": text} {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// writeCSV writes outcomes as lab decks --format csv does, with a manifest that has what
// docs/LAB.md asks of others, and no more.
func writeCSV(t *testing.T, name, deckName string, count int, next func() []uint32) {
	t.Helper()
	deck, _ := shuffle.Named(deckName)
	var b bytes.Buffer
	for range count {
		for i, v := range next() {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(deck.Cards()[v])
		}
		b.WriteByte('\n')
	}
	names, err := json.Marshal(deck.Cards())
	if err != nil {
		t.Fatal(err)
	}
	writeMinimal(t, name, b.Bytes(), fmt.Sprintf(
		`{"bytes":%d,"sha256":"SUM","outcomes":%d,"positions":%d,"format":{"name":"csv"},"deck":{"name":%q,"names":%s}}`,
		b.Len(), count, deck.Len(), deckName, names))
}

// writeMinimal writes a sample and its manifest, in which SUM stands for the digest.
func writeMinimal(t *testing.T, name string, data []byte, manifest string) {
	t.Helper()
	sum := sha256.Sum256(data)
	manifest = strings.Replace(manifest, "SUM", hex.EncodeToString(sum[:]), 1)
	for file, b := range map[string][]byte{name: data, name + ".json": []byte(manifest)} {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func decksOf(t *testing.T, name string, take int, count uint64, format lab.Format) lab.Sample {
	t.Helper()
	deck, _ := shuffle.Named(name)
	if take == 0 {
		take = deck.Len()
	}
	s, err := lab.Decks(deck, take, count, format)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawsOf(t *testing.T, k uint64, count uint64) lab.Sample {
	t.Helper()
	s, err := lab.Draws(k, 1, count, lab.Binary)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBatteryFrom judges files: a fair one passes; one with a fault gives exit code
// 1, and so does one that differs from its manifest.
func TestBatteryFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	change := func(name string, f func(b []byte) []byte) {
		b, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file(name), f(b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	decks := decksOf(t, "standard-52", 0, 3000, lab.Binary)
	writeDump(t, file("fair"), decks, shuffler(stream(1), 52, false))
	writeDump(t, file("sattolo"), decks, shuffler(stream(1), 52, true))
	writeDump(t, file("shoe"), decksOf(t, "shoe-6", 0, 200, lab.Binary),
		shuffler(stream(1), 312, false)) // two bytes a value
	writeDump(t, file("wheel"), drawsOf(t, 37, 30_000), wheel(stream(1), 37))
	writeDump(t, file("short wheel"), drawsOf(t, 37, 30_000), wheel(stream(1), 36))
	writeDump(t, file("wide"), drawsOf(t, 1<<20, 30_000), wheel(stream(1), 1<<20)) // four bytes a value
	writeDump(t, file("other wheel"), drawsOf(t, 37, 30_000), wheel(stream(2), 37))
	writeDump(t, file("altered"), decks, shuffler(stream(1), 52, false))
	change("altered", func(b []byte) []byte { b[777] ^= 1; return b })
	writeDump(t, file("cut"), decks, shuffler(stream(1), 52, false))
	change("cut", func(b []byte) []byte { return b[:len(b)-52] })
	at := 0
	foul := shuffler(stream(1), 52, false)
	writeDump(t, file("foul"), decks, func() []uint32 {
		deck := foul()
		if at++; at == 1234 {
			deck[7] = deck[8]
		}
		return deck
	})
	writeDump(t, file("five"), decksOf(t, "standard-52", 5, 3000, lab.Binary), func() []uint32 { return foul()[:5] })
	writeDump(t, file("jsonl"), decks, shuffler(stream(1), 52, false))
	change("jsonl.json", func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"name":"bin"`), []byte(`"name":"jsonl"`))
	})
	writeCSV(t, file("csv"), "standard-52", 3000, shuffler(stream(1), 52, false))
	writeCSV(t, file("csv shoe"), "shoe-6", 200, shuffler(stream(1), 312, false))
	writeCSV(t, file("csv sattolo"), "standard-52", 3000, shuffler(stream(1), 52, true))
	writeCSV(t, file("csv foul"), "standard-52", 3000, func() []uint32 {
		deck := foul()
		deck[7] = deck[8]
		return deck
	})
	writeMinimal(t, file("csv wheel"), []byte("4\n17\n37\n"), `{"bytes":8,"sha256":"SUM","outcomes":3,"positions":1,
		"format":{"name":"csv"},"parameters":{"k":37}}`)
	writeMinimal(t, file("csv out of range"), []byte("4\n17\n38\n"), `{"bytes":8,"sha256":"SUM","outcomes":3,
		"positions":1,"format":{"name":"csv"},"parameters":{"k":37}}`)
	writeMinimal(t, file("csv short"), []byte("4\n17\n3\n"), `{"bytes":7,"sha256":"SUM","outcomes":4,
		"positions":1,"format":{"name":"csv"},"parameters":{"k":37}}`)
	writeDump(t, file("disagrees"), decks, shuffler(stream(1), 52, false))
	change("disagrees.json", func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"outcomes":3000`), []byte(`"outcomes":2999`))
	})

	for _, c := range []struct {
		from string
		args []string
		code int
		out  string
		err  string
	}{
		{"fair", nil, term.ExitOK, "standard-52: 3,000 decks", ""},
		{"fair", []string{"--workers", "3"}, term.ExitOK,
			"Accepted by 1,560 tests; 4 were not possible at this sample size: no adjusted p is below 0.01", ""},
		{"sattolo", nil, term.ExitFails, "Rejected: first sample", ""},
		{"shoe", nil, term.ExitOK, "shoe-6: 200 shoes", ""},
		{"wheel", nil, term.ExitOK, "draws of 1 value, 1 to 37: 30,000 outcomes", ""},
		{"short wheel", []string{"--all"}, term.ExitFails, "Rejected", ""},
		{"wide", nil, term.ExitOK, "1 to 1,048,576", ""},
		{"wheel", []string{"--second", "other wheel"}, term.ExitOK, "second sample not used: the first decided", ""},
		{"wheel", []string{"--second", "wheel"}, term.ExitUsage, "", "--second must be another sample, and has the bytes of the first sample"},
		{"wheel", []string{"--second", "fair"}, term.ExitUsage, "", "must be of the same kind and size"},
		{"altered", nil, term.ExitFails, "", "its SHA-256 is another"},
		{"cut", nil, term.ExitFails, "", "it has 155948 bytes, not 156000"},
		{"foul", nil, term.ExitFails, "", "outcome 1233: foul deck"},
		{"five", nil, term.ExitUsage, "", "only 5 of 52 cards were written"},
		{"csv", nil, term.ExitOK, "Accepted by 1,560 tests", ""},
		{"csv shoe", nil, term.ExitOK, "shoe-6: 200 shoes", ""},
		{"csv sattolo", nil, term.ExitFails, "Rejected: first sample", ""},
		{"csv foul", nil, term.ExitFails, "", "is not in the deck, or comes more often"},
		{"csv wheel", nil, term.ExitOK, "3 outcomes", ""},
		{"csv out of range", nil, term.ExitFails, "", "outcome 2"},
		{"csv short", nil, term.ExitFails, "", "outcome 3: unexpected EOF"},
		{"jsonl", nil, term.ExitUsage, "", "bin and csv are judged"},
		{"disagrees", nil, term.ExitUsage, "", "bytes, record_bytes and outcomes do not agree"},
		{"missing", nil, term.ExitCannot, "", "reading the manifest"},
	} {
		args := append([]string{"--from", file(c.from)}, c.args...)
		for i, arg := range args {
			if i > 0 && args[i-1] == "--second" {
				args[i] = file(arg)
			}
		}
		code, out, stderr := labRun(t, args...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(stderr, c.err) {
			t.Errorf("%s %q: exit code %d, want %d\n%s%s", c.from, c.args, code, c.code, out, stderr)
		}
	}
	if _, out, _ := labRun(t, "--from", file("short wheel"),
		"--all"); !regexp.MustCompile(`frequency +all +[\d,.]+ +36 +30,000`).MatchString(out) {
		t.Errorf("--all lists not all:\n%s", out)
	}
}

// TestBatteryReports: JSON and page say the same about one file.
func TestBatteryReports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, pageName := filepath.Join(dir, "wheel"), filepath.Join(dir, "wheel.html")
	writeDump(t, name, drawsOf(t, 37, 30_000), wheel(stream(1), 37))
	code, out, stderr := labRun(t, "--from", name, "--json", "--html", pageName)
	var r struct {
		Decision string
		Command  string
		Samples  []struct {
			First struct {
				Outcomes uint64
				Results  []struct {
					Test, Name, Detects string
					P                   *float64
				}
			}
			Files []struct{ SHA256 string }
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != term.ExitOK || stderr != "" {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	page, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	if r.Decision != "accept" || r.Command != "lab battery" || r.Samples[0].First.Outcomes != 30_000 ||
		!bytes.Contains(page, []byte(r.Samples[0].Files[0].SHA256)) {
		t.Errorf("%.400s", out)
	}
	if len(r.Samples[0].First.Results) < 60 {
		t.Errorf("%d results", len(r.Samples[0].First.Results))
	}
	for _, x := range r.Samples[0].First.Results {
		if x.P == nil || x.Detects == "" || !bytes.Contains(page, []byte(">"+x.Name+"<")) {
			t.Errorf("%+v is not all there", x)
		}
	}
	if code, _, stderr := labRun(t, "--from", name, "--html", pageName); code != term.ExitUsage ||
		!strings.Contains(stderr, "and no file is overwritten") {
		t.Errorf("a page that is there: exit code %d, %s", code, stderr)
	}
}

// TestBatteryMade: the generator's outcomes are accepted. A sample of a perfect
// generator is rejected at most once in 5,000, so all of five tries are once in
// 3·10^18.
func TestBatteryMade(t *testing.T) {
	t.Parallel()
	var out, stderr string
	for range 5 {
		var code int
		code, out, stderr = labRun(t, "--deck", "standard-52", "--deck", "spanish-40", "--draws", "6", "--values", "2",
			"--count", "2000")
		if code != term.ExitOK {
			continue
		}
		for _, want := range []string{"standard-52: 2,000 decks", "spanish-40: 2,000 decks",
			"draws of 2 values, 1 to 6: 2,000 outcomes", "The worst 12 of", "Not tested, and not counted:", "Rule ",
			"Not shown"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		return
	}
	t.Errorf("the generator is rejected five times:\n%s%s", out, stderr)
}

// TestBatterySmall: a sample that is too small for any test is not judged, and a
// verdict by some tests only says so.
func TestBatterySmall(t *testing.T) {
	t.Parallel()
	code, out, stderr := labRun(t, "--draws", "6", "--count", "1")
	if code != term.ExitCannot || out != "" || !strings.Contains(stderr, "sample too small: nothing could be tested") {
		t.Errorf("one draw: exit code %d\n%s%s", code, out, stderr)
	}
	name := filepath.Join(t.TempDir(), "deck")
	writeDump(t, name, decksOf(t, "standard-52", 0, 1, lab.Binary), shuffler(stream(1), 52, false))
	code, out, stderr = labRun(t, "--from", name)
	if code != term.ExitCannot || out != "" || !strings.Contains(stderr, "sample too small: nothing could be tested") {
		t.Errorf("one deck: exit code %d\n%s%s", code, out, stderr)
	}
	writeDump(t, name+"s", decksOf(t, "standard-52", 0, 100, lab.Binary), shuffler(stream(1), 52, false))
	if _, out, _ := labRun(t, "--from", name+"s"); !regexp.MustCompile(`Accepted by \d+ tests; \d+ were not possible at this sample size`).MatchString(out) {
		t.Errorf("100 decks:\n%s", out)
	}
}

// TestBatterySecondUnused: a second file that decided nothing is not in the report.
func TestBatterySecondUnused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	writeDump(t, first, drawsOf(t, 37, 30_000), wheel(stream(1), 37))
	writeDump(t, second, drawsOf(t, 37, 30_000), wheel(stream(2), 36)) // would be rejected
	code, out, stderr := labRun(t, "--from", first, "--second", second, "--json")
	var r struct {
		Samples []struct {
			Files []struct{ Name string }
			Note  string
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != term.ExitOK {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if s := r.Samples[0]; len(s.Files) != 1 || s.Files[0].Name != first ||
		s.Note != "second sample not used: the first decided" {
		t.Errorf("%+v", s)
	}
}

func TestBatteryUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--deck tarot":                        "--deck must be one of standard-52",
		"--deck shoe-16":                      "--deck shoe-16: ",
		"--draws 1":                           "--draws must be 2 to 1073741824, not 1",
		"--draws 1073741825":                  "--draws must be 2 to 1073741824",
		"--draws 6 --values 0":                "--values must be 1 to 4096, not 0",
		"--draws 6 --values 4097":             "--values must be 1 to 4096",
		"--count 0":                           "--count must be 1 to 4294967295, not 0",
		"--count 4294967296":                  "--count must be 1 to 4294967295",
		"--from x --deck standard-52":         "--deck and --draws must be left out with --from",
		"--second x":                          "--second needs --from",
		"--workers -1":                        "--workers",
		"--html /nowhere/at-all/x --count 10": "--html: /nowhere/at-all is no directory",
	} {
		code, out, stderr := labRun(t, strings.Fields(args)...)
		if code != term.ExitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, want %d\n%s%s", args, code, term.ExitUsage, out,
				fmt.Sprintf("%s, want %s", stderr, want))
		}
	}
}

// TestBatteryInterrupted: an interrupted run judges nothing and leaves no page.
func TestBatteryInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	page := filepath.Join(t.TempDir(), "page.html")
	var out, stderr bytes.Buffer
	code := run(ctx, []string{"battery", "--count", "1000000000", "--html", page},
		term.Streams{Out: &out, Err: &stderr})
	if code != term.ExitCannot || out.Len() > 0 ||
		!strings.Contains(stderr.String(), "interrupted: nothing was judged") || exists(page) {
		t.Errorf("exit code %d\n%s%s", code, &out, &stderr)
	}
}
