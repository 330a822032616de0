package dealer_test

import (
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/verify"
)

// TestTranscriptAcrossRotations: a file that was made after rotations is proved,
// offline, by who pinned a key of before, a key between, the newest or none.
func TestTranscriptAcrossRotations(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		tb := newTableWith(t, setting{postgres: postgres})
		pins := []string{tb.vkey}
		signers := tb.open.Signers
		tb.Ledger().Close()
		for range 2 {
			skey, vkey, err := note.GenerateKey(nil, origin)
			must(t, err)
			signer, err := note.NewSigner(skey)
			must(t, err)
			signers, pins = append(signers, signer), append(pins, vkey)
		}
		tb.open.Signers = signers
		tb.serve(tb.open.Store, tb.open.Mark)
		rotate := func(vkey string) {
			t.Helper()
			public, err := audit.SigningKey(vkey)
			must(t, err)
			tb.append(&audit.Key{Subject: audit.SubjectSigning, Public: public})
		}
		s := tb.commit("key", hand)
		before, err := tb.Transcript(t.Context(), s.ID, dealer.View{})
		must(t, err)
		rotate(pins[1])
		if _, err := tb.Deal(t.Context(), as("tester"), s.ID,
			dealer.DealRequest{Runs: []audit.Run{seat(2, "a")}}); err != nil {
			t.Fatal(err)
		}
		rotate(pins[2])
		tb.close(s.ID)
		after, err := tb.Transcript(t.Context(), s.ID, dealer.View{})
		must(t, err)
		if v := verify.Transcript(before, verify.Trust{VKey: pins[0]}); v.Verdict != verify.Proved {
			t.Errorf("a file of before: %+v", v)
		}
		for i, vkey := range pins {
			if v := verify.Transcript(after, verify.Trust{VKey: vkey}); v.Verdict != verify.Proved {
				t.Errorf("key %d is pinned: %s at %s", i, v.Verdict, v.Failed)
			}
		}
		if v := verify.Transcript(after, verify.Trust{}); v.Verdict != verify.Consistent {
			t.Errorf("nothing is pinned: %s at %s", v.Verdict, v.Failed)
		}
		f, err := audit.ParseTranscript(after)
		if err != nil || len(f.Keys) != 2 {
			t.Errorf("%d keys, %v", len(f.Keys), err)
		}
		if v := verify.Transcript(before, verify.Trust{VKey: pins[2]}); v.Failed != "signature" {
			t.Errorf("a file of before under the newest key: %s at %s", v.Verdict, v.Failed)
		}
	}
}
