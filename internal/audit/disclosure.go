package audit

import "shuffled/internal/shuffle"

// DisclosureEntry discloses the tape of a shuffle that was continued, after the close of the
// last shuffle of its chain (docs/SPEC.md section 5.13).
type DisclosureEntry struct {
	Shuffle    uint64
	Entries    int    // as in a Close
	Form       Form   // FormNone: the tape is lost
	Tape       []byte // as in a Close
	Key        uint64 // as in a Close
	Extensions []Extension
}

// Type returns TypeDisclosure.
func (*DisclosureEntry) Type() Type { return TypeDisclosure }

func (d *DisclosureEntry) fields(k *coder) {
	k.u64("shuffle", &d.Shuffle)
	k.num("entries", &d.Entries)
	k.disclosed(&d.Form, &d.Tape, &d.Key)
	k.extended(&d.Extensions, &codesOfDisclosureExtension)
}

// disclosed goes through the fields of a close or disclosure that hold the tape.
func (k *coder) disclosed(form *Form, tape *[]byte, key *uint64) {
	code(k, "form", form, &codesOfForm)
	longest := shuffle.MaxTape
	switch *form {
	case FormNone:
		return
	case FormTape:
		k.blob("tape", tape)
	case FormSealed:
		k.u64("disclosure key", key)
		k.blob("sealed tape", tape)
		longest += MaxOverhead
	}
	if len(*tape) == 0 || len(*tape) > longest {
		k.fail("tape", "empty or too long")
	}
}
