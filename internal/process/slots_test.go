package process_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/process"
)

const block = 512 // what a disk writes whole or not at all

// slots is a file of slots after some writes.
type slots struct {
	t    *testing.T
	path string
	*process.Slots
}

func newSlots(t *testing.T, writes ...string) slots {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slots")
	f, b, err := process.OpenSlots(path)
	if err != nil || b != nil {
		t.Fatalf("no file: %q, %v", b, err)
	}
	s := slots{t, path, f}
	for _, w := range writes {
		if err := s.Write([]byte(w)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s slots) bytes() []byte {
	s.t.Helper()
	b, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// with opens the file with other bytes in it.
func (s slots) with(all []byte) (string, error) {
	s.t.Helper()
	if err := os.WriteFile(s.path, all, 0o600); err != nil {
		s.t.Fatal(err)
	}
	_, b, err := process.OpenSlots(s.path)
	return string(b), err
}

func TestSlots(t *testing.T) {
	s := newSlots(t)
	for i := range 60 { // below a slot, to its end, above it, and short again; opened anew, or not
		text := strings.Repeat(string(rune('a'+i%26)), i*i*i%9_001)
		if err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		f, b, err := process.OpenSlots(s.path)
		if err != nil || string(b) != text {
			t.Fatalf("write %d: %d bytes, %v", i, len(b), err)
		}
		if i%3 == 0 {
			s.Slots = f
		}
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestSlotsCut has each subset of the blocks of a write reach the disk, over an older write of any length: the bytes
// are those from before, or the new ones, and these if all blocks are there.
func TestSlotsCut(t *testing.T) {
	text := func(c string, blocks int) string { return strings.Repeat(c, max(0, blocks*496-3)) }
	for older := range 6 {
		for newest := range 6 {
			s := newSlots(t, text("a", 1), text("b", older), text("c", 3))
			before := s.bytes()
			if err := s.Write([]byte(text("d", newest))); err != nil {
				t.Fatal(err)
			}
			after := s.bytes()
			var changed []int
			for i := 0; i < len(after); i += block {
				if !bytes.Equal(before[i:i+block], after[i:i+block]) {
					changed = append(changed, i)
				}
			}
			if len(changed) != max(1, newest) {
				t.Fatalf("%d blocks changed with a write of %d", len(changed), newest)
			}
			for subset := range 1 << len(changed) {
				torn := bytes.Clone(before)
				for i, at := range changed {
					if subset>>i&1 == 1 {
						copy(torn[at:at+block], after[at:])
					}
				}
				want := text("c", 3)
				if subset == 1<<len(changed)-1 {
					want = text("d", newest)
				}
				if got, err := s.with(torn); err != nil || got != want {
					t.Fatalf("%d blocks over %d, subset %b: %.1q, %v", newest, older, subset, got, err)
				}
			}
		}
	}
}

// TestSlotsDamaged changes a bit of each byte of both slots, cuts the file anywhere, and exchanges slots.
func TestSlotsDamaged(t *testing.T) {
	long := strings.Repeat("x", 3*block)
	s := newSlots(t, "a", long, "b"+long, "c"+long)
	good := s.bytes()
	slot := len(good) / 2
	for i := 0; i < len(good); i += 1 + i%slot/(5*block)*31 { // each byte that is used, and some others
		used := i%slot < 4*block
		changed := bytes.Clone(good)
		changed[i] ^= 1 << (i % 8)
		if got, err := s.with(changed); (err != nil) != used || err == nil && got != "c"+long {
			t.Fatalf("a bit of byte %d: %.3q, %v", i, got, err)
		}
	}
	for n := 0; n < len(good); n += 64 {
		if _, err := s.with(good[:n]); err == nil {
			t.Errorf("cut to %d bytes", n)
		}
	}
	if got, err := s.with(good); err != nil || got != "c"+long {
		t.Errorf("as it was: %.3q, %v", got, err)
	}
	later := newSlots(t, "a", long, "b"+long, "c"+long, "d", "e", "f").bytes()
	for what, mixed := range map[string][]byte{
		"the first slot of later": append(bytes.Clone(later[:slot]), good[slot:]...),
		"the other slot of later": append(bytes.Clone(good[:slot]), later[slot:]...),
		"exchanged":               append(bytes.Clone(good[slot:]), good[:slot]...),
		"one slot twice":          append(bytes.Clone(good[:slot]), good[:slot]...),
		"zeros":                   make([]byte, len(good)),
	} {
		if got, err := s.with(mixed); err == nil {
			t.Errorf("%s: %.3q", what, got)
		}
	}
}

// TestSlotsFail: what could not be made durable is an error, and the next write goes to the same slot.
func TestSlotsFail(t *testing.T) {
	s := newSlots(t, "one", "two")
	broken, sync := errors.New("broken disk"), s.Sync
	s.Sync = func(*os.File) error { return broken }
	for range 2 {
		if err := s.Write([]byte("three")); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
	s.Sync = sync
	if err := s.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	if _, b, err := process.OpenSlots(s.path); err != nil || string(b) != "four" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Write([]byte("five")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was removed: %v", err)
	}
}

// TestReplaceFile: a file is replaced as a whole, and what could not be written leaves the one before.
func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put := func(text string, then error) error {
		return process.ReplaceFile(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, then)
		})
	}
	cut := errors.New("cut")
	for _, step := range []struct {
		text string
		then error
		want string
	}{{"one", nil, "one"}, {"half of two", cut, "one"}, {"three", nil, "three"}, {"", nil, ""}} {
		if err := put(step.text, step.then); !errors.Is(err, step.then) {
			t.Errorf("%q: %v", step.text, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("after %q the file has %q, %v", step.text, got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
