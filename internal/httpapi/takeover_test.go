package httpapi

import (
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/verify"
)

// by posts as the holder of a token.
func (s *stack) by(bearer, path, key, body string) answer {
	s.t.Helper()
	return s.do(ask{method: "POST", path: path, token: bearer, key: key, body: body})
}

// places are those of the cards in a transcript, which holds.
func (s *stack) places(path, bearer string) []int {
	s.t.Helper()
	got := s.get(path, bearer)
	if v := verify.Transcript(got.body, verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved {
		s.t.Errorf("%s is %s at %s", path, v.Verdict, v.Failed)
	}
	file, err := openings.ParseTranscript(got.body)
	must(s.t, err)
	var all []int
	for _, c := range file.Cards {
		all = append(all, c.Place)
	}
	return all
}

const next = `{"first":8,"runs":[{"count":1,"purpose":"discard"}]}`

// TestNotYours: a shuffle is of the identity of the token that committed it, whichever of its tokens comes, until
// another identity takes it over. What each may do and is told, TestOwner and TestTakeoverToClose of the dealer try.
func TestNotYours(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	public, dealt := []int{5, 6, 7}, []int{0, 1, 2, 3, 5, 6, 7} // of twoHands; the burn is neither
	_, path := s.commit("t", "k")
	_, second := s.putToken(audit.RoleDealer, nil)
	read[Deal](t, s.by(second, path+"/deal", "", twoHands))
	got := s.by(s.otherToken, path+"/deal", "", twoHands)
	if got.want(t, CodeNotYours, ""); !strings.Contains(value(got.problem(t).Detail),
		"belongs to dealer, and the request comes from another") {
		t.Errorf("%s", got.body)
	}
	if got := s.places(path+"/transcript?recipient=seat-1", s.otherToken); !slices.Equal(got, public) {
		t.Errorf("another identity sees %v", got)
	}
	if got := s.places(path+"/transcript", second); !slices.Equal(got, dealt) {
		t.Errorf("the owner sees %v", got)
	}

	over := read[Takeover](t, s.by(s.otherToken, path+"/takeover", "", `{"reason":"ticket 4712"}`))
	receipt, err := audit.ParseReceipt(over.Receipt)
	must(t, err)
	entry, err := audit.ParseEntry(receipt.Entry)
	body, ok := entry.Body.(*audit.Takeover)
	if err != nil || !ok || body.Reason != "ticket 4712" || over.From != "dealer" || entry.Time != int64(over.Time) ||
		entry.Actor != (audit.Actor{Identity: "another", Credential: idOf(s.otherToken)}) {
		t.Errorf("%+v and %+v: %v", over, entry, err)
	}
	if state := read[ShuffleState](t, s.get(path, "")); state.Owner != "another" || state.Extent != "close" {
		t.Errorf("%+v", state)
	}
	got = s.by(s.otherToken, path+"/deal", "", next)
	if got.want(t, CodeNotYours, ""); !strings.Contains(value(got.problem(t).Detail),
		"to close it, and for nothing else") {
		t.Errorf("%s", got.body)
	}
	s.post(path+"/close", "", `{"outcome":"completed"}`).want(t, CodeNotYours, "")
	read[Close](t, s.by(s.otherToken, path+"/close", "", `{"outcome":"completed"}`))
}
