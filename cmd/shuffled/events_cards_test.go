package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/host"
	"shuffled/internal/needle"
)

// TestEventsTellNoCards plays whole games while a dealer and an auditor follow them, and looks in all
// that these are sent for the names of cards and labels, values, salts, tapes, secrets of players, and
// tokens. Then it compares two tables with the same requests and other tapes: no event hangs on what was
// dealt, however small the value is that it would tell.
func TestEventsTellNoCards(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	during := d.events("dealer.token", "")

	g := &secretGames{d: d, secrets: needle.New(), values: make(map[string]bool)}
	for _, name := range []string{"dealer.token", "auditor.token", "regulator.token", "admin.token"} {
		_, secret, _ := strings.Cut(d.token(name), ".")
		g.secrets.Bytes(name, []byte(secret))
	}
	g.play("left-table")
	g.play("twin-table")
	var last struct{ ID uint64 }
	d.mustPost("/v1/main/shuffles", "last", map[string]any{"table": "last", "deck": "standard-52"}, &last)

	told := map[string][]byte{"stream": during(last.ID),
		"stream from the beginning": d.events("auditor.token", "?after=0")(last.ID)}
	for where, b := range told {
		for _, what := range foundIn(g.secrets, b) {
			t.Errorf("%s stands in the %s", what, where)
		}
		for value := range g.values {
			if bytes.Contains(b, []byte(value)) {
				t.Errorf("the value %s stands in the %s", value, where)
			}
		}
		for _, member := range []string{"card", "cards", "value", "shows", "position", "salt", "proof", "tape", "label",
			"openings", "deck_root", "slots", "recipient"} {
			if bytes.Contains(b, []byte(`"`+member+`"`)) {
				t.Errorf("a member %s stands in the %s", member, where)
			}
		}
		left, twin := eventsAt(t, b, "left-table"), eventsAt(t, b, "twin-table")
		if len(left) < 20 || !slices.Equal(left, twin) {
			t.Errorf("void, or the %s differs by what was dealt:\n%s\n%s", where, left, twin)
		}
	}
	// The same search finds what it looks for in what the dealer was answered.
	kinds := make(map[string]bool)
	for _, what := range foundIn(g.secrets, g.answers) {
		kind, _, _ := strings.Cut(what, " ")
		kinds[kind] = true
	}
	if len(kinds) < 4 || len(g.values) < 4 {
		t.Errorf("void: the search found %v in the answers, and has %d values", kinds, len(g.values))
	}
}

// eventsAt returns the events of entries at a table, without what differs in any two games.
func eventsAt(t *testing.T, b []byte, table string) (events []string) {
	t.Helper()
	for line := range bytes.Lines(b) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if e["index"] == nil || e["table"] != table {
			continue
		}
		for _, member := range []string{"index", "time", "close_by", "shuffle", "parent", "table"} {
			delete(e, member)
		}
		rest, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, string(rest))
	}
	return events
}

// events opens a stream, and returns what it tells until an entry is told.
func (d *daemon) events(token, query string) (until func(id uint64) []byte) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+"/v1/main/events"+query, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token(token))
	resp, err := (&http.Client{}).Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		d.t.Fatal(resp, err)
	}
	d.t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	return func(id uint64) (told []byte) {
		d.t.Helper()
		for !bytes.HasSuffix(told, fmt.Appendf(nil, "\nid: %d\n", id)) {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				d.t.Fatal(err)
			}
			told = append(told, line...)
		}
		return told
	}
}

// secretGames plays, and keeps what nobody may be told by an event.
type secretGames struct {
	d       *daemon
	secrets *needle.Needles
	values  map[string]bool // drawn values and numbers, in decimal digits
	answers []byte          // of the daemon to the dealer
	games   int
}

// commit commits to a shuffle of n positions and returns its path, and what to call when it is closed.
func (g *secretGames) commit(route string, body map[string]any, n int) (path string, ended func()) {
	g.games++
	var made struct {
		ID         uint64
		Commitment []byte
	}
	g.answers = append(g.answers, g.d.mustPost("/v1/main/"+route, fmt.Sprint("game-", g.games), body, &made)...)
	return fmt.Sprintf("/v1/main/shuffles/%d/", made.ID), func() {
		tape := g.d.disclosedTape(made.ID)
		g.secrets.Bytes(fmt.Sprint("tape ", made.ID), tape)
		salts := openings.Salts([32]byte(made.Commitment), tape, n)
		for p := range n {
			g.secrets.Bytes(fmt.Sprint("salt ", p, " of ", made.ID), salts[32*p:32*p+32])
		}
	}
}

// post sends a request, and takes the values that its answer shows.
func (g *secretGames) post(path string, body map[string]any) {
	var shown struct{ Shows []uint64 }
	g.answers = append(g.answers, g.d.mustPost(path, "", body, &shown)...)
	for _, v := range shown.Shows {
		if v >= 1_000_000 { // a smaller one can stand anywhere by chance
			g.values[strconv.FormatUint(v, 10)] = true
		}
	}
}

func places(count int, purpose, recipient string, public bool) map[string]any {
	r := map[string]any{"count": count, "purpose": purpose}
	if recipient != "" {
		r["recipient"] = recipient
	}
	if public {
		r["public"] = true
	}
	return r
}

// play plays one game of each kind at a table.
func (g *secretGames) play(table string) {
	cards := make([]string, 30)
	for i := range cards {
		cards[i] = fmt.Sprintf("a-card-%02d-0123456789abcdef", i)
		if g.games == 0 {
			g.secrets.Bytes("card "+cards[i], []byte(cards[i]))
		}
	}
	var secret [32]byte
	copy(secret[:], "a secret of a player at "+table)
	g.secrets.Bytes("slot of "+table, secret[:])
	slot := audit.SlotHash(host.SandboxOrigin, table, secret)

	poker, ended := g.commit("shuffles", map[string]any{"table": table, "cards": cards, "disclosure": "auditor",
		"mix": map[string]any{"slots": [][]byte{slot[:]}, "cut": true}}, len(cards))
	g.post(poker+"mix", map[string]any{"slots": [][]byte{secret[:]}, "cut": 7})
	g.post(poker+"deal", map[string]any{"first": 0, "runs": []any{places(2, "seat", "seat-1", false),
		places(2, "seat", "seat-2", false), places(1, "burn", "", false), places(3, "board", "", true)}})
	g.post(poker+"deal", map[string]any{"first": 8, "runs": []any{places(1, "burn", "", false),
		places(1, "discard", "", true), places(1, "rabbit", "", false)}})
	g.post(poker+"reveal", map[string]any{"places": []int{0, 1}})
	g.post(poker+"reveal", map[string]any{"places": []int{4}, "exposed": true})
	g.post(poker+"deal", map[string]any{"first": 11, "runs": []any{places(1, "board", "", true)},
		"close": map[string]any{"outcome": "completed", "reveal": []int{2}}})
	ended()

	shoe, _ := g.commit("shuffles", map[string]any{"table": table, "cards": cards, "end_at": 20}, len(cards))
	g.post(shoe+"deal", map[string]any{"first": 0, "runs": []any{places(5, "seat", "box-1", true)}})
	id, err := strconv.ParseUint(strings.Split(shoe, "/")[4], 10, 64)
	if err != nil {
		g.d.t.Fatal(err)
	}
	stub, ended := g.commit("shuffles", map[string]any{"table": table, "parent": map[string]any{"id": id}}, 25)
	g.post(stub+"deal", map[string]any{"first": 0, "runs": []any{places(3, "seat", "box-1", false)}})
	g.post(stub+"close", map[string]any{"outcome": "void", "reason": "misdeal"})
	ended()

	dice, ended := g.commit("draws", map[string]any{"table": table, "ranges": []int{1 << 30, 1 << 30, 1 << 30}}, 3)
	g.post(dice+"deal", map[string]any{"first": 0, "runs": []any{places(1, "rabbit", "", false),
		places(2, "board", "", true)}})
	g.post(dice+"close", map[string]any{"outcome": "ended_early"})
	ended()

	raffle, ended := g.commit("draws", map[string]any{"table": table,
		"numbers": map[string]any{"of": 1 << 30, "take": 3}}, 3)
	g.post(raffle+"deal", map[string]any{"first": 0, "runs": []any{places(3, "board", "", true)},
		"close": map[string]any{"outcome": "completed"}})
	ended()
}
