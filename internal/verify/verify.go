// Package verify judges transcripts and receipts. It takes the steps of docs/SPEC.md section 10 in their order and
// gives each a result and, if it fails, its likely cause. Its input is bytes from strangers. It has no network, no
// clock, no database and no secret of the house, never panics, and bounds its work before it does it.
//
// What the entries of a shuffle may say is decided by package audit, by the same rules that the sequencer obeys.
package verify

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/shuffle"
)

// File judges a transcript or a receipt and finds out which it is: a transcript begins with '{', a receipt with its
// header. Anything else fails at format. A Trust that cannot be read gives CannotJudge for every file.
func File(data []byte, t Trust) *Verdict {
	switch {
	case bytes.HasPrefix(data, []byte("{")):
		return Transcript(data, t)
	case bytes.HasPrefix(data, []byte(receiptHeader)):
		return Receipt(data, t)
	}
	return judge("", data, t, func([]byte, *trusted) *Verdict {
		v := new(Verdict)
		v.run([]step{{stepFormat, func() (string, error) {
			return "", errors.New("neither a transcript nor a receipt")
		}}})
		return v
	})
}

// Transcript judges a transcript (docs/SPEC.md sections 8 and 10). A Trust that
// cannot be read gives CannotJudge; see Trust.Check.
func Transcript(data []byte, t Trust) *Verdict {
	return judge(KindTranscript, data, t, judgeTranscript)
}

// Receipt judges a receipt alone (docs/SPEC.md sections 7.2 and 10): that its entry stands in the ledger at its index.
func Receipt(data []byte, t Trust) *Verdict { return judge(KindReceipt, data, t, judgeReceipt) }

func judge(kind string, data []byte, t Trust, by func([]byte, *trusted) *Verdict) *Verdict {
	trust, err := t.parse()
	if err != nil {
		return &Verdict{Verdict: CannotJudge, Kind: kind, Unknown: audit.Printable(err.Error()), Steps: []Step{}}
	}
	return by(data, trust)
}

func judgeTranscript(data []byte, trust *trusted) *Verdict {
	t := &transcript{evidence: evidence{v: &Verdict{Kind: KindTranscript}, trust: trust}, data: data}
	held := t.v.run([]step{
		{stepFormat, t.format},
		{stepEntries, t.entries},
		{stepSignature, t.signature},
		{stepInclusion, t.inclusion},
		{stepWitnesses, t.witnesses},
		{stepOrigin, t.origin},
		{stepSlots, t.slots},
		{stepLegality, t.legality},
		{stepBeacon, t.beacon},
		{stepDeck, t.deck},
		{stepTerms, t.terms},
		{stepOpenings, t.openings},
		{stepAsked, t.asked},
		{stepTape, t.tape},
		{stepOrder, t.order},
		{stepCards, t.cards},
		{stepCoDealer, t.coDealer},
		{stepStatements, t.statements},
	})
	t.conclude(held)
	return t.v
}

func judgeReceipt(data []byte, trust *trusted) *Verdict {
	r := &receipt{evidence: evidence{v: &Verdict{Kind: KindReceipt}, trust: trust}, data: data}
	held := r.v.run([]step{
		{stepFormat, r.format},
		{stepEntries, r.entries},
		{stepSignature, r.signature},
		{stepInclusion, r.inclusion},
		{stepWitnesses, r.witnesses},
		{stepOrigin, r.origin},
		{stepSlots, r.slots},
	})
	r.conclude(held)
	return r.v
}

// Trust is what the caller knows from elsewhere. At most one of VKey and Policy is set. With
// neither, nothing is pinned, and no file is more than Consistent.
type Trust struct {
	VKey   string // verifier key of the ledger (C2SP signed-note)
	Policy []byte // C2SP tlog-policy: log lines pin keys, the quorum asks for cosignatures

	// Slots are the secret values of players whom the verdict is for: each gave the hash of one before the commit
	// (docs/SPEC.md section 4.1), and to nobody the value. A file whose plan lacks one of them fails.
	Slots [][32]byte

	// Auditors are verifier keys of auditors whose statements about a shuffle are believed (docs/SPEC.md section 8.1).
	Auditors []string

	// CoDealer is the policy for the ledger of a co-dealer (docs/SPEC-BLIND.md section 7): its log
	// lines pin the co-dealer's keys. Without it no file is blind.
	CoDealer []byte

	// History is the text of the game's history, that requests of a shuffle with a co-dealer are
	// held against (docs/SPEC-BLIND.md section 3); nil: none.
	History []byte

	// Deck is the published deck that must have been shuffled as a whole (docs/SPEC.md section 3.2); "": any.
	Deck string
}

// Check reports what is wrong with t itself, so that a caller can tell a mistake
// in a key or policy from evidence that fails.
func (t Trust) Check() error {
	_, err := t.parse()
	return err
}

// trusted is a parsed Trust.
type trusted struct {
	trust.Trusted
	given    Trust
	auditors []note.Verifier
	second   *trust.Policy // for the co-dealer's ledger; nil: none
}

func (t Trust) parse() (*trusted, error) {
	parsed, err := trust.ParseTrust(t.VKey, t.Policy)
	if err != nil {
		return nil, err
	}
	auditors, err := parseAuditors(t.Auditors)
	if err != nil {
		return nil, err
	}
	all := &trusted{Trusted: parsed, given: t, auditors: auditors}
	if err := audit.CheckHistory(t.History); err != nil {
		return nil, err
	}
	if t.CoDealer != nil {
		if all.second, err = trust.ParsePolicy(t.CoDealer); err != nil {
			return nil, fmt.Errorf("the co-dealer's policy: %w", err)
		}
	}
	if _, ok := shuffle.Named(t.Deck); !ok && t.Deck != "" {
		return nil, fmt.Errorf("deck: %q is not the name of a published deck", t.Deck)
	}
	return all, nil
}

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
