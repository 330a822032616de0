package audit

import "fmt"

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
