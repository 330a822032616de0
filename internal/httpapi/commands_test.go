package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/verify"
)

// slot is a player's value and its hash in a plan at a table.
func (s *stack) slot(table string, fill byte) (value, hash string) {
	r := [32]byte(bytes.Repeat([]byte{fill}, 32))
	return encodeHash(r), encodeHash(audit.SlotHash(s.origin, table, r))
}

// TestMixThroughTheAPI: a plan and its values are what JSON says. Which values are right, and what they make of the
// order, TestMix and TestSlotOnce of the dealer try.
func TestMixThroughTheAPI(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	v1, h1 := s.slot("t", 1)
	v2, h2 := s.slot("t", 2)
	body := fmt.Sprintf(`{"table":"t","deck":"standard-52","mix":{"slots":[%q,%q],"cut":true}}`, h1, h2)
	shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", "k", body))
	plan := committed(t, shuffle.Receipt).Context.Plan
	if len(plan) != 3 || encodeHash(plan[0].Slot) != h1 || encodeHash(plan[1].Slot) != h2 ||
		plan[2].Source != audit.SourceCut {
		t.Errorf("plan %+v", plan)
	}
	path := fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
	if state := read[ShuffleState](t, s.get(path, "")); state.Mixed == nil || *state.Mixed {
		t.Errorf("before the mix: %+v", state)
	}
	s.post(path+"/deal", "", twoHands).want(t, CodeMix, "")

	values := func(a, b string, rest string) string { return fmt.Sprintf(`{"slots":[%q,%q]%s}`, a, b, rest) }
	for name, c := range map[string]struct {
		body  string
		code  Code
		field string
	}{
		"not its value": {values(v1, v1, `,"cut":5`), CodeMix, ""},
		"no cut":        {values(v1, v2, ``), CodeInvalidRequest, "cut"},
		"a beacon more": {values(v1, v2, `,"cut":5,"beacon":"`+strings.Repeat("A", 64)+`"`), CodeInvalidRequest,
			"beacon"},
		"a short beacon": {values(v1, v2, `,"cut":5,"beacon":"AAAA"`), CodeInvalidValue, "beacon"},
		"a short value":  {values(v1, "AAAA", `,"cut":5`), CodeInvalidValue, "slots[1]"},
		"unknown member": {values(v1, v2, `,"cut":5,"salt":1`), CodeUnknownMember, "salt"},
	} {
		t.Run(name, func(t *testing.T) { s.post(path+"/mix", "", c.body).want(t, c.code, c.field) })
	}

	read[Mix](t, s.post(path+"/mix", "", values(v1, v2, `,"cut":5`)))
	s.post(path+"/mix", "", values(v1, v2, `,"cut":6`)).want(t, CodeRepeated, "")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
}

// TestPlansAreChecked: further plans, and the round that the dealer chooses, are in TestMixPlans of the dealer.
func TestPlansAreChecked(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	for _, c := range []struct {
		mix   string
		code  Code
		field string
	}{
		{`{}`, CodeInvalidRequest, "mix"},
		{`{"slots":[]}`, CodeInvalidValue, "mix.slots"},
		{`{"cut":false}`, CodeInvalidValue, "mix.cut"},
		{`{"beacon":{"round":0}}`, CodeInvalidValue, "mix.beacon.round"},
		{`{"beacon":{"round":1}}`, CodeBeacon, ""}, // out since 2023
		{`{"slots":["x"]}`, CodeInvalidValue, "mix.slots[0]"},
		{`[]`, CodeInvalidValue, "mix"},
	} {
		s.post("/v1/main/shuffles", "k", `{"table":"t","deck":"short-36","mix":`+c.mix+`}`).want(t, c.code, c.field)
	}
}

func TestTapeLostIsAnAdministratorsWord(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("t", "k")
	s.post(path+"/close", "", `{"outcome":"void","reason":"tape_lost"}`).want(t, CodeForbidden, "reason")
	admin := func(body string) answer { return s.admin(path+"/close", body) }
	admin(`{"outcome":"completed"}`).want(t, CodeForbidden, "reason")
	admin(`{"outcome":"void","reason":"misdeal"}`).want(t, CodeForbidden, "reason")
	admin(`{"outcome":"completed","reason":"tape_lost"}`).want(t, CodeInvalidRequest, "reason")
	admin(`{"outcome":"void","reason":"tape_lost"}`).want(t, CodeInvalidRequest, "reason") // the tape is there
}

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

// command is how a dealer gives one command of the contract about table z.
type command struct{ id, word, path, body string }

// TestScopeOfCommands: every command of the contract that a dealer gives, alone, in a batch by the shuffle's id and by
// the number of an earlier operation, new and repeated, is refused to a token of the same identity for other tables. It
// writes nothing, and shows no card, tape or receipt.
func TestScopeOfCommands(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, elsewhere := s.putToken(audit.RoleDealer, func(c *audit.Credential) {
		c.Identity, c.Tables = "another", []string{"a"}
	})
	whole, narrow, path, id := s.dealerToken, s.tableToken, "", uint64(0)
	first := command{"createShuffle", "shuffle", "/v1/main/shuffles",
		`{"table":"z","deck":"short-36","mix":{"cut":true}}`}
	send := func(token string, c command) answer {
		at := strings.Replace(c.path, "SHUFFLE", path, 1)
		return s.do(ask{method: http.MethodPost, path: at, token: token, key: c.id, body: c.body})
	}
	batch := func(c command, of string) command {
		op := fmt.Sprintf(`{"op":%q,"shuffle":%s,"body":%s}`, c.word, of, c.body)
		if c.path == first.path || c.id == "createDraws" {
			op = fmt.Sprintf(`{"op":%q,"key":%q,"body":%s}`, c.word, c.id, c.body)
		} else if strings.Contains(of, "op") {
			op = fmt.Sprintf(`{"op":"shuffle","key":%q,"body":%s},`, first.id, first.body) + op
		}
		return command{"createBatch", "", "/v1/main/batch", `{"operations":[` + op + `]}`}
	}
	refused := func(when string, c command) {
		t.Helper()
		size := s.ledger.Live().Size
		alone := send(narrow, c)
		alone.want(t, CodeForbidden, "")
		all := [][]byte{alone.body}
		for _, of := range []string{fmt.Sprint(id), `{"op":0}`} {
			if c.word == "" {
				break
			}
			got := send(narrow, batch(c, of))
			for i, r := range read[Batch](t, got).Results {
				if r.Status != http.StatusForbidden && (i == 0 || r.Status == http.StatusOK) {
					t.Errorf("%s %s in a batch, of %s: operation %d: %d %s", when, c.id, of, i, r.Status, r.Body)
				}
			}
			all = append(all, got.body)
		}
		for _, told := range all {
			if bytes.Contains(told, []byte("receipt")) || bytes.Contains(told, []byte("salt")) || !bytes.Contains(told,
				[]byte("these tables only: a")) {
				t.Errorf("%s %s: %s", when, c.id, told)
			}
		}
		if got := s.ledger.Live().Size; got != size {
			t.Errorf("%s %s: %d entries were written", when, c.id, got-size)
		}
	}
	tried := []string{"createBatch", "submitAct"} // within each try; TestRoles
	for _, c := range []command{first,
		{"createDraws", "draw", "/v1/main/draws", `{"table":"z","ranges":[6]}`},
		{"mixShuffle", "mix", "SHUFFLE/mix", `{"cut":1}`},
		{"dealCards", "deal", "SHUFFLE/deal", twoHands},
		{"revealCards", "reveal", "SHUFFLE/reveal", `{"places":[0]}`},
		{"takeOverShuffle", "", "SHUFFLE/takeover", `{"reason":"a test"}`},
		{"closeShuffle", "close", "SHUFFLE/close", `{"outcome":"ended_early"}`},
	} {
		if c.id == "takeOverShuffle" { // the shuffle is another identity's from then on
			whole, narrow = s.otherToken, elsewhere
		}
		refused("a new", c)
		done := send(whole, c)
		if done.status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.id, done.status, done.body)
		}
		if c.id == first.id {
			id = read[Shuffle](t, done).ID
			path = fmt.Sprintf("/v1/main/shuffles/%d", id)
		}
		refused("a repeated", c)
		tried = append(tried, c.id)
	}
	for _, r := range rights(t) {
		if r.method == http.MethodPost && slices.Contains(r.roles, "dealer") && r.id != "putTerms" &&
			!slices.Contains(tried, r.id) {
			t.Errorf("%s, of the scope %s, was not tried", r.id, r.scope)
		}
	}
}
