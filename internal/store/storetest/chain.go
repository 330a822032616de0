package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// chain is a ledger as a writer knows it. Its roots are invented: a store does not compute them.
type chain struct {
	t     *testing.T
	store ledger.Store
	id    ledger.ID
	head  ledger.Head
}

// newChain creates a ledger with one entry.
func newChain(t *testing.T, s ledger.Store, name string) *chain {
	t.Helper()
	c := &chain{t: t, store: s, id: ledger.IDOf(originOf(name))}
	first := c.batch(eventRow(t))
	if err := s.Create(t.Context(), ledger.Info{Name: name, Origin: originOf(name)}, first); err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	c.head = first.Head
	c.check()
	return c
}

// batch puts rows after the head.
func (c *chain) batch(rows ...ledger.Row) ledger.Batch {
	h := sha256.New()
	h.Write(c.head.Root[:])
	for i := range rows {
		rows[i].Index = c.head.Size + uint64(i)
		h.Write(rows[i].Entry)
	}
	head := ledger.Head{Size: c.head.Size + uint64(len(rows)), Root: tlog.Hash(h.Sum(nil))}
	head.Checkpoint = append([]byte("checkpoint\n"), head.Root[:]...)
	return ledger.Batch{Rows: rows, Head: head}
}

func (c *chain) mustAppend(b ledger.Batch) {
	c.t.Helper()
	if err := c.store.Append(c.t.Context(), c.id, c.head, b); err != nil {
		c.t.Fatalf("appending %d rows at %d: %v", len(b.Rows), c.head.Size, err)
	}
	c.head = b.Head
	c.check()
}

// check compares the stored head with the known one.
func (c *chain) check() {
	c.t.Helper()
	h, err := c.store.Head(c.t.Context(), c.id)
	if err != nil {
		c.t.Fatalf("reading the head: %v", err)
	}
	if diff := cmp.Diff(c.head, h); diff != "" {
		c.t.Fatalf("head:\n%s", diff)
	}
}

func (c *chain) rows(from, to uint64) []ledger.Row {
	c.t.Helper()
	return c.rowsOf(c.id, from, to)
}

func (c *chain) rowsOf(id ledger.ID, from, to uint64) (list []ledger.Row) {
	c.t.Helper()
	for row, err := range c.store.Rows(c.t.Context(), id, from, to) {
		if err != nil {
			c.t.Fatalf("reading rows %d to %d: %v", from, to, err)
		}
		list = append(list, row)
	}
	return list
}

// tag returns the n-th key tag. Tags of near numbers are far from each other, as hashes are.
func tag(n int) [32]byte {
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

// row encodes an entry.
func row(t testing.TB, body audit.Body) ledger.Row {
	t.Helper()
	e := audit.Entry{Time: 1_700_000_000_000, Actor: audit.Actor{Identity: "dealer-1", Credential: "dealer-1"},
		Body: body}
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r := ledger.Row{Entry: b}
	r.Columns(e)
	return r
}

// commitRow is a commit of a 52-card deck with a sealed tape of a given length.
func commitRow(t testing.TB, table string, serial uint64, key [32]byte, tape int) ledger.Row {
	t.Helper()
	r := row(t, &audit.Commit{
		Context: &audit.Context{
			Origin: "example.org/main", Table: table, DeckHash: tag(52),
			Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic,
		},
		Commitment: tag(-1), DeckRoot: tag(-2), Serial: serial, Previous: serial - 1,
		CloseBy: 1_700_000_600_000, GameRef: "game-1", KeyTag: key, Request: tag(-3),
	})
	r.Kept = bytes.Repeat([]byte{byte(serial), 0, 0xff}, (tape+36)/3)
	return r
}

// slotted gives a commit slots. Its entry does not have them: a store does not read the entry.
func slotted(r ledger.Row, slots ...[32]byte) ledger.Row {
	r.Slots = slots
	return r
}

func mixRow(t testing.TB, id uint64) ledger.Row {
	return row(t, &audit.Mix{Shuffle: id, Values: []audit.MixValue{{Source: audit.SourceSlot, Slot: tag(9)}}})
}

func dealRow(t testing.TB, id uint64) ledger.Row {
	return row(t, &audit.Deal{Shuffle: id,
		Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}})
}

// closeRow is a close with a tape of a given length.
func closeRow(t testing.TB, id uint64, tape int) ledger.Row {
	return row(t, &audit.Close{Shuffle: id, Outcome: audit.OutcomeCompleted, Form: audit.FormTape,
		Tape: make([]byte, tape)})
}

func eventRow(t testing.TB) ledger.Row {
	return row(t, &audit.Event{Kind: audit.EventTableOpen, Name: "table-1"})
}

// tiled returns enough rows to fill the first tile of a ledger of this size.
func tiled(size uint64, first ledger.Row) []ledger.Row {
	rows := []ledger.Row{first}
	for size+uint64(len(rows)) < 256 {
		rows = append(rows, ledger.Row{Entry: []byte("entry"), Type: audit.TypeEvent})
	}
	return rows
}

// tilesOf returns the tiles of level 0 that the batch completes.
func tilesOf(b ledger.Batch) (tiles []ledger.Tile) {
	for n := b.Rows[0].Index / 256; n < b.Head.Size/256; n++ {
		data := bytes.Repeat(b.Head.Root[:], 256)
		binary.BigEndian.PutUint64(data, n)
		tiles = append(tiles, ledger.Tile{Index: n, Data: data})
	}
	return tiles
}

func keyRow(t testing.TB) ledger.Row {
	return row(t, &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: tag(7),
		From: 1_700_000_000_000})
}

// Small is a ledger of entries that are no entries, for tests of one store that need no more.
type Small struct {
	ID       ledger.ID
	Head     ledger.Head
	Cosigned uint64 // the newest size of which a cosigned checkpoint was acknowledged
}

// SmallInfo is what Create creates.
var SmallInfo = ledger.Info{Name: "main", Origin: "example.org/main"}

// Create creates a ledger with one entry.
func Create(t testing.TB, s ledger.Store) Small {
	t.Helper()
	l := Small{ID: ledger.IDOf(SmallInfo.Origin)}
	first := l.Next(1)
	if err := s.Create(t.Context(), SmallInfo, first); err != nil {
		t.Fatal(err)
	}
	l.Head = first.Head
	return l
}

// Next is a batch of n entries after the head.
func (l Small) Next(n int) (b ledger.Batch) {
	for i := range n {
		index := l.Head.Size + uint64(i)
		b.Rows = append(b.Rows, ledger.Row{Index: index, Entry: fmt.Appendf(nil, "entry %d", index),
			Type: audit.TypeEvent})
	}
	b.Head = ledger.Head{Size: l.Head.Size + uint64(n), Checkpoint: []byte("checkpoint")}
	b.Head.Root[0], b.Head.Root[1] = byte(b.Head.Size>>8), byte(b.Head.Size)
	return b
}
