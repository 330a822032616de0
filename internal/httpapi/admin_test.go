package httpapi

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// admin makes a request of an administrator.
func (s *stack) admin(path, body string) answer {
	s.t.Helper()
	return s.do(ask{method: http.MethodPost, path: path, token: s.adminToken, body: body})
}

// act submits what the administrator ann alone approves.
func (s *stack) act(body audit.Body) answer {
	s.t.Helper()
	act, _ := audit.ActFor(body)
	return s.submit(s.adminToken, s.sign(s.propose(act, audit.Approved("admin", body)), ann), body)
}

// event returns the event that an answer of an admin call is about, from its receipt.
func (s *stack) event(a answer) *audit.Event {
	s.t.Helper()
	answered := read[Appended](s.t, a)
	receipt, err := audit.ParseReceipt(answered.Receipt)
	must(s.t, err)
	entry, err := audit.ParseEntry(receipt.Entry)
	must(s.t, err)
	event, ok := entry.Body.(*audit.Event)
	if by := (audit.Actor{Identity: "admin", Credential: idOf(s.adminToken)}); !ok || entry.Actor != by ||
		receipt.Index != answered.Index {
		s.t.Fatalf("entry %d, receipt of %d: %+v", answered.Index, receipt.Index, entry)
	}
	return event
}

// TestKillSwitch: a switch stops the commits that it covers and no others, and
// what is open is dealt and closed as before.
func TestKillSwitch(t *testing.T) {
	t.Parallel()
	hash := func(name string) [32]byte {
		deck, ok := shuffle.Named(name)
		if !ok {
			t.Fatal(name)
		}
		return deck.Hash()
	}
	short := hash("short-36")
	for name, c := range map[string]struct {
		what  string // the members of the switch
		want  audit.Event
		stops map[string]bool // "table deck": is it stopped
	}{
		"ledger": {`"scope":"ledger"`, audit.Event{Scope: audit.ScopeLedger},
			map[string]bool{"t standard-52": true, "u short-36": true}},
		"table": {`"scope":"table","table":"t"`, audit.Event{Scope: audit.ScopeTable, Name: "t"},
			map[string]bool{"t standard-52": true, "t short-36": true, "u standard-52": false}},
		"deck by name": {`"scope":"deck","deck":"short-36"`, audit.Event{Scope: audit.ScopeDeck, Deck: short},
			map[string]bool{"t standard-52": false, "t short-36": true, "u short-36": true}},
		"deck by hash": {`"scope":"deck","deck_hash":"` + base64.StdEncoding.EncodeToString(short[:]) + `"`,
			audit.Event{Scope: audit.ScopeDeck, Deck: short},
			map[string]bool{"t standard-52": false, "u short-36": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t, stackOptions{})
			_, open := s.commit("t", "open")
			_, another := s.commit("u", "another")
			key := 0
			commits := func(stopped bool) {
				t.Helper()
				for of, stops := range c.stops {
					table, deck, _ := strings.Cut(of, " ")
					key++
					got := s.post("/v1/main/shuffles", fmt.Sprint("k", key),
						fmt.Sprintf(`{"table":%q,"deck":%q}`, table, deck))
					if stopped && stops {
						got.want(t, CodeKill, "")
					} else if got.status != 200 {
						t.Errorf("%s: %d %s", of, got.status, got.body)
					}
				}
			}
			set := s.event(s.admin("/v1/main/switches", `{"reason":"camera fault",`+c.what+`}`))
			want := c.want
			want.Kind, want.Reason = audit.EventKillSet, "camera fault"
			if !reflect.DeepEqual(*set, want) {
				t.Errorf("%+v, not %+v", *set, want)
			}
			commits(true)
			ready := read[Readiness](t, operator(t, s, "/readyz"))
			if !ready.Ready || ready.Ledgers[0].Commit.Ok != (name != "ledger") {
				t.Errorf("a switch is no fault: %+v", ready)
			}
			read[Deal](t, s.post(open+"/deal", "", twoHands))
			read[Close](t, s.post(open+"/close", "", `{"outcome":"completed"}`))
			read[Deal](t, s.post(another+"/deal", "", twoHands))
			if figures := string(operator(t, s, "/metrics").body); !strings.Contains(figures,
				`shuffled_ledger_kill_switches{ledger="main"} 1`) {
				t.Error("the switch is not in the metrics")
			}
			list := read[SwitchList](t, s.get("/v1/main/switches", s.adminToken)).Switches
			if len(list) != 1 || string(list[0].Scope) != c.want.Scope.String() ||
				value(list[0].Table) != c.want.Name || (list[0].DeckHash != nil) != (c.want.Deck == short) {
				t.Errorf("%+v are set", list)
			}
			s.admin("/v1/main/switches", `{"reason":"again",`+c.what+`}`).want(t, CodeKill, "")
			want.Kind, want.Reason = audit.EventKillClear, "repaired"
			s.event(s.act(&want))
			if list := read[SwitchList](t, s.get("/v1/main/switches", s.auditorToken)).Switches; len(list) != 0 {
				t.Errorf("%+v are still set", list)
			}
			commits(false)
			got := s.act(&want)
			if got.want(t, CodeKill, ""); !strings.HasPrefix(value(got.problem(t).Detail), "The switch is so already. ") {
				t.Errorf("%s", got.body)
			}
		})
	}
}

func TestAdminRequests(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	size := s.ledger.Live().Size
	for _, c := range []struct {
		path, body string
		code       Code
		field      string
	}{
		{"switches", `{}`, CodeInvalidValue, "scope"},
		{"switches", `{"action":"clear","scope":"ledger","reason":"r"}`, CodeUnknownMember, "action"},
		{"switches", `{"reason":"r"}`, CodeInvalidValue, "scope"},
		{"switches", `{"scope":"seat","reason":"r"}`, CodeInvalidValue, "scope"},
		{"switches", `{"scope":"ledger"}`, CodeInvalidRequest, "reason"},
		{"switches", `{"scope":"ledger","reason":" "}`, CodeInvalidRequest, "reason"},
		{"switches", `{"scope":"ledger","reason":"two\nlines"}`, CodeInvalidRequest, "reason"},
		{"switches", `{"scope":"ledger","reason":"` + strings.Repeat("x", 201) + `"}`,
			CodeInvalidRequest, "reason"},
		{"switches", `{"scope":"ledger","reason":"r","table":"t"}`, CodeInvalidRequest, "table"},
		{"switches", `{"scope":"ledger","reason":"r","deck":"short-36"}`, CodeInvalidRequest, "deck"},
		{"switches", `{"scope":"table","reason":"r"}`, CodeInvalidRequest, "table"},
		{"switches", `{"scope":"table","reason":"r","table":""}`, CodeInvalidValue, "table"},
		{"switches", `{"scope":"table","reason":"r","table":"a b"}`, CodeInvalidRequest, "table"},
		{"switches", `{"scope":"table","reason":"r","table":"t","deck":"short-36"}`, CodeInvalidRequest,
			"deck"},
		{"switches", `{"scope":"deck","reason":"r"}`, CodeInvalidRequest, "deck"},
		{"switches", `{"scope":"deck","reason":"r","deck":"marked-52"}`, CodeInvalidRequest, "deck"},
		{"switches", `{"scope":"deck","reason":"r","deck_hash":"AAAA"}`, CodeInvalidValue, "deck_hash"},
		{"switches", `{"scope":"deck","reason":"r","deck_hash":"` + strings.Repeat("A", 40) +
			`\nAAA="}`, CodeInvalidValue, "deck_hash"}, // base64 in lines
		{"switches", `{"scope":"deck","reason":"r","deck":"short-36","deck_hash":"` +
			strings.Repeat("A", 43) + `="}`, CodeInvalidRequest, "deck"},
		{"switches", `{"scope":"table","reason":"r","table":"t","deck_hash":"` +
			strings.Repeat("A", 43) + `="}`, CodeInvalidRequest, "deck_hash"},
		{"switches", `{"scope":"ledger","reason":"r","until":"noon"}`, CodeUnknownMember, "until"},
		{"tables", `{}`, CodeInvalidValue, "action"},
		{"tables", `{"action":"burn","table":"t"}`, CodeInvalidValue, "action"},
		{"tables", `{"action":"open"}`, CodeInvalidRequest, "table"},
		{"tables", `{"action":"open","table":"a/b"}`, CodeInvalidRequest, "table"},
	} {
		s.admin("/v1/main/"+c.path, c.body).want(t, c.code, c.field)
	}
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written", got-size)
	}
}

// generator is good, or gives zeros.
type generator struct{ broken atomic.Bool }

func (g *generator) Read(b []byte) (int, error) {
	if g.broken.Load() {
		clear(b)
		return len(b), nil
	}
	return rand.Read(b)
}

func newGenerator(t *testing.T) (*generator, *entropy.Source) {
	t.Helper()
	g := new(generator)
	source, err := entropy.NewFrom(g, entropy.Config{})
	must(t, err)
	return g, source
}

// TestClearLatch: the latch opens when the generator passes, and not before.
func TestClearLatch(t *testing.T) {
	t.Parallel()
	g, source := newGenerator(t)
	s := newStack(t, stackOptions{source: source})
	commit := func(key string) answer {
		return s.post("/v1/main/shuffles", key, `{"table":"t","deck":"standard-52"}`)
	}
	_, open := s.commit("t", "open")
	g.broken.Store(true)
	commit("k1").want(t, CodeLatch, "")
	if got := operator(t, s, "/readyz"); got.status != 503 || s.ledger.Live().Latched {
		t.Errorf("a daemon that draws nothing, of a ledger that is not latched: %d %s", got.status, got.body)
	}
	size := s.ledger.Live().Size
	clear := func(reason string) answer {
		t.Helper()
		return s.act(&audit.Event{Kind: audit.EventLatchClear, Reason: reason})
	}
	clear(" ").want(t, CodeInvalidRequest, "reason")
	got := clear("looks fine")
	if got.want(t, CodeLatch, ""); s.ledger.Live().Size != size || got.header.Get("Retry-After") != "" {
		t.Errorf("%d entries were written: %s", s.ledger.Live().Size-size, got.body)
	}
	read[Deal](t, s.post(open+"/deal", "", twoHands)) // needs no entropy

	// The generator is repaired, and the ledger learns of the latch only now.
	g.broken.Store(false)
	commit("k2").want(t, CodeLatch, "")
	event := s.event(clear("host exchanged"))
	if event.Kind != audit.EventLatchClear || event.Reason != "host exchanged" ||
		s.ledger.Live().Size != size+4 { // the deal, set, the act, clear
		t.Errorf("%+v after %d entries", event, s.ledger.Live().Size-size)
	}
	for row, err := range s.store.Rows(t.Context(), s.ledger.ID(), size+1, size+2) {
		entry, bad := audit.ParseEntry(row.Entry)
		if e, ok := entry.Body.(*audit.Event); err != nil || bad != nil || !ok || e.Kind != audit.EventLatchSet ||
			e.Latch != audit.LatchRepetition {
			t.Errorf("%+v, %v, %v", entry, err, bad)
		}
	}
	if got := commit("k3"); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	clear("once more").want(t, CodeInvalidRequest, "")

	// Another daemon's latch, which the ledger tells of: tested here, too.
	latch := func() {
		t.Helper()
		_, err := s.ledger.Append(t.Context(), ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{
			&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchSlow}}})
		must(t, err)
	}
	latch()
	if figures := string(operator(t, s, "/metrics").body); !strings.Contains(figures,
		`shuffled_ledger_entropy_latched{ledger="main"} 1`) {
		t.Error("the latch is not in the metrics")
	}
	commit("k4").want(t, CodeLatch, "")
	g.broken.Store(true)
	clear("r").want(t, CodeLatch, "")
	g.broken.Store(false)
	commit("k5").want(t, CodeLatch, "")
	size = s.ledger.Live().Size
	s.event(clear("r"))
	if got := commit("k6"); got.status != 200 || s.ledger.Live().Size != size+3 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestBacklogFigures: what is open and overdue shows, with the age of the oldest.
func TestBacklogFigures(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	figures := func(want ...string) {
		t.Helper()
		got := string(operator(t, s, "/metrics").body)
		for _, w := range want {
			if !strings.Contains(got, "\nshuffled_ledger_"+w) {
				t.Errorf("no %s in the metrics", w)
			}
		}
	}
	figures(`open_shuffles{ledger="main"} 0`, `overdue_shuffles{ledger="main"} 0`,
		`oldest_open_seconds{ledger="main"} 0`)
	_, first := s.commit("t", "k1") // for an hour
	s.commit("t", "k2")
	s.clock.add(90 * time.Minute)
	figures(`open_shuffles{ledger="main"} 2`, `overdue_shuffles{ledger="main"} 2`,
		`oldest_open_seconds{ledger="main"} 5`) // 5,400
	read[Close](t, s.post(first+"/close", "", `{"outcome":"completed"}`))
	figures(`open_shuffles{ledger="main"} 1`, `overdue_shuffles{ledger="main"} 1`)
	must(t, s.ledger.Close())
	if got := string(operator(t, s, "/metrics").body); strings.Contains(got, "overdue_shuffles{") ||
		!strings.Contains(got, `open_shuffles{ledger="main"} 1`) {
		t.Error("the figures of a ledger that does not answer")
	}
}

// TestFiguresWhileAdding: a ledger that is added while the figures are read has each of them once.
func TestFiguresWhileAdding(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{notYet: true})
	s.api.Await([]string{"main", "other"})
	figures := make(chan prometheus.Metric)
	go func() {
		defer close(figures)
		ledgerFigures{&s.api.ledgers, s.api.working, s.clock.Now}.Collect(figures)
	}()
	<-figures             // that nothing can be written to main; the same of other is not taken yet
	s.add(stackOptions{}) // main
	for m := range figures {
		if m.Desc() != writable.desc {
			t.Errorf("main is read twice: %s", m.Desc())
			break
		}
	}
	for range figures {
	}
}
