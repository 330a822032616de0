package dealer_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
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
	id := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"}).ID
	s := &askedStore{Store: tb.cfg.Store}
	cfg := tb.cfg
	cfg.Store = s
	d := dealer.New(cfg)
	status := func(ctx context.Context) error { _, err := d.Status(ctx, id); return err }
	table := func(ctx context.Context) error {
		_, err := dealer.New(cfg).Shuffles().Table(ctx, id) // which remembers no table
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
		s := tb.commit("k", api.ShuffleRequest{Table: "theirs", Deck: "standard-52"})
		if name, err := tb.Shuffles().Table(t.Context(), s.ID); err != nil || name != "theirs" {
			t.Errorf("%q, %v", name, err)
		}
		for _, id := range []uint64{0, 1, s.ID + 1, audit.MaxInteger} {
			if name, err := tb.Shuffles().Table(t.Context(), id); !errors.Is(err, api.ErrNotFound) {
				t.Errorf("%d: %q, %v", id, name, err)
			}
		}
		tb.cfg.Store = renamer{tb.cfg.Store}
		if name, err := dealer.New(tb.cfg).Shuffles().Table(t.Context(), s.ID); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("a row that is no entry: %q, %v", name, err)
		}
	})
}

// TestRecipientsAlike: a recipient's file holds the cards of that name and of no
// name that begins, ends or looks like it, before the close and after it.
func TestRecipientsAlike(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	names := []string{"seat-1", "seat-10", "seat-11", "seat-1.2", "SEAT-1", "at-1", "seat"}
	var runs []audit.Run
	for _, name := range names {
		runs = append(runs, seat(1, name))
	}
	tb.deal(s.ID, api.DealRequest{Runs: append(runs, audit.Run{Count: 1, Purpose: audit.PurposeRabbit}, board(1),
		seat(1, "seat-1"))})
	check := func(when string) {
		t.Helper()
		for i, name := range names {
			want := []int{i, 8}
			if name == "seat-1" {
				want = []int{0, 8, 9}
			}
			var got []int
			for _, c := range tb.transcript(s.ID, api.View{Identity: "tester", Recipient: name}).Cards {
				got = append(got, c.Place)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, the file of %s holds the places %v, want %v", when, name, got, want)
			}
		}
		for _, name := range []string{"seat-", "seat-100", "seat-1.", "s", "eat-1"} {
			_, err := tb.Transcript(t.Context(), s.ID, api.View{Identity: "tester", Recipient: name})
			wantRefusal(t, when+", "+name, err, "recipient", "")
		}
	}
	check("before the close")
	tb.close(s.ID)
	check("after it")
}

// administer runs statements on the store's file, as a database administrator.
func (tb *table) administer(statements ...string) *sql.DB {
	tb.t.Helper()
	db, err := sql.Open("sqlite", tb.path)
	must(tb.t, err)
	tb.t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			tb.t.Fatal(err)
		}
	}
	return db
}

// unmoved: whatever the database says of a shuffle, nobody gets a card from it.
func (tb *table) unmoved(what string, id uint64) {
	tb.t.Helper()
	d := dealer.New(tb.cfg) // which wrote none of the shuffle, and so reads it
	_, transcript := d.Transcript(tb.t.Context(), id, api.View{})
	_, deal := d.Deal(tb.t.Context(), as("tester"), id, api.DealRequest{First: 2, Runs: []audit.Run{board(50)}})
	_, end := d.Close(tb.t.Context(), as("tester"), id, api.CloseRequest{Outcome: audit.OutcomeEndedEarly})
	for call, err := range map[string]error{"transcript": transcript, "deal": deal, "close": end} {
		if !errors.Is(err, ledger.ErrFrozen) {
			tb.t.Errorf("%s: %s is answered: %v", what, call, err)
		}
	}
}

// TestInsertedRows: a deal that stands in the table and in no checkpoint of ours.
// INSERT is all it takes, which the daemon's own role may.
func TestInsertedRows(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
	id := tb.Ledger().ID()
	head, err := tb.cfg.Store.Head(t.Context(), id)
	must(t, err)
	e := audit.Entry{Time: time.Now().UnixMilli(), Actor: as("dba"),
		Body: &audit.Deal{Shuffle: s.ID, First: 2, Runs: []audit.Run{board(50)}}}
	row, err := e.Encode()
	must(t, err)
	root := tlog.RecordHash(row)
	db := tb.administer()
	for query, args := range map[string][]any{
		`INSERT INTO entries (ledger, idx, time, shuffle, type, entry) VALUES (?,?,?,?,4,?)`: {int64(id), head.Size,
			e.Time, s.ID, row},
		`INSERT INTO checkpoints (ledger, size, root, checkpoint) VALUES (?,?,?,?)`: {int64(id), head.Size + 1,
			root[:], []byte("unsigned")},
	} {
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	tb.unmoved("an inserted deal", s.ID)
}

// TestMovedRows: genuine, signed entries in the wrong place.
func TestMovedRows(t *testing.T) {
	t.Parallel()
	for what, statement := range map[string]string{
		"a public deal of another shuffle": `UPDATE entries SET shuffle = 2 WHERE type = 4`,
		"another commit with its tape":     `UPDATE entries SET (entry, kept) = (SELECT entry, kept FROM entries WHERE idx = 3) WHERE idx = 2`,
	} {
		tb := newTable(t, nil)
		victim := tb.commit("v", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
		other := tb.commit("o", api.ShuffleRequest{Table: "u", Deck: "standard-52"})
		tb.deal(other.ID, api.DealRequest{Runs: []audit.Run{board(52)}})
		tb.administer(`DROP TRIGGER entries_no_update`, statement)
		tb.unmoved(what, victim.ID)
	}
}

// TestMovedKey: a key tag that was put on another commit is not repeated.
func TestMovedKey(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
	tb.commit("a", req)
	tb.commit("b", req)
	tb.administer(`DROP TRIGGER entries_no_update`,
		`UPDATE entries SET key_tag = randomblob(32) WHERE idx = 2`,
		`UPDATE entries SET key_tag = x'`+tagOf("a")+`' WHERE idx = 3`)
	_, err := tb.Shuffle(t.Context(), as("tester"), "a", req)
	wantIs(t, "the key of another commit", err, ledger.ErrFrozen)
}
