package audit

import "fmt"

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
func (a Actor) Reserved() bool { return reserved(a.Identity) }

func reserved(name string) bool { return name == Daemon.Identity || name == Operator.Identity }

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
	if a := e.Actor; a.Identity != a.Credential && (a.Reserved() || reserved(a.Credential)) {
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
func EncodeBody(b Body) []byte {
	k := coder{writing: true}
	b.fields(&k)
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
