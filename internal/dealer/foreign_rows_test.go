package dealer_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	_ "modernc.org/sqlite"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

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
	_, transcript := d.Transcript(tb.t.Context(), id, dealer.View{})
	_, deal := d.Deal(tb.t.Context(), as("tester"), id, dealer.DealRequest{First: 2, Runs: []audit.Run{board(50)}})
	_, end := d.Close(tb.t.Context(), as("tester"), id, dealer.CloseRequest{Outcome: audit.OutcomeEndedEarly})
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
	s := tb.commit("k", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.deal(s.ID, dealer.DealRequest{Runs: []audit.Run{seat(2, "a")}})
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
		victim := tb.commit("v", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"})
		other := tb.commit("o", dealer.ShuffleRequest{Table: "u", Deck: "standard-52"})
		tb.deal(other.ID, dealer.DealRequest{Runs: []audit.Run{board(52)}})
		tb.administer(`DROP TRIGGER entries_no_update`, statement)
		tb.unmoved(what, victim.ID)
	}
}

// TestMovedKey: a key tag that was put on another commit is not repeated.
func TestMovedKey(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
	tb.commit("a", req)
	tb.commit("b", req)
	tb.administer(`DROP TRIGGER entries_no_update`,
		`UPDATE entries SET key_tag = randomblob(32) WHERE idx = 2`,
		`UPDATE entries SET key_tag = x'`+tagOf("a")+`' WHERE idx = 3`)
	_, err := tb.Shuffle(t.Context(), as("tester"), "a", req)
	wantIs(t, "the key of another commit", err, ledger.ErrFrozen)
}
