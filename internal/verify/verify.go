package verify

import (
	"bytes"
	"errors"

	"shuffled/internal/audit"
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
