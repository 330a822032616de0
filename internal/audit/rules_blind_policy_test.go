package audit

import (
	"errors"
	"testing"
)

// TestLaterPolicyOfCoDealer: a policy whose witnesses are of a later type is no fault of the house.
func TestLaterPolicyOfCoDealer(t *testing.T) {
	s := NewState()
	s.genesis = &Genesis{Origin: "cards.example/main"}
	for text, want := range map[string]bool{"log LOG\nwitness a LATER\nquorum a\n": true, "quorum\n": false} {
		k := &Key{Subject: SubjectCoDealer, Origin: "lab.example/orders", Public: sampleGenesis().SigningKey,
			Policy: []byte(policyWords.Replace(text))}
		err := s.checkCoDealer(k)
		var broken *Illegal
		if errors.Is(err, ErrUnknown) != want || errors.As(err, &broken) == want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
