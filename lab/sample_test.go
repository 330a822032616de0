package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

// readBack reads a sample in any format as docs/LAB.md says, with only the manifest,
// as card names or numbers.
func readBack(t *testing.T, m *Manifest, data []byte) (outcomes [][]string) {
	t.Helper()
	switch m.Format.Name {
	case "csv":
		r := csv.NewReader(bytes.NewReader(data))
		r.FieldsPerRecord = m.Positions
		all, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return all
	case "jsonl":
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			if len(line) == 0 {
				break
			}
			outcomes = append(outcomes, readObject(t, m, i, line))
		}
		return outcomes
	case "bin":
		for record := range slices.Chunk(data, m.Format.RecordBytes) {
			outcomes = append(outcomes, readRecord(m, record))
		}
		return outcomes
	}
	t.Fatalf("format %q", m.Format.Name)
	return nil
}

func readObject(t *testing.T, m *Manifest, index int, line []byte) (outcome []string) {
	t.Helper()
	var o struct {
		Index  int
		Cards  []string
		Values []uint32
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		t.Fatal(err)
	}
	if line[len(line)-1] != '\n' || o.Index != index || (o.Cards == nil) == (m.Deck != nil) ||
		(o.Values == nil) == (m.Deck == nil) {
		t.Fatalf("line %d is %s", index, line)
	}
	for _, v := range o.Values {
		outcome = append(outcome, strconv.Itoa(int(v)))
	}
	return append(outcome, o.Cards...)
}

func readRecord(m *Manifest, record []byte) (outcome []string) {
	for value := range slices.Chunk(record, m.Format.ValueBytes) {
		v := int(binary.BigEndian.Uint32(append(make([]byte, 4-len(value)), value...)))
		name := strconv.Itoa(v)
		if m.Deck != nil {
			name = m.Deck.Names[v]
		}
		outcome = append(outcome, name)
	}
	return outcome
}

func custom(t *testing.T, names ...string) shuffle.Deck {
	t.Helper()
	d, err := shuffle.NewDeck(names)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numberedDeck has n cards, no two of one name.
func numberedDeck(t *testing.T, n int) shuffle.Deck {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("card %d", i))
	}
	return custom(t, names...)
}

// TestFormatsAgree: one outcome is the same in each format, with the deck's names for
// a deck.
func TestFormatsAgree(t *testing.T) {
	var all []Sample
	for _, format := range Formats {
		decks := []shuffle.Deck{
			custom(t, "a,b", `say "x"`, "<&>", "ünter", "plain", `"`),
			numberedDeck(t, 256), numberedDeck(t, 257), numberedDeck(t, shuffle.MaxCards),
		}
		for _, name := range shuffle.Names() {
			d, _ := shuffle.Named(name)
			decks = append(decks, d)
		}
		for _, d := range decks {
			for _, take := range []int{d.Len(), 1, 2} {
				s, err := Decks(d, take, 3, format)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, s)
			}
		}
		for _, k := range []uint64{1, 6, 255, 256, 65_535, 65_536, shuffle.MaxRange} {
			s, err := Draws(k, 5, 3, format)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	}
	src := newSource(t)
	for _, s := range all {
		var data []byte
		var want [][]string
		encode, m := s.encoder(), s.Manifest(&Written{})
		for i := range s.Count {
			values := extreme(t, src, s, i)
			data = encode(data, i, values)
			want = append(want, named(s, values))
		}
		if got := readBack(t, m, data); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s of %d cards, ranges %v: read back\n%v, want\n%v", s.Format, s.Recipe.Cards, s.Recipe.Ranges,
				got, want)
		}
		if n := m.Format.RecordBytes; n*int(s.Count) != len(data) && (n != 0 || s.Format == Binary) {
			t.Errorf("%d records of %d bytes make %d", s.Count, n, len(data))
		}
	}
}

// TestWidth: a value takes the fewest bytes that hold the largest one.
func TestWidth(t *testing.T) {
	for cards, want := range map[int]int{2: 1, 256: 1, 257: 2, shuffle.MaxCards: 2} {
		if s, err := Decks(numberedDeck(t, cards), 2, 1, Binary); err != nil || s.RecordBytes() != 2*want {
			t.Errorf("%d cards: two take %d bytes, %v", cards, s.RecordBytes(), err)
		}
	}
	for k, want := range map[uint64]int{1: 1, 255: 1, 256: 2, 65_535: 2, 65_536: 4, shuffle.MaxRange: 4} {
		if s, err := Draws(k, 3, 1, Binary); err != nil || s.RecordBytes() != 3*want {
			t.Errorf("k = %d: three take %d bytes, %v", k, s.RecordBytes(), err)
		}
	}
}

// extreme returns the lowest values, the highest ones, and then drawn ones.
func extreme(t *testing.T, src *entropy.Source, s Sample, i uint64) []uint32 {
	values, err := NewMaker(src, s.Recipe).Next()
	if err != nil {
		t.Fatal(err)
	}
	for p := range values {
		switch {
		case i == 0 && s.Recipe.Ranges != nil:
			values[p] = 1
		case i == 0:
			values[p] = uint32(p)
		case i == 1 && s.Recipe.Ranges != nil:
			values[p] = s.Recipe.Ranges[p]
		case i == 1:
			values[p] = uint32(s.Recipe.Cards - 1 - p)
		}
	}
	return values
}

func named(s Sample, values []uint32) (names []string) {
	for _, v := range values {
		if s.Recipe.Ranges != nil {
			names = append(names, strconv.Itoa(int(v)))
		} else {
			names = append(names, s.Deck.Card(v))
		}
	}
	return names
}

// TestWrite: the written sample is complete, of the deck, and as the manifest says.
func TestWrite(t *testing.T) {
	shoe, _ := shuffle.Named("shoe-8")
	for _, format := range Formats {
		decks, err := Decks(numberedDeck(t, 300), 300, 500, format)
		if err != nil {
			t.Fatal(err)
		}
		stub, err := Decks(shoe, 7, 2*Block+1, format)
		if err != nil {
			t.Fatal(err)
		}
		draws, err := Draws(1000, 5, 3*Block-1, format)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Sample{decks, stub, draws} {
			for _, workers := range []int{1, 3} {
				var data bytes.Buffer
				var last uint64
				w, err := s.Write(t.Context(), newSource(t), workers, &data, func(done uint64) { last = done })
				if err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(data.Bytes())
				if w.SHA256 != hex.EncodeToString(sum[:]) || w.Bytes != uint64(data.Len()) || last != s.Count ||
					w.Tapes != s.Count || w.TapeBytes != s.Count*uint64(s.Recipe.TapeLen()) || w.Workers != workers {
					t.Errorf("%d bytes, progress to %d: %+v", data.Len(), last, w)
				}
				got := readBack(t, s.Manifest(w), data.Bytes())
				if uint64(len(got)) != s.Count {
					t.Errorf("%d outcomes of %d", len(got), s.Count)
				}
				possible(t, s, got)
			}
		}
	}
}

// possible checks that no outcome has a card more often than its deck, or a value out
// of range, and that the first two differ: two decks of 300 are the same with a
// chance below 10^-600, two outcomes of 7 cards of a shoe below 10^-9 (each card
// stands in it eight times), five values of 1..1000 at 10^-15.
func possible(t *testing.T, s Sample, outcomes [][]string) {
	t.Helper()
	left := map[string]int{}
	for _, name := range s.Deck.Cards() {
		left[name]++
	}
	for _, o := range outcomes {
		if len(o) != s.Recipe.Positions() {
			t.Fatalf("an outcome has %d values", len(o))
		}
		used := map[string]int{}
		for _, name := range o {
			used[name]++
			if v, err := strconv.Atoi(name); s.Recipe.Ranges != nil &&
				(err != nil || v < 1 || uint32(v) > s.Recipe.Ranges[0]) ||
				s.Recipe.Ranges == nil && used[name] > left[name] {
				t.Fatalf("%s stands in %v", name, o)
			}
		}
	}
	if slices.Equal(outcomes[0], outcomes[1]) {
		t.Errorf("twice %v", outcomes[0])
	}
}

// TestRaw: as many bytes as requested, none of them used twice.
func TestRaw(t *testing.T) {
	for _, bytes := range []uint64{1, entropy.MaxTape, entropy.MaxTape + 1, 5*entropy.MaxTape - 3} {
		for _, workers := range []int{1, 3} {
			h, tapes := &tee{}, (bytes+entropy.MaxTape-1)/entropy.MaxTape
			var last uint64
			w, err := Raw(t.Context(), newSource(t), workers, bytes, h, func(done uint64) { last = done })
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(h.all)
			if w.Bytes != bytes || uint64(len(h.all)) != bytes || last != bytes || w.Tapes != tapes ||
				w.TapeBytes != bytes || w.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%d bytes, progress to %d: %+v", len(h.all), last, w)
			}
			// 16 bytes that came before: by chance below 2^-90.
			seen := map[[16]byte]bool{}
			for i := 0; i+16 <= len(h.all); i += 16 {
				part := [16]byte(h.all[i : i+16])
				if seen[part] {
					t.Fatalf("the bytes at %d came before", i)
				}
				seen[part] = true
			}
		}
	}
}

type tee struct{ all []byte }

func (t *tee) Write(b []byte) (int, error) { t.all = append(t.all, b...); return len(b), nil }

// TestSampleLatched: a generator that fails ends the sample.
func TestSampleLatched(t *testing.T) {
	src := newSource(t)
	s, err := Draws(6, 1, MaxCount, Binary)
	if err != nil {
		t.Fatal(err)
	}
	trip := func(uint64) { src.Trip(entropy.ReasonOperator) }
	if _, err := s.Write(t.Context(), src, 2, io.Discard, trip); !errors.Is(err, entropy.ErrLatched) {
		t.Errorf("error %v", err)
	}
	if _, err := Raw(t.Context(), src, 2, MaxBytes, io.Discard, nil); !errors.Is(err, entropy.ErrLatched) {
		t.Errorf("raw output: %v", err)
	}
}

func TestSampleRefused(t *testing.T) {
	deck, _ := shuffle.Named("standard-52")
	decks := func(take int, count uint64, f Format) error { _, err := Decks(deck, take, count, f); return err }
	draws := func(k uint64, values int, count uint64) error {
		_, err := Draws(k, values, count, CSV)
		return err
	}
	for _, c := range []struct {
		want string
		err  error
	}{
		{"take must be 1 to the 52 cards of the deck, not -1", decks(-1, 1, CSV)},
		{"take must be 1 to the 52 cards of the deck, not 0", decks(0, 1, CSV)},
		{"take must be 1 to the 52 cards of the deck, not 53", decks(53, 1, CSV)},
		{"count must be 1 to 1000000000000, not 0", decks(52, 0, CSV)},
		{"count must be 1 to 1000000000000, not 1000000000001", decks(52, MaxCount+1, CSV)},
		{"format must be csv, bin or jsonl", decks(52, 1, "xml")},
		{"k must be 1 to 1073741824, not 0", draws(0, 1, 1)},
		{"k must be 1 to 1073741824, not 4294967297", draws(1<<32+1, 1, 1)},
		{"values must be 1 to 4096, not 0", draws(6, 0, 1)},
		{"values must be 1 to 4096, not 4097", draws(6, 4097, 1)},
		{"count must be 1 to 1000000000000, not 0", draws(6, 1, 0)},
		{"bytes must be 1 to 1000000000000000, not 0", CheckRaw(0)},
		{"bytes must be 1 to 1000000000000000, not 1000000000000001", CheckRaw(MaxBytes + 1)},
		{"workers must be 1 to 256, not 0", CheckWorkers(0)},
		{"workers must be 1 to 256, not 257", CheckWorkers(257)},
	} {
		var field *FieldError
		if !errors.As(c.err, &field) || c.err.Error() != c.want {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
	if err := decks(52, MaxCount, CSV); err != nil {
		t.Error(err)
	}
}
