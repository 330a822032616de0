package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrMalformed reports bytes that are not an encoding of anything this version knows: a fault in the evidence.
var ErrMalformed = errors.New("malformed")

// ErrUnknown reports a version, type or algorithm that this version does not
// know. A reader cannot judge it, which is not a fault (docs/SPEC.md section 1.4).
var ErrUnknown = errors.New("unknown, cannot judge")

// Code is one code of a list of the registry (docs/SPEC.md section 15).
type Code struct {
	List   string
	Number uint8
}

func (c Code) String() string { return fmt.Sprintf("%s %d", c.List, c.Number) }

// Passed counts a code that this version does not know and passed over: it is not critical (docs/SPEC.md section 1.4).
type Passed struct {
	List  string `json:"list"`
	Code  uint8  `json:"code"`
	Count uint64 `json:"count"` // how often it occurs
	First uint64 `json:"first"` // index of the first entry that holds it
}

// PassOver counts the codes of an entry, too. A list has at most 128 of them.
func PassOver(all []Passed, index uint64, codes []Code) []Passed {
	for _, c := range codes {
		at := slices.IndexFunc(all, func(p Passed) bool { return p.List == c.List && p.Code == c.Number })
		if at < 0 {
			at, all = len(all), append(all, Passed{List: c.List, Code: c.Number, First: index})
		}
		all[at].Count++
	}
	return all
}

// Body is *Genesis, *Commit, *Mix, *Deal, *Close, *Key, *Event, *Takeover, *Credential,
// *ActEntry, *Reveal, *DisclosureEntry or, of an entry that was passed over, *Opaque.
type Body interface {
	Type() Type
	fields(k *coder) // goes through the body's fields, in their order
}

// coder goes through the fields of an encoding in their order, and reads them or
// writes them: a format is described once for both.
//
// A reader keeps its first error, and what it sets after that means nothing. All that it sets are copies. A writer
// changes no field and finds no fault: most values out of range are refused by the parse that follows every encoding
// (Entry.Encode). What that parse cannot see is a length or number whose high bits its field drops: those set wide.
type coder struct {
	writing bool
	b       []byte // what is left to read, or was written
	err     error  // of a reader
	passed  []Code // read: codes that are not critical and not known
	wide    bool   // written: a length or number did not fit its field
}

func (k *coder) fail(field, why string) {
	if k.err == nil && !k.writing {
		k.err = fmt.Errorf("%w %s: %s", ErrMalformed, field, why)
	}
}

func (k *coder) unknown(field string, v uint64) {
	if k.err == nil && !k.writing {
		k.err = fmt.Errorf("%s %d: %w", field, v, ErrUnknown)
	}
}

// next returns the n bytes of a field, to be read or to be filled in; nil after an error.
func (k *coder) next(field string, n int) []byte {
	if k.writing {
		k.b = append(k.b, make([]byte, n)...)
		return k.b[len(k.b)-n:]
	}
	if len(k.b) < n {
		k.fail(field, "cut short")
	}
	if k.err != nil {
		return nil
	}
	b := k.b[:n:n]
	k.b = k.b[n:]
	return b
}

func (k *coder) u8(field string, v *uint8) {
	if b := k.next(field, 1); k.writing {
		b[0] = *v
	} else if b != nil {
		*v = b[0]
	}
}

func (k *coder) u16(field string, v *uint16) {
	if b := k.next(field, 2); k.writing {
		binary.BigEndian.PutUint16(b, *v)
	} else if b != nil {
		*v = binary.BigEndian.Uint16(b)
	}
}

func (k *coder) u32(field string, v *uint32) {
	if b := k.next(field, 4); k.writing {
		binary.BigEndian.PutUint32(b, *v)
	} else if b != nil {
		*v = binary.BigEndian.Uint32(b)
	}
}

// u64 is an index, time, serial or size, at most MaxInteger so that every reader, a
// browser's included, holds it exactly.
func (k *coder) u64(field string, v *uint64) {
	if b := k.next(field, 8); k.writing {
		binary.BigEndian.PutUint64(b, *v)
	} else if b != nil {
		if *v = binary.BigEndian.Uint64(b); *v > MaxInteger {
			k.fail(field, "above 2^53−1")
		}
	}
}

// time is UTC milliseconds since 1970.
func (k *coder) time(field string, v *int64) {
	u := uint64(*v)
	if k.u64(field, &u); !k.writing {
		*v = int64(u)
	}
}

// num is a number in two bytes.
func (k *coder) num(field string, v *int) {
	if n := k.count16(field, *v); !k.writing {
		*v = n
	}
}

// count8 is a length in one byte: it writes n, or returns what it read.
func (k *coder) count8(field string, n int) int {
	v := uint8(n)
	k.wide = k.wide || n>>8 != 0
	if k.u8(field, &v); k.writing {
		return n
	}
	return int(v)
}

// count16 is a length in two bytes: it writes n, or returns what it read.
func (k *coder) count16(field string, n int) int {
	v := uint16(n)
	k.wide = k.wide || n>>16 != 0
	if k.u16(field, &v); k.writing {
		return n
	}
	return int(v)
}

// within refuses a count that is not from least to most. rule says what it must be, with most in it.
func (k *coder) within(field string, n, least, most int, rule string) {
	if n < least || n > most {
		k.fail(field, fmt.Sprintf(rule, most))
	}
}

// flag is a byte that is 0 or 1.
func (k *coder) flag(field string, v *bool) {
	var u uint8
	if *v {
		u = 1
	}
	k.u8(field, &u)
	if u > 1 {
		k.fail(field, "neither 0 nor 1")
	}
	if !k.writing {
		*v = u == 1
	}
}

// known is a code that is 1..last and stands in no list of the registry.
func (k *coder) known(field string, v *uint8, last uint8) {
	switch k.u8(field, v); {
	case *v == 0:
		k.fail(field, "no code is 0")
	case *v > last:
		k.unknown(field, uint64(*v))
	}
}

// raw is a field of len(v) bytes.
func (k *coder) raw(field string, v []byte) {
	if b := k.next(field, len(v)); k.writing {
		copy(b, v)
	} else {
		copy(v, b)
	}
}

func (k *coder) hash(field string, v *[32]byte) { k.raw(field, v[:]) }

// text is a u8-prefixed string that check finds no fault with.
func (k *coder) text(field string, v *string, check func(string) error) {
	b := k.next(field, k.count8(field, len(*v)))
	if k.writing {
		copy(b, *v)
		return
	}
	*v = string(b)
	if err := check(*v); err != nil {
		k.fail(field, err.Error())
	}
}

func (k *coder) name(field string, v *string) { k.text(field, v, CheckName) }

// nameOrNone is a name that may be empty.
func (k *coder) nameOrNone(field string, v *string) {
	k.text(field, v, func(s string) error {
		if s == "" {
			return nil
		}
		return CheckName(s)
	})
}

func (k *coder) reason(v *string) { k.text("reason", v, CheckReason) }

// blob is a u16-prefixed byte string.
func (k *coder) blob(field string, v *[]byte) {
	b := k.next(field, k.count16(field, len(*v)))
	if k.writing {
		copy(b, *v)
	} else {
		*v = bytes.Clone(b)
	}
}

// nested is an encoding in a u16-prefixed byte string.
func (k *coder) nested(field string, fields func(*coder)) {
	if k.writing {
		at := len(k.b)
		k.b = append(k.b, 0, 0)
		fields(k)
		n := len(k.b) - at - 2
		k.wide = k.wide || n>>16 != 0
		binary.BigEndian.PutUint16(k.b[at:], uint16(n))
		return
	}
	inner := &coder{b: k.next(field, k.count16(field, 0))}
	if k.err == nil {
		fields(inner)
		k.err = inner.end(field)
		k.passed = append(k.passed, inner.passed...)
	}
}

// list goes through n elements with each, which gets the element before as well, nil
// at the first. A reader appends them to all.
func list[T any](k *coder, n int, all *[]T, each func(e, before *T)) {
	var before *T
	for i := 0; i < n && k.err == nil; i++ {
		if !k.writing {
			var none T
			*all = append(*all, none)
			if i > 0 {
				before = &(*all)[i-1]
			}
		}
		e := &(*all)[i]
		each(e, before)
		before = e
	}
}

// end reports the first error, or bytes left over.
func (k *coder) end(what string) error {
	if k.err == nil && len(k.b) != 0 {
		k.fail(what, "bytes after the end")
	}
	return k.err
}
