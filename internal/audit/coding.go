package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
)

// ErrMalformed reports bytes that are not an encoding of anything this version
// knows: a fault in the evidence.
var ErrMalformed = errors.New("malformed")

// ErrUnknown reports a version, type or algorithm that this version does not
// know. A reader cannot judge it, which is not a fault (docs/SPEC.md section 1.4).
var ErrUnknown = errors.New("unknown, cannot judge")

// reader takes fields off an encoding and keeps the first error. All that it
// returns are copies, except what take returns.
type reader struct {
	s      cryptobyte.String
	err    error
	passed []Code // codes that are not critical and not known
}

func (r *reader) fail(field, why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w %s: %s", ErrMalformed, field, why)
	}
}

func (r *reader) unknown(field string, v uint64) {
	if r.err == nil {
		r.err = fmt.Errorf("%s %d: %w", field, v, ErrUnknown)
	}
}

func (r *reader) u8(field string) (v uint8) {
	if r.err == nil && !r.s.ReadUint8(&v) {
		r.fail(field, "cut short")
	}
	return v
}

func (r *reader) u16(field string) (v uint16) {
	if r.err == nil && !r.s.ReadUint16(&v) {
		r.fail(field, "cut short")
	}
	return v
}

func (r *reader) u32(field string) (v uint32) {
	if r.err == nil && !r.s.ReadUint32(&v) {
		r.fail(field, "cut short")
	}
	return v
}

// u64 reads an index, time, serial or size, at most MaxInteger so that every
// reader, a browser's included, holds it exactly.
func (r *reader) u64(field string) (v uint64) {
	if r.err == nil && !r.s.ReadUint64(&v) {
		r.fail(field, "cut short")
	}
	if v > MaxInteger {
		r.fail(field, "above 2^53−1")
	}
	return v
}

// flag reads a byte that is 0 or 1.
func (r *reader) flag(field string) bool {
	v := r.u8(field)
	if v > 1 {
		r.fail(field, "neither 0 nor 1")
	}
	return v == 1
}

// known reads a code that is 1..last and stands in no list of the registry.
func (r *reader) known(field string, last uint8) uint8 {
	v := r.u8(field)
	switch {
	case v == 0:
		r.fail(field, "no code is 0")
	case v > last:
		r.unknown(field, uint64(v))
	}
	return v
}

func (r *reader) hash(field string) (h [32]byte) {
	if r.err == nil && !r.s.CopyBytes(h[:]) {
		r.fail(field, "cut short")
	}
	return h
}

func (r *reader) take(field string, n int) (b []byte) {
	if r.err == nil && !r.s.ReadBytes(&b, n) {
		r.fail(field, "cut short")
	}
	return b
}

// str reads a u8-prefixed string.
func (r *reader) str(field string) string {
	return string(r.take(field, int(r.u8(field))))
}

// checked reads a u8-prefixed string that check finds no fault with.
func (r *reader) checked(field string, check func(string) error) string {
	s := r.str(field)
	if err := check(s); err != nil {
		r.fail(field, err.Error())
	}
	return s
}

func (r *reader) name(field string) string { return r.checked(field, CheckName) }

// nameOrNone reads a name that may be empty.
func (r *reader) nameOrNone(field string) string {
	return r.checked(field, func(s string) error {
		if s == "" {
			return nil
		}
		return CheckName(s)
	})
}

// blob reads a u16-prefixed byte string, as a copy.
func (r *reader) blob(field string) []byte {
	return bytes.Clone(r.take(field, int(r.u16(field))))
}

// end reports the first error, or bytes left over.
func (r *reader) end(what string) error {
	if r.err == nil && !r.s.Empty() {
		r.fail(what, "bytes after the end")
	}
	return r.err
}

// writer puts fields into an encoding. Most values out of range are refused by
// the parse that follows every encoding (Entry.Encode). What that parse cannot
// see is a length or number whose high bits its field drops: those set wide.
type writer struct {
	b    []byte
	wide bool // a length or number did not fit its field
}

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.BigEndian.AppendUint16(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }

// n8 writes a length that must fit a byte.
func (w *writer) n8(n int) {
	w.wide = w.wide || n>>8 != 0
	w.u8(uint8(n))
}

// n16 writes a length or number that must fit two bytes.
func (w *writer) n16(n int) {
	w.wide = w.wide || n>>16 != 0
	w.u16(uint16(n))
}

func (w *writer) flag(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

func (w *writer) raw(b []byte)  { w.b = append(w.b, b...) }
func (w *writer) str(s string)  { w.n8(len(s)); w.b = append(w.b, s...) }
func (w *writer) blob(b []byte) { w.n16(len(b)); w.raw(b) }

// nested writes what write writes, after a u16 of its length.
func (w *writer) nested(write func()) {
	at := len(w.b)
	w.u16(0)
	write()
	n := len(w.b) - at - 2
	w.wide = w.wide || n>>16 != 0
	binary.BigEndian.PutUint16(w.b[at:], uint16(n))
}
