package dealer_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
	"shuffled/internal/verify"
)

// showdown plays a hand: places 0 and 1 are a seat's, 2 is a burn, 3 and 4 the board; the seat shows place 1.
func (tb *table) showdown(key string, end func(id uint64)) uint64 {
	tb.t.Helper()
	s := tb.commit(key, deckOf(audit.DisclosureAuditor))
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "seat-1"), {Count: 1, Purpose: audit.PurposeBurn},
		board(2)}})
	tb.shows(s.ID, 1)
	end(s.ID)
	return s.ID
}

func (tb *table) shows(id uint64, places ...int) {
	tb.t.Helper()
	if _, err := tb.Reveal(tb.t.Context(), as("tester"), id, api.RevealRequest{Places: places}); err != nil {
		tb.t.Fatal(err)
	}
}

// losesKey starts the daemon again with another sealing key.
func (tb *table) losesKey() {
	tb.t.Helper()
	tb.cfg.Keys = newRing(tb.t)
	tb.restart()
}

// opens holds the places that the files of a shuffle open.
func (tb *table) opens(id uint64, want ...int) {
	tb.t.Helper()
	for _, v := range []api.View{{}, {Auditor: true}, {Identity: "tester"}} {
		b, err := tb.Transcript(tb.t.Context(), id, v)
		if err != nil {
			tb.t.Errorf("shuffle %d for %+v: %v", id, v, err)
			continue
		}
		f, err := openings.ParseTranscript(b)
		must(tb.t, err)
		var got []int
		for _, c := range f.Cards {
			got = append(got, c.Place)
		}
		if !slices.Equal(got, want) {
			tb.t.Errorf("shuffle %d opens %v for %+v, want %v", id, got, v, want)
		}
		if v := verify.Transcript(b, verify.Trust{VKey: tb.vkey}); v.Verdict != verify.Proved {
			tb.t.Errorf("shuffle %d: %s at %s", id, v.Verdict, v.Failed)
		}
	}
}

// TestKeptOpenings: what everybody may see of a shuffle is opened without the sealing key, however it ended.
func TestKeptOpenings(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, auditors []*disclosure.Auditor) {
		closes := func(req api.CloseRequest) func(uint64) {
			return func(id uint64) {
				if _, err := tb.Close(t.Context(), as("tester"), id, req); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := map[uint64][]int{
			tb.showdown("closed", closes(api.CloseRequest{Outcome: audit.OutcomeCompleted})): {1, 3, 4},
			tb.showdown("all", closes(api.CloseRequest{Outcome: audit.OutcomeCompleted,
				Reveal: []int{0, 2}})): {0, 1, 2, 3, 4},
			tb.showdown("void", closes(api.CloseRequest{Outcome: audit.OutcomeVoid,
				Reason: audit.ReasonMisdeal})): {1, 3, 4},
			tb.showdown("final-deal", func(id uint64) {
				tb.deal(id, api.DealRequest{First: 5, Runs: []audit.Run{board(1)},
					Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted, Reveal: []int{0}}})
			}): {0, 1, 3, 4, 5},
			tb.showdown("continued", func(id uint64) {
				stub := child(id)
				stub.Disclosure = audit.DisclosureAuditor
				kid := tb.commit("child", stub)
				tb.shows(id, 0)
				tb.deal(kid.ID, api.DealRequest{Runs: []audit.Run{board(7)},
					Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}})
			}): {0, 1, 3, 4},
			tb.showdown("expired", func(uint64) {
				tb.pass(3 * 3600 * 1e9)
				if _, err := tb.Expire(t.Context()); err != nil {
					t.Fatal(err)
				}
			}): {1, 3, 4},
		}
		none := tb.commit("nothing-public", deckOf(audit.DisclosureAuditor))
		tb.close(none.ID)
		want[none.ID] = nil
		tb.losesKey()
		for i, e := range tb.entries() {
			if d, ok := audit.DisclosedBy(e.Body); ok && want[d.Shuffle] != nil && len(tb.kept(uint64(i))) !=
				len(want[d.Shuffle]) {
				t.Errorf("shuffle %d keeps openings of %d places, want %v", d.Shuffle, len(tb.kept(uint64(i))),
					want[d.Shuffle])
			}
		}
		for id, places := range want {
			tb.opens(id, places...)
		}
		if r := tb.inspected(auditors); r.FaultCount > 0 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}

// TestKeptOpeningsAltered: openings that were altered in the database are not served.
func TestKeptOpeningsAltered(t *testing.T) {
	for name, alter := range map[string]func(cards []openings.Card) string{
		"gone":    func([]openings.Card) string { return "NULL" },
		"no JSON": func([]openings.Card) string { return "x'5b'" },
		"a place": func(cards []openings.Card) string {
			cards[1].Place, cards[2].Place = cards[2].Place, cards[1].Place
			return blob(t, cards)
		},
		"a value": func(cards []openings.Card) string {
			cards[0].Value = (cards[0].Value + 1) % 52
			return blob(t, cards)
		},
		"a place less": func(cards []openings.Card) string { return blob(t, cards[1:]) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, publics := newAuditors(t, 1)
			tb := newTableWith(t, setting{auditors: publics, disclosure: audit.DisclosureAuditor})
			id := tb.showdown("k", func(id uint64) { tb.close(id) })
			closed := tb.Ledger().Live().Size - 1
			tb.losesKey()
			tb.opens(id, 1, 3, 4)
			tb.administer("DROP TRIGGER entries_no_update",
				fmt.Sprintf("UPDATE entries SET kept = %s WHERE idx = %d", alter(tb.kept(closed)), closed))
			_, err := tb.Transcript(t.Context(), id, api.View{})
			wantIs(t, name, err, ledger.ErrFrozen)
		})
	}
}

// kept returns the openings that are kept with an entry.
func (tb *table) kept(index uint64) []openings.Card {
	tb.t.Helper()
	var end struct{ Cards []openings.Card }
	if text := tb.sealedRow(index).Kept; text != nil {
		must(tb.t, json.Unmarshal(text, &end))
	}
	return end.Cards
}

func blob(t *testing.T, cards []openings.Card) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"cards": cards})
	must(t, err)
	return fmt.Sprintf("x'%x'", text)
}

// TestClosedAlongsideReveals: a close keeps the openings of what was revealed while it was made, by whichever daemon.
func TestClosedAlongsideReveals(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, _ []*disclosure.Auditor) {
		rival := tb.rival(tb.cfg.Store)
		var ids []uint64
		for n := range 6 {
			id := tb.showdown(fmt.Sprint(n), func(uint64) {})
			ids = append(ids, id)
			done := make(chan struct{})
			go func() {
				defer close(done)
				rival.Reveal(t.Context(), as("tester"), id, api.RevealRequest{Places: []int{0}})
				rival.Deal(t.Context(), as("tester"), id, api.DealRequest{First: 5, Runs: []audit.Run{board(1)}})
			}()
			tb.close(id)
			<-done
		}
		want := make(map[uint64][]int)
		for _, id := range ids {
			for _, c := range tb.transcript(id, api.View{}).Cards {
				want[id] = append(want[id], c.Place)
			}
		}
		tb.losesKey()
		for id, places := range want {
			tb.opens(id, places...)
		}
	})
}

// TestBatchKeepsOpenings: a close that goes along with deals in a batch keeps what they show.
func TestBatchKeepsOpenings(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, _ []*disclosure.Auditor) {
		one, two := tb.commit("one", deckOf(audit.DisclosureAuditor)), tb.commit("two", deckOf(audit.DisclosureAuditor))
		ops := func(id uint64) []batch.Operation {
			return []batch.Operation{
				{Table: "t", Shuffle: id, Of: -1, Deal: &api.DealRequest{Runs: []audit.Run{board(3)}}},
				{Table: "t", Shuffle: id, Of: -1, Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}}}
		}
		results, err := tb.batch(t.Context(), ops(one.ID), false)
		if err != nil || results[0].Err != nil || results[1].Err != nil {
			t.Fatalf("%+v, %v", results, err)
		}
		tb.unwritten(func() {
			results, err = tb.batch(t.Context(), ops(two.ID), true)
			wantIs(t, "the deal", results[0].Err, dealer.ErrTogether)
			wantRefusal(t, "the close", results[1].Err, "operations", "")
		})
		tb.deal(two.ID, api.DealRequest{Runs: []audit.Run{board(2)},
			Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}})
		tb.losesKey()
		tb.opens(one.ID, 0, 1, 2)
		tb.opens(two.ID, 0, 1)
	})
}
