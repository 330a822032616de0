package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/inspect"
	"shuffled/internal/term"
	"shuffled/internal/testdb"
)

// deed is what a house does with a hand.
type deed struct {
	outcome, reason string // of the close, "" for none
	life            time.Duration
}

// selective are the ways to get rid of a hand that the house does not like.
var selective = []deed{
	{"void", "misdeal", 0}, {"void", "game_cancelled", 0}, {"ended_early", "", 0},
	{"expired", "", 6 * time.Second}, // abandoned, and closed by the reaper
	{"", "", 0},                      // never closed
}

// TestSelectiveHouse: a house with all its keys drops some of its hands, each in a way that the rules allow. The audit
// of the exported ledger reports exactly these hands, by table and serial, with how they ended and why.
func TestSelectiveHouse(t *testing.T) {
	t.Parallel()
	for _, inPostgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[inPostgres], func(t *testing.T) {
			t.Parallel()
			database := ""
			if inPostgres {
				database = testdb.DSN(t)
			}
			d := newDaemon(t, database)
			d.start()
			want := make(map[string]deed) // by table and serial
			for n := range 60 {
				what := deed{outcome: "completed"}
				if n < len(selective) || rand.IntN(4) == 0 {
					what = selective[n%len(selective)]
				}
				table, serial := d.hand(n, what)
				want[fmt.Sprintf("%s/%d", table, serial)] = what
			}
			vkey := d.vkey()
			d.awaitExpired(want)
			d.stop()
			wantSelection(t, d, vkey, want)
		})
	}
}

// hand plays a hand at one of three tables up to what the house does with it.
func (d *daemon) hand(n int, what deed) (table string, serial uint64) {
	d.t.Helper()
	var s struct {
		ID, Serial uint64
	}
	table = fmt.Sprint("t", n%3)
	req := map[string]any{"table": table, "deck": "standard-52"}
	if what.life > 0 {
		req["close_by"] = time.Now().Add(what.life).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	d.mustPost("/v1/main/shuffles", fmt.Sprint("hand-", n), req, &s)
	path := fmt.Sprintf("/v1/main/shuffles/%d", s.ID)
	d.mustPost(path+"/deal", "", map[string]any{"first": 0,
		"runs": []any{map[string]any{"count": 1 + n%5, "purpose": "seat", "recipient": "seat-1"}}}, nil)
	if what.outcome != "" && what.outcome != "expired" {
		end := map[string]any{"outcome": what.outcome}
		if what.reason != "" {
			end["reason"] = what.reason
		}
		d.mustPost(path+"/close", "", end, nil)
	}
	return table, s.Serial
}

func (d *daemon) vkey() string {
	d.t.Helper()
	_, b, err := d.get("/v1/main/keys", "")
	var keys struct{ Keys []struct{ Vkey string } }
	if err == nil {
		err = json.Unmarshal(b, &keys)
	}
	if err != nil || len(keys.Keys) == 0 {
		d.t.Fatalf("%v: %s", err, b)
	}
	return keys.Keys[0].Vkey
}

// awaitExpired waits until the reaper closed what was abandoned.
func (d *daemon) awaitExpired(want map[string]deed) {
	d.t.Helper()
	open := 0 // for good
	for _, what := range want {
		if what.outcome == "" {
			open++
		}
	}
	d.waitFor(d.url+"/metrics", func(resp *http.Response) bool {
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if name, value, ok := strings.Cut(s.Text(), " "); ok &&
				strings.HasPrefix(name, "shuffled_ledger_open_shuffles{") {
				return value == fmt.Sprint(open)
			}
		}
		return false
	})
}

// wantSelection exports the ledger, audits it, and holds figures and shuffles against what the house did.
func wantSelection(t *testing.T, d *daemon, vkey string, want map[string]deed) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	export(t, dir, d.place()...)
	lines := filepath.Join(t.TempDir(), "shuffles.jsonl")
	later := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	out, errs, code := command(t, "audit", "verify", dir, "--key", vkey, "--json", "--shuffles", lines, "--at", later)
	if code != term.ExitOK {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	var r inspect.Report
	must(t, json.Unmarshal([]byte(out), &r))
	got := make(map[string]deed)
	for _, l := range readShuffles(t, lines) {
		got[fmt.Sprintf("%s/%d", l.Table, l.Serial)] = deed{outcome: l.Outcome, reason: l.Reason}
	}
	open := make(map[string]bool)
	for _, o := range r.Open {
		if open[fmt.Sprintf("%s/%d", o.Table, o.Serial)] = true; !o.Overdue {
			t.Errorf("%+v is not overdue two days later", o)
		}
	}
	tables := make(map[string]map[string]uint64)
	for hand, what := range want {
		if what.life = 0; got[hand] != what || open[hand] != (what.outcome == "") {
			t.Errorf("%s is reported as %+v, open %t, the house did %+v", hand, got[hand], open[hand], what)
		}
		table, _, _ := strings.Cut(hand, "/")
		if tables[table] == nil {
			tables[table] = make(map[string]uint64)
		}
		tables[table][what.outcome]++
		tables[table][what.outcome+" "+what.reason]++
	}
	if len(got) != len(want) || len(r.Tables) != len(tables) {
		t.Errorf("%d hands at %d tables are reported, there were %d at %d", len(got), len(r.Tables), len(want),
			len(tables))
	}
	for _, c := range r.Tables {
		w := tables[c.Table]
		if c.Completed != w["completed"] || c.EndedEarly != w["ended_early"] || c.Expired != w["expired"] ||
			c.Void != w["void"] || c.Open != w[""] || c.Overdue != w[""] || c.VoidBy["misdeal"] != w["void misdeal"] ||
			c.VoidBy["game_cancelled"] != w["void game_cancelled"] {
			t.Errorf("the figures of %s are %+v, the house did %v", c.Table, c.Counts, w)
		}
	}
	for _, what := range selective {
		if !slices.Contains(slices.Collect(maps.Values(want)), what) {
			t.Errorf("void: the house did no %+v", what)
		}
	}
}

func readShuffles(t *testing.T, name string) (all []inspect.ShuffleLine) {
	t.Helper()
	for line := range strings.Lines(string(contents(t, name))) {
		var l inspect.ShuffleLine
		must(t, json.Unmarshal([]byte(line), &l))
		all = append(all, l)
	}
	return all
}
