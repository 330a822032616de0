package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
	"shuffled/internal/recall"
	"shuffled/internal/seal"
)

// TestUndealtCardsStayHidden builds shuffles in every state, makes every call of the contract about each of them as
// everybody, good calls and bad ones, and then opens what the house has sealed: no tape that nobody may have, and no
// card that was not dealt, stands in any byte that was answered, logged or measured.
func TestUndealtCardsStayHidden(t *testing.T) {
	t.Parallel()
	auditor, err := disclosure.NewAuditor(bytes.Repeat([]byte{audit.KeyHybrid}, disclosure.PrivateSize))
	must(t, err)
	s := newStack(t, stackOptions{auditor: auditor.Public(), wrap: func(l Ledger) Ledger {
		l.Recall = recall.New(l.Log, l.Access.(ledger.Store), 0, time.Now)
		return l
	}})
	h := &hunt{t: t, s: s, said: make(map[string][]byte), sent: make(map[uint64]bool)}
	for name, of := range h.everyState() {
		h.callAll(name, of)
	}
	h.callLog()
	h.said["log"] = []byte(s.log.String())
	for _, path := range []string{"/metrics", "/readyz", "/healthz"} {
		got := through(t, s.api.Operator(), ask{method: "GET", path: path})
		h.said[path] = got.body
	}
	h.search()
}

// hunt collects what the daemon said.
type hunt struct {
	t    *testing.T
	s    *stack
	said map[string][]byte // by request and caller: the answer with its header
	sent map[uint64]bool   // shuffles of which an opening was answered
}

// everyState returns a shuffle in each state there is, by state.
func (h *hunt) everyState() map[string]work {
	t, d := h.t, h.s.dealer
	all := make(map[string]work)
	must := func(err error) {
		t.Helper()
		must(t, err)
	}
	long := Timestamp(time.Now().Add(20 * time.Hour).UnixMilli())
	commit := func(state, table string, req api.ShuffleRequest) uint64 {
		t.Helper()
		req.Table = table
		if req.CloseBy == nil {
			req.CloseBy = &long
		}
		if req.Parent == nil {
			req.Deck = "standard-52"
		}
		s, err := d.Shuffle(t.Context(), h.s.house(), strings.ReplaceAll(state, " ", "-"), req)
		must(err)
		all[state] = work{table: table, path: fmt.Sprintf("/v1/main/shuffles/%d", s.ID)}
		return s.ID
	}
	deal := func(id uint64) uint64 {
		t.Helper()
		_, err := d.Deal(t.Context(), h.s.house(), id, api.DealRequest{Runs: []audit.Run{
			{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"},
			{Count: 3, Purpose: audit.PurposeBoard, Public: true}}})
		must(err)
		return id
	}
	end := func(id uint64, outcome audit.Outcome, reason audit.Reason) {
		t.Helper()
		_, err := d.Close(t.Context(), h.s.house(), id, api.CloseRequest{Outcome: outcome, Reason: reason})
		must(err)
	}
	sealed := api.ShuffleRequest{Disclosure: audit.DisclosureAuditor}
	soon := Timestamp(time.Now().Add(1500 * time.Millisecond).UnixMilli())
	hour := Timestamp(time.Now().Add(time.Hour).UnixMilli())

	expires := deal(commit("expired", "e1", api.ShuffleRequest{Disclosure: audit.DisclosureAuditor, CloseBy: &soon}))
	commit("committed", "a", api.ShuffleRequest{})
	commit("committed elsewhere", "z", api.ShuffleRequest{EndAt: &api.EndAt{Lo: 3, Hi: 50}})
	cut := &api.MixPlan{Cut: true}
	commit("planned", "p1", api.ShuffleRequest{Plan: cut})
	mixed := commit("mixed", "p2", api.ShuffleRequest{Plan: cut})
	seven := 7
	_, err := d.Mix(t.Context(), h.s.house(), mixed, api.MixRequest{Cut: &seven})
	must(err)
	deal(commit("half dealt", "b", api.ShuffleRequest{}))
	deal(commit("half dealt for auditors", "h1", sealed))
	deal(commit("overdue", "o1", api.ShuffleRequest{CloseBy: &hour}))
	end(deal(commit("closed", "c1", api.ShuffleRequest{})), audit.OutcomeCompleted, 0)
	end(deal(commit("closed for auditors", "c2", sealed)), audit.OutcomeEndedEarly, 0)
	end(commit("void", "c3", sealed), audit.OutcomeVoid, audit.ReasonMisdeal)
	for state, who := range map[string]audit.Disclosure{"child": audit.DisclosurePublic,
		"child for auditors": audit.DisclosureAuditor} {
		above := deal(commit("parent of the "+state, "k-"+who.String(), api.ShuffleRequest{Disclosure: who}))
		deal(commit(state, "k-"+who.String(), api.ShuffleRequest{Parent: &api.Parent{ID: above}, Disclosure: who}))
	}
	draw, err := d.Draws(t.Context(), h.s.house(), "draw",
		api.DrawsRequest{Table: "d1", Ranges: []uint32{6, 6, 6, 6, 6, 6, 37, 1 << 30}, CloseBy: &long})
	must(err)
	all["draw"] = work{table: "d1", path: fmt.Sprintf("/v1/main/shuffles/%d", deal(draw.ID))}

	h.s.clock.add(time.Minute) // it stood still since the stack was made
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for tries := 0; ; tries++ { // refused until the ledger's own clock says so
		_, expire := d.Expire(t.Context())
		open, err := d.Ledger().OpenAt(t.Context(), 0)
		must(err)
		if !slices.ContainsFunc(open, func(o rules.OpenRef) bool { return o.ID == expires }) {
			break
		}
		if tries == 1200 {
			t.Fatalf("a shuffle does not expire: %v", expire)
		}
		<-tick.C
	}
	h.s.clock.add(2 * time.Hour) // for the word overdue
	return all
}

// callers are everybody, by name.
func (h *hunt) callers() map[string]string {
	s := h.s
	return map[string]string{"nobody": "", "dealer": s.dealerToken, "dealer of other tables": s.tableToken,
		"auditor":   s.auditorToken,
		"regulator": s.regulatorToken, "admin": s.adminToken, "expired": s.expired, "wrong": s.wrong}
}

// callAll makes every call about one shuffle, as everybody.
func (h *hunt) callAll(state string, of work) {
	var asks []ask
	for _, r := range rights(h.t) {
		a := r.ask(h.s, of)
		if a.key != "" {
			a.key = fmt.Sprintf("hunt-%d", len(h.said))
		}
		asks = append(asks, a)
	}
	bad := func(path string, bodies ...string) {
		for _, b := range bodies {
			asks = append(asks, ask{method: "POST", path: path, key: fmt.Sprintf("bad-%d-%d", len(h.said), len(asks)),
				body: b})
		}
	}
	id := of.path[strings.LastIndex(of.path, "/")+1:]
	bad(of.path+"/deal", `{"first":40,"runs":[{"count":1,"purpose":"seat","recipient":"seat-1"}]}`,
		`{"first":5,"runs":[{"count":48,"purpose":"seat","recipient":"seat-1"}]}`,
		`{"first":0,"runs":[{"count":5,"purpose":"seat","recipient":"seat-1"}]}`, `{"first":1,"runs":[{"count":1,"purpose":"seat","recipient":"seat-1"}]}`,
		`{"first":-1,"runs":[]}`,
		`{"first":5,"runs":[{"count":1,"purpose":"order"}]}`,
		`{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"},{"count":3,"purpose":"board","public":true}]}`,
		`{"first":5,"runs":[{"count":1,"purpose":"seat","recipient":"seat-1"}]}`, `nonsense`)
	bad(of.path+"/mix", `{}`, `{"cut":99}`, `{"cut":1}`, `{"slots":["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}`)
	bad(of.path+"/close", `{"outcome":"void"}`, `{"outcome":"expired"}`, `{"outcome":"void","reason":"tape_lost"}`)
	bad("/v1/main/shuffles", `{"table":"`+of.table+`","parent":{"id":`+id+`,"positions":[1,2,60]}}`,
		`{"table":"other","parent":{"id":`+id+`}}`)
	for _, query := range []string{"?recipient=seat-1", "?recipient=seat-9", "?recipient=", "?position=40",
		"?all=true"} {
		asks = append(asks, ask{method: "GET", path: of.path + "/transcript" + query})
	}
	for _, method := range []string{"HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		asks = append(asks, ask{method: method, path: of.path}, ask{method: method, path: of.path + "/transcript"})
	}
	for _, path := range []string{of.path + "/", of.path + "/cards", of.path + "/deal", of.path + "/tape", of.path +
		"/../" + id} {
		asks = append(asks, ask{method: "GET", path: path})
	}
	for who, token := range h.callers() {
		for i, a := range asks {
			discloses := strings.HasSuffix(a.path, "/close") && strings.Contains(fmt.Sprint(a.body), "completed")
			if a.token = token; discloses && who == "dealer" && !strings.HasSuffix(state, "for auditors") {
				continue // it tells the tape to everybody, and should
			}
			h.call(fmt.Sprintf("%s %s as %s, %s, %d", a.method, a.path, who, state, i), a)
		}
	}
}

// callLog reads the whole log, and has transcripts judged.
func (h *hunt) callLog() {
	size := h.s.ledger.Live().Size
	var asks []ask
	for i := range size + 1 {
		asks = append(asks, ask{method: "GET", path: fmt.Sprintf("/v1/main/entries/%d/receipt", i)})
	}
	width := min(size, 255)
	for _, path := range []string{"/", "/openapi.yaml", fmt.Sprintf("/log/main/tile/0/000.p/%d", width),
		fmt.Sprintf("/log/main/tile/entries/000.p/%d", width), "/log/main/tile/0/000",
		"/v1/main/shuffles?limit=1000", "/v1/main/shuffles?state=open", "/v1/main/access"} {
		asks = append(asks, ask{method: "GET", path: path})
	}
	for name, b := range h.said {
		if strings.Contains(name, "/transcript as dealer,") {
			_, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
			asks = append(asks, ask{method: "POST", path: "/v1/verify", body: body})
		}
	}
	for who, token := range h.callers() {
		for i, a := range asks {
			a.token = token
			h.call(fmt.Sprintf("%s %s as %s, %d", a.method, a.path, who, i), a)
		}
	}
}

func (h *hunt) call(name string, a ask) {
	h.t.Helper()
	resp, err := http.DefaultClient.Do(a.request(h.t, h.s.url))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	header, err := httputil.DumpResponse(resp, false)
	if err != nil {
		h.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented {
		h.t.Errorf("%s: %s: %s", name, resp.Status, cut(body))
	}
	h.said[name] = append(header, body...)
}

// search opens every shuffle of the ledger and looks for what is secret of it.
func (h *hunt) search() {
	t := h.t
	hidden, known := make(needles), make(needles)
	dealt := make(map[uint64]map[int]bool) // positions
	tapes, cards := 0, 0
	for row, err := range h.s.store.Rows(context.Background(), h.s.ledger.ID(), 0, audit.MaxInteger) {
		must(t, err)
		e, err := audit.ParseEntry(row.Entry)
		must(t, err)
		if c, ok := e.Body.(*audit.Commit); ok {
			known.add("commitment", c.Commitment[:])
			o := h.open(row, c)
			if dealt[row.Index] = o.dealt; o.told {
				continue
			}
			tapes++
			hidden.add(fmt.Sprintf("the tape of %d", row.Index), o.tape)
			hidden.add(fmt.Sprintf("the tape of %d, further on", row.Index), o.tape[len(o.tape)/2:])
			for p := range c.Context.Recipe.Positions() {
				if salt := o.salts[32*p : 32*p+32]; o.dealt[p] {
					known.add("a salt", salt)
				} else {
					cards++
					hidden.add(fmt.Sprintf("salt %d of %d", p, row.Index), salt)
				}
			}
		}
	}
	found := 0
	for where, b := range h.said {
		for _, what := range hidden.in(b) {
			t.Errorf("%s stands in: %s", what, where)
		}
		found += len(known.in(b))
		h.openings(where, b, dealt)
	}
	t.Logf("%d tapes and %d cards in %d answers; %d known values found, openings of %d shuffles", tapes, cards,
		len(h.said), found, len(h.sent))
	if tapes < 12 || cards < 300 || found < 100 || len(h.sent) < 8 {
		t.Error("void: the search looked for too little, or finds nothing")
	}
}

// opened is a shuffle laid open with the house's key.
type opened struct {
	tape, salts []byte
	dealt       map[int]bool // positions
	told        bool         // the tape is public
}

func (h *hunt) open(row ledger.Row, c *audit.Commit) opened {
	t := h.t
	t.Helper()
	b, err := h.s.ring.Open(h.s.origin, c.Commitment, row.Kept)
	must(t, err)
	n := 0
	if c.Context.Parent != nil {
		n = c.Context.Recipe.Cards
	}
	o := opened{dealt: make(map[int]bool)}
	if o.tape, _, err = seal.Split(b, c.Context.Recipe.TapeLen(), n); err != nil {
		t.Fatal(err)
	}
	o.salts = openings.Salts(c.Commitment, o.tape, c.Context.Recipe.Positions())
	found, err := h.s.store.ByShuffles(context.Background(), h.s.ledger.ID(), ledger.Durable, row.Index)
	must(t, err)
	rows := found[0]
	var mix *audit.Mix
	for _, r := range rows {
		e, err := audit.ParseEntry(r.Entry)
		must(t, err)
		switch b := e.Body.(type) {
		case *audit.Mix:
			mix = b
		case *audit.Deal:
			order, err := openings.NewOrder(tlog.RecordHash(row.Entry), c, mix)
			must(t, err)
			for place := b.First; place < b.First+b.Count(); place++ {
				o.dealt[order.Position(place)] = true
			}
		case *audit.Close:
			o.told = b.Form == audit.FormTape
		}
	}
	return o
}

// openings wants every opening in an answer about a shuffle to be of a position that was dealt.
func (h *hunt) openings(where string, b []byte, dealt map[uint64]map[int]bool) {
	_, path, ok := strings.Cut(where, "/v1/main/shuffles/")
	_, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	var id uint64
	if _, err := fmt.Sscanf(path, "%d", &id); !ok || err != nil || !json.Valid(body) {
		return
	}
	walk(decodeAny(h.t, body), func(v map[string]any) {
		if p, ok := v["position"].(float64); ok && v["salt"] != nil {
			h.sent[id] = true
			if !dealt[id][int(p)] {
				h.t.Errorf("position %v of shuffle %d was not dealt and stands in: %s", p, id, where)
			}
		}
	})
}

// needles are byte strings to look for, by their first eight bytes.
type needles map[string][]needle

type needle struct {
	what string
	form []byte
}

// add looks for a secret's first 24 bytes: raw, in hexadecimal of either case, in
// base64 of either alphabet at each alignment, and as numbers.
func (n needles) add(what string, secret []byte) {
	head := secret[:min(len(secret), 24)]
	numbers := strings.Trim(fmt.Sprint(head), "[]")
	forms := []string{string(head), hex.EncodeToString(head), strings.ToUpper(hex.EncodeToString(head)),
		numbers, strings.ReplaceAll(numbers, " ", ","), strings.ReplaceAll(numbers, " ", ", ")}
	for shift := range 3 {
		// Without the ends, which depend on the neighbours.
		text := base64.StdEncoding.EncodeToString(append(make([]byte, shift), head...))
		text = text[4 : len(text)-4]
		forms = append(forms, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
	}
	for _, f := range forms {
		n[f[:8]] = append(n[f[:8]], needle{what, []byte(f)})
	}
}

// in returns what stands in b.
func (n needles) in(b []byte) (found []string) {
	for i := range len(b) - 7 {
		for _, one := range n[string(b[i:i+8])] {
			if bytes.HasPrefix(b[i:], one.form) {
				found = append(found, one.what)
			}
		}
	}
	return found
}
