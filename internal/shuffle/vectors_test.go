package shuffle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"shuffled/internal/known"
)

// update writes testdata/shuffle.json from the reference, never from the code under test. The file is frozen with the
// algorithm: cases are added, a case that is there is never changed.
var update = flag.Bool("update", false, "write testdata/shuffle.json from the reference implementation")

const (
	vectorsPath   = "testdata/shuffle.json"
	vectorsFormat = "shuffled/v1/vectors/shuffle"
)

// vectorFile is published for other implementations.
type vectorFile struct {
	Format string   `json:"format"`
	About  []string `json:"about"`
	vectorSet
}

var vectorsAbout = []string{
	"Frozen test vectors of shuffled/v1, docs/SPEC.md sections 2 to 4. Cases are added, never changed.",
	"Byte strings are lower-case hex. Card values and positions count from 0, draw values from 1.",
	"runs: a tape spent on a recipe. A recipe is cards (n), take (m) and, when a cut-card place is drawn, end_lo and end_hi; or ranges, the k of each draw of a list.",
	"tape_len is the only length a tape of the recipe may have. draws are the values 1..k of all draws in order, the cut-card place last. values is the outcome by position; end_at the drawn place.",
	"error, in place of an outcome: tape_length (a tape of another length) or tape_exhausted (rejections used it up).",
	"mixes: p is the permutation that the seed gives over so many positions, place i shows position p[i]; p_cut is p after a cut.",
	"shifts: drawn values and what they become under the seed.",
	"numbers: draws of the ranges n, n−1 … for n = of, and the numbers of 1..n that they take.",
}

// vectorErrors are the names of the errors in the file.
var vectorErrors = map[string]error{"": nil, "tape_length": ErrTapeLength, "tape_exhausted": ErrTapeExhausted}

// vectorBytes returns n bytes that anybody can make again: SHA-256(name ‖ 0), SHA-256(name ‖ 1) …
func vectorBytes(name string, n int) (b []byte) {
	for i := byte(0); len(b) < n; i++ {
		block := sha256.Sum256(append([]byte(name), i))
		b = append(b, block[:]...)
	}
	return b[:n]
}

// referenceVectors makes the file.
func referenceVectors() vectorFile {
	file := vectorFile{Format: vectorsFormat, About: vectorsAbout}
	for _, n := range []int{2, 3, 8, 36, 40, 48, 52, 54, 64, 65, 66, 104, 312, 416, 832, 1000} {
		r := deck(n)
		file.addRun(fmt.Sprintf("all of %d cards", n), r, nil)
	}
	for _, r := range []Recipe{{Cards: 2, Take: 1}, {Cards: 52, Take: 1}, {Cards: 52, Take: 9}, {Cards: 52, Take: 51},
		{Cards: 66, Take: 2}, {Cards: 416, Take: 30}, {Cards: 4096, Take: 20}} {
		file.addRun(fmt.Sprintf("%d of %d cards", r.Take, r.Cards), r, nil)
	}
	for _, r := range []Recipe{{Cards: 52, Take: 52, EndLo: 1, EndHi: 52}, {Cards: 52, Take: 20, EndLo: 19, EndHi: 20},
		{Cards: 416, Take: 416, EndLo: 338, EndHi: 364}, {Cards: 312, Take: 312, EndLo: 1, EndHi: 312}} {
		file.addRun(fmt.Sprintf("%d of %d cards, end_at of %d..%d", r.Take, r.Cards, r.EndLo, r.EndHi), r, nil)
	}
	for _, ranges := range [][]uint32{{6, 6}, {37}, {1}, {1, 1, 6, 1}, {2, 64, 65, 1 << 14, 1<<14 + 1, 1 << 30},
		{63, 66, 16383, 1<<30 - 1}, {52, 13108, 858_993_460}, slices.Repeat([]uint32{100}, 50)} {
		file.addRun(fmt.Sprintf("a list of %d draws, the last 1..%d", len(ranges), ranges[len(ranges)-1]),
			Recipe{Ranges: ranges}, nil)
	}
	file.addEdges()
	for i, m := range []int{1, 2, 3, 10, 52, 64, 65, 66, 104, 416, 600} {
		seed := vectorSeed(fmt.Sprintf("mix %d", i))
		if m == 10 {
			seed = [32]byte{}
		}
		p, cut := refMix(seed, m), (7*m/11+i)%m
		file.Mixes = append(file.Mixes, mixVector{seed[:], m, p, cut, refCut(p, cut)})
	}
	for i, ranges := range [][]uint32{{6}, {1, 1}, {6, 6, 37}, {2, 64, 65, 1 << 14, 1<<14 + 1, 1 << 30},
		slices.Repeat([]uint32{13108, 52}, 150)} {
		seed, values := vectorSeed(fmt.Sprintf("shift %d", i)), make([]uint32, len(ranges))
		for j, k := range ranges {
			values[j] = 1 + uint32(1_000_003*(j+i))%k
		}
		file.Shifts = append(file.Shifts, shiftVector{seed[:], ranges, values, refShift(seed, ranges, values)})
	}
	file.addNumbers()
	return file
}

// addNumbers adds draws at both ends of their ranges, which swap the same places again
// and again, and draws that anybody can make again.
func (f *vectorFile) addNumbers() {
	add := func(name string, n int, draws ...uint32) {
		f.Numbers = append(f.Numbers, numbersVector{name, n, draws, refNumbers(draws)})
	}
	add("one of two numbers", 2, 2)
	add("both of two numbers", 2, 1, 1)
	add("six of 49 numbers, none moved", 49, 1, 1, 1, 1, 1, 1)
	add("six of 49 numbers, each time the last place", 49, 49, 48, 47, 46, 45, 44)
	add("a place that was swapped into twice", 9, 5, 4, 3, 2, 1)
	add("the ends of the widest range", MaxRange, MaxRange, 1, MaxRange-2, MaxRange-3, 1)
	for _, c := range []struct{ n, m int }{{49, 6}, {80, 20}, {1000, 1000}, {1_000_000, 20}, {MaxRange, 300}} {
		name := fmt.Sprintf("%d of %d numbers", c.m, c.n)
		bytes, draws := vectorBytes(name, 4*min(c.m, 256)), make([]uint32, c.m)
		for i := range draws {
			draws[i] = 1 + binary.BigEndian.Uint32(bytes[4*(i%256):])%uint32(c.n-i)
		}
		add(name, c.n, draws...)
	}
}

func vectorSeed(name string) [32]byte { return [32]byte(vectorBytes(name, 32)) }

// addRun adds what the reference says to a tape; nil stands for vectorBytes.
func (f *vectorFile) addRun(name string, r Recipe, tape []byte) {
	ks := refDraws(r)
	if tape == nil {
		tape = vectorBytes(name, refTapeLen(ks))
	}
	c := runVector{Name: name, Cards: r.Cards, Take: r.Take, EndLo: r.EndLo, EndHi: r.EndHi, Ranges: r.Ranges,
		TapeLen: refTapeLen(ks), Tape: tape}
	out, err := reference{}.run(r, tape)
	switch err {
	case ErrTapeLength:
		c.Error = "tape_length"
	case ErrTapeExhausted:
		c.Error = "tape_exhausted"
	default:
		c.Values, c.EndAt = out.Values, out.EndAt
		for rest, i := tape, 0; i < len(ks); i++ {
			var v uint64
			v, rest, _ = refDraw(rest, ks[i])
			c.Draws = append(c.Draws, uint32(v))
		}
	}
	f.Runs = append(f.Runs, c)
}

// addEdges adds tapes that are made to be hard: forced rejections, the last lane there is, exhaustion, wrong lengths.
func (f *vectorFile) addEdges() {
	zero, ones := make([]byte, 129), bytes.Repeat([]byte{0xff}, 205)
	f.addRun("52 cards, a tape of zeros", deck(52), zero)
	f.addRun("52 cards, a tape of ff", deck(52), ones[:129])
	f.addRun("2 cards, a tape of ff", deck(2), ones[:54])
	f.addRun("66 cards, a tape of ff: one byte is left when a two-byte lane is due", deck(66), ones)
	f.addRun("52 cards, a byte short", deck(52), zero[:128])
	f.addRun("52 cards, a byte long", deck(52), append(zero, 0))
	f.addRun("52 cards, no tape", deck(52), []byte{})
	f.addRun("52 cards, lanes about the limits", deck(52),
		slices.Concat([]byte{0xd0, 0xff, 0xcf, 0xfe, 0xff, 0xc7}, zero[:123]))
	f.addRun("3 cards, the last byte is the last lane", deck(3), slices.Concat(ones[:53], []byte{0xfe, 0x01}))
	f.addRun("3 cards, one rejection too many", deck(3), slices.Concat(ones[:54], []byte{0xfe}))
	f.addRun("a draw 1..65 at its limit", Recipe{Ranges: []uint32{65}},
		slices.Concat([]byte{0xff, 0xf0, 0xff, 0xff, 0xff, 0xef}, zero[:101]))
	f.addRun("a draw 1..858993460 at its limit", Recipe{Ranges: []uint32{858_993_460}},
		slices.Concat([]byte{0xcc, 0xcc, 0xcc, 0xd0, 0xff, 0xff, 0xff, 0xff, 0xcc, 0xcc, 0xcc, 0xcf},
			make([]byte, 202)))
	f.addRun("a draw 1..2^30 of the last lane", Recipe{Ranges: []uint32{1 << 30}}, bytes.Repeat([]byte{0xff}, 214))
}

// encodeVectors writes the file with one case per line.
func encodeVectors(f vectorFile) []byte {
	var b bytes.Buffer
	line := func(v any) string {
		j, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(j)
	}
	list := func(name string, n int, item func(i int) any, end string) {
		fmt.Fprintf(&b, "  %q: [\n", name)
		for i := range n {
			comma := ","
			if i == n-1 {
				comma = ""
			}
			fmt.Fprintf(&b, "    %s%s\n", line(item(i)), comma)
		}
		fmt.Fprintf(&b, "  ]%s\n", end)
	}
	fmt.Fprintf(&b, "{\n  \"format\": %q,\n", f.Format)
	list("about", len(f.About), func(i int) any { return f.About[i] }, ",")
	list("runs", len(f.Runs), func(i int) any { return f.Runs[i] }, ",")
	list("mixes", len(f.Mixes), func(i int) any { return f.Mixes[i] }, ",")
	list("shifts", len(f.Shifts), func(i int) any { return f.Shifts[i] }, ",")
	list("numbers", len(f.Numbers), func(i int) any { return f.Numbers[i] }, "")
	b.WriteString("}\n")
	return b.Bytes()
}

// TestVectorsAreTheReferences holds the file against the reference, and writes it with -update.
func TestVectorsAreTheReferences(t *testing.T) {
	made := encodeVectors(referenceVectors())
	if *update {
		must(t, os.WriteFile(vectorsPath, made, 0o644))
	}
	if stored, err := os.ReadFile(vectorsPath); err != nil || !bytes.Equal(stored, made) {
		t.Errorf("%s is not what the reference writes (%v)", vectorsPath, err)
	}
}

// loadVectors reads the file as strictly as another implementation should.
func loadVectors(t *testing.T) (f vectorFile) {
	t.Helper()
	b, err := os.ReadFile(vectorsPath)
	must(t, err)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	must(t, d.Decode(&f))
	if f.Format != vectorsFormat {
		t.Fatalf("the format is %q", f.Format)
	}
	if len(f.Runs) < 40 || len(f.Mixes) < 10 || len(f.Shifts) < 5 || len(f.Numbers) < 11 {
		t.Fatalf("only %d runs, %d mixes, %d shifts, %d numbers", len(f.Runs), len(f.Mixes), len(f.Shifts),
			len(f.Numbers))
	}
	return f
}

// TestVectors runs the known-answer tests on the published vectors.
func TestVectors(t *testing.T) {
	f := loadVectors(t)
	failures := make(map[string]int)
	for _, c := range f.Runs {
		failures[c.Error]++
		if got := c.recipe().TapeLen(); got != c.TapeLen {
			t.Errorf("%s: a tape of %d bytes, want %d", c.Name, got, c.TapeLen)
		}
	}
	for name := range vectorErrors {
		if failures[name] < 3 {
			t.Errorf("only %d runs end with error %q", failures[name], name)
		}
	}
	for name, run := range selfTests {
		a := known.Answers{Test: name}
		if run(&a, &f.vectorSet); len(a.Wrong) > 0 || len(a.Names) == 0 {
			t.Errorf("%s: %d answers, wrong: %q", name, len(a.Names), a.Wrong)
		}
	}
}
