package audit

// extension is a field behind a code of an extension list that this version knows.
type extension struct {
	code   uint8
	what   string       // the field
	stands bool         // written: there is such a field
	fields func(*coder) // of the value; a reader makes what it fills in
}

// extended is an extension list: the fields known, by ascending code, and rest, the extensions that
// a reader passed over.
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
	}
	k.extensions(&all, codes, func(k *coder, found Extension) {
		for _, e := range known {
			if e.code == found.Code {
				value := coder{b: found.Value}
				e.fields(&value)
				k.err = value.end(e.what)
			}
		}
	})
	if k.writing {
		return
	}
	*rest = nil
	for _, e := range all {
		if e.Code >= firstPassable {
			*rest = append(*rest, e)
		}
	}
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
