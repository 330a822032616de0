package recall

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testdb.M{M: m}) }

// onBoth runs a test on each kind of store, empty; open opens it once more.
func onBoth(t *testing.T, test func(t *testing.T, open func() ledger.Store)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "shuffled.db")
		if err := sqlite.MigrateUp(t.Context(), path, sqlite.Options{}); err != nil {
			t.Fatal(err)
		}
		test(t, func() ledger.Store {
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
		test(t, func() ledger.Store {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
			return opened(t, s, err)
		})
	})
}

func opened(t *testing.T, s ledger.Store, err error) ledger.Store {
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
	Ledger // nothing else is asked for

	t     *testing.T
	store ledger.Store
	info  ledger.Info
	id    ledger.ID
	head  ledger.Head
	time  int64
	next  map[string]uint64 // serials

	// Guarded by mu, for others read them while entries are appended.
	all   []ledger.Recalled
	known uint64 // entries that are in all
	mu    sync.Mutex
	more  *sync.Cond // of known
}

// ID is part of [Ledger].
func (b *book) ID() ledger.ID { return b.id }

// OpenAt is part of [Ledger]. What was appended is noted after it can be read.
func (b *book) OpenAt(_ context.Context, size uint64) (open []rules.OpenRef, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.known < size {
		b.more.Wait()
	}
	for _, r := range b.all {
		if r.Closed == 0 {
			open = append(open, rules.OpenRef{ID: r.ID, Table: r.Table})
		}
	}
	return open, nil
}

func newBook(t *testing.T, s ledger.Store, name string) *book {
	t.Helper()
	b := &book{t: t, store: s, info: ledger.Info{Name: name, Origin: "example.org/" + name}, time: 1000,
		next: make(map[string]uint64)}
	b.id, b.more = ledger.IDOf(b.info.Origin), sync.NewCond(&b.mu)
	b.append(&audit.Event{Kind: audit.EventTableOpen, Name: "t"})
	return b
}

// append writes a batch of entries, each a millisecond after the one before.
func (b *book) append(bodies ...audit.Body) {
	b.t.Helper()
	old, times := b.head, []int64{}
	batch := ledger.Batch{Head: ledger.Head{Size: old.Size + uint64(len(bodies)), Checkpoint: []byte("checkpoint")}}
	for i, body := range bodies {
		b.time++
		e := audit.Entry{Time: b.time, Actor: audit.Actor{Identity: "dealer-1", Credential: "dealer-1"}, Body: body}
		encoded, err := e.Encode()
		if err != nil {
			b.t.Fatal(err)
		}
		row := ledger.Row{Index: old.Size + uint64(i), Entry: encoded}
		row.Columns(e)
		batch.Rows = append(batch.Rows, row)
		times = append(times, b.time)
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
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, body := range bodies {
		b.note(old.Size+uint64(i), times[i], body)
	}
	b.known = b.head.Size
	b.more.Broadcast()
}

func (b *book) note(index uint64, time int64, body audit.Body) {
	switch body := body.(type) {
	case *audit.Commit:
		r := ledger.Recalled{ID: index, Table: body.Context.Table, Serial: body.Serial, Committed: time,
			CloseBy: body.CloseBy, GameRef: body.GameRef, Draw: body.Context.Recipe.Ranges != nil,
			Owner: "dealer-1", Deck: body.Context.DeckHash}
		if body.Context.Parent != nil {
			r.Parent = body.Context.Parent.ID
		}
		b.all = append(b.all, r)
	case *audit.Close:
		for i := range b.all {
			if r := &b.all[i]; r.ID == body.Shuffle {
				r.Closed, r.Outcome, r.Reason = time, body.Outcome, body.Reason
				r.Continued = body.Outcome == audit.OutcomeContinued
			}
		}
	case *audit.DisclosureEntry:
		for i := range b.all {
			if r := &b.all[i]; r.ID == body.Shuffle {
				r.Continued = false
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
	if o == audit.OutcomeContinued {
		return &audit.Close{Shuffle: id, Outcome: o}
	}
	return &audit.Close{Shuffle: id, Outcome: o, Reason: r, Form: audit.FormTape, Tape: make([]byte, 129)}
}

// kept is what recall should list of shuffles where closed ones committed before a time are past their retention.
func (b *book) kept(since int64) (list []ledger.Recalled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.all {
		if r.Closed == 0 || r.Committed >= since {
			list = append(list, r)
		}
	}
	return list
}

// selects is what q asks of a list, the slow way.
func selects(all []ledger.Recalled, q ledger.RecallQuery) (list []ledger.Recalled) {
	for _, r := range all {
		in := q.Tables == nil
		for _, name := range q.Tables {
			in = in || name == r.Table
		}
		if in && (q.Table == "" || q.Table == r.Table) && r.Committed >= q.From && (q.To == 0 || r.Committed < q.To) &&
			(q.Serial == 0 || q.Serial == r.Serial) && (q.GameRef == "" || q.GameRef == r.GameRef) &&
			(q.Owner == "" || q.Owner == r.Owner) && (q.Deck == [32]byte{} || q.Deck == r.Deck) &&
			(q.Outcome == 0 || q.Outcome == r.Outcome) && (q.Reason == 0 || q.Reason == r.Reason) &&
			(q.State == "" || (q.State == ledger.RecallOpen) == (r.Closed == 0)) && r.ID > q.After {
			list = append(list, r)
		}
	}
	return list
}

// find pages through a question.
func find(t *testing.T, x *Finder, q ledger.RecallQuery) (list []ledger.Recalled) {
	t.Helper()
	for {
		p, err := x.Find(t.Context(), q)
		if err != nil || len(p.Shuffles) > q.Limit || p.Next != 0 && p.Next <= q.After {
			t.Fatalf("%+v: %v, %v", q, p, err)
		}
		list = append(list, p.Shuffles...)
		if q.After = p.Next; p.Next == 0 {
			return list
		}
	}
}

// pageOf is what is on the first page, and on those that it takes to fill it.
func pageOf(t *testing.T, x *Finder, q ledger.RecallQuery) (list []ledger.Recalled) {
	t.Helper()
	for limit := q.Limit; ; q.Limit = limit - len(list) {
		p, err := x.Find(t.Context(), q)
		if err != nil || p.Next != 0 && p.Next <= q.After {
			t.Fatalf("%+v: %v, %v", q, p, err)
		}
		list = append(list, p.Shuffles...)
		if q.After = p.Next; p.Next == 0 || len(list) == limit {
			return list
		}
	}
}

// newFinder lists what is open or was committed since a time in UTC milliseconds, or all if it is 0.
func newFinder(b *book, s ledger.Store, since int64) *Finder {
	if since == 0 {
		return New(b, s, 0, time.Now)
	}
	return New(b, s, time.Hour, func() time.Time { return time.UnixMilli(since).Add(time.Hour) })
}
