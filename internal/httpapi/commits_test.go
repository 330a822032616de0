package httpapi

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"shuffled/internal/audit"
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
