package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// generated is a ledger that is written straight into a store, faster than a
// daemon would: 52-card shuffles of a commit, a deal and a close each, made up except
// for their form, under signed checkpoints of 256 entries. It has no tiles.
type generated struct {
	t      testing.TB
	dir    string // for a bundle
	store  ledger.Store
	id     ledger.ID
	signer note.Signer
	head   ledger.Head
	tree   stored
	deck   [32]byte
}

const generatedOrigin = "generated.example/main"

func newGenerated(t testing.TB, d *daemon) *generated {
	t.Helper()
	cfg := config.Default()
	cfg.Data = d.data
	if d.database != "" {
		cfg.Database = d.database
	}
	cfg.Resolve()
	ctx := context.Background()
	must(t, place.MigrateUp(ctx, cfg, false))
	store, err := place.OpenStore(ctx, cfg, true)
	must(t, err)
	t.Cleanup(func() { store.Close() })
	skey, vkey, err := note.GenerateKey(nil, generatedOrigin)
	must(t, err)
	g := &generated{t: t, dir: filepath.Join(t.TempDir(), "bundle"), store: store, id: ledger.IDOf(generatedOrigin)}
	if g.signer, err = note.NewSigner(skey); err != nil {
		t.Fatal(err)
	}
	public, err := audit.SigningKey(vkey)
	must(t, err)
	first := g.batch(g.row(0, &audit.Genesis{Revision: audit.Revision, Origin: generatedOrigin, SigningKey: public,
		Deals:      audit.DealsSigned,
		Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic}))
	deck, _ := shuffle.Named("standard-52")
	g.deck = deck.Hash()
	first.Decks = []ledger.Deck{{Hash: g.deck, List: deck.Bytes()}}
	must(t, store.Create(ctx, ledger.Info{Name: "main", Origin: generatedOrigin}, first))
	g.head = first.Head
	return g
}

// grow appends entries up to a size.
func (g *generated) grow(size uint64) {
	g.t.Helper()
	for g.head.Size < size {
		var rows []ledger.Row
		for i := g.head.Size; i < min(size, g.head.Size+256); i++ {
			rows = append(rows, g.row(i, g.body(i)))
		}
		b := g.batch(rows...)
		if err := g.store.Append(context.Background(), g.id, g.head, b); err != nil {
			g.t.Fatal(err)
		}
		g.head = b.Head
	}
}

// body is the i-th entry: shuffle by shuffle, each of its table's serial.
func (g *generated) body(i uint64) audit.Body {
	id := i - (i-1)%3
	noise := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
	switch i - id {
	case 0:
		return &audit.Commit{
			Context: &audit.Context{Origin: generatedOrigin, Table: "table-1", DeckHash: g.deck,
				Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic},
			Commitment: noise, DeckRoot: noise, Serial: 1 + i/3, Previous: max(i, 3) - 3, CloseBy: 1_800_000_000_000,
			GameRef: "game", KeyTag: noise, Request: noise, Instance: 0,
		}
	case 1:
		return &audit.Deal{Shuffle: id, Checkpoint: id + 1, Runs: []audit.Run{
			{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"},
			{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-2"}}}
	}
	return &audit.Close{Shuffle: id, Outcome: audit.OutcomeCompleted, Form: audit.FormTape,
		Tape: append(make([]byte, 97), noise[:]...)}
}

func (g *generated) row(i uint64, body audit.Body) ledger.Row {
	e := audit.Entry{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + int64(i), Actor: as("dealer-1"),
		Body: body}
	b, err := e.Encode()
	if err != nil {
		g.t.Fatal(err)
	}
	r := ledger.Row{Index: i, Entry: b}
	r.Columns(e)
	if r.Type == audit.TypeCommit {
		r.Kept = append(r.KeyTag[:], make([]byte, 133)...)
	}
	return r
}

// batch hashes rows after the head and signs the new one.
func (g *generated) batch(rows ...ledger.Row) ledger.Batch {
	for _, r := range rows {
		g.tree.add(g.t, r.Entry)
	}
	head, err := ledger.SignHead(uint64(g.tree.size), g.tree.root(g.t, g.tree.size), g.signer)
	if err != nil {
		g.t.Fatal(err)
	}
	return ledger.Batch{Rows: rows, Head: head}
}

// rawDB is a database without the store in front of it, and without the triggers
// and checks that keep evidence as it is.
type rawDB struct {
	t        *testing.T
	db       *sql.DB
	postgres bool
}

func openRaw(t *testing.T, d *daemon) rawDB {
	t.Helper()
	r := rawDB{t: t, postgres: d.database != ""}
	driver, address := "sqlite", "file:"+filepath.Join(d.data, "shuffled.db")+"?_pragma=ignore_check_constraints(1)"
	if r.postgres {
		driver, address = "pgx", d.database
	}
	var err error
	if r.db, err = sql.Open(driver, address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	if r.postgres {
		for _, table := range r.list("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") {
			r.exec("ALTER TABLE " + table + " DISABLE TRIGGER USER")
		}
		for _, c := range r.list("SELECT conrelid::regclass || ' DROP CONSTRAINT ' || conname FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace") {
			r.exec("ALTER TABLE " + c)
		}
	} else {
		for _, trigger := range r.list("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
			r.exec("DROP TRIGGER " + trigger)
		}
	}
	for _, index := range []string{"entries_key_tag", "entries_serial"} {
		r.exec("DROP INDEX " + index)
	}
	// A cosigned checkpoint, in name at least.
	r.exec("INSERT INTO cosigned (ledger, size, root, checkpoint) SELECT ledger, size, root, checkpoint FROM checkpoints ORDER BY size DESC LIMIT 1")
	return r
}

func (r rawDB) close() { r.db.Close() }

func (r rawDB) exec(text string, args ...any) {
	r.t.Helper()
	if _, err := r.db.Exec(text, args...); err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
}

func (r rawDB) list(text string) (list []string) {
	r.t.Helper()
	rows, err := r.db.Query(text)
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			r.t.Fatal(err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return list
}

// columns lists all columns of all tables, as table.column.
func (r rawDB) columns() []string {
	if r.postgres {
		return r.list("SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'")
	}
	return r.list("SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'")
}

// update puts a value into every row that has one.
func (r rawDB) update(table, column string, value any) {
	r.t.Helper()
	result, err := r.db.Exec(fmt.Sprintf("UPDATE %s SET %s = $1 WHERE %s IS NOT NULL", table, column, column), value)
	if err != nil {
		r.t.Fatalf("updating %s.%s: %v", table, column, err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		r.t.Fatalf("updating %s.%s: %d rows, %v", table, column, n, err)
	}
}

// bytes writes hexadecimal digits as a value of bytes.
func (r rawDB) bytes(digits string) string {
	if r.postgres {
		return `'\x` + digits + `'`
	}
	return "x'" + digits + "'"
}
