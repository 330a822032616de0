package inspect

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect/inspecttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inspectDir checks the bundle in dir.
func inspectDir(t testing.TB, dir string, opts Options) *Report {
	t.Helper()
	b, err := OpenBundle(dir)
	must(t, err)
	defer b.Close()
	if b.manifest != nil && opts.At == 0 { // else it is damaged
		_, _, opts.At = b.manifest.Times()
	}
	r, err := Run(t.Context(), b, opts)
	must(t, err)
	return r
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	must(t, err)
	return string(b)
}

// TestHonest: a ledger with everything in it holds, at the level that the caller's trust gives.
func TestHonest(t *testing.T) {
	dir := t.TempDir()
	l := inspecttest.Honest(dir, 400)
	l.Finish()
	if len(l.Illegal) > 0 {
		t.Fatalf("the generator broke rules: %v", l.Illegal)
	}
	r := inspectDir(t, dir, Options{})
	if r.Verdict != Consistent {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
	r = inspectDir(t, dir, Options{VKey: inspecttest.VKey(), Shuffles: filepath.Join(t.TempDir(), "s"),
		Auditors: []*disclosure.Auditor{inspecttest.Auditor()}})
	if r.Verdict != Proved {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
	r = inspectDir(t, dir, Options{Policy: inspecttest.Policy(true, 2, "w2", "w3", "w4")})
	if r.Verdict != Proved {
		t.Fatalf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
}

type key = ed25519.PrivateKey

// TestQuorumOfTheNewest: the trusted quorum must have cosigned the newest cosigned
// checkpoint. That it cosigned an older one says nothing of what came since.
func TestQuorumOfTheNewest(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Cosigned("w1", "w2", "w3")
	l.hand("t2")
	l.Cosigned("w1", "w2")
	l.hand("t3")
	l.Cosigned("w2", "w3")
	l.Finish()
	for _, test := range []struct {
		name   string
		policy []byte
		want   []string
	}{
		{"two of three", inspecttest.Policy(true, 2, "w1", "w2", "w3"), nil},
		{"the second", inspecttest.Policy(true, 1, "w2"), nil},
		{"the two", inspecttest.Policy(true, 2, "w2", "w3"), nil},
		{"all three, who cosigned the first", inspecttest.Policy(true, 3, "w1", "w2", "w3"), []string{"quorum"}},
		{"the first, that cosigned the first and the second", inspecttest.Policy(true, 1, "w1"), []string{"quorum"}},
		{"the two of the second", inspecttest.Policy(true, 2, "w1", "w2"), []string{"quorum"}},
		{"another", inspecttest.Policy(true, 1, "x1"), []string{"quorum"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantFaults(t, inspectDir(t, l.Dir, Options{Policy: test.policy}), test.want)
		})
	}
}

// TestEvents: the report lists what a reader will want to ask about, and only of its period.
func TestEvents(t *testing.T) {
	dir := t.TempDir()
	l := inspecttest.New(dir, "events", inspecttest.Plain())
	set := l.Append(&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchProportion, Instance: 1})
	l.Append(&audit.Event{Kind: audit.EventLatchClear, Reason: "generator replaced"})
	l.Append(&audit.Event{Kind: audit.EventTableOpen, Name: "t1"})
	l.Now += 60_000
	later := l.Now
	l.Append(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "t1", Reason: "dispute"})
	l.Append(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmSigningResumed, Reason: "the store is back"})
	l.Finish()
	r := inspectDir(t, dir, Options{VKey: inspecttest.VKey()})
	if r.Verdict != Proved {
		t.Fatal(asJSON(t, r))
	}
	var said []string
	for _, e := range r.Events {
		said = append(said, e.Kind+" "+e.Detail)
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"instance_start version 1.0.0", "latch_set proportion, seen by the daemon of entry 1",
		"latch_clear generator replaced", "kill_set table t1: dispute", "alarm signing_resumed: the store is back"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among\n%s", want, all)
		}
	}
	if len(r.Events) != 5 || r.Events[1].Entry != set {
		t.Errorf("%d events:\n%s", len(r.Events), all)
	}
	if r = inspectDir(t, dir, Options{VKey: inspecttest.VKey(), From: later}); len(r.Events) != 2 {
		t.Errorf("%d events of the last minute", len(r.Events))
	}
}

// TestPolicyOfALaterVersion: a policy that names a witness key of another type is past judging, and no fault.
func TestPolicyOfALaterVersion(t *testing.T) {
	dir := t.TempDir()
	l := inspecttest.New(dir, "later policy", inspecttest.Plain())
	key := append([]byte{0x09}, make([]byte, 1312)...)
	l.Append(&audit.Key{Subject: audit.SubjectPolicy,
		Policy: fmt.Appendf(nil, "witness w1 w1+6d41cc63+%s\nquorum w1\n", base64.StdEncoding.EncodeToString(key))})
	l.Finish()
	r := inspectDir(t, dir, Options{VKey: inspecttest.VKey()})
	if r.Verdict != CannotJudge || r.FaultCount != 0 || len(r.Unknown) != 1 {
		t.Errorf("verdict %s\n%s", r.Verdict, asJSON(t, r))
	}
}

// TestWorkers: the report and the file of shuffles are the same for any number of
// workers, with parents whose children are closed chunks later, and with faults.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
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
		runtime.GOMAXPROCS(workers)
		shuffles := filepath.Join(t.TempDir(), "shuffles")
		r := inspectDir(t, dir, Options{Policy: inspecttest.Policy(true, 2, "w2", "w3", "w4"),
			Auditors: []*disclosure.Auditor{inspecttest.Auditor()}, Shuffles: shuffles})
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
