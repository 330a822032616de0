package audit

import "shuffled/internal/shuffle"

// Outcome says how a shuffle ended.
type Outcome uint8

// The five outcomes. The dealer asks for the first, second and fourth; only the
// daemon writes the others.
const (
	OutcomeCompleted  Outcome = 1
	OutcomeEndedEarly Outcome = 2
	OutcomeContinued  Outcome = 3 // its cards went into a child, the entry before
	OutcomeVoid       Outcome = 4
	OutcomeExpired    Outcome = 5 // close-by passed
)

var outcomeNames = []string{"", "completed", "ended_early", "continued", "void", "expired"}

func (o Outcome) String() string { return name(outcomeNames, uint8(o)) }

// ParseOutcome returns the Outcome with the word s, 0 for none.
func ParseOutcome(s string) Outcome { return Outcome(parseName(outcomeNames, s)) }

// Reason says why a shuffle is void.
type Reason uint8

// The closed list of reasons (docs/SPEC.md section 5.6).
const (
	ReasonNone          Reason = 0
	ReasonMisdeal       Reason = 1
	ReasonExposedCard   Reason = 2
	ReasonFoulDeck      Reason = 3
	ReasonGameCancelled Reason = 4
	ReasonOperatorError Reason = 5
	ReasonSystemFault   Reason = 6
	ReasonPlayerDispute Reason = 7
	ReasonMixFailed     Reason = 8
	ReasonRegulator     Reason = 9
	ReasonTapeLost      Reason = 10 // the one close without a tape: a fault in every audit
)

var reasonNames = []string{"", "misdeal", "exposed_card", "foul_deck", "game_cancelled", "operator_error",
	"system_fault", "player_dispute", "mix_failed", "regulator", "tape_lost"}

func (r Reason) String() string {
	if r == ReasonNone {
		return ""
	}
	return name(reasonNames, uint8(r))
}

// ParseReason returns the Reason with the word s, ReasonNone for none.
func ParseReason(s string) Reason { return Reason(parseName(reasonNames, s)) }

// Form says how a close discloses the tape.
type Form uint8

// The three forms.
const (
	FormNone   Form = 0 // ReasonTapeLost only
	FormTape   Form = 1 // in the clear, for everybody
	FormSealed Form = 2 // HPKE to the disclosure key, for auditors
)

// Close ends a shuffle, once and for ever (docs/SPEC.md section 5.6).
type Close struct {
	Shuffle uint64
	Outcome Outcome
	Reason  Reason // with OutcomeVoid only
	Form    Form
	Tape    []byte // FormTape: the tape; FormSealed: encapsulated key ‖ ciphertext
	Key     uint64 // FormSealed: index of the key entry of the disclosure key
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
}

func (c *Close) parse(r *reader) {
	c.Shuffle = r.u64("shuffle")
	c.Outcome = Outcome(r.code("outcome", uint8(OutcomeExpired)))
	c.Reason = Reason(r.u8("reason"))
	if int(c.Reason) >= len(reasonNames) {
		r.unknown("reason", uint64(c.Reason))
	}
	if (c.Outcome == OutcomeVoid) != (c.Reason != ReasonNone) {
		r.fail("reason", "given for the outcome void and only then")
	}
	c.Form = Form(r.u8("form"))
	switch c.Form {
	case FormNone:
	case FormTape:
		c.Tape = r.blob("tape")
	case FormSealed:
		c.Key = r.u64("disclosure key")
		c.Tape = r.blob("sealed tape")
	default:
		r.unknown("form", uint64(c.Form))
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
}

// sealOverhead is what HPKE with DHKEM(P-256) and AES-256-GCM adds to a tape:
// the encapsulated key and the tag.
const sealOverhead = 65 + 16
