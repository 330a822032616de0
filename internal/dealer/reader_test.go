package dealer_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// askedStore notes for each question for shuffles whether it is a reader's, and how durable the answer is to be.
type askedStore struct {
	ledger.Store
	asked []question
}

type question struct {
	reader   bool
	standing ledger.Standing
}

func (s *askedStore) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, all ...uint64) (
	[][]ledger.Row, error) {
	s.asked = append(s.asked, question{ledger.IsReader(ctx), standing})
	return s.Store.ByShuffles(ctx, id, standing, all...)
}

// TestQuestionsOfReaders: what a reader asks for goes to the store as a reader's question, behind the barrier, and
// what a dealer asks for does not.
func TestQuestionsOfReaders(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	id := tb.commit("k", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}).ID
	s := &askedStore{Store: tb.cfg.Store}
	cfg := tb.cfg
	cfg.Store = s
	d := dealer.New(cfg)
	status := func(ctx context.Context) error { _, err := d.Status(ctx, id); return err }
	table := func(ctx context.Context) error {
		_, err := dealer.New(cfg).Table(ctx, id) // which remembers no table
		return err
	}
	for _, c := range []struct {
		ask  func(context.Context) error
		ctx  context.Context
		want question
	}{
		{status, t.Context(), question{false, ledger.Durable}},
		{table, t.Context(), question{false, ledger.Visible}},
		{status, ledger.AsReader(t.Context()), question{true, ledger.Durable}},
		{table, ledger.AsReader(t.Context()), question{true, ledger.Durable}},
	} {
		s.asked = nil
		if err := c.ask(c.ctx); err != nil || len(s.asked) != 1 || s.asked[0] != c.want {
			t.Errorf("asked %+v, %v; want %+v", s.asked, err, c.want)
		}
	}
}

// renamer is a store in which every commit is of table "ours".
type renamer struct{ ledger.Store }

func (s renamer) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing,
	shuffles ...uint64) ([][]ledger.Row, error) {
	list, err := s.Store.ByShuffles(ctx, id, standing, shuffles...)
	for _, rows := range list {
		for i := range rows {
			e, parse := audit.ParseEntry(rows[i].Entry)
			if c, ok := e.Body.(*audit.Commit); ok && err == nil && parse == nil {
				c.Context.Table, rows[i].Table = "ours", "ours"
				rows[i].Entry, err = e.Encode()
			}
		}
	}
	return list, err
}

// TestTable: whose a shuffle is comes from its own entry, and from no other row.
func TestTable(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		s := tb.commit("k", dealer.ShuffleRequest{Table: "theirs", Deck: "standard-52"})
		if name, err := tb.Table(t.Context(), s.ID); err != nil || name != "theirs" {
			t.Errorf("%q, %v", name, err)
		}
		for _, id := range []uint64{0, 1, s.ID + 1, audit.MaxInteger} {
			if name, err := tb.Table(t.Context(), id); !errors.Is(err, dealer.ErrNotFound) {
				t.Errorf("%d: %q, %v", id, name, err)
			}
		}
		tb.cfg.Store = renamer{tb.cfg.Store}
		if name, err := dealer.New(tb.cfg).Table(t.Context(), s.ID); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("a row that is no entry: %q, %v", name, err)
		}
	})
}

// TestRecipientsAlike: a recipient's file holds the cards of that name and of no
// name that begins, ends or looks like it, before the close and after it.
func TestRecipientsAlike(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"})
	names := []string{"seat-1", "seat-10", "seat-11", "seat-1.2", "SEAT-1", "at-1", "seat"}
	var runs []audit.Run
	for _, name := range names {
		runs = append(runs, seat(1, name))
	}
	tb.deal(s.ID, dealer.DealRequest{Runs: append(runs, audit.Run{Count: 1, Purpose: audit.PurposeRabbit}, board(1),
		seat(1, "seat-1"))})
	check := func(when string) {
		t.Helper()
		for i, name := range names {
			want := []int{i, 8}
			if name == "seat-1" {
				want = []int{0, 8, 9}
			}
			var got []int
			for _, c := range tb.transcript(s.ID, dealer.View{Identity: "tester", Recipient: name}).Cards {
				got = append(got, c.Place)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, the file of %s holds the places %v, want %v", when, name, got, want)
			}
		}
		for _, name := range []string{"seat-", "seat-100", "seat-1.", "s", "eat-1"} {
			_, err := tb.Transcript(t.Context(), s.ID, dealer.View{Identity: "tester", Recipient: name})
			wantRefusal(t, when+", "+name, err, "recipient", "")
		}
	}
	check("before the close")
	tb.close(s.ID)
	check("after it")
}
