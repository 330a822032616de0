package httpapi

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
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
	first := s.post("/v1/main/shuffles", "k", body)
	shuffle := read[Shuffle](t, first)
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

	mixed := s.post(path+"/mix", "", values(v1, v2, `,"cut":5`))
	read[Mix](t, mixed)
	wantRepeat(t, mixed, s.post(path+"/mix", "", values(v1, v2, `,"cut":5`)))
	s.post(path+"/mix", "", values(v1, v2, `,"cut":6`)).want(t, CodeRepeated, "")
	wantRepeat(t, first, s.post("/v1/main/shuffles", "k", body))
	deal := read[Deal](t, s.post(path+"/deal", "", twoHands))
	moved := slices.ContainsFunc(deal.Cards, func(c Card) bool { return c.Place != c.Position })
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

func TestDrawsThroughTheAPI(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	play := func(key, body string, count int) Deal {
		t.Helper()
		draws := read[Shuffle](t, s.post("/v1/main/draws", key, body))
		path := fmt.Sprintf("/v1/main/shuffles/%d", draws.ID)
		deal := read[Deal](t, s.post(path+"/deal", "",
			fmt.Sprintf(`{"first":0,"runs":[{"count":%d,"purpose":"board","public":true}],"close":{"outcome":"completed"}}`, count)))
		transcript := s.get(path+"/transcript", "")
		if v := verify.Transcript(transcript.body, verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved ||
			len(v.Cards) != count {
			t.Errorf("%s: %s at %s", key, v.Verdict, v.Failed)
		}
		return deal
	}
	if d := play("dice", `{"table":"dice","ranges":[6,6]}`, 2); len(d.Shows) != 2 || d.Shows[0] < 1 || d.Shows[0] > 6 ||
		d.Cards[0].Card != nil {
		t.Errorf("dice %+v", d)
	}
	for of, take := range map[int]int{80: 20, 49: 6, 1 << 30: 3} {
		key, seen := fmt.Sprint(take, "-of-", of), make(map[uint32]bool)
		for _, n := range play(key, fmt.Sprintf(`{"table":"%s","numbers":{"of":%d,"take":%d}}`, key, of, take),
			take).Shows {
			seen[n] = n >= 1 && n <= uint32(of)
		}
		if len(seen) != take || slices.Contains(slices.Collect(maps.Values(seen)), false) {
			t.Errorf("%d of %d numbers are %v", take, of, seen)
		}
	}
	if d := play("wheel", `{"table":"wheel","wheel":[{"label":"red","weight":18},{"label":"green","weight":1}]}`,
		1); d.Shows != nil || value(d.Cards[0].Card) == "" {
		t.Errorf("wheel %+v", d)
	}

	for name, c := range map[string]struct{ body, field string }{
		"nothing":             {`{"table":"t"}`, "ranges"},
		"two kinds":           {`{"table":"t","ranges":[6],"numbers":{"of":8,"take":2}}`, "ranges"},
		"no range":            {`{"table":"t","ranges":[]}`, "ranges"},
		"a range of nothing":  {`{"table":"t","ranges":[6,0]}`, "ranges[1]"},
		"a range too wide":    {`{"table":"t","ranges":[1073741825]}`, "ranges[0]"},
		"too many wide ones":  {`{"table":"t","ranges":[` + strings.Repeat("1073741824,", 4095) + `1073741824]}`, ""},
		"more than there are": {`{"table":"t","numbers":{"of":8,"take":9}}`, "numbers.take"},
		"too many numbers":    {`{"table":"t","numbers":{"of":1073741825,"take":1}}`, "numbers.of"},
		"too many taken":      {`{"table":"t","numbers":{"of":5000,"take":4097}}`, "numbers.take"},
		"no weight": {`{"table":"t","wheel":[{"label":"a","weight":1},{"label":"b","weight":0}]}`,
			"wheel[1].weight"},
		"too much weight": {`{"table":"t","wheel":[{"label":"a","weight":4096},{"label":"b","weight":1}]}`,
			"wheel[1].weight"},
		"one stop of weight 1": {`{"table":"t","wheel":[{"label":"a","weight":1}]}`, "wheel"},
		"no label":             {`{"table":"t","wheel":[{"label":"","weight":2}]}`, "wheel"},
		"a mix of one stop":    {`{"table":"t","wheel":[{"label":"a","weight":3}],"mix":{"beacon":{}}}`, "mix"},
		"a cut of values":      {`{"table":"t","ranges":[6],"mix":{"cut":true}}`, "mix.cut"},
	} {
		if c.field != "" {
			s.post("/v1/main/draws", "bad-"+strings.ReplaceAll(name, " ", "-"), c.body).want(t, CodeInvalidRequest,
				c.field)
		} else {
			read[Shuffle](t, s.post("/v1/main/draws", "wide", c.body)) // 24,626 bytes of tape are still one draw
		}
	}
}

func TestChildrenThroughTheAPI(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	shuffle, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	body := fmt.Sprintf(`{"table":"t","parent":{"id":%d}}`, shuffle.ID)
	for field, bad := range map[string]string{
		"parent":              fmt.Sprintf(`{"table":"t","deck":"standard-52","parent":{"id":%d}}`, shuffle.ID),
		"parent.positions":    fmt.Sprintf(`{"table":"t","parent":{"id":%d,"positions":[5]}}`, shuffle.ID),
		"parent.positions[1]": fmt.Sprintf(`{"table":"t","parent":{"id":%d,"positions":[5,5]}}`, shuffle.ID),
		"parent.id":           `{"table":"t","parent":{"id":0}}`,
		"take":                fmt.Sprintf(`{"table":"t","take":49,"parent":{"id":%d}}`, shuffle.ID),
	} {
		s.post("/v1/main/shuffles", "bad", bad).want(t, CodeInvalidRequest, field)
	}
	s.post("/v1/main/shuffles", "bad", fmt.Sprintf(`{"table":"u","parent":{"id":%d}}`, shuffle.ID)).want(t, CodeParent,
		"")
	s.post("/v1/main/shuffles", "bad", `{"table":"t","parent":{"id":999}}`).want(t, CodeParent, "")

	first := s.post("/v1/main/shuffles", "child", body)
	child := read[Shuffle](t, first)
	wantRepeat(t, first, s.post("/v1/main/shuffles", "child", body))
	if state := read[ShuffleState](t, s.get(path, "")); state.State != ShuffleStateStateContinued ||
		*state.Outcome != OutcomeContinued {
		t.Errorf("the parent: %+v", state)
	}
	s.post("/v1/main/shuffles", "other", body).want(t, CodeParent, "")
	childPath := fmt.Sprintf("/v1/main/shuffles/%d", child.ID)
	if c := committed(t, child.Receipt).Context; c.Parent == nil || c.Parent.ID != shuffle.ID ||
		c.Recipe.Positions() != 44 {
		t.Errorf("the child: %+v", c)
	}
	deal := read[Deal](t, s.post(childPath+"/deal", "", `{"first":0,"runs":[{"count":44,"purpose":"order"}]}`))
	read[Close](t, s.post(childPath+"/close", "", `{"outcome":"completed"}`))
	if state := read[ShuffleState](t, s.get(path, "")); state.State != ShuffleStateStateClosed {
		t.Errorf("the parent after the close of its child: %+v", state)
	}
	parent := s.get(path+"/transcript", "")
	dealt := verify.Transcript(parent.body, verify.Trust{VKey: s.vkey})
	if dealt.Verdict != verify.Proved {
		t.Errorf("the parent's transcript: %s at %s", dealt.Verdict, dealt.Failed)
	}
	all := make(map[uint32]bool)
	for _, c := range deal.Cards {
		all[c.Value] = true
	}
	for _, c := range dealt.Cards {
		if all[c.Value] {
			t.Errorf("card %d is in the stub, and was dealt from its parent", c.Value)
		}
		all[c.Value] = true
	}
	if len(all) != 52 {
		t.Errorf("%d cards in all", len(all))
	}
	if v := verify.Transcript(s.get(childPath+"/transcript", "").body,
		verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved {
		t.Errorf("the child's transcript: %s at %s", v.Verdict, v.Failed)
	}
}

func TestLastHand(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	shoe := read[Shuffle](t, s.post("/v1/main/shuffles", "k",
		`{"table":"t","deck":"shoe-1","end_at":{"lo":20,"hi":40}}`))
	path := fmt.Sprintf("/v1/main/shuffles/%d", shoe.ID)
	last := 0
	for next := 0; next < 52 && last == 0; next++ {
		state := read[ShuffleState](t, s.get(path, ""))
		if state.LastHand == nil || *state.LastHand {
			t.Fatalf("after %d cards: %+v", next, state)
		}
		d := read[Deal](t, s.post(path+"/deal", "",
			fmt.Sprintf(`{"first":%d,"runs":[{"count":1,"purpose":"board"}]}`, next)))
		if d.LastHand != nil {
			last = d.Next
		}
	}
	if state := read[ShuffleState](t, s.get(path, "")); last < 20 || last > 40 || !*state.LastHand {
		t.Errorf("the last hand begins at %d; %+v", last, state)
	}
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	if v := verify.Transcript(s.get(path+"/transcript", "").body, verify.Trust{VKey: s.vkey}); v.EndAt != last {
		t.Errorf("the cut card lies at %d, and came out at %d", v.EndAt, last)
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
