package audit

import (
	"crypto/sha256"
	"fmt"
)

// version is the first byte of every entry of algorithm "shuffled/v1".
const version = 1

// Actor is the identity and credential that caused an entry (docs/SPEC.md section 5).
type Actor struct {
	Identity   string // a named service, the owner of the shuffles that it commits
	Credential string // public id of the token or certificate that it showed
}

// The reserved actors. No credential has their identities (docs/SPEC.md section 1.5).
var (
	Daemon   = Actor{"daemon", "daemon"}     // what the daemon writes by itself
	Operator = Actor{"operator", "operator"} // what an offline command writes
)

// Reserved reports whether the identity is that of no credential.
func (a Actor) Reserved() bool { return Reserved(a.Identity) }

// Reserved reports whether a name is that of a reserved actor.
func Reserved(name string) bool { return name == Daemon.Identity || name == Operator.Identity }

// Entry is one leaf of a ledger: its time, its actor and its body. The index of the entry is not in
// the bytes: the Merkle tree gives it.
type Entry struct {
	Time  int64 // UTC milliseconds since 1970, by the sequencer's clock
	Actor Actor
	Body  Body
}

// ShuffleOf returns the id of the shuffle that an entry behind its commit is about; 0 for any other body.
func ShuffleOf(b Body) uint64 {
	switch b := b.(type) {
	case *Mix:
		return b.Shuffle
	case *Deal:
		return b.Shuffle
	case *Close:
		return b.Shuffle
	case *Takeover:
		return b.Shuffle
	case *Reveal:
		return b.Shuffle
	case *DisclosureEntry:
		return b.Shuffle
	}
	return 0
}

// Encode returns the one encoding of e, or an error that names the field that has none.
func (e Entry) Encode() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("%w entry: no body", ErrMalformed)
	}
	k := e.write()
	if k.wide {
		return nil, fmt.Errorf("%w %s: a length or number is too large for its field", ErrMalformed, e.Body.Type())
	}
	// Parsing what was written finds everything else that no reader would accept.
	if _, err := ParseEntry(k.b); err != nil {
		return nil, err
	}
	return k.b, nil
}

// Hash returns SHA-256 of the entry's encoding.
func (e Entry) Hash() [32]byte {
	return sha256.Sum256(e.write().b)
}

func (e Entry) write() *coder {
	k := &coder{writing: true, b: append(make([]byte, 0, 512), version, uint8(e.Body.Type()))}
	e.fields(k)
	return k
}

// fields goes through the entry behind its type. Both names of a header are the same reserved word, or neither is one.
func (e *Entry) fields(k *coder) {
	k.time("time", &e.Time)
	k.name("identity", &e.Actor.Identity)
	k.name("credential", &e.Actor.Credential)
	if a := e.Actor; a.Identity != a.Credential && (a.Reserved() || Reserved(a.Credential)) {
		k.fail("credential", "daemon and operator stand in both names of a header or in none")
	}
	e.Body.fields(k)
}

// ParseEntry reads the encoding of an entry. It returns an ErrUnknown for a version, type or code of a later
// specification, an ErrMalformed for anything else that Encode would not have written. The result keeps no part of b.
func ParseEntry(b []byte) (Entry, error) {
	e, _, err := ParseEntryCodes(b)
	return e, err
}

// ParseEntryCodes is ParseEntry, and returns the codes that it passed over: they are
// not critical, and not known to this version (docs/SPEC.md section 1.4).
func ParseEntryCodes(b []byte) (Entry, []Code, error) {
	if len(b) > MaxEntry {
		return Entry{}, nil, fmt.Errorf("%w entry: %d bytes, at most %d", ErrMalformed, len(b), MaxEntry)
	}
	var v, t uint8
	k := &coder{b: b}
	if k.u8("version", &v); k.err == nil && v != version {
		k.unknown("version", uint64(v))
	}
	code(k, "type", &t, &codesOfEntry)
	if k.err != nil {
		return Entry{}, nil, k.err
	}
	e := Entry{Body: newBody(Type(t))}
	e.fields(k)
	if err := k.end(Type(t).String()); err != nil {
		return Entry{}, nil, err
	}
	return e, k.passed, nil
}

// ReceiptEntry reads a receipt, and the entry in it.
func ReceiptEntry(text string) (Receipt, Entry, error) {
	r, err := ParseReceipt(text)
	if err != nil {
		return Receipt{}, Entry{}, err
	}
	e, err := ParseEntry(r.Entry)
	return r, e, err
}

// EncodeBody returns the body of an entry, as files and requests of acts carry it.
func EncodeBody(b Body) []byte { return AppendBody(nil, b) }

// AppendBody appends the body of an entry to b.
func AppendBody(b []byte, body Body) []byte {
	k := coder{writing: true, b: b}
	body.fields(&k)
	return k.b
}

// ParseBody reads what EncodeBody wrote. It returns an ErrUnknown for a type or code that this
// version does not know, and an ErrMalformed for anything else.
func ParseBody(t Type, b []byte) (Body, error) {
	body, k := newBody(t), &coder{b: b}
	if o, passed := body.(*Opaque); passed {
		k.unknown("type", uint64(o.Code))
	}
	body.fields(k)
	if err := k.end(t.String()); err != nil {
		return nil, err
	}
	return body, nil
}

// bodies make an empty body, by type.
var bodies = map[Type]func() Body{
	TypeGenesis: func() Body { return new(Genesis) }, TypeCommit: func() Body { return new(Commit) },
	TypeMix: func() Body { return new(Mix) }, TypeDeal: func() Body { return new(Deal) },
	TypeClose: func() Body { return new(Close) }, TypeKey: func() Body { return new(Key) },
	TypeEvent: func() Body { return new(Event) }, TypeTakeover: func() Body { return new(Takeover) },
	TypeCredential: func() Body { return new(Credential) }, TypeAct: func() Body { return new(ActEntry) },
	TypeReveal: func() Body { return new(Reveal) }, TypeDisclosure: func() Body { return new(DisclosureEntry) },
}

func newBody(t Type) Body {
	if body := bodies[t]; body != nil {
		return body()
	}
	return &Opaque{Code: t}
}

// Instant returns a time of an entry, UTC milliseconds from 1970 on, as messages show it: RFC 3339 in seconds. The days
// are counted from a 1st of March, so that a leap day is the last of its year; 146,097 days are 400 years.
func Instant(ms int64) string {
	seconds := ms / 1000
	day := seconds/86400 + 719468 // from 0000-03-01
	era, day := day/146097, day%146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153 // from March
	day -= (153*month + 2) / 5
	year += 400 * era
	if month += 3; month > 12 {
		year, month = year+1, month-12
	}
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day+1, seconds/3600%24, seconds/60%60, seconds%60)
}
