package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// lyingStore is a store whose snapshots, rows and tiles its owner has changed.
type lyingStore struct {
	ledger.Store
	kept []ledger.Snapshot // newest first; in place of the stored ones
	row  func(ledger.Row) ledger.Row
	tile func(level int, data []byte) []byte
}

func (s *lyingStore) SnapshotBelow(_ context.Context, _ ledger.ID, below uint64) (ledger.Snapshot, error) {
	for _, one := range s.kept {
		if one.Index < below {
			return one, nil
		}
	}
	return ledger.Snapshot{}, ledger.ErrNotFound
}

func (s *lyingStore) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		for row, err := range s.Store.Rows(ctx, id, from, to) {
			if s.row != nil {
				row = s.row(row)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func (s *lyingStore) Tile(ctx context.Context, id ledger.ID, level int, index uint64) ([]byte, error) {
	data, err := s.Store.Tile(ctx, id, level, index)
	if s.tile != nil {
		data = s.tile(level, data)
	}
	return data, err
}

// TestLyingSnapshots: whatever the owner of the database makes of snapshots, a
// start knows what all entries say, and not more.
func TestLyingSnapshots(t *testing.T) {
	t.Parallel()
	next := newSigningKey(t)
	h := newHouse(t, openSQLite(t))
	config := func() ledger.Config { return dense(h.holding("mark", h.signer, next)) }
	l := h.open(config())
	h.grow(l, snapshotEvery+100)
	h.rotate(l, next)
	h.grow(l, 2*snapshotEvery+100)
	h.grow(l, 3*snapshotEvery+700)
	l.Close()
	kept := h.kept()
	if len(kept) != 3 {
		t.Fatalf("%d snapshots", len(kept))
	}
	known := func(s *lyingStore) *ledger.Memory {
		t.Helper()
		c := config()
		c.Store = s
		m, err := ledger.Remember(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := known(&lyingStore{Store: h.store})
	if want.From != 0 {
		t.Fatal("a start without snapshots did not begin at entry 0")
	}
	other := newHouse(t, openSQLite(t))
	foreign := other.open(dense(other.config("mark")))
	other.grow(foreign, snapshotEvery+100)
	foreign.Close()

	flip := func(s ledger.Snapshot, at int) ledger.Snapshot {
		s.State = bytes.Clone(s.State)
		s.State[at] ^= 1
		return s
	}
	// A state with a signing key of the owner's in it, and the event that would
	// vouch for it.
	thief := newSigningKey(t)
	forged := forge(t, kept[0], thief)
	for name, c := range map[string]struct {
		store *lyingStore
		from  uint64
	}{
		"as they are":              {&lyingStore{kept: kept}, kept[0].Index},
		"the newest deleted":       {&lyingStore{kept: kept[1:]}, kept[1].Index},
		"but one deleted":          {&lyingStore{kept: kept[2:]}, kept[2].Index},
		"all deleted":              {&lyingStore{}, 0},
		"a bit of the newest":      {&lyingStore{kept: []ledger.Snapshot{flip(kept[0], 300), kept[1]}}, kept[1].Index},
		"the size of the newest":   {&lyingStore{kept: []ledger.Snapshot{flip(kept[0], 8), kept[1]}}, kept[1].Index},
		"the time of the newest":   {&lyingStore{kept: []ledger.Snapshot{flip(kept[0], 16), kept[1]}}, kept[1].Index},
		"the last byte of all":     {&lyingStore{kept: []ledger.Snapshot{flip(kept[0], len(kept[0].State)-1), flip(kept[1], len(kept[1].State)-1), flip(kept[2], len(kept[2].State)-1)}}, 0},
		"an old one as the newest": {&lyingStore{kept: []ledger.Snapshot{{Index: kept[0].Index, State: kept[1].State}, kept[2]}}, kept[2].Index},
		"of another ledger":        {&lyingStore{kept: []ledger.Snapshot{{Index: kept[0].Index, State: other.kept()[0].State}}}, 0},
		"cut":                      {&lyingStore{kept: []ledger.Snapshot{{Index: kept[0].Index, State: kept[0].State[:100]}}}, 0},
		"empty":                    {&lyingStore{kept: []ledger.Snapshot{{Index: kept[0].Index}}}, 0},
		"of no event":              {&lyingStore{kept: []ledger.Snapshot{{Index: kept[0].Index - 1, State: kept[0].State}, kept[1]}}, kept[1].Index},
		"of entry 0":               {&lyingStore{kept: []ledger.Snapshot{{Index: 0, State: kept[0].State}}}, 0},
		"another signing key":      {&lyingStore{kept: []ledger.Snapshot{forged, kept[1]}}, kept[1].Index},
		"and the row of its event": {&lyingStore{kept: []ledger.Snapshot{forged, kept[1]}, row: vouching(t, forged)}, kept[1].Index},
		"without the rotation":     {&lyingStore{kept: []ledger.Snapshot{withoutKeys(t, kept[0])}, row: vouching(t, withoutKeys(t, kept[0]))}, 0},
		"beside a tile of leaves":  {&lyingStore{kept: kept, tile: damage(0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.store.Store = h.store
			if c.store.row != nil { // the row is genuine where it is folded
				c.store.row = once(c.store.row)
			}
			m := known(c.store)
			if uint64(m.From) != c.from {
				t.Errorf("the fold began at %d, want %d", m.From, c.from)
			}
			if !bytes.Equal(m.State, want.State) {
				t.Error("another state")
			}
			m.State, m.From, m.Missing = nil, want.From, nil
			clean := *want
			clean.State, clean.Missing = nil, nil
			if diff := cmp.Diff(&clean, m); diff != "" {
				t.Errorf("%.2000s", diff)
			}
		})
	}
	// Where the entries themselves were changed, nobody begins.
	for name, s := range map[string]*lyingStore{
		"in the tail": {kept: kept, row: func(r ledger.Row) ledger.Row {
			if r.Index == uint64(want.Size)-3 {
				r.Entry = flip(ledger.Snapshot{State: r.Entry}, 20).State
			}
			return r
		}},
	} {
		s.Store = h.store
		c := config()
		c.Store = s
		if _, err := ledger.Remember(t.Context(), c); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// forge puts a key entry of the thief's into a state.
func forge(t *testing.T, s ledger.Snapshot, thief signingKey) ledger.Snapshot {
	t.Helper()
	state, err := audit.ParseState(s.State)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Apply(audit.Entry{Time: state.Time(), Actor: as("thief"), Body: thief.rotation()}); err != nil {
		t.Fatal(err)
	}
	b := state.Encode()
	copy(b[1:9], s.State[1:9]) // of as many entries as before
	return ledger.Snapshot{Index: s.Index, State: b}
}

// withoutKeys takes the key entries out of a state: then the genesis's key is in force.
func withoutKeys(t *testing.T, s ledger.Snapshot) ledger.Snapshot {
	t.Helper()
	state, err := audit.ParseState(s.State)
	if err != nil || len(state.KeyEntries()) != 1 {
		t.Fatalf("%d key entries, %v", len(state.KeyEntries()), err)
	}
	const entry = 8 + 8 + 1 + 2 + 33 // a signing key's
	const behind = 4 + 8 + 4         // of no credential and no act
	at := len(s.State) - behind - entry
	b := slices.Delete(bytes.Clone(s.State), at, at+entry)
	clear(b[at-4 : at]) // their count
	if _, err := audit.ParseState(b); err != nil {
		t.Fatal(err)
	}
	return ledger.Snapshot{Index: s.Index, State: b}
}

// vouching puts an event in place of the stored one that vouches for s.
func vouching(t *testing.T, s ledger.Snapshot) func(ledger.Row) ledger.Row {
	t.Helper()
	return func(r ledger.Row) ledger.Row {
		if r.Index != s.Index {
			return r
		}
		e, err := audit.ParseEntry(r.Entry)
		if err != nil {
			t.Fatal(err)
		}
		e.Body = &audit.Event{Kind: audit.EventSnapshot, Size: s.Index, Digest: audit.StateDigest(s.State)}
		if r.Entry, err = e.Encode(); err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// once lies about a row the first time it is read.
func once(lie func(ledger.Row) ledger.Row) func(ledger.Row) ledger.Row {
	told := make(map[uint64]bool)
	return func(r ledger.Row) ledger.Row {
		if told[r.Index] {
			return r
		}
		told[r.Index] = true
		return lie(r)
	}
}

func damage(at int) func(int, []byte) []byte {
	return func(level int, data []byte) []byte {
		if level == at && len(data) > 0 {
			data = bytes.Clone(data)
			data[5] ^= 1
		}
		return data
	}
}

// unsigned is a store whose checkpoints lack the signatures of a key.
type unsigned struct {
	ledger.Store
	key note.Verifier
}

func (s unsigned) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	h, err := s.Store.CheckpointAfter(ctx, id, index)
	text, lines, _ := bytes.Cut(h.Checkpoint, []byte("\n\n"))
	kept := append(bytes.Clone(text), "\n\n"...)
	for line := range bytes.Lines(lines) {
		if one := slices.Concat(text, []byte("\n\n"), line); !opens(one, s.key) {
			kept = append(kept, line...)
		}
	}
	h.Checkpoint = kept
	return h, err
}

func opens(signed []byte, key note.Verifier) bool {
	_, err := audit.OpenCheckpoint(signed, key)
	return err == nil
}

// TestHandoverWithSnapshot: a key that the one before did not hand on to is nobody's,
// also where a snapshot stands above its entry.
func TestHandoverWithSnapshot(t *testing.T) {
	t.Parallel()
	h, next := newHouse(t, openSQLite(t)), newSigningKey(t)
	old := h.key
	config := dense(h.holding("mark", h.signer, next))
	l := h.open(config)
	h.rotate(l, next)
	h.grow(l, snapshotEvery+100)
	l.Close()
	if m, err := ledger.Remember(t.Context(), config); err != nil || m.From == 0 {
		t.Fatalf("the honest ledger: %v", err)
	}
	config.Store = unsigned{h.store, old}
	if _, err := ledger.Remember(t.Context(), config); !errors.Is(err, ledger.ErrFrozen) {
		t.Errorf("without the old key's signature: %v", err)
	}
}

// lostSnapshots is a store that keeps none, as after a crash behind the event.
type lostSnapshots struct{ ledger.Store }

func (lostSnapshots) PutSnapshot(context.Context, ledger.ID, ledger.Snapshot) error {
	return errors.New("the process died")
}

// TestSnapshotLost: when nothing was kept of a snapshot that was logged, the next
// start folds further, and keeps it.
func TestSnapshotLost(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		store := h.store
		h.store = lostSnapshots{store}
		l := h.open(dense(h.config("mark")))
		for l.Head().Size < 2*snapshotEvery+50 {
			h.must(l, propose(commits("t", l.Head().Size, 200)...))
		}
		var events []uint64
		waitFor(t, func() bool { events = h.events(); return len(events) == 2 })
		l.Close()
		h.store = store
		if n := len(h.kept()); n != 0 {
			t.Fatalf("%d were kept", n)
		}
		l = h.open(dense(h.config("mark")))
		waitFor(t, func() bool { return len(h.kept()) == 1 })
		l.Close()
		kept := h.kept()[0]
		if kept.Index != events[1] {
			t.Errorf("the snapshot of entry %d was kept, want %d", kept.Index, events[1])
		}
		m, err := ledger.Remember(t.Context(), dense(h.config("mark")))
		if err != nil || uint64(m.From) != kept.Index {
			t.Errorf("the start after it began at %d, %v", m.From, err)
		}
		if len(h.events()) != 2 {
			t.Error("a start logged a snapshot that is not due")
		}
	})
}
