package verify

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// The steps, by name, in their order (docs/SPEC.md section 10.1).
const (
	stepFormat    = "format"
	stepEntries   = "entries"
	stepSignature = "signature"
	stepInclusion = "inclusion"
	stepWitnesses = "witnesses"
	stepOrigin    = "origin"
	stepSlots     = "slots"
	stepLegality  = "legality"
	stepBeacon    = "beacon"
	stepDeck      = "deck"
	stepTerms     = "terms"
	stepOpenings  = "openings"
	stepAsked     = "asked"
	stepTape      = "tape"
	stepOrder     = "order"
	stepCards     = "cards"

	stepCoDealer   = "co_dealer"
	stepStatements = "statements"
)

// causes says what a failure most often means. The first words are those of the table in docs/SPEC.md section 10.1.
var causes = map[string]string{
	stepFormat:    "damaged or edited file: take the bytes as they were served, without an editor in between",
	stepEntries:   "an entry was exchanged or damaged, or a receipt is missing",
	stepSignature: "wrong key, or the file is not of this ledger; a key from after a rotation does not vouch for what the one before signed: pin both",
	stepInclusion: "an entry or a proof was altered, or the entry is not in the ledger",
	stepWitnesses: "too few witnesses cosigned, or not yet: a file that is asked for later may have the lines of slow ones; or another policy is meant",
	stepOrigin:    "evidence of another ledger, or a sandbox passed off as production",
	stepSlots:     "the house left the slot out of the plan, or the file is of another shuffle",
	stepLegality:  "the operator broke the lifecycle, or a receipt was left out of the file",
	stepBeacon:    "the house put in another value than the beacon's, which it could choose",
	stepDeck:      "another deck than the one committed to",
	stepTerms:     "other terms than those committed to",
	stepOpenings:  "a card was altered, is not this recipient's, or was shown in the game and is left out",
	stepAsked:     "the house or the co-dealer dealt what was not asked for",
	stepTape:      "the tape is not the one committed to, or was lost by the operator",
	stepOrder:     "shuffled by another rule than the published one",
	stepCards:     "a card was altered",

	stepCoDealer:   "the co-dealer's evidence is of another ledger, or its witnesses did not see it",
	stepStatements: "a statement about another shuffle, or one that the auditor did not sign",
}

// A step reports what it found. An error fails the run, except notChecked and audit.ErrUnknown.
type step struct {
	name string
	run  func() (detail string, err error)
}

// notChecked is why a step cannot run. The step then neither fails nor proves anything.
type notChecked string

func (n notChecked) Error() string { return string(n) }

// run takes the steps in order, until one fails or cannot be judged, and reports whether all of
// them held or were not checked.
func (v *Verdict) run(steps []step) bool {
	v.Steps = make([]Step, len(steps))
	for i, s := range steps {
		v.Steps[i] = Step{Name: s.name, Result: StepNotChecked}
	}
	for i, s := range steps {
		detail, err := s.run()
		var skipped notChecked
		switch {
		case err == nil:
			v.Steps[i].Result, v.Steps[i].Detail = StepOK, detail
		case errors.As(err, &skipped):
			v.Steps[i].Detail = string(skipped)
		case errors.Is(err, audit.ErrUnknown):
			v.Steps[i].Detail = audit.Printable(err.Error())
			v.Verdict, v.Unknown = CannotJudge, v.Steps[i].Detail
			return false
		default:
			v.Steps[i].Result, v.Steps[i].Detail, v.Steps[i].Cause = StepFailed, audit.Printable(err.Error()),
				causes[s.name]
			v.Verdict, v.Failed = Failed, s.name
			return false
		}
	}
	return true
}

// malformed is a finding of the step format.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", audit.ErrMalformed, fmt.Sprintf(format, args...))
}
