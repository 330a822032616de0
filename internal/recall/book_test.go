package recall

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testdb.M{M: m}) }

// database is a store of which more than one daemon may have a part.
type database interface {
	ledger.Store
	ledger.RecallStore
	ledger.AccessStore
	Close() error
}

// onBoth runs a test on each kind of database, empty; open opens it once more.
func onBoth(t *testing.T, test func(t *testing.T, open func() database)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "shuffled.db")
		if err := sqlite.MigrateUp(t.Context(), path, sqlite.Options{}); err != nil {
			t.Fatal(err)
		}
		test(t, func() database {
			s, err := sqlite.Open(path, sqlite.Options{})
			return opened(t, s, err)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := testdb.DSN(t)
		if err := postgres.MigrateUp(t.Context(), dsn, postgres.Options{}); err != nil {
			t.Fatal(err)
		}
		test(t, func() database {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
			return opened(t, s, err)
		})
	})
}

func opened(t *testing.T, s database, err error) database {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// book is a ledger with a writer that keeps no rules, and what recall should say
// of it. Its entries are real, its roots are not.
type book struct {
	t     *testing.T
	store ledger.Store
	info  ledger.Info
	id    ledger.ID
	head  ledger.Head
	time  int64
	all   []ledger.Recalled
	next  map[string]uint64 // serials
}

func newBook(t *testing.T, s ledger.Store, name string) *book {
	t.Helper()
	b := &book{t: t, store: s, info: ledger.Info{Name: name, Origin: "example.org/" + name}, time: 1000, next: make(map[string]uint64)}
	b.id = ledger.IDOf(b.info.Origin)
	b.append(&audit.Event{Kind: audit.EventTableOpen, Name: "t"})
	return b
}

// append writes a batch of entries, each a millisecond after the one before.
func (b *book) append(bodies ...audit.Body) {
	b.t.Helper()
	old := b.head
	batch := ledger.Batch{Head: ledger.Head{Size: old.Size + uint64(len(bodies)), Checkpoint: []byte("checkpoint")}}
	for i, body := range bodies {
		b.time++
		e := audit.Entry{Time: b.time, Actor: "dealer-1", Body: body}
		encoded, err := e.Encode()
		if err != nil {
			b.t.Fatal(err)
		}
		row := ledger.Row{Index: old.Size + uint64(i), Entry: encoded}
		row.Columns(e)
		batch.Rows = append(batch.Rows, row)
		b.note(row.Index, body)
	}
	batch.Head.Root = tlog.Hash(sha256.Sum256(binary.BigEndian.AppendUint64(old.Root[:], batch.Head.Size)))
	var err error
	if old.Size == 0 {
		err = b.store.Create(b.t.Context(), b.info, batch)
	} else {
		err = b.store.Append(b.t.Context(), b.id, old, batch)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.head = batch.Head
}

func (b *book) note(index uint64, body audit.Body) {
	switch body := body.(type) {
	case *audit.Commit:
		r := ledger.Recalled{ID: index, Table: body.Context.Table, Serial: body.Serial, Committed: b.time,
			CloseBy: body.CloseBy, GameRef: body.GameRef, Draw: body.Context.Recipe.Ranges != nil}
		if body.Context.Parent != nil {
			r.Parent = body.Context.Parent.ID
		}
		b.all = append(b.all, r)
	case *audit.Close:
		for i := range b.all {
			if r := &b.all[i]; r.ID == body.Shuffle {
				r.Closed, r.Outcome, r.Reason = b.time, body.Outcome, body.Reason
			}
		}
	}
}

// commit is the next commit of a table.
func (b *book) commit(table, ref string) *audit.Commit {
	b.next[table]++
	serial := b.next[table]
	key := sha256.Sum256(fmt.Appendf(nil, "%s %d", table, serial))
	return &audit.Commit{
		Context: &audit.Context{
			Origin: b.info.Origin, Table: table, DeckHash: key,
			Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic,
		},
		Serial: serial, Previous: serial - 1, CloseBy: b.time + 60_000, GameRef: ref, KeyTag: key,
	}
}

func draw(c *audit.Commit) *audit.Commit {
	c.Context.Recipe, c.Context.DeckHash = shuffle.Recipe{Ranges: []uint32{6, 6}}, [32]byte{}
	return c
}

func child(c *audit.Commit, parent uint64) *audit.Commit {
	c.Context.Parent = &audit.Parent{ID: parent, Positions: []uint16{3, 4}}
	c.Context.Recipe = shuffle.Recipe{Cards: 2, Take: 2}
	return c
}

func closes(id uint64, o audit.Outcome, r audit.Reason) *audit.Close {
	return &audit.Close{Shuffle: id, Outcome: o, Reason: r, Form: audit.FormTape, Tape: make([]byte, 129)}
}

// kept is what the index should hold after shuffles closed before a time were
// dropped.
func (b *book) kept(dropped int64) (list []ledger.Recalled) {
	for _, r := range b.all {
		if r.Closed == 0 || r.Closed >= dropped {
			list = append(list, r)
		}
	}
	return list
}

// find pages through a question.
func find(t *testing.T, x *Index, q ledger.RecallQuery) (list []ledger.Recalled) {
	t.Helper()
	for {
		page, err := x.Find(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		list = append(list, page...)
		if len(page) < q.Limit {
			return list
		}
		q.After = page[len(page)-1].ID
	}
}

func newIndex(b *book, s database) *Index { return New(b.id, s, slog.New(slog.DiscardHandler)) }
