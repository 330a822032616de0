package inspect

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
)

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
