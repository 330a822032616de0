package audit

import "fmt"

// version is the first byte of every entry of algorithm "shuffled/v1".
const version = 1

// Actor is who caused an entry (docs/SPEC.md section 5).
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

// Entry is one leaf of a ledger: who wrote it, when, and one of the bodies. The
// index is not in the bytes: the Merkle tree gives it.
type Entry struct {
	Time  int64 // UTC milliseconds since 1970, by the sequencer's clock
	Actor Actor
	Body  Body
}

// Body is *Genesis, *Commit, *Mix, *Deal, *Close, *Key, *Event, *Takeover, *Credential,
// *ActEntry or, of an entry that was passed over, *Opaque.
type Body interface {
	Type() Type
	encode(w *writer)
	parse(r *reader)
}

// Encode returns the one encoding of e, or an error that names the field that
// has none.
func (e Entry) Encode() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("%w entry: no body", ErrMalformed)
	}
	w := writer{b: make([]byte, 0, 512)}
	e.write(&w)
	if w.wide {
		return nil, fmt.Errorf("%w %s: a length or number is too large for its field", ErrMalformed, e.Body.Type())
	}
	// Parsing what was written finds everything else that no reader would accept.
	if _, err := ParseEntry(w.b); err != nil {
		return nil, err
	}
	return w.b, nil
}

func (e Entry) write(w *writer) {
	w.u8(version)
	w.u8(uint8(e.Body.Type()))
	w.u64(uint64(e.Time))
	w.str(e.Actor.Identity)
	w.str(e.Actor.Credential)
	e.Body.encode(w)
}

// ParseEntry reads the encoding of an entry. It returns an ErrUnknown for a
// version, type or code of a later specification, an ErrMalformed for anything
// else that Encode would not have written. The result keeps no part of b.
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
	r := &reader{s: b}
	if v := r.u8("version"); r.err == nil && v != version {
		r.unknown("version", uint64(v))
	}
	body := newBody(Type(r.code("type", &codesOfEntry)))
	if r.err != nil {
		return Entry{}, nil, r.err
	}
	e := Entry{Time: int64(r.u64("time")), Actor: r.actor(), Body: body}
	body.parse(r)
	if err := r.end(body.Type().String()); err != nil {
		return Entry{}, nil, err
	}
	return e, r.passed, nil
}

// actor reads the header's names. A reserved word stands in both or in none.
func (r *reader) actor() Actor {
	both := r.s
	identity := r.checkedName("identity")
	credential := r.checkedName("credential")
	if r.err != nil {
		return Actor{}
	}
	names := string(both[:len(both)-len(r.s)]) // in one allocation: every entry has them
	a := Actor{Identity: names[1 : 1+len(identity)], Credential: names[len(names)-len(credential):]}
	if a.Identity != a.Credential && (a.Reserved() || reserved(a.Credential)) {
		r.fail("credential", "daemon and operator stand in both names of a header or in none")
	}
	return a
}

// checkedName reads a name and returns its bytes in the encoding.
func (r *reader) checkedName(field string) []byte {
	b := r.take(field, int(r.u8(field)))
	if err := CheckName(string(b)); err != nil {
		r.fail(field, err.Error())
	}
	return b
}

func newBody(t Type) Body {
	switch t {
	case TypeGenesis:
		return new(Genesis)
	case TypeCommit:
		return new(Commit)
	case TypeMix:
		return new(Mix)
	case TypeDeal:
		return new(Deal)
	case TypeClose:
		return new(Close)
	case TypeKey:
		return new(Key)
	case TypeEvent:
		return new(Event)
	case TypeTakeover:
		return new(Takeover)
	case TypeCredential:
		return new(Credential)
	case TypeAct:
		return new(ActEntry)
	}
	return &Opaque{Code: t}
}
