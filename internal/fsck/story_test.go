package fsck_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/bundle"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

const name = "main"

// material is an honest ledger with everything that a ledger can hold, in the pieces that a store keeps.
type material struct {
	id       ledger.ID
	entries  [][]byte
	parsed   []audit.Entry
	heads    []ledger.Head // one for each batch
	cosigned []ledger.Head
	decks    map[[32]byte][]byte
	terms    []ledger.Terms
	stated   []statement
	tapes    map[uint64][]byte // by shuffle
	keys     *seal.Keyring
	vkey     string // the newest
}

// honest is made once.
var honest = sync.OnceValues(func() (*material, error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	w := newWriter(dir, "fsck", true)
	for i := range 12 {
		w.round(i)
	}
	w.l.PinCoDealer()
	w.batch()
	blind := w.commit("t8", inspecttest.Blind)
	w.batch()
	w.l.Cosigned("w2", "w3")
	blind.Last(1, w.l.Size)
	w.batch()
	w.fill(256)
	// What comes last is beyond the last full tile.
	open := w.commit("t9")
	w.batch()
	w.l.Cosigned("w2", "w3")
	open.Deal(3, w.l.Size)
	w.batch()
	w.commit("t9")
	w.batch()
	return w.finish()
})

// writer writes a ledger with inspecttest, and notes where batches end.
type writer struct {
	l *inspecttest.Ledger
	m *material
}

func newWriter(dir, seed string, witnesses bool) *writer {
	g := inspecttest.Plain()
	g.AuditorKeys = [][]byte{inspecttest.Auditor().Public()}
	if witnesses {
		g.Policy = bytes.Replace(inspecttest.Policy(false, 2, "w1", "w2", "w3"), []byte("\ngroup"),
			[]byte(" https://w3.example\ngroup"), 1) // w3 can be asked
		g.Deals, g.MixModes = audit.DealsCosigned, 15
	}
	w := &writer{inspecttest.New(dir, seed, g), &material{id: ledger.IDOf(inspecttest.Origin),
		decks: make(map[[32]byte][]byte), tapes: make(map[uint64][]byte)}}
	w.l.Disclosure()
	w.batch()
	if witnesses {
		w.l.Cosigned("w1", "w2", "w3")
	}
	return w
}

// batch ends a batch: its checkpoint is signed, and time goes on.
func (w *writer) batch(keys ...ed25519.PrivateKey) {
	w.m.heads = append(w.m.heads, ledger.Head{Size: w.l.Size, Root: w.l.Root(), Checkpoint: w.l.Signed(keys...)})
	w.l.Now += 7
}

func (w *writer) commit(table string, wishes ...inspecttest.Wish) *inspecttest.Shuffle {
	s := w.l.Commit(table, wishes...)
	w.m.tapes[s.ID] = s.Tape
	return s
}

// round is a shuffle of one of several kinds, and now and then something else.
func (w *writer) round(i int) {
	shoe, _ := shuffle.Named("shoe-2")
	own, err := shuffle.NewDeck([]string{"red", "green", "blue"})
	if err != nil {
		panic(err)
	}
	wishes := [][]inspecttest.Wish{
		nil,
		{inspecttest.Draws(10, 10, 10), inspecttest.Bound(w.document(inspecttest.Wheel()))},
		{inspecttest.Of(shoe, 60)},
		{inspecttest.Mixed(2, 0, true)},
		{inspecttest.ForAuditors},
		{inspecttest.Of(own, 3), inspecttest.Bound(w.document(inspecttest.PayTable()))},
	}
	table := []string{"t1", "t2", "t3"}[i%3]
	s := w.commit(table, wishes[i%len(wishes)]...)
	w.batch()
	w.l.Cosigned("w2", "w3", "w1")
	size := w.l.Size
	if len(s.Commit.Context.Plan) > 0 {
		s.Mix(size)
		w.batch()
	}
	s.Deal(1, size)
	w.batch()
	s.Deal(1, size)
	w.batch()
	if i%7 == 2 && !s.Commit.Context.IsDraw() {
		w.child(s, table)
	} else {
		s.Close(audit.OutcomeCompleted, audit.ReasonNone)
		w.batch()
	}
	switch i {
	case 4:
		w.l.RotateSigned(func(old, next ed25519.PrivateKey) []byte {
			w.batch(old, next)
			return w.m.heads[len(w.m.heads)-1].Checkpoint
		})
	case 7:
		w.l.Append(&audit.Key{Subject: audit.SubjectPolicy,
			Policy: inspecttest.Policy(false, 2, "w2", "w3", "w1", "w4")})
		w.batch()
		w.l.Cosigned("w2", "w3")
	case 9:
		w.l.Start()
		w.batch()
	}
}

// fill goes on to a size with one batch of what costs little.
func (w *writer) fill(size uint64) {
	for i := 0; w.l.Size < size; i++ {
		w.l.Append(&audit.Event{Kind: audit.EventTableOpen, Name: fmt.Sprint("spare-", i)})
	}
	w.batch()
	w.l.Cosigned("w2", "w3")
}

func (w *writer) child(s *inspecttest.Shuffle, table string) {
	same := []inspecttest.Wish{inspecttest.Bound(s.Commit.Context.Terms)}
	if s.Commit.Context.Disclosure == audit.DisclosureAuditor {
		same = append(same, inspecttest.ForAuditors)
	}
	child := w.commit(table, append(same, inspecttest.ChildOf(s, 2, 0, 1))...)
	s.Close(audit.OutcomeContinued, audit.ReasonNone)
	w.batch()
	w.l.Cosigned("w2", "w3")
	child.Last(3, w.l.Size)
	s.Disclose()
	w.batch()
}

// document puts terms into the ledger, and keeps them for the store.
func (w *writer) document(d *terms.Document) *audit.Terms {
	t := ledger.Terms{Hash: d.Hash(), Kind: d.Kind, Bytes: d.Bytes()}
	if !slices.ContainsFunc(w.m.terms, func(x ledger.Terms) bool { return x.Hash == t.Hash }) {
		w.m.terms = append(w.m.terms, t)
	}
	return w.l.Terms(d)
}

// statement is what auditors say of a shuffle that the entry below size closes.
type statement struct {
	shuffle, size uint64
	notes         [][]byte
}

// auditor signs statements.
type auditor string

func (a auditor) Name() string    { return string(a) }
func (a auditor) KeyHash() uint32 { return uint32(len(a)) }
func (a auditor) Sign(text []byte) ([]byte, error) {
	return ed25519.Sign(inspecttest.Key(string(a)), text), nil
}

// state has two auditors sign for every shuffle whose tape was sealed to them.
func (m *material) state() error {
	for i, e := range m.parsed {
		c, ok := audit.DisclosedBy(e.Body)
		if !ok || c.Form == audit.FormNone {
			continue
		}
		s := statement{shuffle: c.Shuffle, size: uint64(i) + 1}
		for _, by := range []auditor{"lab.example", "regulator.example"} {
			signed, err := openings.Statement{Origin: inspecttest.Origin, ID: c.Shuffle,
				Commit: tlog.RecordHash(m.entries[c.Shuffle]), Disclosed: tlog.RecordHash(m.entries[i])}.Sign(by)
			if err != nil {
				return err
			}
			s.notes = append(s.notes, signed)
		}
		m.stated = append(m.stated, s)
	}
	return nil
}

// finish takes the pieces out of the bundle that was written.
func (w *writer) finish() (*material, error) {
	w.l.Finish()
	r, err := bundle.Open(w.l.Dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m := w.m
	for n := range (w.l.Size + bundle.Width - 1) / bundle.Width {
		entries, err := r.Entries(n)
		if err != nil {
			return nil, err
		}
		for _, b := range entries {
			m.entries = append(m.entries, bytes.Clone(b))
			e, err := audit.ParseEntry(b)
			if err != nil {
				return nil, err
			}
			m.parsed = append(m.parsed, e)
		}
	}
	for listed, err := range r.Cosigned() {
		if err != nil {
			return nil, err
		}
		c, err := audit.CheckpointText(listed.Signed)
		if err != nil {
			return nil, err
		}
		m.cosigned = append(m.cosigned, ledger.Head{Size: c.Size, Root: c.Root, Checkpoint: bytes.Clone(listed.Signed)})
	}
	files, err := filepath.Glob(filepath.Join(w.l.Dir, "decks", "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		hash, err := hex.DecodeString(strings.TrimSuffix(filepath.Base(name), ".txt"))
		if err != nil {
			return nil, err
		}
		deck, err := r.Deck([32]byte(hash))
		if err != nil {
			return nil, err
		}
		m.decks[[32]byte(hash)] = deck.Bytes()
	}
	key, err := seal.NewKey([]byte("a sealing key of exactly 32 byte"))
	if err != nil {
		return nil, err
	}
	if m.keys, err = seal.NewKeyring(key); err != nil {
		return nil, err
	}
	m.vkey = w.l.VKey()
	return m, m.state()
}

// load writes the first batches of the material into a store, as the daemon does.
func (m *material) load(t testing.TB, s ledger.Store, batches int) {
	t.Helper()
	old := ledger.Head{}
	var above []byte // of the tile of level 1 that is being filled
	for _, head := range m.heads[:batches] {
		b := m.batch(t, old, head, &above)
		var err error
		if old.Size == 0 {
			err = s.Create(t.Context(), ledger.Info{Name: name, Origin: inspecttest.Origin}, b)
		} else {
			err = s.Append(t.Context(), m.id, old, b)
		}
		must(t, err)
		old = head
	}
	for _, d := range m.terms {
		must(t, s.PutTerms(t.Context(), m.id, d))
	}
	for _, x := range m.stated {
		for n, signed := range x.notes {
			if x.size > old.Size {
				break
			}
			must(t, s.PutStatement(t.Context(), m.id, x.shuffle, n, signed))
		}
	}
	for _, h := range m.cosigned {
		if h.Size > old.Size {
			break
		}
		must(t, errors.Join(s.PutCosigned(t.Context(), m.id, h), s.PutLate(t.Context(), m.id, h)))
	}
}

// values are those of the commit at index i and, of a child, the cards that it shuffles.
func (m *material) values(t testing.TB, i uint64) (values, inputs []uint32) {
	t.Helper()
	ctx := m.parsed[i].Body.(*audit.Commit).Context
	out, err := ctx.Recipe.Run(m.tapes[i])
	must(t, err)
	if ctx.Parent == nil {
		return out.Values, nil
	}
	parent, _ := m.values(t, ctx.Parent.ID)
	for _, at := range ctx.Parent.Positions {
		inputs = append(inputs, parent[at])
	}
	for p, x := range out.Values {
		out.Values[p] = inputs[x]
	}
	return out.Values, inputs
}

// batch is what one append writes.
func (m *material) batch(t testing.TB, old, head ledger.Head, above *[]byte) ledger.Batch {
	t.Helper()
	b := ledger.Batch{Head: head}
	if old.Size == 0 {
		for hash, list := range m.decks {
			b.Decks = append(b.Decks, ledger.Deck{Hash: hash, List: list})
		}
	}
	for i := old.Size; i < head.Size; i++ {
		row := ledger.Row{Index: i, Entry: m.entries[i]}
		row.Columns(m.parsed[i])
		if c, ok := m.parsed[i].Body.(*audit.Commit); ok {
			_, inputs := m.values(t, i)
			var err error
			if row.Kept, err = m.keys.Seal(inspecttest.Origin, c.Commitment,
				seal.Join(m.tapes[i], inputs)); err != nil {
				t.Fatal(err)
			}
		}
		if d, ok := m.parsed[i].Body.(*audit.Deal); ok && d.Blind != nil {
			row.Kept = []byte("{}") // of what the co-dealer gave fsck sees the form
		}
		b.Rows = append(b.Rows, row)
	}
	for n := old.Size / 256; n < head.Size/256; n++ {
		var data []byte
		var nodes []tlog.Hash
		for _, entry := range m.entries[256*n : 256*(n+1)] {
			h := tlog.RecordHash(entry)
			data = append(data, h[:]...)
			nodes = append(nodes, h)
		}
		b.Tiles = append(b.Tiles, ledger.Tile{Index: n, Data: data})
		for ; len(nodes) > 1; nodes = nodes[:len(nodes)/2] {
			for i := range len(nodes) / 2 {
				nodes[i] = tlog.NodeHash(nodes[2*i], nodes[2*i+1])
			}
		}
		if *above = append(*above, nodes[0][:]...); len(*above) == 8192 {
			b.Tiles = append(b.Tiles, ledger.Tile{Level: 1, Index: n / 256, Data: *above})
			*above = nil
		}
	}
	return b
}

// busy is a writer of n shuffles of 52 cards, each with a commit, four deals and
// a close, fifty at a time and a batch for each step: what a busy house writes.
func busy(dir string, n int) (*material, error) {
	w := newWriter(dir, "busy", false)
	for done := 0; done < n; done += 50 {
		var open []*inspecttest.Shuffle
		for i := range 50 {
			open = append(open, w.commit(fmt.Sprint("table-", i)))
		}
		w.batch()
		for range 4 {
			for _, s := range open {
				s.Deal(2, 0)
			}
			w.batch()
		}
		for _, s := range open {
			s.Close(audit.OutcomeCompleted, audit.ReasonNone)
		}
		w.batch()
	}
	return w.finish()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
