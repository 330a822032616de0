package audit

import (
	"bytes"
	"fmt"
)

//go:generate go run ./codegen

// Code is one code of a list of the registry (docs/SPEC.md section 15).
type Code struct {
	List   string
	Number uint8
}

func (c Code) String() string { return fmt.Sprintf("%s %d", c.List, c.Number) }

// codeList is one list of the registry: the names of the codes that this version knows.
type codeList struct {
	name  string
	open  bool        // codes may be assigned later
	names [256]string // by code; readers look codes up in every entry, where a map would show
}

// firstPassable is the first code of an open list that is not critical.
const firstPassable = 128

// word returns the name of a code, "" for a 0 that is no code.
func (l *codeList) word(code uint8) string {
	if n := l.names[code]; n != "" || code == 0 {
		return n
	}
	return fmt.Sprintf("unknown(%d)", code)
}

// parse returns the code with the name s, 0 when there is none.
func (l *codeList) parse(s string) uint8 {
	for code, n := range &l.names {
		if n == s && n != "" {
			return uint8(code)
		}
	}
	return 0
}

// code reads a code of a list. One that this version does not know is passed over if
// it is not critical, and cannot be judged if it is (docs/SPEC.md section 1.4).
func (r *reader) code(field string, l *codeList) uint8 {
	v := r.u8(field)
	switch {
	case r.err != nil || l.names[v] != "":
	case v == 0:
		r.fail(field, "no code is 0")
	case l.open && v >= firstPassable:
		r.passed = append(r.passed, Code{l.name, v})
	default:
		r.unknown(field, uint64(v))
	}
	return v
}

// opaque reads the rest: what stands behind a code that was passed over.
func (r *reader) opaque(field string) []byte {
	if len(r.s) > MaxOpaque {
		r.fail(field, fmt.Sprintf("at most %d bytes behind a code that is not known", MaxOpaque))
	}
	return bytes.Clone(r.take(field, len(r.s)))
}

// Opaque is the body of an entry of a type that was passed over.
type Opaque struct {
	Code Type
	Data []byte
}

// Type returns the code that this version does not know.
func (o *Opaque) Type() Type { return o.Code }

func (o *Opaque) encode(w *writer) { w.raw(o.Data) }
func (o *Opaque) parse(r *reader)  { o.Data = r.opaque("body") }

// Extension is one element of an extension list (docs/SPEC.md section 5). Version 1
// knows none: those that it keeps were passed over.
type Extension struct {
	Code  uint8
	Value []byte
}

func (w *writer) extensions(list []Extension) {
	w.n8(len(list))
	for _, e := range list {
		w.u8(e.Code)
		w.blob(e.Value)
	}
}

// extensions reads an extension list, whose codes are those of a list of the registry.
func (r *reader) extensions(list *codeList) (all []Extension) {
	n := int(r.u8("extensions"))
	for i := 0; i < n && r.err == nil; i++ {
		e := Extension{Code: r.code("extension", list), Value: r.blob("extension")}
		if len(e.Value) > MaxOpaque {
			r.fail("extension", fmt.Sprintf("at most %d bytes behind a code that is not known", MaxOpaque))
		}
		if i > 0 && all[i-1].Code >= e.Code {
			r.fail("extensions", "in ascending order of code, each once")
		}
		all = append(all, e)
	}
	return all
}
