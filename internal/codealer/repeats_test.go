package codealer_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"shuffled/client"
	"shuffled/internal/audit"
)

// commands are the operations of the contract that say in their answer that it was given before, with the words of
// these that a batch takes.
func commands(t *testing.T) (all map[string]string) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../httpapi/openapi.yaml")
	check(t, err)
	all = map[string]string{}
	words := map[string]string{"createShuffle": "shuffle", "createDraws": "draw", "mixShuffle": "mix",
		"dealCards": "deal", "revealCards": "reveal", "closeShuffle": "close"}
	for _, item := range doc.Paths.Map() {
		if item.Post == nil || item.Post.Responses.Status(200) == nil {
			continue
		}
		for _, content := range item.Post.Responses.Status(200).Value.Content {
			if content.Schema.Value.Properties["repeated"] != nil {
				all[item.Post.OperationID] = words[item.Post.OperationID]
			}
		}
	}
	_, ops, _ := strings.Cut(doc.Components.Schemas["Operation"].Value.Properties["op"].Value.Description, ": ")
	if !strings.HasPrefix(ops, "shuffle, draw, mix, deal, reveal or close.") || len(all) <= len(words) {
		t.Fatalf("the contract has the commands %v, and in a batch %v: give each its steps here", all, ops)
	}
	return all
}

// step is one command. path is behind the shuffle's, "" for a commit.
type step struct{ id, path, key, body string }

// said is an answer without its marks of a repeat, and how often these say that it was given before.
func said(t *testing.T, b []byte) (v any, marks int) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v, unmarked(v)
}

func unmarked(v any) (marks int) {
	switch v := v.(type) {
	case map[string]any:
		if v["repeated"] == true {
			marks++
		}
		delete(v, "repeated")
		for _, one := range v {
			marks += unmarked(one)
		}
	case []any:
		for _, one := range v {
			marks += unmarked(one)
		}
	}
	return marks
}

// repeater sends each command of a game once, and then again in each way.
type repeater struct {
	t       *testing.T
	p       *pair
	of      map[string]string // words of a batch, by operation
	token   string
	batched bool            // the first of all comes in a batch
	tried   map[string]bool // operations
	commit  step            // of the shuffle
	id      uint64
}

func (r *repeater) send(path, key, body string) []byte {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.p.house.url+"/v1/main"+path,
		strings.NewReader(body))
	check(r.t, err)
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + r.token}}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	check(r.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s, %v: %s", path, resp.Status, err, b)
	}
	return b
}

func (r *repeater) alone(s step) []byte {
	r.t.Helper()
	path := map[string]string{"createShuffle": "/shuffles", "createDraws": "/draws"}[s.id]
	if path == "" {
		path = fmt.Sprintf("/shuffles/%d%s", r.id, s.path)
	}
	return r.send(path, s.key, s.body)
}

// inBatch sends the command behind the commit of its shuffle.
func (r *repeater) inBatch(s step) []byte {
	r.t.Helper()
	if r.of[s.id] == "" {
		return r.alone(s)
	}
	ops := fmt.Sprintf(`{"op":%q,"key":%q,"body":%s}`, r.of[r.commit.id], r.commit.key, r.commit.body)
	if s.path != "" {
		ops += fmt.Sprintf(`,{"op":%q,"shuffle":{"op":0},"body":%s}`, r.of[s.id], s.body)
	}
	b := r.send("/batch", "", `{"operations":[`+ops+`]}`)
	var answer struct {
		Results []struct {
			Status int
			Body   json.RawMessage
		}
	}
	check(r.t, json.Unmarshal(b, &answer))
	last := answer.Results[len(answer.Results)-1]
	if last.Status != http.StatusOK {
		r.t.Fatalf("%s: %s", s.id, b)
	}
	return last.Body
}

func (r *repeater) try(s step) {
	r.t.Helper()
	if s.path == "" {
		r.commit = s
	}
	ways := []func(step) []byte{r.alone, r.inBatch}
	if r.batched {
		slices.Reverse(ways)
	}
	first, marks := said(r.t, ways[0](s))
	if marks != 0 {
		r.t.Errorf("%s: the first answer is marked as a repeat", s.id)
	}
	for _, way := range ways {
		if again, marks := said(r.t, way(s)); marks == 0 || !reflect.DeepEqual(first, again) {
			r.t.Errorf("%s: %d marks of a repeat, and first\n%v\nthen\n%v", s.id, marks, first, again)
		}
	}
	r.tried[s.id] = true
	if s.path == "" {
		r.id = uint64(first.(map[string]any)["id"].(float64))
		check(r.t, r.p.house.ledger.AwaitCosigned(r.t.Context(), r.id))
	}
}

// begin commits, mixes, deals and reveals. plan is the plan of the mix in front of its slot.
func (r *repeater) begin(id, what, plan string) {
	r.t.Helper()
	table := fmt.Sprint("table-", r.p.house.ledger.Head().Size)
	slot := client.NewSlot(houseOrigin, table)
	text := func(h client.Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }
	r.try(step{id, "", table, fmt.Sprintf(`{"table":%q,%s,"mix":{%s"slots":[%q]}}`, table, what, plan, text(slot.Hash))})
	r.try(step{"mixShuffle", "/mix", "", fmt.Sprintf(`{"slots":[%q]}`, text(slot.Value))})
	r.try(step{"dealCards", "/deal", "", `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"a"},
		{"count":1,"purpose":"burn"},{"count":1,"purpose":"board","public":true}]}`})
	r.try(step{"revealCards", "/reveal", "", `{"places":[0]}`})
}

// TestRepeatsAreTheFirstAnswer: every command of the contract, plain and blind, alone and in a batch, is answered to a
// repeat with each member of the first answer, whichever way the repeat comes.
func TestRepeatsAreTheFirstAnswer(t *testing.T) {
	p, of := newPair(t, setting{}), commands(t)
	token, other := p.house.newToken(audit.RoleDealer, "tester"), p.house.newToken(audit.RoleDealer, "other")
	for _, plan := range []string{"", `"co_dealer":true,`} {
		for _, batched := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q in a batch %t", plan, batched), func(t *testing.T) {
				r := &repeater{t: t, p: p, of: of, token: token, batched: batched, tried: map[string]bool{}}
				r.begin("createDraws", `"ranges":[6,6,6,6,6]`, plan)
				r.try(step{"dealCards", "/deal", "", `{"first":4,"runs":[{"count":1,"purpose":"seat","recipient":"b"}],
					"close":{"outcome":"completed","reveal":[4]}}`})
				r.begin("createShuffle", `"deck":"standard-52"`, plan)
				r.try(step{"closeShuffle", "/close", "", `{"outcome":"ended_early","reveal":[1]}`})
				r.begin("createShuffle", `"deck":"short-36"`, plan)
				r.token = other
				r.try(step{"takeOverShuffle", "/takeover", "", `{"reason":"a test"}`})
				for id := range of {
					if !r.tried[id] {
						t.Errorf("%s was not tried", id)
					}
				}
			})
		}
	}
}

// TestClientPlaysOnFromRepeats: a client whose every first answer is lost plays a hand to its end, plain and blind.
func TestClientPlaysOnFromRepeats(t *testing.T) {
	p := newPair(t, setting{})
	front := newFront(t, p.house.url)
	var calls atomic.Int64
	front.broken("", func(w http.ResponseWriter, answered func() *httptest.ResponseRecorder) bool {
		return calls.Add(1)%2 == 1 && lost(w, answered)
	})
	c, err := client.New(client.Config{URL: front.url, Ledger: "main", Policy: p.policy[houseOrigin],
		Token: p.house.newToken(audit.RoleDealer, "tester"), Pause: time.Millisecond})
	check(t, err)
	for _, blind := range []*client.MixPlanCoDealer{nil, new(client.MixPlanCoDealer(true))} {
		table := fmt.Sprint("blind-", blind != nil)
		slot := client.NewSlot(houseOrigin, table)
		s, err := c.Commit(t.Context(), table, client.ShuffleRequest{Table: table, Deck: new("standard-52"),
			Mix: &client.MixPlan{CoDealer: blind, Slots: []client.Hash{slot.Hash}}})
		check(t, err)
		_, err = c.Mix(t.Context(), s, client.MixRequest{Slots: []client.Hash{slot.Value}})
		check(t, err)
		dealt, err := c.Deal(t.Context(), s, client.DealRequest{Runs: []client.Run{{Count: 2,
			Purpose: client.PurposeSeat, Recipient: new("a")}}})
		check(t, err)
		end, err := c.Close(t.Context(), s, client.CloseRequest{Outcome: client.OutcomeCompleted})
		check(t, err)
		if s.Repeated == nil || dealt.Repeated == nil || end.Repeated == nil {
			t.Errorf("blind %t: no answer was lost", blind != nil)
		}
	}
}
