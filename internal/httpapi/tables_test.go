package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/recall"
)

// recalling has a stack find what is there.
func recalling(l Ledger) Ledger {
	l.Recall = recall.New(l.Log, l.Access.(ledger.Store), 0, time.Now)
	return l
}

// TestByTable plays hands of a table without an id.
func TestByTable(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{wrap: recalling})
	const at = "/v1/main/shuffles/@a"
	const deal, end = `{"first":0,"runs":[{"count":1,"purpose":"board","public":true}]}`, `{"outcome":"completed"}`
	s.get(at, "").want(t, CodeNotFound, "id")
	s.post(at+"/deal", "", deal).want(t, CodeNotFound, "id")
	one, path := s.commit("a", "1")
	if got := read[ShuffleState](t, s.get(at, "")); got.ID != one.ID {
		t.Errorf("%+v", got)
	}
	dealt := s.post(at+"/deal", "", deal)
	if again := s.post(path+"/deal", "", deal); strings.Replace(string(again.body), `"repeated":true,`, "", 1) !=
		string(dealt.body) {
		t.Errorf("%s\nby id: %s", dealt.body, again.body)
	}
	s.do(ask{method: http.MethodPost, path: at + "/takeover", token: s.otherToken, body: `{"reason":"a test"}`}).
		want(t, "", "")
	s.do(ask{method: http.MethodPost, path: at + "/close", token: s.otherToken, body: end}).want(t, "", "")
	// None is open: it is the newest, so that a lost answer is asked for again.
	again := read[Close](t, s.do(ask{method: http.MethodPost, path: at + "/close", token: s.otherToken, body: end}))
	if !again.Repeated {
		t.Errorf("%+v", again)
	}
	if got := read[ShuffleState](t, s.get(at, "")); got.ID != one.ID || got.State != api.StateClosed {
		t.Errorf("%+v", got)
	}
	s.get(at+"/transcript", "").want(t, "", "")

	two, _ := s.commit("a", "2")
	three, _ := s.commit("a", "3")
	ids := fmt.Sprintf(`"shuffles":[%d,%d]`, two.ID, three.ID)
	for _, got := range []answer{s.get(at, ""), s.post(at+"/deal", "", deal), s.post(at+"/close", "", end)} {
		got.want(t, CodeWhichShuffle, "id")
		if !strings.Contains(string(got.body), ids) || strings.Count(string(got.body), "by its id") != 1 {
			t.Errorf("%s, want %s, and the cure once", got.body, ids)
		}
	}
	if got := read[ShuffleState](t, s.get(at+":2", "")); got.ID != two.ID {
		t.Errorf("%+v", got)
	}
	s.post(at+":2/deal", "", deal).want(t, "", "")
	s.post(at+":1/close", "", end).want(t, CodeNotYours, "")
	s.get(at+":4", "").want(t, CodeNotFound, "id")
	for _, bad := range []string{"@", "@a:", "@a:0", "@a:01", "@:1", "@a:1:1", "@-a"} {
		s.get("/v1/main/shuffles/"+bad, "").want(t, CodeInvalidValue, "id")
	}
}

// TestByTableScope: a token for some tables does nothing by the name of another.
func TestByTableScope(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{wrap: recalling, private: true})
	for _, table := range []string{"a", "c"} {
		s.commit(table, table)
	}
	own := s.get("/v1/main/shuffles/@a", s.tableToken)
	own.want(t, "", "")
	for _, path := range []string{"@c", "@c:1", "@c/transcript", "@none"} {
		s.get("/v1/main/shuffles/"+path, s.tableToken).want(t, CodeForbidden, "")
	}
	s.do(ask{method: http.MethodPost, path: "/v1/main/shuffles/@c/close", token: s.tableToken,
		body: `{"outcome":"completed"}`}).want(t, CodeForbidden, "")
	list := read[TableList](t, s.get("/v1/main/tables", s.tableToken))
	if len(list.Tables) != 1 || list.Tables[0].Table != "a" {
		t.Errorf("%+v", list)
	}
}

// TestHeldUp: another identity commits to 200 shuffles and deals none. One close of the table by an administrator, and
// by nobody else, sets all of them aside, the house's own too, and the house deals at once.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{wrap: recalling})
	var ops []string
	for i := range 200 {
		ops = append(ops, fmt.Sprintf(`{"op":"shuffle","key":"held-%d","body":{"table":"t","deck":"short-36"}}`, i))
	}
	s.by(s.otherToken, "/v1/main/batch", "", `{"operations":[`+strings.Join(ops, ",")+`]}`).want(t, "", "")
	own, _ := s.commit("t", "own")
	deal := func(id uint64) answer { return s.post(fmt.Sprintf("/v1/main/shuffles/%d/deal", id), "", twoHands) }
	deal(own.ID).want(t, CodeEarlierSerial, "")
	s.post("/v1/main/tables", "", `{"action":"close","table":"t"}`).want(t, CodeForbidden, "")
	s.admin("/v1/main/tables", `{"action":"close","table":"t"}`).want(t, "", "")
	s.admin("/v1/main/tables", `{"action":"open","table":"t"}`).want(t, "", "")
	deal(own.ID).want(t, CodeSetAside, "")
	s.by(s.otherToken, "/v1/main/shuffles/@t:200/deal", "", twoHands).want(t, CodeSetAside, "")
	next, _ := s.commit("t", "next")
	deal(next.ID).want(t, "", "")
}

// TestListTables lists tables in pages, and decks.
func TestListTables(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{wrap: recalling})
	one, _ := s.commit("b", "1")
	two, _ := s.commit("b", "2")
	s.commit("a", "1")
	s.post("/v1/main/shuffles/@a/close", "", `{"outcome":"completed"}`).want(t, "", "")
	s.admin("/v1/main/tables", `{"action":"close","table":"c"}`).want(t, CodeTable, "")
	s.admin("/v1/main/tables", `{"action":"open","table":"c"}`).want(t, "", "")
	s.admin("/v1/main/tables", `{"action":"close","table":"c"}`).want(t, "", "")
	s.get("/v1/main/tables", "").want(t, CodeUnauthorized, "")
	first := read[TableList](t, s.get("/v1/main/tables?limit=2", s.auditorToken))
	if value(first.Next) != "b" || len(first.Tables) != 2 || first.Tables[0].Table != "a" ||
		len(first.Tables[0].Shuffles) != 0 || first.Tables[0].Serial != 1 ||
		!slices.Equal(first.Tables[1].Shuffles, []uint64{one.ID, two.ID}) || value(first.Tables[1].Newest) != two.ID {
		t.Errorf("%+v", first)
	}
	rest := read[TableList](t, s.get("/v1/main/tables?after=b", s.adminToken))
	if rest.Next != nil || len(rest.Tables) != 1 || rest.Tables[0].State != TableStateStateClosed ||
		rest.Tables[0].Newest != nil {
		t.Errorf("%+v", rest)
	}
	s.get("/v1/main/tables?limit=0", s.auditorToken).want(t, CodeInvalidValue, "limit")
	decks := read[DeckList](t, s.get("/v1/main/decks", ""))
	if len(decks.Decks) != 21 || decks.Decks[0].Name != "standard-52" || decks.Decks[0].Cards != 52 {
		t.Errorf("%+v", decks)
	}
}
