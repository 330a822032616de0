package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
)

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
