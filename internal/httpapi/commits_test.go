package httpapi

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/verify"
)

// slot is a player's value and its hash in a plan at a table.
func (s *stack) slot(table string, fill byte) (value, hash string) {
	r := [32]byte(bytes.Repeat([]byte{fill}, 32))
	return encodeHash(r), encodeHash(audit.SlotHash(s.origin, table, r))
}

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
		"other order":   {values(v2, v1, `,"cut":5`), CodeMix, ""},
		"not its value": {values(v1, v1, `,"cut":5`), CodeMix, ""},
		"a cut too far": {values(v1, v2, `,"cut":52`), CodeMix, ""},
		"no cut":        {values(v1, v2, ``), CodeInvalidRequest, "cut"},
		"one slot":      {fmt.Sprintf(`{"slots":[%q],"cut":5}`, v1), CodeInvalidRequest, "slots"},
		"nothing":       {`{}`, CodeInvalidRequest, "slots"},
		"a beacon more": {values(v1, v2, `,"cut":5,"beacon":"`+strings.Repeat("A", 64)+`"`), CodeInvalidRequest,
			"beacon"},
		"a short beacon":   {values(v1, v2, `,"cut":5,"beacon":"AAAA"`), CodeInvalidValue, "beacon"},
		"a short value":    {values(v1, "AAAA", `,"cut":5`), CodeInvalidValue, "slots[1]"},
		"unknown member":   {values(v1, v2, `,"cut":5,"salt":1`), CodeUnknownMember, "salt"},
		"a cut below zero": {values(v1, v2, `,"cut":-1`), CodeInvalidRequest, "cut"},
	} {
		t.Run(name, func(t *testing.T) { s.post(path+"/mix", "", c.body).want(t, c.code, c.field) })
	}

	read[Mix](t, s.post(path+"/mix", "", values(v1, v2, `,"cut":5`)))
	s.post(path+"/mix", "", values(v1, v2, `,"cut":6`)).want(t, CodeRepeated, "")
	deal := read[Deal](t, s.post(path+"/deal", "", twoHands))
	moved := slices.ContainsFunc(deal.Cards, func(c audit.Card) bool { return c.Place != c.Position })
	if !moved {
		t.Error("the mix moved no card")
	}
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	transcript := s.get(path+"/transcript", "")
	if v := verify.Transcript(transcript.body, verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved {
		t.Errorf("%s at %s", v.Verdict, v.Failed)
	}

	// A slot stands in one commit of a ledger, and once in a plan.
	s.post("/v1/main/shuffles", "k2", body).want(t, CodeSlot, "")
	s.post("/v1/main/shuffles", "k3", fmt.Sprintf(`{"table":"t","deck":"standard-52","mix":{"slots":[%q,%q]}}`, h1,
		h1)).
		want(t, CodeInvalidRequest, "mix.slots[1]")
}

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

	// Without a round the daemon chooses one that is still to come.
	shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", "b", `{"table":"t","deck":"short-36","mix":{"beacon":{}}}`))
	b, _ := committed(t, shuffle.Receipt).Context.Beacon()
	if at, ok := audit.BeaconTime(b.Chain, b.Round); !ok || at <= s.clock.Now().Unix() {
		t.Fatalf("round %+v", b)
	}
	mix := fmt.Sprintf("/v1/main/shuffles/%d/mix", shuffle.ID)
	old := beacontest.Newest().Signature
	s.post(mix, "", fmt.Sprintf(`{"beacon":%q}`, base64.StdEncoding.EncodeToString(old[:]))).want(t, CodeBeacon, "")
	s.post(mix, "", `{}`).want(t, CodeInvalidRequest, "beacon") // it fetches none
	read[Close](t, s.post(fmt.Sprintf("/v1/main/shuffles/%d/close", shuffle.ID), "",
		`{"outcome":"void","reason":"mix_failed"}`))
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
