package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
)

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

// ActEntry is an approval that one or two administrators signed (docs/SPEC.md section 5.11). It
// approves the entry for which Approved returns its Digest.
type ActEntry struct {
	Act        Act
	Digest     [32]byte
	Previous   uint64   // index of the newest act below, 0 for none
	HeadSize   uint64   // of a head that the administrators saw
	HeadRoot   [32]byte //
	Expires    int64    // UTC milliseconds
	Signatures []ActSignature
}

// ActSignature is one administrator's, over ActEntry.Signed.
type ActSignature struct {
	Administrator string
	Signature     [ed25519.SignatureSize]byte
}

// Type returns TypeAct.
func (*ActEntry) Type() Type { return TypeAct }

func (a *ActEntry) fields(k *coder) {
	a.signed(k)
	n := k.count8("signatures", len(a.Signatures))
	if n < 1 || n > 2 {
		k.fail("signatures", "one or two")
	}
	list(k, n, &a.Signatures, func(s, before *ActSignature) {
		k.name("administrator", &s.Administrator)
		k.raw("signature", s.Signature[:])
		if before != nil && before.Administrator >= s.Administrator {
			k.fail("signatures", "in ascending order of administrators, each once")
		}
	})
}

// signed are the fields that administrators sign.
func (a *ActEntry) signed(k *coder) {
	code(k, "act", &a.Act, &codesOfAct)
	k.hash("digest", &a.Digest)
	k.u64("previous act", &a.Previous)
	k.u64("size of the head", &a.HeadSize)
	k.hash("root of the head", &a.HeadRoot)
	k.time("expiry", &a.Expires)
}

// Signed returns the bytes that administrators sign: the label, the hash of the genesis entry, and
// the fields in front of the signatures. The hash makes the act valid in this ledger alone.
func (a *ActEntry) Signed(genesis [32]byte) []byte {
	k := coder{writing: true, b: append([]byte(labelAct), genesis[:]...)}
	a.signed(&k)
	return k.b
}

// Approved returns the digest under which an act approves an entry with this identity and body.
func Approved(identity string, b Body) [32]byte {
	k := coder{writing: true, b: str8(append([]byte(labelApproved), uint8(b.Type())), identity)}
	b.fields(&k)
	return sha256.Sum256(k.b)
}

// ActFor returns the act that approves an entry with this body. State.NeedsTwo says whether the
// ledger requires the act. ok is false for a body that no act approves.
func ActFor(b Body) (Act, bool) {
	switch b := b.(type) {
	case *Key:
		act, ok := actOfSubject[b.Subject]
		return act, ok
	case *Event:
		switch b.Kind {
		case EventHeadAdopted:
			return ActAdoptHead, true
		case EventLatchClear:
			return ActLatchClear, true
		case EventKillClear:
			return ActKillClear, true
		}
	case *Credential:
		return ActAdminCredential, b.Kind == CredentialCreated && b.Role == RoleAdmin
	case *Takeover:
		return ActTakeover, b.Extent == ExtentPlay
	}
	return 0, false
}

// actOfSubject has no act for a disclosure key, which the daemon makes by itself.
var actOfSubject = map[Subject]Act{SubjectPolicy: ActPolicy, SubjectAuditor: ActAuditor, SubjectSigning: ActSigning,
	SubjectRetirement: ActRetirement, SubjectAdministrator: ActAdministrator, SubjectTwoPersons: ActTwoPersons,
	SubjectCoDealer: ActCoDealer}

// MayWait reports whether one administrator suffices for the act after the delay. For adopting a
// head two are needed: the entry of an act that waits would move the head that the act names, and a
// ledger takes no entry before its head is adopted.
func (a Act) MayWait() bool { return a == ActLatchClear || a == ActKillClear }
