package audit

import "fmt"

// Event records something that is not part of one shuffle. Kind says which of
// the other fields are set.
type Event struct {
	Kind     EventKind
	Build    [32]byte // instance_start: SHA-256 of the executable
	Config   [32]byte // instance_start: SHA-256 of the settings in force, passwords left out
	FIPS     bool     // instance_start: FIPS 140-3 mode
	Kernel   string   // instance_start: release of the kernel, 0 to 64 characters without spaces
	VDSO     VDSO     // instance_start: whether the kernel offers getrandom in its vDSO
	Name     string   // instance_start: version; table events: table; kill by table: table
	Scope    Scope    // kill events
	Deck     [32]byte // kill by deck: its hash
	Latch    Latch    // latch_set: a reason of package entropy, or the dealer's
	Instance uint64   // latch_set: index of the instance_start of the daemon that saw it
	Reason   string   // kill events, latch_clear, alarm: why, in an operator's words
	Size     uint64   // head_adopted: of the adopted head
	Digest   [32]byte // access_head: hash of the newest record; head_adopted: its root
	LostSize uint64   // head_adopted: size of the newest head known before, 0 for none
	LostRoot [32]byte // head_adopted: its root
	Alarm    Alarm    // alarm
	Records  uint64   // access_head: records of requests; Digest is the hash of the newest
	Opaque   []byte   // an event that was passed over: all behind its kind
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
		w.str(e.Kernel)
		w.u8(uint8(e.VDSO))
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
	case EventAlarm:
		w.u8(uint8(e.Alarm))
		w.str(e.Reason)
	case EventHeadAdopted:
		w.u64(e.Size)
		w.raw(e.Digest[:])
		w.u64(e.LostSize)
		w.raw(e.LostRoot[:])
		w.str(e.Reason)
	case EventAccessHead:
		w.u64(e.Records)
		w.raw(e.Digest[:])
	default:
		w.raw(e.Opaque)
	}
}

func (e *Event) parse(r *reader) {
	e.Kind = EventKind(r.code("event", &codesOfEvent))
	switch e.Kind {
	case EventInstanceStart:
		e.Build = r.hash("build digest")
		e.Config = r.hash("configuration digest")
		e.FIPS = r.flag("FIPS state")
		e.Name = r.name("version")
		e.Kernel = r.kernel()
		e.VDSO = VDSO(r.code("getrandom in the vDSO", &codesOfVdso))
	case EventTableOpen, EventTableClose:
		e.Name = r.name("table")
	case EventKillSet, EventKillClear:
		e.Scope = Scope(r.code("scope", &codesOfScope))
		switch e.Scope {
		case ScopeTable:
			e.Name = r.name("table")
		case ScopeDeck:
			e.Deck = r.hash("deck hash")
		}
		e.Reason = r.reason()
	case EventLatchSet:
		e.Latch = Latch(r.code("latch", &codesOfLatch))
		e.Instance = r.u64("instance")
	case EventLatchClear:
		e.Reason = r.reason()
	case EventAlarm:
		e.Alarm = Alarm(r.code("alarm", &codesOfAlarm))
		e.Reason = r.reason()
	case EventHeadAdopted:
		e.Size = r.u64("adopted size")
		e.Digest = r.hash("adopted root")
		e.LostSize = r.u64("lost size")
		e.LostRoot = r.hash("lost root")
		if e.LostSize == 0 && e.LostRoot != [32]byte{} {
			r.fail("lost root", "zeros for no head")
		}
		e.Reason = r.reason()
	case EventAccessHead:
		e.Records = r.u64("records")
		e.Digest = r.hash("hash of the newest record")
	default:
		e.Opaque = r.opaque("event")
	}
}

// kernel reads the release of a kernel, which is not a name: it may hold a plus sign.
func (r *reader) kernel() string {
	s := r.str("kernel release")
	if len(s) > MaxName {
		r.fail("kernel release", fmt.Sprintf("at most %d characters", MaxName))
	}
	for i := range len(s) {
		if s[i] <= 0x20 || s[i] > 0x7e {
			r.fail("kernel release", "printable ASCII without spaces")
		}
	}
	return s
}

func (r *reader) reason() string { return r.checked("reason", CheckReason) }
