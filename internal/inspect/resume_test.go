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

// TestResume: a check that is cut after any chunk, again and again, ends with the
// report and the file of shuffles of one that is not.
func TestResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := inspecttest.Honest(dir, 600)
	// Families that are open for chunks: a child whose parent is closed, and one of
	// that child.
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
	s := l.Commit("t1")
	l.Cosigned("w2", "w3")
	s.Tape = l.Bytes(len(s.Tape))
	s.Last(2, l.Size) // a fault
	l.Cosigned("w2", "w3")
	l.Finish()
	b := &broken{t, dir}
	b.flip("tile/entries/003", 3000)
	b.remove("tile/0/002")

	options := func() Options {
		return Options{Policy: inspecttest.Policy(true, 2, "w2", "w3", "w4"), Auditors: []*disclosure.Auditor{inspecttest.Auditor()},
			Shuffles: filepath.Join(t.TempDir(), "shuffles"), Workers: 3}
	}
	whole := options()
	want := inspectDir(t, dir, whole)
	if want.Size < 8*Width || want.FaultCount != 3 || want.Totals.Tapes[TapeUnchecked] != 0 {
		t.Fatalf("%d entries, faults %v, tapes %v", want.Size, want.FaultCodes, want.Totals.Tapes)
	}
	for _, every := range []uint64{1, 4} {
		opts := options()
		opts.Work = filepath.Join(t.TempDir(), "work")
		opts.saveEvery = 1
		opts.Shuffles = filepath.Join(t.TempDir(), "shuffles")
		cuts := 0
		var got *Report
		for got == nil {
			ctx, cancel := context.WithCancel(t.Context())
			left := every
			opts.cut = func() {
				if left--; left == 0 {
					cancel()
				}
			}
			source, err := OpenBundle(dir)
			must(t, err)
			_, _, opts.At = source.Period()
			got, err = Run(ctx, source, opts)
			cancel()
			must(t, source.Close())
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cuts++
		}
		if cuts < 3 {
			t.Fatalf("only %d cuts", cuts)
		}
		if asJSON(t, got) != asJSON(t, want) {
			t.Errorf("cut after every %d chunks the report is another:\n%s\nnot\n%s", every, asJSON(t, got), asJSON(t, want))
		}
		a, err := os.ReadFile(opts.Shuffles)
		must(t, err)
		z, err := os.ReadFile(whole.Shuffles)
		must(t, err)
		if string(a) != string(z) {
			t.Errorf("cut after every %d chunks the file of shuffles is another", every)
		}
		if _, err := os.Stat(opts.Work); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the work directory is left: %v", err)
		}
	}
}

// TestResumeOther: the work of another check is not gone on with.
func TestResumeOther(t *testing.T) {
	t.Parallel()
	dir, work := t.TempDir(), filepath.Join(t.TempDir(), "work")
	inspecttest.Honest(dir, 200).Finish()
	cut := func(opts Options) {
		source, err := OpenBundle(dir)
		must(t, err)
		defer source.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		opts.Work, opts.saveEvery, opts.cut = work, 1, cancel
		if _, err := Run(ctx, source, opts); !errors.Is(err, context.Canceled) {
			t.Fatalf("the check was not cut: %v", err)
		}
	}
	cut(Options{})
	for _, damage := range []string{"", "{", `{"version":1}`} {
		if damage != "" {
			must(t, os.WriteFile(filepath.Join(work, progressFile), []byte(damage), 0o600))
		}
		var first Progress
		opts := Options{VKey: inspecttest.VKey(), Work: work, Progress: func(p Progress) {
			if first.Of == 0 {
				first = p
			}
		}}
		if r := inspectDir(t, dir, opts); r.Verdict != Proved || first.Resumed != 0 {
			t.Errorf("%s, resumed at %d", r.Verdict, first.Resumed)
		}
		cut(Options{})
	}
}
