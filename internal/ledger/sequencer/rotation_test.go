package sequencer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

// signingKey is a signing key of the test ledger.
type signingKey struct {
	note.Signer
	key    note.Verifier
	vkey   string
	public []byte
}

func newSigningKey(t *testing.T) signingKey {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	must(t, err)
	k := signingKey{vkey: vkey}
	if k.Signer, err = note.NewSigner(skey); err != nil {
		t.Fatal(err)
	}
	if k.key, err = audit.ParseVKey(vkey); err != nil {
		t.Fatal(err)
	}
	if k.public, err = audit.SigningKey(vkey); err != nil {
		t.Fatal(err)
	}
	return k
}

// rotation is the entry that brings the key.
func (k signingKey) rotation() *audit.Key {
	return &audit.Key{Subject: audit.SubjectSigning, Public: k.public}
}

// holding configures a daemon with these signing keys.
func (h *house) holding(mark string, signers ...note.Signer) ledger.Config {
	c := h.config(mark)
	c.Signers = signers
	return c
}

// rotate hands on to the key; what is proved from then on is proved under it.
func (h *house) rotate(l *sequencer.Ledger, next signingKey) ledger.Appended {
	h.t.Helper()
	old := h.key
	a := h.must(l, propose(next.rotation()))[0]
	h.key = next.key
	if _, err := audit.OpenCheckpoint(a.Receipt.Checkpoint, h.key); err != nil {
		h.t.Errorf("the checkpoint of the rotation lacks the new key's signature: %v", err)
	}
	signatures := strings.SplitAfter(string(a.Receipt.Checkpoint), "\n\n")[1]
	first, _, _ := strings.Cut(signatures, "\n")
	if n := strings.Count(signatures, "\n"); n != 2 {
		h.t.Errorf("%d signatures at the rotation, want 2", n)
	}
	text, _, _ := strings.Cut(string(a.Receipt.Checkpoint), "\n\n")
	if _, err := note.Open([]byte(text+"\n\n"+first+"\n"), note.VerifierList(old)); err != nil {
		h.t.Errorf("the old key does not sign first: %v", err)
	}
	return a
}

// amongOthers queues proposals behind one that is being written, and holds the
// batches against the rule that a rotation stands alone. It returns its index.
func (h *house) amongOthers(l *sequencer.Ledger, f *faultyStore, old, next note.Verifier,
	bodies []audit.Body) (index uint64) {
	t := h.t
	t.Helper()
	entered, release := make(chan struct{}), make(chan struct{})
	f.failAppend(func(real func() error) error { close(entered); <-release; return real() })
	results := make(chan []ledger.Appended, len(bodies)+1)
	queue := func(queued int, b audit.Body) {
		go func() {
			a, err := on(l).Append(context.Background(), propose(b))
			if err != nil {
				t.Error(err)
			}
			results <- a
		}()
		waitFor(t, func() bool { return l.QueueLen() == queued })
	}
	queue(0, commit("first", l.Head().Size))
	<-entered
	for i, b := range bodies {
		queue(i+1, b)
	}
	close(release)
	for range len(bodies) + 1 {
		for _, a := range <-results {
			if k, ok := a.Entry.Body.(*audit.Key); ok && k.Subject == audit.SubjectSigning {
				index = a.Index
			}
		}
	}
	before, err := f.CheckpointAfter(t.Context(), l.ID(), index-1)
	if err != nil || before.Size != index {
		t.Fatalf("the batch before the rotation at %d ends at %d (%v)", index, before.Size, err)
	}
	at, err := f.CheckpointAfter(t.Context(), l.ID(), index)
	if err != nil || at.Size != index+1 {
		t.Fatalf("the rotation's batch ends at %d (%v)", at.Size, err)
	}
	for name, key := range map[string]note.Verifier{"old": old, "new": next} {
		if _, err := audit.OpenCheckpoint(at.Checkpoint, key); err != nil {
			t.Errorf("the %s key did not sign the rotation: %v", name, err)
		}
	}
	return index
}

// TestRotation: the key entry is a batch of its own, its checkpoint carries both
// signatures, and old and new evidence holds under the key of its time.
func TestRotation(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		old, next := h.key, newSigningKey(t)
		l := h.open(h.holding("mark", h.signer, next))
		first := h.must(l, propose(commit("t", 1)))[0]
		oldVKey := vkeyOf(l)

		// Queued with others, first or in between, it still stands alone.
		middle := newSigningKey(t)
		l.Close()
		l = h.open(h.holding("mark", h.signer, middle, next))
		h.amongOthers(l, f, old, middle.key, []audit.Body{middle.rotation(), commit("u", 1), commit("u", 2)})
		index := h.amongOthers(l, f, middle.key, next.key,
			[]audit.Body{commit("v", 1), next.rotation(), commit("v", 2)})
		h.key = next.key
		after := h.must(l, propose(commit("t", 2)))[0]
		if _, err := audit.OpenCheckpoint(after.Receipt.Checkpoint, old); err == nil {
			t.Error("the old key signs on")
		}
		if vkeyOf(l) != next.vkey || oldVKey == next.vkey {
			t.Errorf("VKey: %s, then %s", oldVKey, vkeyOf(l))
		}
		keys := l.KeyHistory().Records
		if n := len(keys); n != 3 || keys[2].Index != index || keys[2].Subject != audit.SubjectSigning ||
			!bytes.Equal(keys[2].Public, next.public) {
			t.Errorf("the history: %+v", keys)
		}

		read := func(l *sequencer.Ledger) {
			t.Helper()
			for row, err := range f.Rows(t.Context(), l.ID(), first.Index, first.Index+1) {
				must(t, err)
				if text, err := l.FirstReceipt(t.Context(), row); err != nil || text != first.Receipt.Text() {
					t.Errorf("the first receipt of entry %d: %v", first.Index, err)
				}
			}
			if _, err := l.Receipt(t.Context(), after.Index); err != nil {
				t.Error(err)
			}
		}
		read(l)
		l.Close()

		// The old key alone serves reads; it signs nothing.
		size := h.size()
		l = h.open(h.holding("mark", h.signer))
		read(l)
		if err := l.Ready(); !errors.Is(err, ledger.ErrNoKey) || !strings.Contains(err.Error(), next.vkey) {
			t.Errorf("without the key in force: %v", err)
		}
		if _, err := on(l).Append(t.Context(), propose(commit("t", 9))); !errors.Is(err, ledger.ErrNoKey) {
			t.Errorf("an append without the key in force: %v", err)
		}
		l.Close()
		if h.size() != size {
			t.Error("a daemon without the key in force wrote an entry")
		}
		// The new one alone is enough.
		l = h.open(h.holding("mark", next))
		h.must(l, propose(commit("t", 3)))
		read(l)
		h.entries()
	})
}

// TestRotationOnTwoDaemons: one rotates; the other, which lacks the new key, stops
// signing, serves reads, follows, and goes on when it is started with the key.
func TestRotationOnTwoDaemons(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		next, last := newSigningKey(t), newSigningKey(t)
		a := h.open(h.holding("mark", h.signer, next, last))
		b := h.second(nil) // the old key only
		c := h.second(func(c *ledger.Config) {
			c.Mark, c.Signers = h.mark("mark3"), []note.Signer{h.signer, last}
		}) // old and last
		h.must(b, propose(commit("b", 1)))
		h.rotate(a, next)
		// b and c may not have looked yet: the head is not the one they know.
		for name, l := range map[string]*sequencer.Ledger{"b": b, "c": c} {
			if _, err := on(l).Append(t.Context(), propose(commit(name, 2))); !errors.Is(err, ledger.ErrNoKey) {
				t.Errorf("%s signs without the key in force: %v", name, err)
			}
		}
		index := h.must(a, propose(commit("a", 1)))[0].Index
		waitFor(t, func() bool { return errors.Is(b.Ready(), ledger.ErrNoKey) && b.Head().Size > index })
		if _, err := b.Receipt(t.Context(), index); err != nil || vkeyOf(b) != next.vkey {
			t.Errorf("b does not follow: %v, %s", err, vkeyOf(b))
		}
		b.Close()
		b = h.open(h.holding("mark2", h.signer, next))
		h.must(b, propose(commit("b", 2)))
		// A key that c holds comes into force: it goes on by itself.
		h.rotate(a, last)
		waitReady(t, c)
		h.must(c, propose(commit("c", 2)))
		h.entries()
	})
}

// TestOpenedWithoutTheKey: a daemon that starts without the key in force begins
// when one that it holds comes into force.
func TestOpenedWithoutTheKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	next, last := newSigningKey(t), newSigningKey(t)
	a := h.open(h.holding("mark", h.signer, next, last))
	h.rotate(a, next)
	h.copyMark("mark", "second")
	l := h.open(h.holding("second", h.signer, last))
	if err := l.Ready(); !errors.Is(err, ledger.ErrNoKey) {
		t.Fatalf("ready: %v", err)
	}
	h.rotate(a, last)
	waitReady(t, l)
	h.must(l, propose(commit("t", 1)))
	starts := 0
	for _, e := range h.entries() {
		if ev, ok := e.Body.(*audit.Event); ok && ev.Kind == audit.EventInstanceStart {
			starts++
		}
	}
	if starts != 2 {
		t.Errorf("%d daemons have begun, want 2", starts)
	}
	// A key that never was this ledger's is a mistake, not a state.
	if l, err := sequencer.Open(t.Context(), h.holding("third", newSigningKey(t))); err == nil {
		l.Close()
		t.Error("opened with a key that is none of the ledger's")
	}
}

// TestRotationRefused: what cannot be gone on from is not written.
func TestRotationRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	next := newSigningKey(t)
	l := h.open(h.holding("mark", h.signer, next))
	size := l.Head().Size
	for name, p := range map[string]ledger.Proposal{
		"a key that is not available": propose(newSigningKey(t).rotation()),
		"alongside another entry":     propose(commit("t", 1), next.rotation()),
		"the key in force": propose(&audit.Key{Subject: audit.SubjectSigning,
			Public: l.KeyHistory().Records[0].Public}),
		"retiring the key in force": propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning,
			ID: l.KeyHistory().Records[0].ID}),
		"a point of small order": propose(&audit.Key{Subject: audit.SubjectSigning,
			Public: append([]byte{1, 1}, make([]byte, 31)...)}),
	} {
		if _, err := on(l).Append(t.Context(), p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if l.Head().Size != size || vkeyOf(l) == next.vkey {
		t.Error("a refused rotation has changed something")
	}
	h.rotate(l, next)
}

// TestForgedRotation: somebody who can write the database, and has no key of the ledger, names a key of their own.
// Neither a daemon that runs nor one that starts follows.
func TestForgedRotation(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		thief := newSigningKey(t)
		l := h.open(h.config("mark"))
		id := l.ID()
		h.must(l, propose(commit("t", 1)))
		old := l.Head()
		e := audit.Entry{Time: l.Live().Time, Actor: as("operator"), Body: thief.rotation()}
		encoded, err := e.Encode()
		must(t, err)
		row := ledger.Row{Index: old.Size, Entry: encoded}
		row.Columns(e)
		root := h.rootWith(encoded)
		head, err := ledger.SignHead(old.Size+1, root, thief)
		must(t, err)
		must(t, h.store.Append(t.Context(), id, old, ledger.Batch{Rows: []ledger.Row{row}, Head: head}))
		waitFor(t, func() bool { return errors.Is(l.Ready(), ledger.ErrFrozen) })
		if !strings.Contains(l.Ready().Error(), "hands on") || vkeyOf(l) == thief.vkey || l.Head().Size != old.Size {
			t.Errorf("a daemon that runs: %v, size %d", l.Ready(), l.Head().Size)
		}
		l.Close()
		if l, err := sequencer.Open(t.Context(), h.holding("mark", h.signer, thief)); err == nil {
			l.Close()
			t.Error("a daemon opened a ledger that was handed on without its key")
		}
	})
}

// rootWith is the root over the stored entries and one more.
func (h *house) rootWith(entry []byte) tlog.Hash {
	h.t.Helper()
	var hashes hashList
	n := int64(0)
	add := func(data []byte) {
		more, err := tlog.StoredHashes(n, data, hashes)
		if err != nil {
			h.t.Fatal(err)
		}
		hashes = append(hashes, more...)
		n++
	}
	for row, err := range h.store.Rows(h.t.Context(), ledger.IDOf(origin), 0, h.size()) {
		if err != nil {
			h.t.Fatal(err)
		}
		add(row.Entry)
	}
	add(entry)
	root, err := tlog.TreeHash(n, hashes)
	if err != nil {
		h.t.Fatal(err)
	}
	return root
}

// TestCrashAroundRotation cuts a rotation at every step: the daemon that starts
// next signs with the key that is in force, whatever its mark holds.
func TestCrashAroundRotation(t *testing.T) {
	lost := fmt.Errorf("the connection broke: %w", ledger.ErrUnknownOutcome)
	for _, c := range []struct {
		name    string
		fault   func(f *faultyStore, real func() error) error
		killed  bool // the daemon is closed while the outcome is unknown
		rotated bool // in the end
	}{
		{name: "the store refuses", fault: func(*faultyStore, func() error) error { return errors.New("no space") }},
		{name: "the reply is lost, not written", fault: func(*faultyStore, func() error) error { return lost },
			rotated: true},
		{name: "the reply is lost, written",
			fault: func(_ *faultyStore, real func() error) error { return errors.Join(real(), lost) }, rotated: true},
		{name: "killed before it was written", killed: true,
			fault: func(*faultyStore, func() error) error { return lost }},
		{name: "killed after it was written", killed: true, rotated: true,
			fault: func(_ *faultyStore, real func() error) error { return errors.Join(real(), lost) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, h *house) {
				f := &faultyStore{Store: h.store}
				h.store = f
				next := newSigningKey(t)
				l := h.open(h.holding("mark", h.signer, next))
				h.must(l, propose(commit("t", 1)))
				asked := make(chan struct{})
				var dead func(func() error) error
				dead = func(func() error) error { f.failAppend(dead); return lost }
				f.failAppend(func(real func() error) error {
					defer close(asked)
					err := c.fault(f, real)
					if c.killed {
						f.failAppend(dead)
					}
					return err
				})
				result := make(chan error, 1)
				go func() { _, err := on(l).Append(context.Background(), propose(next.rotation())); result <- err }()
				<-asked
				if c.killed {
					l.Close()
				}
				err := <-result
				if !c.killed && (err == nil) != c.rotated {
					t.Errorf("the rotation: %v", err)
				}
				l.Close()
				f.failAppend(nil)
				// Any of the keys it may find in force.
				l = h.open(h.holding("mark", next, h.signer))
				if rotated := vkeyOf(l) == next.vkey; rotated != c.rotated {
					t.Fatalf("rotated: %v, want %v", rotated, c.rotated)
				}
				if !c.rotated {
					h.rotate(l, next)
				}
				h.key = next.key
				h.must(l, propose(commit("t", 2)))
				h.entries()
				n := 0
				for _, k := range l.KeyHistory().Records {
					if k.Subject == audit.SubjectSigning {
						n++
					}
				}
				if n != 2 {
					t.Errorf("%d signing keys", n)
				}
			})
		})
	}
}

// TestMarkAcrossRotation: the mark of before a rotation, of it and of after it is read; a database of before it is not
// signed onto, also where the mark knows only the new key.
func TestMarkAcrossRotation(t *testing.T) {
	for _, after := range []uint64{0, 1, 5} { // batches after the rotation
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			onBothDatabases(t, func(t *testing.T, db database) {
				h := newHouse(t, db.open())
				next := newSigningKey(t)
				l := h.open(h.holding("mark", h.signer, next))
				h.must(l, propose(commit("t", 1)))
				l.Close()
				h.copyMark("mark", "before")
				backup := db.backup()
				h.store = db.open()
				l = h.open(h.holding("mark", h.signer, next))
				h.rotate(l, next)
				for n := range after {
					h.must(l, propose(commit("u", n)))
				}
				l.Close()
				// The mark of before is extended.
				l = h.open(h.holding("before", h.signer, next))
				h.must(l, propose(commit("v", 1)))
				size := l.Head().Size
				l.Close()
				// The mark of after is not.
				h.copyMark("before", "mark")
				h.store = backup.open()
				l = h.open(h.holding("mark", h.signer, next))
				if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) ||
					!strings.Contains(err.Error(), fmt.Sprintf("mark has %d", size)) {
					t.Errorf("a database of before the rotation: %v", err)
				}
				if _, err := on(l).Append(t.Context(), propose(commit("w", 1))); !errors.Is(err, ledger.ErrFrozen) {
					t.Errorf("signed onto it: %v", err)
				}
			})
		})
	}
}

// rotatable is a ledger with witnesses that know a second key of it.
func rotatable(t *testing.T, store ledger.Store, deals audit.Deals, unaware int) (*witnessed, signingKey) {
	t.Helper()
	h, vkey := newKeys(t, store)
	next := newSigningKey(t)
	w := &witnessed{house: h, vkey: vkey}
	var lines, names []string
	for i := range 3 {
		logs := []string{vkey, next.vkey}
		if i < unaware {
			logs = logs[:1]
		}
		one := witnesstest.Start(t, logs...)
		w.witnesses = append(w.witnesses, one)
		lines, names = append(lines, one.PolicyLine), append(names, one.Name)
	}
	w.genesis = genesis(t, vkey)
	w.genesis.Deals = deals
	w.genesis.Policy = fmt.Appendf(nil, "%s\ngroup three 2 %s\nquorum three\n", strings.Join(lines, "\n"),
		strings.Join(names, " "))
	w.create(w.genesis)
	return w, next
}

func (w *witnessed) holding(mark string, signers ...note.Signer) ledger.Config {
	c := w.config(mark)
	c.Signers = signers
	return c
}

// TestWitnessedRotation: witnesses that know the new key cosign across; one that does not is left behind and says so;
// cosigned checkpoints of both keys are read after a restart.
func TestWitnessedRotation(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w, next := rotatable(t, store, audit.DealsCosigned, 1)
		l := w.open(w.holding("mark", w.signer, next))
		before := w.must(l, propose(commit("t", 1)))[0].Index
		w.awaitCosigned(l, before)
		at := w.rotate(l, next).Index
		w.awaitCosigned(l, at)
		after := w.must(l, propose(commit("t", 2)))[0].Index
		w.awaitCosigned(l, after)
		w.must(l, propose(oneCard(before)))
		waitFor(t, func() bool {
			return slices.ContainsFunc(l.Witnesses(), func(s cosign.WitnessState) bool {
				return s.Name == w.witnesses[0].Name && s.Err != nil && strings.Contains(s.Err.Error(), "403")
			})
		})
		l.Close()
		l = w.open(w.holding("mark", next))
		waitReady(t, l)
		w.everyWitnessBut(l, w.witnesses[0].Name)
		for _, size := range []uint64{at, at + 1, after + 1} {
			if h, err := l.CosignedAtMost(t.Context(), size); err != nil || h.Size <= before || h.Size > size {
				t.Errorf("the newest cosigned checkpoint of at most %d: %d, %v", size, h.Size, err)
			}
		}
	})
}

// everyWitnessBut waits until all other witnesses cosigned the newest head.
func (w *witnessed) everyWitnessBut(l *sequencer.Ledger, name string) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		return !slices.ContainsFunc(l.Witnesses(),
			func(s cosign.WitnessState) bool { return s.Name != name && s.Size < l.Head().Size })
	})
}

// TestRollbackAcrossRotation: the database is of before the rotation and the mark is lost. Witnesses show checkpoints
// under a key that the database does not name, and the daemon knows it for its own.
func TestRollbackAcrossRotation(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db database) {
		w, next := rotatable(t, db.open(), audit.DealsSigned, 0)
		l := w.open(w.holding("mark", w.signer, next))
		w.must(l, propose(commit("t", 1)))
		w.awaitCosigned(l, l.Head().Size-1)
		l.Close()
		backup := db.backup()
		w.store = db.open()
		l = w.open(w.holding("mark", w.signer, next))
		w.rotate(l, next)
		w.must(l, propose(commit("t", 2)))
		w.everyWitness(l)
		l.Close()
		must(t, os.Remove(w.mark("mark")))
		w.store = backup.open()
		l = w.open(w.holding("mark", w.signer, next))
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) ||
			!strings.Contains(err.Error(), "under this ledger's key") {
			t.Errorf("a database of before the rotation: %v", err)
		}
	})
}

// vkeyOf returns the verifier key of the Ed25519 key in force.
func vkeyOf(l *sequencer.Ledger) string {
	vkey, _ := audit.VKey(l.Info().Origin, l.KeyHistory().InForce()[0].Public)
	return vkey
}

func newLongKey(t *testing.T) (*keys.MLDSAKey, *audit.Key) {
	t.Helper()
	k, err := keys.GenerateMLDSA(origin)
	must(t, err)
	return k, &audit.Key{Subject: audit.SubjectSigning, Public: k.Public()}
}

// signedWith holds the newest checkpoint against what signs it.
func signedWith(t *testing.T, l *sequencer.Ledger, lines int, keys ...note.Verifier) {
	t.Helper()
	head := l.Head()
	if _, err := audit.OpenCheckpoint(head.Checkpoint, keys...); err != nil {
		t.Errorf("size %d: %v", head.Size, err)
	}
	if n := strings.Count(string(head.Checkpoint), "\n— "); n != lines {
		t.Errorf("size %d: %d signatures, want %d", head.Size, n, lines)
	}
}

// TestMLDSA: a ledger takes a key of ML-DSA-44 alongside that of Ed25519, signs every
// checkpoint with both, replaces either, and goes on from each after a restart.
func TestMLDSA(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		first, enter := newLongKey(t)
		second, replace := newLongKey(t)
		ed := newSigningKey(t)
		c := h.holding("mark", h.signer, first.At(0), second.At(0), ed)
		l := h.open(c)
		h.must(l, propose(commit("before", l.Head().Size)))
		signedWith(t, l, 1, h.key)
		old := l.Head()
		h.must(l, propose(enter))
		signedWith(t, l, 2, h.key, first.Verifier())
		h.must(l, propose(commit("both", l.Head().Size)))
		signedWith(t, l, 2, h.key, first.Verifier())
		h.must(l, propose(replace))
		signedWith(t, l, 3, h.key, second.Verifier())
		signedWith(t, l, 3, h.key, first.Verifier())
		h.must(l, propose(commit("second", l.Head().Size)))
		signedWith(t, l, 2, h.key, second.Verifier())
		before := h.key
		h.must(l, propose(ed.rotation()))
		signedWith(t, l, 3, before, second.Verifier())
		signedWith(t, l, 3, ed.key, second.Verifier())
		h.key = ed.key
		_, err := audit.OpenCheckpoint(old.Checkpoint, before, first.Verifier())
		if !errors.Is(err, audit.ErrSignature) {
			t.Errorf("a checkpoint from before with both keys pinned: %v", err)
		}
		size := l.Head().Size
		l.Close()
		l = h.open(c)
		if l.Head().Size < size {
			t.Errorf("size %d after a restart, was %d", l.Head().Size, size)
		}
		h.must(l, propose(commit("again", l.Head().Size)))
		signedWith(t, l, 2, ed.key, second.Verifier())
		texts, err := l.Handovers(t.Context(), l.Head())
		if err != nil || len(texts) != 3 {
			t.Errorf("%d hand-overs: %v", len(texts), err)
		}
		l.Close()

		// Without the key of ML-DSA-44 nothing is signed, and reads go on.
		l = h.open(h.holding("mark", ed))
		_, err = on(l).Append(t.Context(), propose(commit("alone", l.Head().Size)))
		if !errors.Is(err, ledger.ErrNoKey) {
			t.Errorf("without the key: %v", err)
		}
	})
}

// TestMLDSAStays: a key of ML-DSA-44 in force is not retired.
func TestMLDSAStays(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		first, enter := newLongKey(t)
		second, replace := newLongKey(t)
		l := h.open(h.holding("mark", h.signer, first.At(0), second.At(0)))
		h.must(l, propose(enter))
		retire := propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning,
			ID: audit.KeyID(first.Public())})
		var illegal *audit.Illegal
		if _, err := on(l).Append(t.Context(), retire); !errors.As(err, &illegal) || illegal.Code != audit.RuleKey {
			t.Errorf("in force: %v", err)
		}
		if _, err := on(l).Append(t.Context(), propose(enter)); !errors.As(err, &illegal) {
			t.Errorf("the same key twice: %v", err)
		}
		h.must(l, propose(replace))
		h.must(l, retire)
	})
}

// gatedWitness is the way to a witness that can be held up, and cut.
type gatedWitness struct {
	ledger.Witness
	gates *gates
	name  string
}

// gates are those of one daemon, by the name of the witness.
type gates struct {
	mu   sync.Mutex
	shut map[string]chan struct{}
	cut  map[string]bool
}

func (g gatedWitness) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte,
	error) {
	g.gates.mu.Lock()
	shut, cut := g.gates.shut[g.name], g.gates.cut[g.name]
	g.gates.mu.Unlock()
	if cut {
		return nil, errors.New("cut")
	}
	if shut != nil {
		<-shut
	}
	return g.Witness.AddCheckpoint(context.WithoutCancel(ctx), old, proof, checkpoint)
}

// behind puts the daemon's witnesses behind gates.
func behind(c *ledger.Config) *gates {
	g := &gates{shut: make(map[string]chan struct{}), cut: make(map[string]bool)}
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		one := lines[0]
		return gatedWitness{&witness.Client{URL: one.URL, Keys: []note.Verifier{one.Key}}, g, one.Name}, nil
	}
	return g
}

func (g *gates) setCut(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		g.cut[name] = true
	}
}

// setShut holds up the witnesses until what it returns is called.
func (g *gates) setShut(names ...string) (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until := make(chan struct{})
	for _, name := range names {
		g.shut[name] = until
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, name := range names {
			delete(g.shut, name)
		}
		close(until)
	})
}

// cosignedBy waits until the witnesses cosigned a head of the daemon of that size.
func (w *witnessed) cosignedBy(l *sequencer.Ledger, size uint64, names ...string) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		n := 0
		for _, s := range l.Witnesses() {
			if slices.Contains(names, s.Name) && s.Size == size {
				n++
			}
		}
		return n == len(names)
	})
}

// TestRoundBelowHandover: a daemon asks for a head while another lets the waiting policy take over at a larger one.
// What the new quorum alone cosigned of the smaller head is not cosigned: the old policy governs it.
func TestRoundBelowHandover(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	old := (&quorum{witnesses: w.witnesses}).write(t)
	next := newQuorum(t, w.vkey)
	names := []string{next.witnesses[0].Name, next.witnesses[1].Name, next.witnesses[2].Name}
	ca := w.config("mark")
	cut := behind(&ca)
	a := w.open(ca)
	w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
	cut.setCut(append(names, old.names()...)...) // the new policy is not handed on to by this daemon yet
	w.copyMark("mark", "second")
	cb := w.config("second")
	held := behind(&cb)
	b := w.open(cb)
	w.everyone(b, old)
	openOld, openLast := held.setShut(old.names()...), held.setShut(names[2])
	defer openOld()
	defer openLast()
	index := w.must(b, propose(next.entry()))[0].Index
	size := index + 1
	w.cosignedBy(b, size, names[:2]...) // and the others are held up

	above := w.must(a, propose(commit("t", 2)))[0].Index
	cut.mu.Lock()
	cut.cut = map[string]bool{names[2]: true}
	cut.mu.Unlock()
	w.awaitCosigned(a, above)
	w.asked(a, next)
	must(t, b.Refresh(t.Context()))
	w.asked(b, next)
	openLast()
	w.cosignedBy(b, size, names[2])
	for h, err := range w.store.CosignedFrom(t.Context(), a.ID(), size) {
		must(t, err)
		if h.Size == size {
			t.Error("what the new quorum alone cosigned below the checkpoint that hands on was stored")
		}
	}
	openOld()
	w.awaitCosigned(b, w.must(b, propose(commit("t", 3)))[0].Index)
	w.judged()
}

// blindStore does not show the cosigned checkpoints while it is blind.
type blindStore struct {
	ledger.Store
	blind atomic.Bool
	tried chan uint64 // sizes that were put while it was blind
}

func (s *blindStore) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	if s.blind.Load() {
		return func(yield func(ledger.Head, error) bool) { yield(ledger.Head{}, errors.New("blind")) }
	}
	return s.Store.CosignedFrom(ctx, id, size)
}

func (s *blindStore) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	defer s.note(h)
	return s.Store.PutCosigned(ctx, id, h)
}

func (s *blindStore) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	defer s.note(h)
	return s.Store.PutHandover(ctx, id, h, from)
}

func (s *blindStore) note(h ledger.Head) {
	if s.blind.Load() {
		select {
		case s.tried <- h.Size:
		default:
		}
	}
}

// TestTwoPoliciesWait: of two policies the first takes over on one daemon; the other daemon, which has not seen it,
// stores no checkpoint of the policy before and the second alone.
func TestTwoPoliciesWait(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		old := (&quorum{witnesses: w.witnesses}).write(t)
		first, second := newQuorum(t, w.vkey), newQuorum(t, w.vkey)
		ca := w.config("mark")
		cut := behind(&ca)
		a := w.open(ca)
		w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
		w.copyMark("mark", "second")
		cb := w.config("second")
		seen := &blindStore{Store: store, tried: make(chan uint64, 1)}
		cb.Store = seen
		b := w.open(cb)
		w.everyone(b, old)
		seen.blind.Store(true)
		w.awaitCosigned(a, w.addPolicy(a, first))
		w.asked(a, first)
		cut.setCut(second.names()...) // it hands on to no other
		index := w.must(a, propose(second.entry()))[0].Index
		must(t, b.Refresh(t.Context()))
		w.asked(b, old, first, second)
		for size := uint64(0); size <= index; {
			size = <-seen.tried
		}
		if h, ok := b.Cosigned(); ok && h.Size > index {
			t.Errorf("the checkpoint of size %d counts, which the policy in force did not cosign", h.Size)
		}
		seen.blind.Store(false)
		w.awaitCosigned(b, w.must(b, propose(commit("t", 2)))[0].Index)
		w.asked(b, second)
		w.asked(a, second)
		w.judged()
	})
}

// TestRoundAcrossHandover: of two policies that wait the first takes over, on another
// daemon, while a round for the second is under way. That round has the policy before and
// the second behind it, and the first governs: nothing of it is stored.
func TestRoundAcrossHandover(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	old := (&quorum{witnesses: w.witnesses}).write(t)
	first, second := newQuorum(t, w.vkey), newQuorum(t, w.vkey)
	ca := w.config("mark")
	cut := behind(&ca)
	a := w.open(ca)
	w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
	w.copyMark("mark", "second")
	cb := w.config("second")
	held := behind(&cb)
	seen := &blindStore{Store: w.store, tried: make(chan uint64, 1)}
	cb.Store = seen
	b := w.open(cb)
	w.everyone(b, old)
	seen.blind.Store(true)
	w.awaitCosigned(a, w.addPolicy(a, first))
	w.asked(a, first)
	cut.setCut(second.names()...) // it hands on to no other
	open := held.setShut(second.names()...)
	defer open()
	size := w.must(a, propose(second.entry()))[0].Index + 1
	must(t, b.Refresh(t.Context()))
	w.cosignedBy(b, size, old.names()...)
	seen.blind.Store(false)
	w.asked(b, first, second)
	open()
	w.awaitCosigned(b, size-1)
	w.judged()
}
