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
	slots    [][32]byte
	auditors []note.Verifier
	second   *trust.Policy // for the co-dealer's ledger; nil: none
	history  []byte        // of the game; nil: none
	Deck     string        // of that published name; "": any
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
	all := &trusted{Trusted: parsed, slots: t.Slots, auditors: auditors, history: t.History, Deck: t.Deck}
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
