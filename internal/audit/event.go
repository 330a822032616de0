package audit

// Event records something that is not part of one shuffle. Kind says which of the other fields are set.
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

func (e *Event) fields(k *coder) {
	code(k, "event", &e.Kind, &codesOfEvent)
	switch e.Kind {
	case EventInstanceStart:
		k.hash("build digest", &e.Build)
		k.hash("configuration digest", &e.Config)
		k.flag("FIPS state", &e.FIPS)
		k.name("version", &e.Name)
		k.text("kernel release", &e.Kernel, checkKernel)
		code(k, "getrandom in the vDSO", &e.VDSO, &codesOfVdso)
	case EventTableOpen, EventTableClose:
		k.name("table", &e.Name)
	case EventKillSet, EventKillClear:
		code(k, "scope", &e.Scope, &codesOfScope)
		switch e.Scope {
		case ScopeTable:
			k.name("table", &e.Name)
		case ScopeDeck:
			k.hash("deck hash", &e.Deck)
		}
		k.reason(&e.Reason)
	case EventLatchSet:
		code(k, "latch", &e.Latch, &codesOfLatch)
		k.u64("instance", &e.Instance)
	case EventLatchClear:
		k.reason(&e.Reason)
	case EventAlarm:
		code(k, "alarm", &e.Alarm, &codesOfAlarm)
		k.reason(&e.Reason)
	case EventHeadAdopted:
		k.u64("adopted size", &e.Size)
		k.hash("adopted root", &e.Digest)
		k.u64("lost size", &e.LostSize)
		k.hash("lost root", &e.LostRoot)
		if e.LostSize == 0 && e.LostRoot != [32]byte{} {
			k.fail("lost root", "zeros for no head")
		}
		k.reason(&e.Reason)
	case EventAccessHead:
		k.u64("records", &e.Records)
		k.hash("hash of the newest record", &e.Digest)
	default:
		k.opaque("event", &e.Opaque)
	}
}

// checkKernel is for the release of a kernel, which is not a name: it may hold a plus sign.
func checkKernel(s string) error {
	if s == "" {
		return nil
	}
	return checkPrintable(s, MaxName, '!', "must have only printable ASCII characters and no spaces")
}
