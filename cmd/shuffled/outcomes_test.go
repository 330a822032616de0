package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/audit"
	"shuffled/internal/cli/host"
	"shuffled/internal/cli/place"
	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/monitor"
	"shuffled/internal/selftest"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

// The tests of this package do not wait ten minutes for a window.
func init() { countLeast = -1 }

// sandbox is a house on a store of its own, which can be closed and opened again.
type sandbox struct {
	*house
	t     *testing.T
	cfg   *config.Config
	store ledger.Store
	said  strings.Builder // the log

	served []audit.Event // of the ledger when it was served
}

func newSandbox(t *testing.T, statistics string) *sandbox { return newSandboxIn(t, statistics, "") }

// newSandboxIn is newSandbox on another database.
func newSandboxIn(t *testing.T, statistics, database string) *sandbox {
	s := &sandbox{t: t, cfg: config.Default()}
	s.cfg.Statistics, s.cfg.Database = statistics, database
	s.cfg.Data = t.TempDir()
	s.cfg.Resolve()
	var err error
	step := quietly().begin("", "")
	defer step.end()
	if err = (serveCmd{Dev: true}).prepare(t.Context(), s.cfg, step); err != nil {
		t.Fatal(err)
	}
	if s.store, err = place.OpenStore(t.Context(), s.cfg, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.store.Close() })
	s.begin()
	t.Cleanup(func() { s.house.close() })
	return s
}

// quietly is a start that tells nobody what it waits for.
func quietly() *waiting {
	return &waiting{log: slog.New(slog.DiscardHandler), tell: func(string) {}}
}

func (s *sandbox) begin() {
	s.t.Helper()
	if err := s.reopen(words{dev: true}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) reopen(w words) (err error) {
	log := slog.New(slog.NewTextHandler(io.Writer(&s.said), nil))
	if s.house, err = openHouse(s.t.Context(), s.cfg, log); err != nil {
		return err
	}
	return s.openLedgers(s.t.Context(), w, quietly(), func(*openedLedger) error {
		s.served = s.events()
		return nil
	})
}

func (s *sandbox) shuffle(key string) error {
	_, err := s.open()[0].dealer.Shuffle(s.t.Context(), as("dealer"), key,
		api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	return err
}

// flips shows the monitor so many ones and twos of a coin.
func (s *sandbox) flips(ones, twos int) {
	r := shuffle.Recipe{Ranges: []uint32{2}}
	for range ones {
		s.monitor.Watch(r, shuffle.Outcome{Values: []uint32{1}})
	}
	for range twos {
		s.monitor.Watch(r, shuffle.Outcome{Values: []uint32{2}})
	}
}

// events returns the alarms and latch events of the ledger, in order.
func (s *sandbox) events() (events []audit.Event) {
	s.t.Helper()
	for row, err := range s.store.Rows(s.t.Context(), ledger.IDOf(host.SandboxOrigin), 0, math.MaxInt64) {
		if err != nil {
			s.t.Fatal(err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			s.t.Fatal(err)
		}
		if v, ok := e.Body.(*audit.Event); ok && v.Kind != audit.EventInstanceStart {
			events = append(events, *v)
		}
	}
	return events
}

// until waits for so many events in the ledger.
func (s *sandbox) until(n int) []audit.Event {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		events := s.events()
		if len(events) >= n {
			return events
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d events after a minute, want %d: %+v", len(events), n, events)
		}
	}
}

// figures are what /metrics shows of the monitor: by name and labels, without those that are 0.
func (s *sandbox) figures() map[string]float64 {
	s.t.Helper()
	none, _ := serving.OpenCertificates(s.cfg.TLS, nil)
	shown := newFigures(newMachine(s.cfg, none, 0, slog.New(slog.DiscardHandler)), selftest.Passed{})
	shown.house.Store(s.house)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(shown, shown.seconds, shown.entries)
	families, err := registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			if v := m.GetCounter().GetValue(); v != 0 && strings.HasPrefix(name, "shuffled_monitor_") {
				all[name] = v
			}
		}
	}
	return all
}

// TestStatistics: a window that is unlikely is an alarm in the ledger, and the deals go on. One that is far out sets
// the latch for good: also after a restart, until an operator clears it.
func TestStatistics(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	must(t, s.shuffle("one"))
	// So many more ones than twos have a p-value of 1.3e-5.
	s.flips(monitor.CountWindow/2+690, monitor.CountWindow/2-690)
	events := s.until(1)
	want := "draws of 1 to 2, count window of 100000: frequency, p <= 0.0001"
	if e := events[0]; e.Kind != audit.EventAlarm || e.Alarm != audit.AlarmStatistics || e.Reason != want {
		t.Errorf("an unlikely window: %+v", e)
	}
	if err := s.shuffle("two"); err != nil {
		t.Errorf("after a warning: %v", err)
	}

	s.flips(monitor.CountWindow, 0)
	var latch, alarm *audit.Event
	for _, e := range s.until(3)[1:] { // one alongside the other
		switch e.Kind {
		case audit.EventLatchSet:
			latch = &e
		case audit.EventAlarm:
			alarm = &e
		}
	}
	if latch == nil || latch.Latch != audit.LatchStatistics || alarm == nil || alarm.Alarm != audit.AlarmStatistics ||
		alarm.Reason != "draws of 1 to 2, count window of 100000: frequency, p <= 1e-06" {
		t.Fatalf("a window far out: latch %+v, alarm %+v", latch, alarm)
	}
	if err := s.shuffle("three"); !errors.Is(err, api.ErrEntropy) {
		t.Errorf("a commit after a halt: %v", err)
	}
	if cause, ok := s.entropy.Latched(); !ok || cause.Reason != entropy.ReasonStatistics {
		t.Errorf("latched: %v, %+v", ok, cause)
	}
	got := s.figures()
	for name, want := range map[string]float64{
		"shuffled_monitor_outcomes_total 52 of 52 cards":  2,
		"shuffled_monitor_outcomes_total draws of 1 to 2": 2 * monitor.CountWindow,
		"shuffled_monitor_windows_total 0.0001 count":     1,
		"shuffled_monitor_windows_total 1e-06 count":      1,
		"shuffled_monitor_findings_total warn":            1,
		"shuffled_monitor_findings_total halt":            1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("more figures: %v", got)
	}

	must(t, s.house.close())
	if said := s.said.String(); strings.Count(said, "statistics over outcomes") != 2 ||
		!strings.Contains(said, "cause=statistics") {
		t.Errorf("the log:\n%s", said)
	}
	s.begin()
	var illegal *audit.Illegal
	if err := s.shuffle("four"); !errors.As(err, &illegal) || illegal.Code != audit.RuleLatch {
		t.Errorf("a commit after a restart: %v", err)
	}
	if _, err := s.open()[0].dealer.ClearLatch(t.Context(), as("admin"), "the host was exchanged", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.shuffle("five"); err != nil {
		t.Errorf("after clearing: %v", err)
	}
	if e := s.until(4)[3]; e.Kind != audit.EventLatchClear {
		t.Errorf("the last event is %+v", e)
	}
}

// TestStatisticsWarn: without the setting a window that is far out is an alarm in the ledger, and the deals go on.
func TestStatisticsWarn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.Default().Statistics)
	s.flips(monitor.CountWindow, 0)
	if e := s.until(1)[0]; e.Kind != audit.EventAlarm || e.Alarm != audit.AlarmStatistics ||
		e.Reason != "draws of 1 to 2, count window of 100000: frequency, p <= 1e-06" {
		t.Errorf("a window far out: %+v", e)
	}
	if err := s.shuffle("one"); err != nil {
		t.Errorf("after a window far out: %v", err)
	}
	if got := s.figures(); got["shuffled_monitor_findings_total warn"] != 1 ||
		got["shuffled_monitor_findings_total halt"] != 0 || got["shuffled_monitor_windows_total 1e-06 count"] != 1 {
		t.Errorf("figures: %v", got)
	}
	if _, latched := s.entropy.Latched(); latched || len(s.events()) != 1 {
		t.Errorf("latched: %t, events: %+v", latched, s.events())
	}
}

// TestStatisticsWhileClosing: what is found just before the daemon stops is in the
// ledger when it is opened again, the latch and the alarm, each time.
func TestStatisticsWhileClosing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	const times = 20
	for i := range times {
		s.onFinding(monitor.Finding{Halt: true, Shape: "draws of 1 to 2", Outcomes: monitor.CountWindow,
			Test: "frequency", AtMost: monitor.HaltLevel})
		must(t, s.house.close())
		s.begin()
		latches, alarms := 0, 0
		for _, e := range s.events() {
			switch {
			case e.Kind == audit.EventLatchSet && e.Latch == audit.LatchStatistics:
				latches++
			case e.Kind == audit.EventAlarm && e.Alarm == audit.AlarmStatistics:
				alarms++
			}
		}
		if latches != i+1 || alarms != i+1 || !s.open()[0].ledger().Live().Latched {
			t.Fatalf("after %d halts: %d latches and %d alarms", i+1, latches, alarms)
		}
		if _, err := s.open()[0].dealer.ClearLatch(t.Context(), as("admin"), "tried again", nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatisticsOfLastWindow: a window that is full when the daemon stops is judged.
func TestStatisticsOfLastWindow(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	s.flips(monitor.CountWindow, 0)
	must(t, s.house.close())
	s.begin()
	if events := s.events(); len(events) != 2 || !s.open()[0].ledger().Live().Latched {
		t.Errorf("events %+v", events)
	}
}

// waits adds a ledger to the configuration that is not opened, and returns the file of what waits for it.
func (s *sandbox) waits() string {
	s.cfg.Ledgers = append(s.cfg.Ledgers, config.Ledger{Name: "far"})
	return s.unwrittenFile("far")
}

// TestOpenedLater: a ledger that is opened after the generator was latched is told so before it
// is served, also where the daemon that saw it has stopped; and once.
func TestOpenedLater(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	must(t, s.house.close())
	h, err := openHouse(t.Context(), s.cfg, slog.New(slog.DiscardHandler))
	must(t, err)
	h.onFinding(monitor.Finding{Halt: true, Shape: "draws of 1 to 2", Test: "frequency"})
	if err := h.close(); err != nil { // no ledger was open
		t.Fatal(err)
	}
	for range 2 {
		s.begin()
		if events := s.served; len(events) != 2 || events[0].Kind != audit.EventLatchSet ||
			events[0].Latch != audit.LatchStatistics || events[1].Kind != audit.EventAlarm {
			t.Errorf("when the ledger was served it had %+v", events)
		}
		var illegal *audit.Illegal
		if err := s.shuffle("one"); !errors.As(err, &illegal) || illegal.Code != audit.RuleLatch {
			t.Errorf("a commit: %v", err)
		}
		must(t, s.house.close())
	}
	before := s.rows()
	for i, text := range []string{"", "{", "[null]", `[{"Kind":200}]`} {
		if i > 0 {
			must(t, s.house.close())
		}
		must(t, os.WriteFile(s.unwrittenFile(host.SandboxLedger), []byte(text), 0o600))
		err := s.reopen(words{})
		_, usage := errors.AsType[*term.UsageError](err)
		if !usage || !strings.Contains(err.Error(), "bring the file back") {
			t.Errorf("a file of %q: %v", text, err)
		}
	}
	if after := s.rows(); after != before {
		t.Errorf("starts with files that say nothing wrote %d entries", after-before)
	}
}

// rows returns how many entries the ledger has.
func (s *sandbox) rows() (n int) {
	s.t.Helper()
	for _, err := range s.store.Rows(s.t.Context(), ledger.IDOf(host.SandboxOrigin), 0, math.MaxInt64) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	return n
}

// TestClearRefused: a clear that is not written clears nothing for a ledger that is opened later.
func TestClearRefused(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	s.waits()
	s.onFinding(monitor.Finding{Halt: true, Shape: "draws of 1 to 2", Test: "frequency"})
	s.until(2)
	if _, err := s.open()[0].dealer.ClearLatch(t.Context(), as("admin"), "looked at it", new(audit.ActEntry)); err == nil {
		t.Fatal("an act that is none cleared the latch")
	}
	if _, latched := s.entropy.Latched(); !latched {
		t.Error("the generator goes on, and no ledger has a clear")
	}
	if _, err := s.next("far"); err != nil {
		t.Fatal(err)
	}
	s.noting.Lock()
	defer s.noting.Unlock()
	if !slices.ContainsFunc(s.unwritten["far"], func(u *unwritten) bool { return u.Kind == audit.EventLatchSet }) {
		t.Error("no latch waits for the other ledger")
	}
}

// TestNoRoom: what cannot be noted on disk is written into the ledger, and noted once there is room.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	file := s.waits()
	for _, in := range []string{file, s.unwrittenFile(host.SandboxLedger)} {
		must(t, os.MkdirAll(filepath.Join(in, "taken"), 0o700))
	}
	s.noting.Lock()
	s.unwritten[host.SandboxLedger], s.unwritten["far"] = nil, nil // read when the daemon started
	s.noting.Unlock()
	s.onFinding(monitor.Finding{Halt: true, Shape: "draws of 1 to 2", Test: "frequency"})
	if events := s.until(2); len(events) != 2 {
		t.Errorf("the ledger has %+v", events)
	}
	must(t, os.RemoveAll(file))
	if _, err := s.next("far"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || len(b) == 0 {
		t.Errorf("what waits was not noted: %v", err)
	}
}

// TestClearedBefore: a latch that an operator cleared is not written into a ledger that is opened
// later, whether the daemon runs or has stopped; an alarm is.
func TestClearedBefore(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsHalt)
	file := s.waits()
	s.onFinding(monitor.Finding{Halt: true, Shape: "draws of 1 to 2", Test: "frequency"})
	s.until(2)
	list := func() (kinds []audit.EventKind) {
		b, err := os.ReadFile(file)
		var list []audit.Event
		if err = errors.Join(err, json.Unmarshal(b, &list)); err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			kinds = append(kinds, e.Kind)
		}
		return kinds
	}
	if got := list(); !slices.Equal(got, []audit.EventKind{audit.EventLatchSet, audit.EventAlarm}) {
		t.Errorf("before the latch is cleared there wait %v", got)
	}
	if _, err := s.open()[0].dealer.ClearLatch(t.Context(), as("admin"), "looked at it", nil); err != nil {
		t.Fatal(err)
	}
	if next, err := s.next("far"); err != nil || next == nil || next.Kind != audit.EventAlarm {
		t.Errorf("after it was cleared there waits %+v, %v", next, err)
	}
	if got := list(); !slices.Equal(got, []audit.EventKind{audit.EventAlarm}) {
		t.Errorf("after it was cleared the file has %v", got)
	}
	s.onFinding(monitor.Finding{Halt: true, Shape: "draws of 1 to 2", Test: "frequency"})
	if got := list(); len(got) != 3 || got[1] != audit.EventLatchSet {
		t.Errorf("after another halt there wait %v", got)
	}
}
