package audit

import (
	"bytes"
	"fmt"
)

//go:generate go run ./codegen

// codeList is one list of the registry: the names of the codes that this version knows.
type codeList struct {
	name  string
	open  bool        // codes may be assigned later
	names [256]string // by code; an array, since every entry has several codes
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

// code is a code of a list. One that this version does not know is passed over if
// it is not critical, and cannot be judged if it is (docs/SPEC.md section 1.4).
func code[T ~uint8](k *coder, field string, v *T, l *codeList) {
	u := uint8(*v)
	if k.u8(field, &u); k.writing || k.err != nil {
		return
	}
	switch *v = T(u); {
	case l.names[u] != "":
	case u == 0:
		k.fail(field, "no code is 0")
	case l.open && u >= firstPassable:
		k.passed = append(k.passed, Code{l.name, u})
	default:
		k.unknown(field, uint64(u))
	}
}

// opaque is the rest of an encoding, behind a code that was passed over.
func (k *coder) opaque(field string, v *[]byte) {
	if k.writing {
		k.b = append(k.b, *v...)
		return
	}
	if len(k.b) > MaxOpaque {
		k.fail(field, fmt.Sprintf("at most %d bytes behind a code that is not known", MaxOpaque))
	}
	*v = bytes.Clone(k.next(field, len(k.b)))
}

// Opaque is the body of an entry of a type that was passed over.
type Opaque struct {
	Code Type
	Data []byte
}

// Type returns the code that this version does not know.
func (o *Opaque) Type() Type { return o.Code }

func (o *Opaque) fields(k *coder) { k.opaque("body", &o.Data) }

// Extension is one element of an extension list (docs/SPEC.md section 5). A reader keeps the
// elements that it passed over, and no others.
type Extension struct {
	Code  uint8
	Value []byte
}

// extension is a field behind a code of an extension list that this version knows.
type extension struct {
	code   uint8
	what   string       // the field
	stands bool         // written: there is such a field
	fields func(*coder) // of the value; a reader makes what it fills in
}

// extended is an extension list, whose codes are those of a list of the registry: the fields known, by ascending code,
// and rest, the extensions that a reader passed over.
func (k *coder) extended(rest *[]Extension, codes *codeList, known ...extension) {
	var all []Extension
	if k.writing {
		for _, e := range known {
			if e.stands {
				value := coder{writing: true}
				e.fields(&value)
				all = append(all, Extension{e.code, value.b})
			}
		}
		all = append(all, *rest...)
	} else {
		*rest = nil
	}
	list(k, k.count8("extensions", len(all)), &all, func(e, before *Extension) {
		code(k, "extension", &e.Code, codes)
		k.blob("extension", &e.Value)
		if before != nil && before.Code >= e.Code {
			k.fail("extensions", "in ascending order of code, each once")
		}
		switch {
		case k.writing || k.err != nil:
		case e.Code < firstPassable: // known, or it could not be judged
			for _, x := range known {
				if x.code == e.Code {
					value := coder{b: e.Value}
					x.fields(&value)
					k.err = value.end(x.what)
				}
			}
		case len(e.Value) > MaxOpaque:
			k.fail("extension", fmt.Sprintf("at most %d bytes behind a code that is not known", MaxOpaque))
		default:
			*rest = append(*rest, *e)
		}
	})
}

// field is the extension that holds a structure. It is in the list if the pointer is set.
func field[T any, P interface {
	*T
	fields(*coder)
}](code uint8, what string, v *P) extension {
	return extension{code, what, *v != nil, func(k *coder) {
		if !k.writing {
			*v = new(T)
		}
		(*v).fields(k)
	}}
}
