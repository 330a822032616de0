package verify

import (
	"testing"

	"shuffled/internal/audit/openings"
)

// ownPolicy has a witness of that name and key.
func ownPolicy(name string, key, log keyPair) []byte {
	key.name = name
	vkey, _ := key.witnessKey()
	return []byte("log " + log.vkey + "\nwitness a " + vkey + "\nquorum a\n")
}

// TestTrust: what cannot be read is the caller's mistake, not the file's.
func TestTrust(t *testing.T) {
	t.Parallel()
	h := open(t)
	file := []byte(h.receipt(0).Text())
	for name, trust := range map[string]Trust{
		"a key and a policy":               {VKey: h.key.vkey, Policy: []byte("quorum none\n")},
		"a damaged key":                    {VKey: h.key.vkey[1:]},
		"an empty policy":                  {Policy: []byte{}},
		"a witness with the ledger's name": {Policy: ownPolicy(h.key.name, newKey(t, h.key.name, "w1"), h.key)},
		"a witness with the ledger's key":  {Policy: ownPolicy("witness.example/own", h.key, h.key)},
	} {
		v := File(file, trust)
		if trust.Check() == nil || v.Verdict != CannotJudge || v.Unknown == "" || v.Failed != "" {
			t.Errorf("%s: %v, %+v", name, trust.Check(), v)
		}
	}
	must(t, Trust{}.Check())
}

// TestRecipientsAlike: a recipient's file that holds a card of a name which begins,
// ends or looks like the recipient's is not proved.
func TestRecipientsAlike(t *testing.T) {
	t.Parallel()
	names := []string{"seat-1", "seat-10", "seat", "SEAT-1", "at-1"}
	h := open(t)
	g := h.commitTo(h.cards(sixCards), sixCards)
	for _, name := range names {
		g.deal(seat(name, 1))
	}
	g.deal(board(1))
	for to, name := range names {
		for place, of := range append(names, "everybody") {
			f := g.transcript(name)
			f.Cards = []openings.Card{g.card(place)}
			v := Transcript(marshal(t, f), Trust{VKey: mainKey(t).vkey})
			proved := v.Verdict == Proved
			if proved != (place == to || place == len(names)) || !proved && v.Failed != stepOpenings {
				t.Errorf("the card of %s in the file of %s: %s at %q", of, name, v.Verdict, v.Failed)
			}
		}
	}
}
