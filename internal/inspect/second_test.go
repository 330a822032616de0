package inspect

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	"shuffled/internal/inspect/inspecttest"
)

// TestExported: what the generator writes is what an export of the same ledger
// writes, file by file, so that what is judged here is what houses hand over.
func TestExported(t *testing.T) {
	t.Parallel()
	from := newBroken(t)
	r, err := bundle.Open(from.dir)
	must(t, err)
	defer r.Close()
	out := filepath.Join(t.TempDir(), "exported")
	m, err := r.Manifest()
	must(t, err)
	at, err := time.Parse(time.RFC3339, m.ExportedAt)
	must(t, err)
	_, err = bundle.Export(t.Context(), kept{r}, out,
		bundle.Options{Origin: inspecttest.Origin, Now: func() time.Time { return at }})
	must(t, err)
	files := func(dir string) (names []string) {
		must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return err
		}))
		return names
	}
	a, b := files(from.dir), files(out)
	if !slices.Equal(a, b) {
		t.Fatalf("%d files, not %d:\n%v\n%v", len(b), len(a), b, a)
	}
	for _, name := range a {
		x, err := os.ReadFile(filepath.Join(from.dir, name))
		must(t, err)
		y, err := os.ReadFile(filepath.Join(out, name))
		must(t, err)
		if !bytes.Equal(x, y) {
			t.Errorf("%s is another:\n%q\n%q", name, y[:min(len(y), 400)], x[:min(len(x), 400)])
		}
	}
}

// kept is a bundle as the store of an export.
type kept struct{ *bundle.Reader }

func (k kept) Head(context.Context) ([]byte, error) { return k.Checkpoint(), nil }

func (k kept) Entries(_ context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := from; i < to; i++ {
			entries, err := k.Reader.Entries(i / Width)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(entries[i%Width], nil) {
				return
			}
		}
	}
}

func (k kept) CheckpointAfter(_ context.Context, index uint64) ([]byte, error) {
	for listed, err := range k.Signed() {
		if c, parseErr := audit.CheckpointText(listed.Signed); err == nil && parseErr == nil && c.Size > index {
			return listed.Signed, nil
		}
	}
	return k.Checkpoint(), nil
}

func (k kept) Cosigned(_ context.Context, size uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for listed, err := range k.Reader.Cosigned() {
			c, parseErr := audit.CheckpointText(listed.Signed)
			if err == nil && parseErr == nil && c.Size < size {
				continue
			}
			if !yield(listed.Signed, err) {
				return
			}
		}
	}
}

func (k kept) Deck(_ context.Context, hash [32]byte) ([]string, error) {
	deck, err := k.Reader.Deck(hash)
	return deck.Cards(), err
}

func (k kept) Terms(_ context.Context, hash [32]byte) ([]byte, error) { return k.Reader.Terms(hash) }

// TestAnyBit: whatever bit of the evidence is turned, and wherever a file is cut,
// something is found, and not more than there is damage for.
func TestAnyBit(t *testing.T) {
	t.Parallel()
	b := &broken{t, t.TempDir()}
	inspecttest.Honest(b.dir, 30).Finish()
	var files []string
	must(t, fs.WalkDir(os.DirFS(b.dir), ".", func(name string, d fs.DirEntry, err error) error {
		// A manifest's time is the exporter's own.
		if err == nil && !d.IsDir() && name != "manifest.json" {
			files = append(files, name)
		}
		return err
	}))
	small := b.tail("cosigned")
	whole := b.read(small)
	b.sizeNote(small, 0, "0") // one bit of a small size
	judgeBroken(t, b.dir, small)
	b.write(small, whole)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(files).Draw(t, "file")
		data := b.read(name)
		defer b.write(name, data)
		i := rapid.IntRange(0, len(data)-1).Draw(t, "byte")
		if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
			if left := data[:i]; name == "checkpoint" && bytes.HasSuffix(left, []byte("\n")) &&
				bytes.Contains(left, []byte("\n— ")) {
				t.Skip("a signed checkpoint with fewer cosignatures is one, too")
			}
			b.write(name, data[:i])
		} else {
			after := bytes.Clone(data)
			after[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			b.write(name, after)
		}
		judgeBroken(t, b.dir, name)
	})
}

// judgeBroken judges a bundle with one damage in the file.
func judgeBroken(t rapid.TB, dir, name string) {
	source, err := OpenBundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	r, err := Run(context.Background(), source, trusting())
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Failed {
		t.Fatalf("verdict %s", r.Verdict)
	}
	most := uint64(2)
	if name == "checkpoint" {
		most = 9 // another size, of three digits, has other files: for each 256 entries one of hashes, one of entries
	}
	if r.FaultCount > most {
		t.Fatalf("%d faults: %v", r.FaultCount, r.FaultCodes)
	}
	for _, f := range r.Faults {
		if f.Where == "" && f.Entry == nil {
			t.Fatalf("the fault %s has no place", f.Code)
		}
	}
}

var everyEntry = flag.Int("entries", 3, "TestAnyEntry damages every n-th entry")

// TestAnyEntry: one entry after another is damaged, and that is the one fault:
// what others seem to break for lack of it is none.
func TestAnyEntry(t *testing.T) {
	t.Parallel()
	b := &broken{t, t.TempDir()}
	inspecttest.Honest(b.dir, 110).Finish()
	tail := b.tail("tile/entries")
	tried := 0
	for name, index := range map[string]uint64{"tile/entries/000": 0, "tile/entries/001": Width, tail: 2 * Width} {
		data := b.read(name)
		for at := 0; at < len(data); index++ {
			size := int(data[at])<<8 + int(data[at+1])
			after := bytes.Clone(data)
			after[at+2+size/2] ^= 1
			at += 2 + size
			if index > 8 && index%uint64(*everyEntry) != 0 || testing.Short() && index%17 != 0 {
				continue
			}
			tried++
			b.write(name, after)
			r := inspectDir(t, b.dir, trusting())
			if r.FaultCount != 1 || r.FaultCodes[CodeEntry] != 1 || *r.Faults[0].Entry != index {
				t.Errorf("entry %d damaged: %s", index, asJSON(t, r.Faults))
			}
		}
		b.write(name, data)
	}
	if tried < 2*Width / *everyEntry / 17 {
		t.Errorf("only %d entries", tried)
	}
}

// TestSeen: what stands twice is found among many values, in one part and in many.
func TestSeen(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{100, 1 << 20} {
		s := new(seen)
		value := func(i uint64) (h [32]byte) {
			binary.BigEndian.PutUint64(h[24:], i*0x9e3779b97f4a7c15)
			return h
		}
		for i := range n {
			s.add(kindCommitment, value(i), i)
			if i%2 == 0 {
				s.add(kindKeyTag, value(i), i) // another kind is another value
			}
		}
		s.add(kindCommitment, value(7), n)
		s.add(kindCommitment, value(7), n+1)
		s.add(kindKeyTag, value(n-2), n+2)
		var got []string
		err := s.twice(func(first, again record) error {
			got = append(got, fmt.Sprintf("%d: %d %d", again.kind(), first.index(), again.index()))
			return nil
		})
		must(t, err)
		if (s.dir != "") != (n > 100) {
			t.Errorf("of %d: files are under %q", n, s.dir)
		}
		must(t, s.close())
		slices.Sort(got)
		want := []string{fmt.Sprintf("1: 7 %d", n), fmt.Sprintf("1: 7 %d", n+1), fmt.Sprintf("2: %d %d", n-2, n+2)}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: %s, want %s", n, strings.Join(got, ", "), strings.Join(want, ", "))
		}
	}
}
