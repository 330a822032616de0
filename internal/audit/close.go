package audit

import "shuffled/internal/shuffle"

// ReasonNone stands with every outcome except void.
const ReasonNone Reason = 0

// Close ends a shuffle, once and for ever (docs/SPEC.md section 5.6).
type Close struct {
	Shuffle    uint64
	Outcome    Outcome // a dealer asks for completed, ended_early and void; only the daemon writes the others
	Reason     Reason  // with OutcomeVoid only
	Form       Form
	Tape       []byte // FormTape: the tape; FormSealed: encapsulated key ‖ ciphertext
	Key        uint64 // FormSealed: index of the key entry of the disclosure key
	Extensions []Extension
}

// Type returns TypeClose.
func (*Close) Type() Type { return TypeClose }

func (c *Close) encode(w *writer) {
	w.u64(c.Shuffle)
	w.u8(uint8(c.Outcome))
	w.u8(uint8(c.Reason))
	w.u8(uint8(c.Form))
	switch c.Form {
	case FormTape:
		w.blob(c.Tape)
	case FormSealed:
		w.u64(c.Key)
		w.blob(c.Tape)
	}
	w.extensions(c.Extensions)
}

func (c *Close) parse(r *reader) {
	c.Shuffle = r.u64("shuffle")
	c.Outcome = Outcome(r.code("outcome", &codesOfOutcome))
	if c.Outcome == OutcomeVoid {
		c.Reason = Reason(r.code("reason", &codesOfReason))
	} else if r.u8("reason") != 0 {
		r.fail("reason", "given for the outcome void and only then")
	}
	c.Form = Form(r.code("form", &codesOfForm))
	switch c.Form {
	case FormNone:
	case FormTape:
		c.Tape = r.blob("tape")
	case FormSealed:
		c.Key = r.u64("disclosure key")
		c.Tape = r.blob("sealed tape")
	}
	if (c.Reason == ReasonTapeLost) != (c.Form == FormNone) {
		r.fail("form", "without a tape for the reason tape_lost and only then")
	}
	longest := shuffle.MaxTape
	if c.Form == FormSealed {
		longest += sealOverhead
	}
	if c.Form != FormNone && (len(c.Tape) == 0 || len(c.Tape) > longest) {
		r.fail("tape", "empty or too long")
	}
	c.Extensions = r.extensions(&codesOfCloseExtension)
}

// sealOverhead is what HPKE with DHKEM(P-256) and AES-256-GCM adds to a tape:
// the encapsulated key and the tag.
const sealOverhead = 65 + 16
