package witness_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/process"
	"shuffled/internal/witness"
)

// TestStateOutlives closes and opens a witness at every step.
func TestStateOutlives(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	dir := t.TempDir()
	for size := int64(0); size < 12; size++ {
		w := openWitness(t, dir, nil, l.vkey)
		if size > 0 && !strings.HasPrefix(w.latest(l.origin), string(l.signed(size))) {
			t.Fatalf("size %d is forgotten: %q", size, w.latest(l.origin))
		}
		if a := w.add(witness.Request{Old: size + 1, Proof: l.proof(size+1, size+2),
			Checkpoint: l.signed(size + 2)}); a.status != http.StatusConflict {
			t.Fatalf("a proof from a size not cosigned: %+v", a)
		}
		w.must(l, size, size+1)
		if err := w.w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStateIsRefused damages a state file in every way that can be seen.
func TestStateIsRefused(t *testing.T) {
	l, other := newTestLog(t, "example.org/log", "log"), newTestLog(t, "example.org/other", "other")
	dir := t.TempDir()
	w := openWitness(t, dir, nil, l.vkey, other.vkey)
	w.must(l, 0, 3)
	w.must(other, 0, 3)
	w.w.Close()
	path := stateFile(dir, l.origin)
	good, foreign := stored(t, path), stored(t, stateFile(dir, other.origin))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	open := func(name string, want bool) {
		t.Helper()
		w, err := tryWitness(t, dir, nil, l.vkey, other.vkey)
		if (err == nil) != want {
			t.Errorf("%s: error %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error does not name the file: %v", name, err)
		}
		if w != nil {
			w.w.Close()
		}
	}
	try := func(name string, content []byte, want bool) {
		t.Helper()
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		f, _, err := process.OpenSlots(path)
		if err == nil {
			err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
		open(name, want)
	}
	try("as it was", good, true)
	text := bytes.Index(good, []byte("\n\n"))
	logLine := bytes.Index(good[text+2:], []byte("\n")) + text + 3
	for i := range good {
		if i > text && i < logLine {
			continue // the log's signature is not looked at: its key may be gone
		}
		changed := bytes.Clone(good)
		changed[i] ^= 1
		try(fmt.Sprintf("bit of byte %d", i), changed, false)
	}
	try("empty", nil, false)
	for i := range good {
		try("truncated", good[:i], false)
	}
	try("without the cosignature", good[:logLine], false)
	try("without the log's signature", append(bytes.Clone(good[:text+2]), good[logLine:]...), true)
	try("of another log", foreign, false)
	line := "— x " + strings.Repeat("AAAA", 250) + "\n"
	try("with lines of others", append(bytes.Clone(good), strings.Repeat(line, 60)...), true)
	try("too many lines of others", append(bytes.Clone(good), strings.Repeat(line, 80)...), false)
	for _, content := range [][]byte{nil, good, make([]byte, 1<<14)} { // no slots: TestSlotsDamaged has all damages
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		open("no slots", false)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := tryWitness(t, dir, nil, l.vkey, other.vkey); err == nil {
		t.Error("a directory for a state file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}

	// What is not configured is verified as well: it may be again.
	if err := os.WriteFile(stateFile(dir, other.origin), foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tryWitness(t, dir, nil, l.vkey); err == nil {
		t.Error("the damaged state of a log that is not configured")
	}
	if err := os.Remove(stateFile(dir, other.origin)); err != nil {
		t.Fatal(err)
	}
	// Files of others, and a first write that was cut off.
	for _, name := range []string{stateFile(dir, l.origin) + ".new", filepath.Join(dir, "README")} {
		if err := os.WriteFile(name, good[:20], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w = openWitness(t, dir, nil, l.vkey)
	if !strings.Contains(w.log.String(), "a log has no state") {
		t.Errorf("nothing is said of a log without state: %s", w.log)
	}
	w.must(l, 0, 5)
}

func TestOneProcessPerDirectory(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	dir := filepath.Join(t.TempDir(), "made", "here")
	w := openWitness(t, dir, nil, l.vkey)
	if _, err := tryWitness(t, dir, nil, l.vkey); err == nil || !strings.Contains(err.Error(), "another witness") {
		t.Errorf("a second one: %v", err)
	}
	w.must(l, 0, 1)
	if err := w.w.Close(); err != nil {
		t.Fatal(err)
	}
	openWitness(t, dir, nil, l.vkey).must(l, 1, 2)
}

func TestOpenRefuses(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	dir := t.TempDir()
	if _, err := tryWitness(t, dir, nil); err == nil {
		t.Error("no logs")
	}
	if _, err := tryWitness(t, dir, nil, l.vkey, l.vkey); err == nil {
		t.Error("a key twice")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tryWitness(t, file, nil, l.vkey); err == nil {
		t.Error("a file for a directory")
	}
	openWitness(t, dir, nil, l.vkey) // and what failed left no lock behind
}

// stored is what a state file has.
func stored(t *testing.T, path string) []byte {
	t.Helper()
	_, b, err := process.OpenSlots(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDurableBeforeAnswer watches the one sync of a submission.
func TestDurableBeforeAnswer(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	dir := t.TempDir()
	w := openWitness(t, dir, nil, l.vkey)
	w.must(l, 0, 3)
	path, answered, syncs := stateFile(dir, l.origin), false, 0
	w.w.SetSync(l.origin, func(f *os.File) error {
		syncs++
		if b := stored(t, path); answered || f.Name() != path || !bytes.HasPrefix(b, l.signed(5)) {
			t.Errorf("at the sync of %s, answered %t, the state is %q", f.Name(), answered, b)
		}
		return f.Sync()
	})
	w.must(l, 3, 5)
	if answered = true; syncs != 1 {
		t.Errorf("%d syncs", syncs)
	}
}

// TestDiskFails: when it is not known which state the disk has, nothing is shown, nor cosigned until a restart.
func TestDiskFails(t *testing.T) {
	broken := errors.New("broken disk")
	l, other := newTestLog(t, "example.org/log", "log"), newTestLog(t, "example.org/other", "other")
	dir := t.TempDir()
	w := openWitness(t, dir, nil, l.vkey, other.vkey)
	w.must(l, 0, 3)
	before := w.latest(l.origin)
	w.w.SetSync(l.origin, func(*os.File) error { return broken })
	for range 2 {
		a := w.add(witness.Request{Old: 3, Proof: l.proof(3, 5), Checkpoint: l.signed(5)})
		if a.status != http.StatusInternalServerError || a.body != "internal error\n" {
			t.Fatalf("%+v", a)
		}
		w.w.SetSync(l.origin, (*os.File).Sync)
	}
	if !strings.Contains(w.log.String(), broken.Error()) {
		t.Errorf("the cause is not logged: %s", w.log)
	}
	if w.latest(l.origin) != before {
		t.Error("shown before it is durable")
	}
	if a := w.ask("GET", "/healthz", nil); a.status != http.StatusServiceUnavailable {
		t.Errorf("health %+v", a)
	}
	w.must(other, 0, 1) // another log is not held up
	w.w.Close()
	w = openWitness(t, dir, nil, l.vkey, other.vkey)
	w.must(l, 5, 7) // written, though not known to be durable
}

// TestTime: cosignatures never go back in time, across restarts, and a clock far behind is not followed.
func TestTime(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	dir := t.TempDir()
	base := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	now := base
	clock := func() time.Time { return now }
	w := openWitness(t, dir, clock, l.vkey)
	size := int64(0)
	next := func() int64 {
		t.Helper()
		lines := w.must(l, size, size+1)
		size++
		return w.cosigned(l.text(size), lines)
	}
	expect := func(when, want time.Time) {
		t.Helper()
		now = when
		if got := next(); got != want.Unix() {
			t.Errorf("at %s it says %s, want %s", when, time.Unix(got, 0).UTC(), want)
		}
	}
	expect(base, base)
	expect(base.Add(999*time.Millisecond), base)
	expect(base.Add(time.Second), base.Add(time.Second))
	expect(base, base.Add(time.Second)) // a little back: the time stands
	w.w.Close()
	w = openWitness(t, dir, clock, l.vkey)
	expect(base.Add(-4*time.Second), base.Add(time.Second))

	now = base.Add(-4*time.Second - 1)
	r := witness.Request{Old: size, Proof: l.proof(size, size+1), Checkpoint: l.signed(size + 1)}
	before := w.latest(l.origin)
	if a := w.add(r); a.status != http.StatusInternalServerError {
		t.Errorf("a clock that is far behind: %+v", a)
	}
	if w.latest(l.origin) != before || !strings.Contains(w.log.String(), "the clock is") {
		t.Errorf("not refused, or not logged: %s", w.log)
	}
	expect(base.Add(time.Hour), base.Add(time.Hour))
}

// TestAgain: the newest checkpoint may be cosigned again, with a later time that
// is remembered; in the same second a replay costs no write.
func TestAgain(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	dir := t.TempDir()
	w := openWitness(t, dir, func() time.Time { return now }, l.vkey)
	writes := 0
	w.must(l, 0, 2)
	w.w.SetSync(l.origin, func(f *os.File) error { writes++; return f.Sync() })
	first := w.must(l, 2, 3)
	if again := w.must(l, 3, 3); !bytes.Equal(again, first) || writes != 1 {
		t.Errorf("%d syncs, %q and %q", writes, first, again)
	}
	now = now.Add(time.Second)
	later := w.must(l, 3, 3)
	if w.cosigned(l.text(3), later) != now.Unix() || writes != 2 ||
		!strings.HasSuffix(w.latest(l.origin), string(later)) {
		t.Errorf("%d syncs, kept %q", writes, w.latest(l.origin))
	}
	now = now.Add(-time.Second)
	if w.must(l, 3, 3); writes != 2 {
		t.Errorf("%d syncs", writes)
	}
}
