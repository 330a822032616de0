package dealer_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
)

var (
	modelRuns  = flag.Int("model.runs", 6, "how many stories the model plays against the daemon, on each store")
	modelSteps = flag.Int("model.steps", 80, "about how many steps each of them has")
)

// TestModel plays random stories against two daemons over one store and holds every answer against a model that knows
// the rules by itself. Daemons end and come back on the way, with and without being closed. In the end every transcript
// is proved, and the audit of the exported ledger finds no fault and the figures of the model.
func TestModel(t *testing.T) {
	runs := *modelRuns
	if testing.Short() {
		runs = 1
	}
	flag.Set("rapid.checks", fmt.Sprint(runs))
	flag.Set("rapid.steps", fmt.Sprint(*modelSteps))
	flag.Set("rapid.nofailfile", "true")
	t.Parallel()
	for _, inPostgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[inPostgres], func(t *testing.T) {
			t.Parallel()
			total := make(map[string]int)
			defer func() { t.Log(total) }()
			rapid.Check(t, func(r *rapid.T) {
				m := newModel(t, r, inPostgres)
				defer m.end() // also if the story fails: rapid then plays many more
				r.Repeat(map[string]func(*rapid.T){
					"commit": m.commit, "commit more": m.commit, "draw": m.draw, "child": m.child,
					"mix": m.mix, "mix more": m.mix,
					"deal": m.deal, "deal more": m.deal, "deal still more": m.deal, "deal on": m.deal,
					"close": m.close, "time": m.passTime, "expire": m.expire, "switch": m.throwSwitch,
					"table": m.setTable,
					"latch": m.latch, "repeat": m.repeat, "crash": m.crash, "": m.look,
				})
				m.judge()
				for what, n := range m.did {
					total[what] += n
				}
			})
			for _, what := range []string{"commit", "deal", "close"} {
				if total[what] == 0 && !testing.Short() {
					t.Errorf("void: no %s in any story", what)
				}
			}
		})
	}
}

// play is what the model knows of one shuffle.
type play struct {
	id      uint64
	table   string
	serial  uint64
	m, next int
	draw    bool
	numbers bool // which are dealt public
	plan    *api.MixPlan
	values  [][32]byte // of its slots
	mixed   *api.MixRequest
	deals   map[int]api.DealRequest // by first place
	cards   []openings.Card
	closeBy int64
	ended   *api.CloseRequest // nil: it is open
	child   *play             // that continues it
	kid     bool              // it continues another
	aside   bool              // a close of its table set it aside
}

// model knows the rules, written down again.
type model struct {
	t        *testing.T
	r        *rapid.T
	tb       *table
	daemons  []*table
	auditors []*disclosure.Auditor
	plays    []*play
	serials  map[string]uint64
	closed   map[string]bool // tables
	opened   map[string]bool // tables that are known
	switches map[string]bool
	latched  bool
	keys     int
	answered []answered
	did      map[string]int
}

// answered is a request that was answered, and how to make it again.
type answered struct {
	what   string
	answer any
	again  func(d player) (any, error)
}

func newModel(t *testing.T, r *rapid.T, inPostgres bool) *model {
	auditors, publics := newAuditors(t, 1)
	tb := newTableWith(t, setting{postgres: inPostgres, auditors: publics, modes: allModes})
	tb.shared.still = tb.now().Add(time.Second).Truncate(time.Millisecond)
	tb.restart()
	m := &model{t: t, r: r, tb: tb, auditors: auditors, serials: make(map[string]uint64), closed: make(map[string]bool),
		opened: make(map[string]bool), switches: make(map[string]bool), did: make(map[string]int)}
	m.daemons = []*table{tb, tb.rival(tb.cfg.Store)}
	return m
}

// end gives back what the story held: there are many.
func (m *model) end() {
	for _, d := range m.daemons {
		d.Ledger().Close()
	}
	m.tb.cfg.Store.(interface{ Close() error }).Close()
}

func (m *model) now() int64 { return m.tb.now().UnixMilli() }

func (m *model) pick(r *rapid.T) player {
	return player{m.daemons[rapid.IntRange(0, len(m.daemons)-1).Draw(r, "daemon")], rapid.Bool().Draw(r, "in a batch")}
}

// by is an actor of whom there is one request only. Two daemons that write the
// very same batch at the very same time take it for one, and both are right.
func (m *model) by() audit.Actor {
	m.keys++
	return audit.Actor{Identity: "tester", Credential: fmt.Sprint("actor-", m.keys)}
}

// one returns a shuffle, or skips the step; most often an open one.
func (m *model) one(r *rapid.T) *play {
	if len(m.plays) == 0 {
		r.Skip("no shuffle")
	}
	from := m.plays
	open := slices.DeleteFunc(slices.Clone(m.plays), func(p *play) bool { return p.ended != nil })
	if len(open) > 0 && rapid.IntRange(0, 3).Draw(r, "open") > 0 {
		from = open
	}
	return from[rapid.IntRange(0, len(from)-1).Draw(r, "shuffle")]
}

// expect holds an error against the rule, field or error that the model expects: "" is success.
func (m *model) expect(r *rapid.T, what, want string, err error) bool {
	got := ""
	var illegal *audit.Illegal
	var request *api.RequestError
	switch {
	case err == nil:
	case errors.As(err, &illegal):
		got = illegal.Code
	case errors.As(err, &request):
		got = "field " + request.Field
	case errors.Is(err, api.ErrRepeated):
		got = "repeated"
	default:
		got = err.Error()
	}
	if got != want {
		r.Fatalf("%s: the daemon says %q (%v), the model %q", what, got, err, want)
	}
	if want == "" {
		m.did[what]++
	} else {
		m.did["refused"]++
	}
	return want == ""
}

// answer keeps a request that succeeded, to be made again.
func (m *model) answer(what string, answer any, again func(d player) (any, error)) {
	m.answered = append(m.answered, answered{what, answer, again})
}

// blocked is the first rule that forbids a commit at a table of a deck.
func (m *model) blocked(table, deck string) string {
	switch {
	case m.latched:
		return audit.RuleLatch
	case m.switches["ledger"] || m.switches["table "+table] || deck != "" && m.switches["deck "+deck]:
		return audit.RuleKill
	case m.closed[table]:
		return audit.RuleTable
	}
	return ""
}

// begun notes a commit that was answered.
func (m *model) begun(r *rapid.T, s api.Shuffle, p *play) {
	m.serials[p.table]++
	m.opened[p.table] = true
	p.id, p.table, p.serial, p.closeBy = s.ID, s.Table, s.Serial, int64(s.CloseBy)
	p.deals = make(map[int]api.DealRequest)
	if s.Serial != m.serials[p.table] {
		r.Fatalf("serial %d of table %s, want %d", s.Serial, p.table, m.serials[p.table])
	}
	m.plays = append(m.plays, p)
}

// waits reports whether an earlier shuffle of the table was neither dealt nor closed.
func (m *model) waits(p *play) bool {
	return slices.ContainsFunc(m.plays, func(o *play) bool {
		return o.table == p.table && o.serial < p.serial && o.ended == nil && o.next == 0 && !o.aside
	})
}

// crash ends a daemon, by Close or by leaving it where it is, and starts another.
func (m *model) crash(r *rapid.T) {
	i := rapid.IntRange(0, len(m.daemons)-1).Draw(r, "daemon")
	if rapid.Bool().Draw(r, "close") {
		m.daemons[i].restart()
	} else {
		// The old one lives on alongside it, and nobody asks it any more.
		m.daemons[i] = m.daemons[i].rival(m.tb.cfg.Store)
	}
	m.did["crash"]++
}

// repeat makes an answered request again, at any daemon.
func (m *model) repeat(r *rapid.T) {
	if len(m.answered) == 0 {
		r.Skip("nothing was answered")
	}
	a := m.answered[rapid.IntRange(0, len(m.answered)-1).Draw(r, "request")]
	m.repeated(r, a, m.pick(r))
}

func (m *model) repeated(r *rapid.T, a answered, d player) {
	got, err := a.again(d)
	if diff := cmp.Diff(a.answer, got, sameAnswer); diff != "" || err != nil {
		r.Fatalf("%s repeated: %v %s", a.what, err, diff)
	}
	m.did["repeat"]++
}

// look compares what a daemon says of a shuffle, after each step.
func (m *model) look(r *rapid.T) {
	if len(m.plays) == 0 {
		return
	}
	p := m.plays[len(m.answered)%len(m.plays)]
	s, err := m.pick(r).Status(context.Background(), p.id)
	if err != nil {
		r.Fatal(err)
	}
	closed := s.State == api.StateClosed || s.State == api.StateContinued
	if s.Next != p.next || closed != (p.ended != nil) || (s.Mixed != nil && *s.Mixed) != (p.mixed != nil) ||
		s.Serial != p.serial ||
		p.ended != nil && (s.Outcome != p.ended.Outcome.String() || s.Reason != p.ended.Reason.String()) ||
		(s.State == api.StateOverdue) != (p.ended == nil && m.now() >= p.closeBy) {
		r.Fatalf("shuffle %d is %+v, the model has %+v", p.id, s, p)
	}
}
