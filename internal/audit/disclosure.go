package audit

// DisclosureEntry discloses the tape of a shuffle that was continued, after the close of the
// last shuffle of its chain (docs/SPEC.md section 5.13).
type DisclosureEntry struct {
	Shuffle    uint64
	Form       Form   // FormNone: the tape is lost
	Tape       []byte // as in a Close
	Key        uint64 // as in a Close
	Extensions []Extension
}

// Type returns TypeDisclosure.
func (*DisclosureEntry) Type() Type { return TypeDisclosure }

func (d *DisclosureEntry) fields(k *coder) {
	k.u64("shuffle", &d.Shuffle)
	k.disclosed(&d.Form, &d.Tape, &d.Key)
	k.extended(&d.Extensions, &codesOfDisclosureExtension)
}
