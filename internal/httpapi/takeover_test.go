package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
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
	file, err := audit.ParseTranscript(got.body)
	if err != nil {
		s.t.Fatal(err)
	}
	var all []int
	for _, c := range file.Cards {
		all = append(all, c.Place)
	}
	return all
}

const (
	next      = `{"first":8,"runs":[{"count":1,"purpose":"discard"}]}`
	misdeal   = `{"outcome":"void","reason":"misdeal"}`
	completed = `{"outcome":"completed"}`
)

var (
	public = []int{5, 6, 7}             // of twoHands
	dealt  = []int{0, 1, 2, 3, 5, 6, 7} // without the burn
)

// TestNotYours: whatever another identity asks of a shuffle is refused, and what a repeat
// would answer too, while it is open. Nothing is written.
func TestNotYours(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	body := `{"table":"t","deck":"standard-52","mix":{"cut":true}}`
	shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", "k", body))
	path := fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
	refused := func(when string, bearer string, asks ...[2]string) {
		t.Helper()
		size := s.ledger.Live().Size
		for _, a := range asks {
			got := s.by(bearer, path+a[0], "", a[1])
			if got.want(t, CodeNotYours, ""); !strings.Contains(value(got.problem(t).Detail),
				"belongs to dealer, and the request comes from another") {
				t.Errorf("%s: %s", when, got.body)
			}
		}
		if got := s.ledger.Live().Size; got != size {
			t.Errorf("%s: %d entries were written", when, got-size)
		}
	}
	cut := [2]string{"/mix", `{"cut":5}`}
	hands := [2]string{"/deal", twoHands}
	refused("open", s.otherToken, cut, hands, [2]string{"/close", misdeal})
	read[Mix](t, s.post(path+cut[0], "", cut[1]))
	first := s.post(path+hands[0], "", hands[1])
	refused("a repeat", s.otherToken, cut, hands, [2]string{"/deal", next}, [2]string{"/deal", strings.Replace(next,
		"}]}", `}],"close":`+misdeal+`}`, 1)})

	// Another token of the owner's identity is the owner.
	_, second := s.putToken(audit.RoleDealer, nil)
	wantRepeat(t, first, s.by(second, path+hands[0], "", hands[1]))
	child := fmt.Sprintf(`{"table":"t","parent":{"id":%d}}`, shuffle.ID)
	s.by(s.otherToken, "/v1/main/shuffles", "child", child).want(t, CodeNotYours, "")

	// Its idempotency keys are its own.
	same := read[Shuffle](t, s.by(s.otherToken, "/v1/main/shuffles", "k", body))
	if same.ID == shuffle.ID || same.Repeated != nil {
		t.Errorf("%+v", same)
	}

	// What is open shows public runs only; closed, it is as public as its disclosure.
	for _, query := range []string{"", "?recipient=seat-1"} {
		if got := s.places(path+"/transcript"+query, s.otherToken); !slices.Equal(got, public) {
			t.Errorf("another identity sees %v by %q", got, query)
		}
	}
	if got := s.places(path+"/transcript", second); !slices.Equal(got, dealt) {
		t.Errorf("the owner sees %v", got)
	}
	read[Close](t, s.by(second, path+"/close", "", completed))
	refused("closed", s.otherToken, cut, hands, [2]string{"/close", completed}, [2]string{"/close", misdeal})
	if got := s.places(path+"/transcript", s.otherToken); len(got) != 8 {
		t.Errorf("after the close another identity sees %v", got)
	}
	s.by(s.otherToken, path+"/takeover", "", `{"reason":"too late"}`).want(t, CodeNotOpen, "")
}

// TestTakeoverToClose: a taker to close closes, and neither deals nor sees; who was the
// owner is none any more.
func TestTakeoverToClose(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	if state := read[ShuffleState](t, s.get(path, "")); state.Owner != "dealer" || state.Extent != nil {
		t.Errorf("%+v", state)
	}
	size := s.ledger.Live().Size
	for body, field := range map[string]string{
		`{}`: "reason", `{"reason":""}`: "reason", `{"reason":"  "}`: "reason", `{"reason":"two\nlines"}`: "reason",
		`{"reason":7}`: "reason", `{"reason":"r","extent":"play"}`: "extent",
		`{"reason":"r","owner":"another"}`: "owner", `{"reason":"` + strings.Repeat("x", 201) + `"}`: "reason",
	} {
		got := s.by(s.otherToken, path+"/takeover", "", body)
		if p := got.problem(t); got.status/100 != 4 || value(p.Field) != field {
			t.Errorf("%.60s: %d %s", body, got.status, got.body)
		}
	}
	s.post(path+"/takeover", "", `{"reason":"it is mine"}`).want(t, CodeNotYours, "")
	s.by(s.otherToken, "/v1/main/shuffles/999/takeover", "", `{"reason":"r"}`).want(t, CodeNotFound, "")
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written", got-size)
	}

	taken := s.by(s.otherToken, path+"/takeover", "", `{"reason":"ticket 4712"}`)
	over := read[Takeover](t, taken)
	receipt, err := audit.ParseReceipt(over.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := audit.ParseEntry(receipt.Entry)
	body, ok := entry.Body.(*audit.Takeover)
	if err != nil || !ok || body.Reason != "ticket 4712" || body.Extent != audit.ExtentClose || over.From != "dealer" ||
		entry.Time != int64(over.Time) ||
		entry.Actor != (audit.Actor{Identity: "another", Credential: idOf(s.otherToken)}) {
		t.Errorf("%+v and %+v: %v", over, entry, err)
	}
	wantRepeat(t, taken, s.by(s.otherToken, path+"/takeover", "", `{"reason":"ticket 4713"}`))
	if state := read[ShuffleState](t, s.get(path, "")); state.Owner != "another" || value(state.Extent) != ExtentClose {
		t.Errorf("%+v", state)
	}

	got := s.by(s.otherToken, path+"/deal", "", next)
	if got.want(t, CodeNotYours, ""); !strings.Contains(value(got.problem(t).Detail),
		"to close it, and for nothing else") {
		t.Errorf("%s", got.body)
	}
	s.by(s.otherToken, path+"/deal", "", twoHands).want(t, CodeNotYours, "") // earlier answers neither
	s.post(path+"/deal", "", next).want(t, CodeNotYours, "")
	s.post(path+"/deal", "", twoHands).want(t, CodeNotYours, "")
	s.post(path+"/close", "", misdeal).want(t, CodeNotYours, "")
	for name, token := range map[string]string{"the taker": s.otherToken, "the owner before": s.dealerToken} {
		if got := s.places(path+"/transcript", token); !slices.Equal(got, public) {
			t.Errorf("%s sees %v", name, got)
		}
	}
	closed := s.by(s.otherToken, path+"/close", "", misdeal)
	if c := read[Close](t, closed); c.Repeated != nil {
		t.Errorf("%s", closed.body)
	}
	wantRepeat(t, closed, s.by(s.otherToken, path+"/close", "", misdeal))
	v := verify.Transcript(s.get(path+"/transcript", "").body, verify.Trust{VKey: s.vkey})
	if v.Verdict != verify.Proved || len(v.Takeovers) != 1 || v.Takeovers[0].From != "dealer" ||
		v.Takeovers[0].Identity != "another" {
		t.Errorf("%s at %s: %+v", v.Verdict, v.Failed, v.Takeovers)
	}
}

// TestTakeoverOfTables: a token for some tables takes over at those only.
func TestTakeoverOfTables(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, ours := s.commit("a", "k1")
	_, theirs := s.commit("z", "k2")
	_, narrow := s.putToken(audit.RoleDealer, func(c *audit.Credential) {
		c.Identity, c.Tables = "narrow",
			[]string{"a"}
	})
	s.by(narrow, theirs+"/takeover", "", `{"reason":"r"}`).want(t, CodeForbidden, "")
	read[Takeover](t, s.by(narrow, ours+"/takeover", "", `{"reason":"r"}`))
}
