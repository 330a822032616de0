package attacks

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	flooders = 8  // at a time
	mostSlow = 30 // how many times the usual time a dealer's request may take: more is a ledger that does not deal
	rounds   = 4
)

// floods are the bodies with which routes are flooded. N is another number each time.
var floods = map[string]string{
	"createShuffle":    `{"table":"flood-N","deck":"standard-52"}`,
	"createDraws":      `{"table":"flood-N","ranges":[6]}`,
	"createBatch":      `{"operations":[{"op":"shuffle","key":"batch-N","body":{"table":"flood-N","deck":"standard-52"}}]}`,
	"putTerms":         `{"kind":"pay_table","text":"N` + strings.Repeat("x", 60_000) + `"}`,
	"mixShuffle":       `{"cut":1}`,
	"dealCards":        holeCards,
	"closeShuffle":     completed,
	"revealCards":      `{"places":[0]}`,
	"addStatement":     `{"statement":"x"}`,
	"takeOverShuffle":  `{"reason":"a flood"}`,
	"changeCredential": `{"action":"revoke","credential":"tok_nobody","reason":"a flood"}`,
	"submitAct":        `{"type":8,"body":"AA=="}`,
	"setTable":         `{"action":"open","table":"flood-N"}`,
	"setSwitch":        `{"scope":"table","table":"flood-N","reason":"a flood"}`,
	"verify":           `{}`,
}

// TestFloodOfEachRoute: each route of the contract is flooded by each role, and by a stranger without a token, while
// the house deals. No flood takes the ledger from the house: in the best of some rounds its requests take at most
// mostSlow times as long as without the flood.
func TestFloodOfEachRoute(t *testing.T) {
	attackAlone(t)
	h := open(t, terms{})
	hand := h.hand("flooded", "t1")
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	tokens := map[string]string{"a stranger": "", "another dealer": h.thief, "a room": h.room, "an auditor": h.auditor,
		"a regulator": h.regulator, "an administrator": h.admin}
	worst, slowest := 0.0, ""
	tried := 0
	for _, r := range h.contract() {
		for who, token := range tokens {
			tried++
			name := r.Method + " " + r.Path + " as " + who
			ratio := h.slowed(name, r, hand, token)
			t.Logf("%5.1f times: %s", ratio, name)
			if ratio > worst {
				worst, slowest = ratio, name
			}
		}
	}
	fmt.Printf("attacks: %s: of %d floods the worst makes a request of the house take %.1f times as long: %s\n", t.Name(), tried,
		worst, slowest)
}

// operation is a route of the contract.
type operation struct{ ID, Method, Path string }

// contract returns the routes of the public listener, as the daemon's contract has them.
func (h *house) contract() (all []operation) {
	h.t.Helper()
	var doc struct {
		Paths map[string]map[string]any
	}
	h.check(yaml.Unmarshal(h.ok(h.get("/openapi.yaml", "")).body, &doc))
	for path, item := range doc.Paths {
		for method, op := range item {
			of, ok := op.(map[string]any)
			if !ok || of["tags"] != nil && slices.Contains(of["tags"].([]any), any("operator")) {
				continue // the parameters that the methods share, or another listener
			}
			r := operation{of["operationId"].(string), strings.ToUpper(method), path}
			if of["requestBody"] != nil && floods[r.ID] == "" {
				h.t.Errorf("there is no body here to flood %s with", r.ID)
			}
			all = append(all, r)
		}
	}
	if len(all) < 30 {
		h.t.Fatalf("the contract has %d routes", len(all))
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// slowed returns how many times as long a request of the house takes while a route is flooded, in the best of some
// rounds.
func (h *house) slowed(name string, r operation, hand, token string) (best float64) {
	h.t.Helper()
	for round := range rounds {
		quiet := h.median(fmt.Sprintf("%s quiet %d", r.ID, round))
		stop := h.floodRoute(r, hand, token)
		busy := h.median(fmt.Sprintf("%s busy %d", r.ID, round))
		stop()
		ratio := busy.Seconds() / max(quiet, time.Millisecond).Seconds()
		if round == 0 || ratio < best {
			best = ratio
		}
		if best <= mostSlow/4 {
			return best
		}
	}
	if best > mostSlow {
		h.t.Errorf("%s: a request of the house takes %.0f times as long", name, best)
	}
	return best
}

var played atomic.Int64

// median plays a hand, and returns the median of the times that its requests took until they were done.
func (h *house) median(name string) time.Duration {
	h.t.Helper()
	var took []time.Duration
	send := func(path, key, body string) (a answer) {
		began := time.Now()
		h.daemon.until("done with a hand alongside the flood "+name, func() bool {
			a = h.do(http.MethodPost, path, h.house, key, body)
			return a.status == http.StatusOK
		})
		took = append(took, time.Since(began))
		return a
	}
	key := fmt.Sprint("hand-", played.Add(1))
	own := h.shuffle(send("/v1/main/shuffles", key, `{"table":"`+key+`","deck":"standard-52"}`))
	send(own+"/deal", "", holeCards)
	send(own+"/deal", "", flop)
	send(own+"/close", "", completed)
	slices.Sort(took)
	return took[len(took)/2]
}

// floodRoute has callers with the token call the route, one time after another, until stop is called. It returns when
// each has called once.
func (h *house) floodRoute(r operation, hand, token string) (stop func()) {
	h.t.Helper()
	ended := make(chan struct{})
	var begun, all sync.WaitGroup
	path := strings.NewReplacer("/v1/{ledger}/shuffles/{id}", hand, "{ledger}", "main", "{index}", "2", "{tile}", "000.p/2",
		"{hash}", strings.Repeat("0", 64)).Replace(r.Path)
	if r.ID == "followEvents" {
		path += "?after=0"
	}
	for range flooders {
		begun.Add(1)
		all.Go(func() {
			first := sync.OnceFunc(begun.Done)
			for {
				select {
				case <-ended:
					return
				default:
				}
				h.callOnce(r, path, token)
				first()
			}
		})
	}
	begun.Wait()
	return func() { close(ended); all.Wait() }
}

// callOnce makes one request, and leaves when it has read the first bytes of the answer.
func (h *house) callOnce(r operation, path, token string) {
	number := fmt.Sprint(played.Add(1))
	body := strings.ReplaceAll(floods[r.ID], "N", number)
	req, err := http.NewRequestWithContext(h.t.Context(), r.Method, h.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "flood-"+number)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	most := int64(64 << 10)
	if r.ID == "followEvents" {
		most = 64 // it has no end
	}
	io.CopyN(io.Discard, resp.Body, most)
}
