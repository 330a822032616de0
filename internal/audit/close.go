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

func (c *Close) fields(k *coder) {
	k.u64("shuffle", &c.Shuffle)
	code(k, "outcome", &c.Outcome, &codesOfOutcome)
	if c.Outcome == OutcomeVoid {
		code(k, "reason", &c.Reason, &codesOfReason)
	} else if k.u8("reason", (*uint8)(&c.Reason)); c.Reason != ReasonNone {
		k.fail("reason", "given for the outcome void and only then")
	}
	code(k, "form", &c.Form, &codesOfForm)
	longest := shuffle.MaxTape
	switch c.Form {
	case FormTape:
		k.blob("tape", &c.Tape)
	case FormSealed:
		k.u64("disclosure key", &c.Key)
		k.blob("sealed tape", &c.Tape)
		longest += SealOverhead
	}
	if (c.Reason == ReasonTapeLost) != (c.Form == FormNone) {
		k.fail("form", "without a tape for the reason tape_lost and only then")
	}
	if c.Form != FormNone && (len(c.Tape) == 0 || len(c.Tape) > longest) {
		k.fail("tape", "empty or too long")
	}
	k.extensions(&c.Extensions, &codesOfCloseExtension, nil)
}
