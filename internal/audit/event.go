package audit

// EventKind is what happened.
type EventKind uint8

// The events (docs/SPEC.md section 5.8).
const (
	EventInstanceStart EventKind = 1 // a daemon began to write this ledger
	EventTableOpen     EventKind = 2
	EventTableClose    EventKind = 3
	EventKillSet       EventKind = 4 // no new shuffles for a ledger, table or deck
	EventKillClear     EventKind = 5
	EventLatchSet      EventKind = 6 // doubtful entropy or a foul deck: no commits
	EventLatchClear    EventKind = 7
	EventSnapshot      EventKind = 8 // digest of the live state
	EventAlarm         EventKind = 9
)

var eventNames = []string{"", "instance_start", "table_open", "table_close", "kill_set", "kill_clear",
	"latch_set", "latch_clear", "snapshot", "alarm"}

func (k EventKind) String() string { return name(eventNames, uint8(k)) }

// Scope is what a kill switch stops.
type Scope uint8

// The three scopes.
const (
	ScopeLedger Scope = 1
	ScopeTable  Scope = 2
	ScopeDeck   Scope = 3
)

var scopeNames = []string{"", "ledger", "table", "deck"}

func (s Scope) String() string { return name(scopeNames, uint8(s)) }

// ParseScope returns the Scope with the word s, 0 for none.
func ParseScope(s string) Scope { return Scope(parseName(scopeNames, s)) }

// Latch is why the entropy latch was set.
type Latch uint8

// The closed list of causes: those of package entropy, then the dealer's.
const (
	LatchRepetition    Latch = 1 // repetition count test
	LatchProportion    Latch = 2 // adaptive proportion test
	LatchShortRead     Latch = 3
	LatchReadError     Latch = 4
	LatchSlow          Latch = 5
	LatchReplaced      Latch = 6 // crypto/rand.Reader is not the platform's
	LatchStartup       Latch = 7 // start-up test
	LatchTapeExhausted Latch = 8
	LatchFoulDeck      Latch = 9
	LatchOperator      Latch = 10
	LatchStatistics    Latch = 11 // statistics over outcomes, far out
)

var latchNames = []string{"", "repetition", "proportion", "short_read", "read_error", "slow", "replaced",
	"startup", "tape_exhausted", "foul_deck", "operator", "statistics"}

func (l Latch) String() string { return name(latchNames, uint8(l)) }

// Alarm is something an auditor will want to ask about.
type Alarm uint8

// The closed list of alarms.
const (
	AlarmMarkAdopted    Alarm = 1 // an operator vouched for a head without a high-water mark
	AlarmSigningResumed Alarm = 2 // the store extended all that was seen again
	AlarmClockStep      Alarm = 3 // the clock stepped further than the limit
	AlarmWitnesses      Alarm = 4 // the quorum was out of reach
	AlarmStatistics     Alarm = 5 // statistics over outcomes, unlikely
)

var alarmNames = []string{"", "mark_adopted", "signing_resumed", "clock_step", "witnesses", "statistics"}

func (a Alarm) String() string { return name(alarmNames, uint8(a)) }

// Event records something that is not part of one shuffle. Kind says which of
// the other fields are set.
type Event struct {
	Kind     EventKind
	Build    [32]byte // instance_start: SHA-256 of the executable
	Config   [32]byte // instance_start: SHA-256 of the settings in force, passwords left out
	FIPS     bool     // instance_start: FIPS 140-3 mode
	Name     string   // instance_start: version; table events: table; kill by table: table
	Scope    Scope    // kill events
	Deck     [32]byte // kill by deck: its hash
	Latch    Latch    // latch_set
	Instance uint64   // latch_set: index of the instance_start of the daemon that saw it
	Reason   string   // kill events, latch_clear, alarm: why, in an operator's words
	Size     uint64   // snapshot: entries folded, all below this one
	Digest   [32]byte // snapshot: State.Digest of them
	Alarm    Alarm    // alarm
}

// Type returns TypeEvent.
func (*Event) Type() Type { return TypeEvent }

func (e *Event) encode(w *writer) {
	w.u8(uint8(e.Kind))
	switch e.Kind {
	case EventInstanceStart:
		w.raw(e.Build[:])
		w.raw(e.Config[:])
		w.flag(e.FIPS)
		w.str(e.Name)
	case EventTableOpen, EventTableClose:
		w.str(e.Name)
	case EventKillSet, EventKillClear:
		w.u8(uint8(e.Scope))
		switch e.Scope {
		case ScopeTable:
			w.str(e.Name)
		case ScopeDeck:
			w.raw(e.Deck[:])
		}
		w.str(e.Reason)
	case EventLatchSet:
		w.u8(uint8(e.Latch))
		w.u64(e.Instance)
	case EventLatchClear:
		w.str(e.Reason)
	case EventSnapshot:
		w.u64(e.Size)
		w.raw(e.Digest[:])
	case EventAlarm:
		w.u8(uint8(e.Alarm))
		w.str(e.Reason)
	}
}

func (e *Event) parse(r *reader) {
	e.Kind = EventKind(r.code("event", uint8(EventAlarm)))
	switch e.Kind {
	case EventInstanceStart:
		e.Build = r.hash("build digest")
		e.Config = r.hash("configuration digest")
		e.FIPS = r.flag("FIPS state")
		e.Name = r.name("version")
	case EventTableOpen, EventTableClose:
		e.Name = r.name("table")
	case EventKillSet, EventKillClear:
		e.Scope = Scope(r.code("scope", uint8(ScopeDeck)))
		switch e.Scope {
		case ScopeTable:
			e.Name = r.name("table")
		case ScopeDeck:
			e.Deck = r.hash("deck hash")
		}
		e.Reason = r.reason()
	case EventLatchSet:
		e.Latch = Latch(r.code("latch", uint8(LatchStatistics)))
		e.Instance = r.u64("instance")
	case EventLatchClear:
		e.Reason = r.reason()
	case EventSnapshot:
		e.Size = r.u64("snapshot size")
		e.Digest = r.hash("snapshot digest")
	case EventAlarm:
		e.Alarm = Alarm(r.code("alarm", uint8(AlarmStatistics)))
		e.Reason = r.reason()
	}
}

func (r *reader) name(field string) string {
	s := r.str(field)
	if err := CheckName(s); err != nil {
		r.fail(field, err.Error())
	}
	return s
}

func (r *reader) reason() string {
	s := r.str("reason")
	if err := CheckReason(s); err != nil {
		r.fail("reason", err.Error())
	}
	return s
}
