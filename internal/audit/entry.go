package audit

import "fmt"

// version is the first byte of every entry of algorithm "shuffled/v1".
const version = 1

// Type is the kind of an entry (docs/SPEC.md section 5).
type Type uint8

// The seven types of entry.
const (
	TypeGenesis Type = 1 + iota
	TypeCommit
	TypeMix
	TypeDeal
	TypeClose
	TypeKey
	TypeEvent
)

var typeNames = []string{"", "genesis", "commit", "mix", "deal", "close", "key", "event"}

// String returns the type's word, as in docs/SPEC.md.
func (t Type) String() string { return name(typeNames, uint8(t)) }

func name(names []string, code uint8) string {
	if int(code) < len(names) && names[code] != "" {
		return names[code]
	}
	return fmt.Sprintf("unknown(%d)", code)
}

// parseName returns the code whose word is s, 0 when there is none.
func parseName(names []string, s string) uint8 {
	for i, n := range names {
		if n == s && s != "" {
			return uint8(i)
		}
	}
	return 0
}

// Entry is one leaf of a ledger: who wrote it, when, and one of the seven
// bodies. The index is not in the bytes: the Merkle tree gives it.
type Entry struct {
	Time  int64  // UTC milliseconds since 1970, by the sequencer's clock
	Actor string // public id of the token, or "daemon" or "operator"
	Body  Body
}

// Body is *Genesis, *Commit, *Mix, *Deal, *Close, *Key or *Event.
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
	w.str(e.Actor)
	e.Body.encode(w)
}

// ParseEntry reads the encoding of an entry. It returns an ErrUnknown for a
// version, type or code of a later specification, an ErrMalformed for anything
// else that Encode would not have written. The result keeps no part of b.
func ParseEntry(b []byte) (Entry, error) {
	if len(b) > MaxEntry {
		return Entry{}, fmt.Errorf("%w entry: %d bytes, at most %d", ErrMalformed, len(b), MaxEntry)
	}
	r := &reader{s: b}
	if v := r.u8("version"); r.err == nil && v != version {
		r.unknown("version", uint64(v))
	}
	body := newBody(Type(r.u8("type")))
	if r.err == nil && body == nil {
		r.unknown("type", uint64(b[1]))
	}
	if r.err != nil {
		return Entry{}, r.err
	}
	e := Entry{Time: int64(r.u64("time")), Actor: r.str("actor"), Body: body}
	if err := CheckName(e.Actor); err != nil {
		r.fail("actor", err.Error())
	}
	body.parse(r)
	if err := r.end(body.Type().String()); err != nil {
		return Entry{}, err
	}
	return e, nil
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
	}
	return nil
}
