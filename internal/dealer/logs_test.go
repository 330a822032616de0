package dealer_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/shuffle"
)

// lines is a log that everybody writes.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// logger logs everything, as text and as JSON.
func (l *lines) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelDebug - 8}
	return slog.New(slog.NewMultiHandler(slog.NewTextHandler(l, options), slog.NewJSONHandler(l, options)))
}

// printed are the ways in which bytes come into a log: what fmt and slog make of them, and what they are encoded as.
func printed(secret []byte) (forms []string) {
	s := secret[:16]
	list := strings.Trim(fmt.Sprint(s), "[]")
	forms = []string{string(s), hex.EncodeToString(s), strings.ToUpper(hex.EncodeToString(s)), list,
		strings.ReplaceAll(list, " ", ","), strings.ReplaceAll(list, " ", ", "), fmt.Sprintf("% x", s)}
	quoted := strconv.Quote(string(secret))
	forms = append(forms, quoted[1:33], strings.Trim(fmt.Sprintf("%#v", s), "[]byte{}"))
	for shift := range 3 { // without the ends, which depend on the bytes next to them
		text := base64.StdEncoding.EncodeToString(append(make([]byte, shift), secret[:24]...))
		text = text[4 : len(text)-4]
		forms = append(forms, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
	}
	return forms
}

// TestNothingLogsATape plays hands of every kind, well and badly, with the most that
// can be logged, and looks for tapes and orders in every form that a log line has.
func TestNothingLogsATape(t *testing.T) {
	t.Parallel()
	_, publics := newAuditors(t, 1)
	tb := newTableWith(t, setting{modes: allModes, auditors: publics})
	var log lines
	tb.cfg.Log, tb.open.Log = log.logger(), log.logger()
	tb.restart()
	ctx := t.Context()
	secret := bytes.Repeat([]byte("a secret of 24 by"), 2)
	tb.cfg.Log.Debug("planted", "bytes", secret)
	tb.cfg.Log.Debug(fmt.Sprint(secret))

	planned := api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Cut: true}}
	var ids []uint64
	for _, who := range []audit.Disclosure{audit.DisclosurePublic, audit.DisclosureAuditor} {
		name := fmt.Sprint(who)
		planned.Disclosure = who
		mixed := tb.commit("mixed-"+name, planned).ID
		if _, err := tb.Mix(ctx, as("tester"), mixed, api.MixRequest{Cut: num(3)}); err != nil {
			t.Fatal(err)
		}
		tb.played(mixed)
		parent := tb.commit("parent-"+name, deckOf(who)).ID
		of := child(parent)
		of.Disclosure = who
		below := tb.commit("child-"+name, of).ID
		tb.played(below)
		ranges := api.DrawsRequest{Table: "t", Ranges: []uint32{1000, 1000, 1000}, Disclosure: who}
		drawn := tb.draw("draws-"+name, ranges).ID
		tb.played(drawn)
		ids = append(ids, mixed, parent, below, drawn)
	}
	cfg := tb.cfg
	cfg.Keys = newRing(t) // which opens nothing
	blind := dealer.New(cfg)
	for _, id := range ids {
		blind.Transcript(ctx, id, api.View{Identity: "tester"})
	}
	text := log.text()
	found := func(what string, forms []string) (n int) {
		for i, form := range forms {
			if strings.Contains(text, form) {
				n++
				if what != "" {
					t.Errorf("the log has %s in form %d", what, i)
				}
			}
		}
		return n
	}
	if n := found("", printed(secret)); n < 3 {
		t.Errorf("void: of what was logged %d forms are found", n)
	}
	for _, id := range ids {
		tape, err := tb.tapeOf(id)
		must(t, err)
		found(fmt.Sprintf("the tape of %d", id), printed(tape))
		out, err := tb.entries()[id].Body.(*audit.Commit).Context.Recipe.Run(tape)
		must(t, err)
		order := strings.Trim(fmt.Sprint(out.Values[:min(8, len(out.Values))]), "[]")
		found(fmt.Sprintf("the order of %d", id), []string{order, strings.ReplaceAll(order, " ", ",")})
	}
}

// played deals from a shuffle, asks for what there is to see of it, repeats it, is refused, and closes it.
func (tb *table) played(id uint64) {
	tb.t.Helper()
	ctx := tb.t.Context()
	first := api.DealRequest{Runs: []audit.Run{seat(1, "a"), board(1)}}
	tb.deal(id, first)
	tb.deal(id, first)
	tb.Deal(ctx, as("tester"), id, api.DealRequest{Runs: []audit.Run{seat(2, "b")}})
	tb.Deal(ctx, as("tester"), id, api.DealRequest{First: 4000, Runs: []audit.Run{seat(2, "b")}})
	tb.close(id)
	tb.close(id)
	tb.Close(ctx, as("tester"), id, api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost})
	for _, v := range []api.View{{}, {Identity: "tester"}, {Auditor: true}, {Identity: "tester", Recipient: "a"}} {
		tb.transcript(id, v)
	}
	if _, err := tb.Status(ctx, id); err != nil {
		tb.t.Error(err)
	}
}

// watched is what a watcher was shown. A monitor keeps none of it.
type watched struct {
	mu       sync.Mutex
	recipes  []shuffle.Recipe
	outcomes []shuffle.Outcome
}

func (w *watched) watch(r shuffle.Recipe, out shuffle.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Values = slices.Clone(out.Values)
	w.recipes, w.outcomes = append(w.recipes, r), append(w.outcomes, out)
}

// TestWatch: anyone who watches is shown each outcome once, the one that the tape in the ledger gives, of every kind of
// commit: also of those that the ledger then refuses, and not again for a repeated request.
func TestWatch(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		w := new(watched)
		tb.cfg.Watch = w.watch
		tb.Dealer = dealer.New(tb.cfg)
		seen := func(what string, want int) {
			t.Helper()
			if len(w.outcomes) != want {
				t.Fatalf("%s: %d outcomes seen, want %d", what, len(w.outcomes), want)
			}
		}
		drawn := tb.cfg.Entropy.Stats().Tapes

		req := api.ShuffleRequest{Table: "t", Deck: "standard-52", EndAt: &api.EndAt{Lo: 20, Hi: 40}}
		ids := []uint64{tb.commit("one", req).ID}
		seen("a shuffle", 1)
		tb.commit("one", req)
		seen("the same request", 1)
		for i := range 5 {
			more := api.ShuffleRequest{Table: "t", Deck: "short-36"}
			ids = append(ids, tb.commit("more-"+string(rune('a'+i)), more).ID)
		}
		seen("five more", 6)
		draws, err := tb.Draws(t.Context(), as("tester"), "draws",
			api.DrawsRequest{Table: "t", Ranges: []uint32{6, 6, 37}})
		must(t, err)
		ids = append(ids, draws.ID)
		parent := tb.commit("parent", api.ShuffleRequest{Table: "u", Deck: "spanish-40"})
		child := tb.commit("child", api.ShuffleRequest{Table: "u",
			Parent: &api.Parent{ID: parent.ID, Positions: []uint16{3, 1, 7}}})
		ids = append(ids, parent.ID, child.ID)
		seen("draws, a parent and its child", len(ids))

		for _, id := range ids {
			if id != parent.ID { // which the child ended
				if _, err := tb.Close(t.Context(), as("tester"), id,
					api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, id := range ids {
			want, err := w.recipes[i].Run(tb.endOf(id).Tape)
			if err != nil || !slices.Equal(want.Values, w.outcomes[i].Values) || want.EndAt != w.outcomes[i].EndAt {
				t.Errorf("shuffle %d: seen %v, its tape gives %v (%v)", id, w.outcomes[i], want, err)
			}
		}

		if _, err := tb.SetTable(t.Context(), as("tester"), "t", false); err != nil {
			t.Fatal(err)
		}
		if _, err := tb.Shuffle(t.Context(), as("tester"), "refused", req); err == nil {
			t.Fatal("a shuffle at a closed table")
		}
		if n := tb.cfg.Entropy.Stats().Tapes - drawn; uint64(len(w.outcomes)) != n {
			t.Errorf("%d outcomes seen of %d tapes", len(w.outcomes), n)
		}
	})
}
