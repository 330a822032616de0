package inspect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect/inspecttest"
)

// TestWorkers: the report and the file of shuffles are the same for any number of
// workers, with parents whose children are closed chunks later, and with faults.
func TestWorkers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := inspecttest.Honest(dir, 600)
	parent := l.Commit("t1")
	child := l.Commit("t1", inspecttest.ChildOf(parent, 3, 1, 4, 9))
	parent.Close(audit.OutcomeContinued, audit.ReasonNone)
	for range 2 * Width {
		l.Start()
	}
	grandchild := l.Commit("t1", inspecttest.ChildOf(child, 2, 0))
	child.Close(audit.OutcomeContinued, audit.ReasonNone)
	for range 2 * Width {
		l.Start()
	}
	size := l.Cosigned("w2", "w3")
	grandchild.Last(2, size)
	parent.Disclose()
	child.Disclose()
	s := l.Commit("t1")
	l.Cosigned("w2", "w3")
	s.Tape = l.Bytes(len(s.Tape))
	s.Last(2, l.Size) // a fault
	l.Cosigned("w2", "w3")
	l.Finish()
	b := &broken{t, dir}
	b.flip("tile/entries/003", 3000)
	b.remove("tile/0/002")

	var want [2]string
	for _, workers := range []int{1, 2, 7} {
		shuffles := filepath.Join(t.TempDir(), "shuffles")
		r := inspectDir(t, dir, Options{Policy: inspecttest.Policy(true, 2, "w2", "w3", "w4"),
			Auditors: []*disclosure.Auditor{inspecttest.Auditor()}, Shuffles: shuffles, Workers: workers})
		if r.Size < 8*Width || r.FaultCount != 3 || r.Totals.Tapes[TapeUnchecked] != 0 {
			t.Fatalf("%d entries, faults %v, tapes %v", r.Size, r.FaultCodes, r.Totals.Tapes)
		}
		lines, err := os.ReadFile(shuffles)
		must(t, err)
		got := [2]string{asJSON(t, r), string(lines)}
		if workers == 1 {
			want = got
		}
		if got != want {
			t.Errorf("with %d workers the report is another:\n%s\nnot\n%s", workers, got[0], want[0])
		}
	}
}

// TestWorkFile: a check leaves nothing where the system keeps temporary files, whether it ends or is cut.
func TestWorkFile(t *testing.T) {
	defer func(n int) { workTail = n }(workTail)
	workTail = 2 * seenRecord
	dir, temp := t.TempDir(), t.TempDir()
	inspecttest.Fast(dir, 3000)
	t.Setenv("TMPDIR", temp)
	files := func() []os.DirEntry {
		left, err := os.ReadDir(temp)
		must(t, err)
		return left
	}
	used := 0
	inspectDir(t, dir, Options{Progress: func(uint64, uint64) { used = max(used, len(files())) }})
	if left := files(); used == 0 || len(left) > 0 {
		t.Errorf("%d files were used, %v are left", used, left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	source, err := OpenBundle(dir)
	must(t, err)
	defer source.Close()
	if _, err = Run(ctx, source, Options{Progress: func(_, _ uint64) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was done before it was cut: %v", err)
	}
	if left := files(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
