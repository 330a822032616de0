package audit

import (
	"errors"
	"fmt"

	"shuffled/internal/shuffle"
)

// ReasonNone stands with every outcome except void.
const ReasonNone Reason = 0

// Close ends a shuffle (docs/SPEC.md section 5.6).
type Close struct {
	Shuffle    uint64
	Entries    int     // of the shuffle in front of this one, its commit among them; the sequencer gives it
	Outcome    Outcome // a dealer asks for completed, ended_early and void; only the daemon writes the others
	Reason     Reason  // with OutcomeVoid only
	Form       Form
	Tape       []byte   // FormTape: the tape; FormSealed: encapsulated key ‖ ciphertext
	Key        uint64   // FormSealed: index of the key entry of the disclosure key
	Blind      *Blind   // of a shuffle with a co-dealer: what the house knew of the order
	Follows    *Follows // of an order for another ledger
	Extensions []Extension
}

// Follows is what the close of an order says of its shuffle, and of how much was opened.
type Follows struct {
	Foreign     // the close of the shuffle that the order was for
	Places  int // dealt from the order in all
}

func (f *Follows) fields(k *coder) {
	f.Foreign.fields(k)
	k.num("places dealt", &f.Places)
}

// Type returns TypeClose.
func (*Close) Type() Type { return TypeClose }

func (c *Close) fields(k *coder) {
	k.u64("shuffle", &c.Shuffle)
	k.num("entries", &c.Entries)
	code(k, "outcome", &c.Outcome, &codesOfOutcome)
	if c.Outcome == OutcomeVoid {
		code(k, "reason", &c.Reason, &codesOfReason)
	} else if k.u8("reason", (*uint8)(&c.Reason)); c.Reason != ReasonNone {
		k.fail("reason", "given for the outcome void and only then")
	}
	k.disclosed(&c.Form, &c.Tape, &c.Key)
	if (c.Reason == ReasonTapeLost || c.Outcome == OutcomeContinued) != (c.Form == FormNone) {
		k.fail("form", "without a tape for the outcome continued and the reason tape_lost, and only then")
	}
	k.extended(&c.Extensions, &codesOfCloseExtension, field(closeBlind, "blind", &c.Blind),
		field(closeFollows, "follows", &c.Follows))
}

// Unplayed returns the co-dealer's deal that the shuffle ended without playing; nil for none.
func (c *Close) Unplayed() *Blind {
	if c.Blind == nil || c.Blind.Deal == (Foreign{}) {
		return nil
	}
	return c.Blind
}

// EndsOrder returns why c is not the close of an order that so many places were asked of. after is the close of the
// shuffle that the order was for, nil if that is not known.
func (c *Close) EndsOrder(after *Foreign, asked int) error {
	switch f := c.Follows; {
	case f != nil && f.Places < asked:
		return fmt.Errorf("%d places were asked of the co-dealer's order, and its close names %d", asked, f.Places)
	case c.Outcome == OutcomeExpired, c.Reason == ReasonTapeLost, c.Outcome == OutcomeVoid && f == nil && asked == 0:
		return nil
	case f == nil || after == nil || f.Foreign != *after:
		return errors.New("the co-dealer's order was closed, and not behind the close of the shuffle")
	}
	return nil
}

// DisclosedBy returns what the entry with this body says of a tape. ok is false if the entry ends
// no shuffle. A close with the outcome continued does not: a disclosure comes later. Without a tape (FormNone) it is
// lost, which is a fault in every audit.
func DisclosedBy(b Body) (d DisclosureEntry, ok bool) {
	switch b := b.(type) {
	case *Close:
		return DisclosureEntry{b.Shuffle, b.Entries, b.Form, b.Tape, b.Key, nil}, b.Outcome != OutcomeContinued
	case *DisclosureEntry:
		return *b, true
	}
	return DisclosureEntry{}, false
}

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
