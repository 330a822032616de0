package verify

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/trust"
	"shuffled/internal/shuffle"
)

// TestVerdictJSON freezes the names that `verify --json` and POST /v1/verify use.
func TestVerdictJSON(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.commitTo(h.draws(6, 6), nil).deal(seat("seat-1", 1)).close(audit.OutcomeVoid, audit.ReasonMisdeal)
	v := Transcript(g.file("seat-1"), Trust{VKey: h.key.vkey})
	for i := range v.Steps {
		v.Steps[i].Detail = "…"
	}
	got, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	want := strings.NewReplacer("COMMITMENT", encode(g.commit.Commitment), "ROOT", encode(g.commit.DeckRoot)).Replace(`{
 "verdict": "proved",
 "level": "recorded",
 "kind": "transcript",
 "steps": [
STEPS
 ],
 "ledger": "example.com/main",
 "production": true,
 "checkpoint": {
  "origin": "example.com/main",
  "size": 7
 },
 "key_in_force": "not_shown",
 "id": 4,
 "recipient": "seat-1",
 "table": "table-1",
 "serial": 1,
 "game_ref": "hand-1",
 "owner": "dealer",
 "commitment": "COMMITMENT",
 "deck_root": "ROOT",
 "disclosure": "public",
 "committed_at": "2026-03-14T15:09:30.535Z",
 "close_by": "2026-03-14T16:09:30.535Z",
 "places": 2,
 "next": 1,
 "state": "closed",
 "closed_at": "2026-03-14T15:09:32.535Z",
 "outcome": "void",
 "reason": "misdeal",
 "shuffled": {
  "kind": "draws",
  "ranges": [
   6,
   6
  ]
 },
 "cards": [
  {
   "place": 0,
   "position": 0,
   "value": VALUE,
   "shows": VALUE,
   "purpose": "seat",
   "recipient": "seat-1",
   "public": false
  }
 ]
}`)
	var steps []string
	for _, name := range []string{"format", "entries", "signature", "inclusion", "witnesses", "origin",
		"slots", "legality", "beacon", "deck", "terms", "openings", "asked", "tape", "order", "cards", "co_dealer",
		"statements"} {
		result := "ok"
		if slices.Contains([]string{"witnesses", "slots", "beacon", "terms", "asked", "co_dealer", "statements"},
			name) {
			result = "not checked"
		}
		steps = append(steps, `  {
   "name": "`+name+`",
   "result": "`+result+`",
   "detail": "…"
  }`)
	}
	want = strings.ReplaceAll(want, "STEPS", strings.Join(steps, ",\n"))
	want = strings.ReplaceAll(want, "VALUE", string('0'+rune(g.values[0])))
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	v = Receipt([]byte(h.receipt(0).Text()), Trust{})
	got, err = json.Marshal(v.Entry)
	must(t, err)
	if want := `{"index":0,"type":"genesis","time":"2026-03-14T15:09:27.535Z","identity":"daemon","credential":"daemon"}`; string(got) != want {
		t.Errorf("entry: %s, want %s", got, want)
	}
}

// TestWitnessesJSON freezes how the witnesses of a verdict are written, and that a time beyond 9999 is not.
func TestWitnessesJSON(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	g := witnessedGame(t, w)
	v := Transcript(g.file(""), Trust{Policy: []byte(w.policy(twoOfThree))})
	got, err := json.Marshal(v)
	must(t, err)
	want := `"checkpoint":{"origin":"example.com/main","size":6},"witnesses":[{"name":"a","time":"2026-03-14T15:09:31.000Z"},{"name":"c","time":"2026-03-14T15:09:31.000Z"}],"overlap":1,"key_in_force":"not_shown","id":4`
	if !strings.Contains(string(got), want) {
		t.Errorf("%s lacks %s", got, want)
	}

	h := open(t)
	h.now = audit.MaxInteger - 1000
	v = Receipt([]byte(h.receipt(h.add(&audit.Event{Kind: audit.EventTableOpen, Name: "table-1"})).Text()),
		Trust{VKey: h.key.vkey})
	got, err = json.Marshal(v.Entry)
	must(t, err)
	if want := `{"index":4,"type":"event","identity":"daemon","credential":"daemon"}`; v.Verdict != Proved ||
		string(got) != want {
		t.Errorf("entry: %s, want %s", got, want)
	}
}

// TestEarlyWork: the early checkpoint costs one more signature, and none where it is the file's own.
func TestEarlyWork(t *testing.T) {
	w := newTrio(t)
	for _, own := range []bool{true, false} {
		g := witnessedGame(t, w)
		if !own {
			g.deal(board(1))
		}
		key, err := note.NewVerifier(w.key.vkey)
		must(t, err)
		c := &counted{Verifier: key}
		trust := &trusted{Trusted: trust.Trusted{Keys: []note.Verifier{c}, Public: [][]byte{w.key.public()}}}
		want := 2
		if own {
			want = 1
		}
		if v := judgeTranscript(g.file(""), trust); v.Verdict != Proved || c.n != want {
			t.Errorf("%s with %d signatures, want %d", v.Verdict, c.n, want)
		}
	}
}

// TestResults holds each kind of file against the steps that ought to run.
func TestResults(t *testing.T) {
	t.Parallel()
	const all = "format entries signature inclusion witnesses origin slots legality beacon deck terms openings asked " +
		"tape order cards co_dealer statements"
	for name, notChecked := range map[string]string{
		"closed":                      "witnesses slots beacon terms asked co_dealer statements",
		"open":                        "witnesses slots beacon terms asked tape order cards co_dealer statements",
		"auditor-disclosed":           "witnesses slots beacon terms asked tape order cards co_dealer statements",
		"child":                       "witnesses slots beacon terms asked order cards co_dealer statements",
		"cosigned-2-of-3":             "slots beacon terms asked co_dealer statements",
		"policy-without-witnesses":    "witnesses slots beacon terms asked co_dealer statements",
		"witnessed":                   "slots beacon terms asked co_dealer statements",
		"witnessed-too-late":          "slots beacon terms asked co_dealer statements",
		"witnessed-key-only":          "witnesses slots beacon terms asked co_dealer statements",
		"receipt-witnessed":           "slots",
		"receipt-deal-6":              "witnesses origin slots",
		"receipt-commit-4":            "witnesses slots",
		"receipt-commit-my-slot":      "witnesses",
		"level-mixed":                 "slots terms asked co_dealer statements",
		"level-mixed-both":            "terms asked co_dealer statements",
		"slot":                        "beacon terms asked co_dealer statements",
		"stated":                      "witnesses slots beacon terms asked tape order cards co_dealer",
		"stated-nobody-trusted":       "witnesses slots beacon terms asked tape order cards co_dealer statements",
		"stated-public":               "witnesses slots beacon terms asked co_dealer",
		"terms-wheel":                 "witnesses slots beacon asked co_dealer statements",
		"terms-wheel-absent":          "witnesses slots beacon terms asked co_dealer statements",
		"receipt-deal-nothing-pinned": "signature witnesses origin slots",
	} {
		i := slices.IndexFunc(load(t, "good"), func(v vector) bool { return v.Name == name })
		if i < 0 {
			t.Fatalf("no vector %s", name)
		}
		v := load(t, "good")[i]
		got := File(v.bytes(), v.trust())
		var names, skipped []string
		for _, s := range got.Steps {
			names = append(names, s.Name)
			if s.Result == StepNotChecked {
				skipped = append(skipped, s.Name)
			}
			if s.Detail == "" && s.Name != stepFormat {
				t.Errorf("%s: %s says nothing", name, s.Name)
			}
		}
		if steps := strings.Join(names, " "); !strings.HasPrefix(all, steps) {
			t.Errorf("%s: steps %s", name, steps)
		}
		if got := strings.Join(skipped, " "); got != notChecked {
			t.Errorf("%s: %q was not checked, want %q", name, got, notChecked)
		}
	}
}

// TestCauses: every step has a cause to name.
func TestCauses(t *testing.T) {
	t.Parallel()
	v := Transcript([]byte("{}"), Trust{})
	if len(v.Steps) != len(causes) {
		t.Errorf("%d steps and %d causes", len(v.Steps), len(causes))
	}
	for _, s := range v.Steps {
		if causes[s.Name] == "" {
			t.Errorf("no cause for %s", s.Name)
		}
	}
}

// TestShown compares the cards of a verdict with what the house dealt.
func TestShown(t *testing.T) {
	t.Parallel()
	g := mixedDraws(t).deal(board(2), seat("seat-1", 1))
	v := Transcript(g.file(""), Trust{VKey: g.h.key.vkey})
	shows, err := g.order.Shows(g.values)
	must(t, err)
	var want []CardShown
	for p, value := range g.values {
		c := CardShown{Place: p, Position: p, Value: value, Shows: shows[p], Purpose: "board", Public: true}
		if p == 2 {
			c.Purpose, c.Recipient, c.Public = "seat", "seat-1", false
		}
		want = append(want, c)
	}
	if diff := cmp.Diff(want, v.Cards); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if slices.Equal(shows, g.values) {
		t.Error("the mix moved nothing, so this test shows nothing")
	}

	h := open(t)
	ctx := h.cards(sixCards)
	ctx.Recipe.EndLo, ctx.Recipe.EndHi = 2, 5
	g = h.commitTo(ctx, sixCards)
	out, err := ctx.Recipe.Run(g.tape)
	must(t, err)
	if v := Transcript(g.file(""), Trust{}); v.EndAt != 0 {
		t.Errorf("end_at %d is known before the close", v.EndAt)
	}
	if v := Transcript(g.close(audit.OutcomeEndedEarly, 0).file(""), Trust{}); v.EndAt != out.EndAt {
		t.Errorf("end_at %d, drawn was %d", v.EndAt, out.EndAt)
	}
}

// counted counts how often a key is asked.
type counted struct {
	note.Verifier
	n int
}

func (c *counted) Verify(msg, sig []byte) bool {
	c.n++
	return c.Verifier.Verify(msg, sig)
}

// TestWork: a whole deck costs one signature, however many receipts carry it, and memory in proportion to the file.
func TestWork(t *testing.T) {
	deck, _ := shuffle.Named("standard-52")
	h := open(t)
	g := h.commitTo(h.cards(deck.Cards()), deck.Cards())
	for range 52 {
		g.deal(board(1))
	}
	file := g.close(audit.OutcomeCompleted, 0).file("")
	key, err := note.NewVerifier(h.key.vkey)
	must(t, err)
	c := &counted{Verifier: key}
	trust := &trusted{Trusted: trust.Trusted{Keys: []note.Verifier{c}, Public: [][]byte{h.key.public()}}}
	if v := judgeTranscript(file, trust); v.Verdict != Proved || len(v.Cards) != 52 {
		t.Fatalf("%+v", v)
	}
	if c.n != 1 {
		t.Errorf("%d signatures were verified for %d receipts", c.n, len(g.indexes)+1)
	}
	allocs := testing.AllocsPerRun(5, func() {
		judgeTranscript(file, trust)
	})
	if most := 60.0 * float64(len(g.indexes)+52); allocs > most {
		t.Errorf("%.0f allocations, at most %.0f are wanted", allocs, most)
	}
}

// TestBounds: what is too large is refused before much is made of it.
func TestBounds(t *testing.T) {
	g := plain(t)
	text := g.h.receipt(g.id).Text()
	hash := base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	head, tail, _ := strings.Cut(text, "\n\n")
	f := g.transcript("")
	f.Cards = slices.Repeat(f.Cards[:1], 4097)
	for name, file := range map[string][]byte{
		"a million proof lines":  []byte(head + "\n" + strings.Repeat(hash, 1_000_000) + "\n" + tail),
		"a receipt of 33 MiB":    append([]byte(receiptHeader), make([]byte, 33<<20)...),
		"a transcript of 33 MiB": append([]byte("{"), make([]byte, 33<<20)...),
		"eight million empty cards": []byte(`{"format":"shuffled/v1/transcript","id":3,"receipts":[],"cards":[` +
			strings.Repeat("{},", 8<<20)),
		"a transcript of quotes and slash": append([]byte("{"), bytes.Repeat([]byte(`\"`), 1<<20)...),
		"4,097 cards":                      marshal(t, f),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v := File(file, Trust{})
		runtime.ReadMemStats(&after)
		if v.Failed != stepFormat {
			t.Errorf("%s: %+v", name, v)
		}
		if made, most := after.TotalAlloc-before.TotalAlloc, uint64(8*len(file)+1<<16); made > most {
			t.Errorf("%s: %d bytes were allocated, at most %d are wanted", name, made, most)
		}
	}
	// Deals that claim more places than there are cost nothing before legality.
	h := open(t).cheating()
	g = h.commitTo(h.cards(sixCards), sixCards)
	for range 300 {
		g.dealAs(&audit.Deal{Shuffle: g.id, Runs: []audit.Run{seat("seat-1", 4096)}})
	}
	f = g.transcript("none")
	if v := Transcript(marshal(t, f), Trust{}); v.Failed != stepLegality || v.Next != 0 {
		t.Errorf("%+v", v)
	}
}

// TestCardsStep reaches the one step that nothing but a broken hash function can fail in a file.
func TestCardsStep(t *testing.T) {
	t.Parallel()
	g := plain(t)
	tr := &transcript{file: g.transcript(""), ordered: ordered{values: slices.Clone(g.values)}}
	if _, err := tr.cards(); err != nil {
		t.Error(err)
	}
	tr.values[2] ^= 1
	if _, err := tr.cards(); err == nil {
		t.Error("another order has the same cards")
	}
}

func BenchmarkTranscript(b *testing.B) {
	for _, name := range []string{"standard-52", "shoe-8"} {
		deck, _ := shuffle.Named(name)
		h := open(b)
		g := h.commitTo(h.cards(deck.Cards()), deck.Cards())
		for range 8 {
			g.deal(board(deck.Len() / 8))
		}
		file := g.close(audit.OutcomeEndedEarly, 0).file("")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if v := Transcript(file, Trust{VKey: h.key.vkey}); v.Verdict != Proved {
					b.Fatalf("%+v", v)
				}
			}
		})
	}
}

// ownPolicy has a witness of that name and key.
func ownPolicy(name string, key, log keyPair) []byte {
	key.name = name
	vkey, _ := key.witnessKey()
	return []byte("log " + log.vkey + "\nwitness a " + vkey + "\nquorum a\n")
}

// TestTrust: what cannot be read is the caller's mistake, not the file's.
func TestTrust(t *testing.T) {
	t.Parallel()
	h := open(t)
	file := []byte(h.receipt(0).Text())
	for name, trust := range map[string]Trust{
		"a key and a policy":               {VKey: h.key.vkey, Policy: []byte("quorum none\n")},
		"a damaged key":                    {VKey: h.key.vkey[1:]},
		"an empty policy":                  {Policy: []byte{}},
		"a witness with the ledger's name": {Policy: ownPolicy(h.key.name, newKey(t, h.key.name, "w1"), h.key)},
		"a witness with the ledger's key":  {Policy: ownPolicy("witness.example/own", h.key, h.key)},
	} {
		v := File(file, trust)
		if trust.Check() == nil || v.Verdict != CannotJudge || v.Unknown == "" || v.Failed != "" {
			t.Errorf("%s: %v, %+v", name, trust.Check(), v)
		}
	}
	must(t, Trust{}.Check())
}

// TestRecipientsAlike: a recipient's file that holds a card of a name which begins,
// ends or looks like the recipient's is not proved.
func TestRecipientsAlike(t *testing.T) {
	t.Parallel()
	names := []string{"seat-1", "seat-10", "seat", "SEAT-1", "at-1"}
	h := open(t)
	g := h.commitTo(h.cards(sixCards), sixCards)
	for _, name := range names {
		g.deal(seat(name, 1))
	}
	g.deal(board(1))
	for to, name := range names {
		for place, of := range append(names, "everybody") {
			f := g.transcript(name)
			f.Cards = []openings.Card{g.card(place)}
			v := Transcript(marshal(t, f), Trust{VKey: mainKey(t).vkey})
			proved := v.Verdict == Proved
			if proved != (place == to || place == len(names)) || !proved && v.Failed != stepOpenings {
				t.Errorf("the card of %s in the file of %s: %s at %q", of, name, v.Verdict, v.Failed)
			}
		}
	}
}
