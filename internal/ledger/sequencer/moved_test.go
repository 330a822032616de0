package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/witness"
)

// nobody is an address where no witness answers: who asks hangs until the test says otherwise.
type nobody struct {
	asked  chan struct{} // capacity 1
	answer func()        // from now on an error, at once
	hangs  chan struct{}
	times  atomic.Int64
}

func newNobody() *nobody {
	n := &nobody{asked: make(chan struct{}, 1), hangs: make(chan struct{})}
	n.answer = sync.OnceFunc(func() { close(n.hangs) })
	return n
}

func (n *nobody) AddCheckpoint(context.Context, uint64, []tlog.Hash, []byte) ([]byte, error) {
	n.times.Add(1)
	select {
	case n.asked <- struct{}{}:
	default:
	}
	<-n.hangs
	return nil, errors.New("nobody is here")
}

func (n *nobody) Latest(context.Context, string) ([]byte, error) {
	return nil, errors.New("nobody is here")
}

// all returns the policy that wants every one of the witnesses, the first of them at the address with this behind it.
func (w *witnessed) all(first string) []byte {
	w.t.Helper()
	var names []string
	var text strings.Builder
	for i, one := range w.witnesses {
		line := one.PolicyLine
		if i == 0 {
			line += first
		}
		fmt.Fprintln(&text, line)
		names = append(names, one.Name)
	}
	fmt.Fprintf(&text, "group every all %s\nquorum every\n", strings.Join(names, " "))
	return []byte(text.String())
}

// addresses is a configuration where the first witness also answers at /moved, and nobody at /wrong.
func (w *witnessed) addresses(wrong *nobody, old *atomic.Int64) ledger.Config {
	c := w.config("mark")
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		one := lines[0]
		if strings.HasSuffix(one.URL, "/wrong") {
			return wrong, nil
		}
		url, moved := strings.CutSuffix(one.URL, "/moved")
		asked := counting{&witness.Client{URL: url, Keys: []note.Verifier{one.Key}}, new(atomic.Int64)}
		if one.Name == w.witnesses[0].Name && !moved {
			asked.times = old
		}
		return asked, nil
	}
	return c
}

// counting counts how often a witness is asked.
type counting struct {
	ledger.Witness
	times *atomic.Int64
}

func (c counting) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error) {
	c.times.Add(1)
	return c.Witness.AddCheckpoint(ctx, old, proof, checkpoint)
}

// TestWrongAddressTried: the policy in force needs every witness, and one that is tried names the first at an address
// where nobody answers. In that time heads are cosigned and cards dealt; the trial fails; with the right address it
// passes, and the old address is left.
func TestWrongAddressTried(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	wrong, old := newNobody(), new(atomic.Int64)
	l := w.open(w.addresses(wrong, old))
	defer wrong.answer() // or the ledger could not be closed after a failure
	w.awaitCosigned(l, w.must(l, propose(&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all("")}))[0].Index)
	set := func(first string) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := l.AddKey(context.Background(), as("tok_admin"),
				&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all(first)}, nil)
			done <- err
		}()
		return done
	}
	done := set("/wrong")
	<-wrong.asked
	for n := range uint64(20) {
		c := w.must(l, propose(commit("t", n+1)))[0]
		w.awaitCosigned(l, c.Index)
		w.must(l, propose(oneCard(c.Index)))
		for _, s := range l.Witnesses() {
			if s.Err != nil {
				t.Errorf("%s while another address is tried: %v", s.Name, s.Err)
			}
		}
	}
	select {
	case err := <-done:
		t.Fatalf("the trial was over before the cards were dealt: %v", err)
	default:
	}
	wrong.answer()
	if err := <-done; !errors.Is(err, ledger.ErrPolicy) ||
		!strings.Contains(err.Error(), w.witnesses[0].Name+": nobody is here") {
		t.Errorf("a policy with a wrong address: %v", err)
	}
	w.asked(l, &quorum{witnesses: w.witnesses})

	if err := <-set("/moved"); err != nil {
		t.Fatalf("a policy with the new address: %v", err)
	}
	w.awaitCosigned(l, l.Head().Size-1)
	w.asked(l, &quorum{witnesses: w.witnesses})
	// What was under way to the old address may still come in: not again and again.
	for n := uint64(0); ; n += 5 {
		before, tried := old.Load(), wrong.times.Load()
		for i := range uint64(5) {
			w.awaitCosigned(l, w.must(l, propose(commit("u", n+i+1)))[0].Index)
		}
		if old.Load() == before && wrong.times.Load() == tried {
			break
		}
		if n == 25 {
			t.Error("an address is asked that no policy has any more")
			break
		}
	}
	w.judged()
}

// TestWrongAddressWaits: a policy with a wrong address stands in the ledger, and the quorum in force needs that
// witness. It is still asked where it is, so that the policy comes into force.
func TestWrongAddressWaits(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	wrong, old := newNobody(), new(atomic.Int64)
	wrong.answer()
	l := w.open(w.addresses(wrong, old))
	w.awaitCosigned(l, w.must(l, propose(&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all("")}))[0].Index)
	two := []byte(strings.ReplaceAll(string(w.all("/wrong")), "every all", "every 2"))
	w.awaitCosigned(l, w.must(l, propose(&audit.Key{Subject: audit.SubjectPolicy, Policy: two}))[0].Index)
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
	waitFor(t, func() bool { return l.Witnesses()[0].Err != nil && len(l.Witnesses()) == 3 })
	w.judged()
}

// TestBothAddresses: while a policy waits, a witness has two addresses, and each is shown under a name of its own.
func TestBothAddresses(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	wrong := newNobody()
	wrong.answer()
	l := w.open(w.addresses(wrong, new(atomic.Int64)))
	w.everyWitness(l)
	w.down(true, 1, 2) // so that the policy waits
	for _, first := range []string{"/moved", "/wrong"} {
		w.must(l, propose(&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all(first)}))
	}
	names := make(map[string]bool)
	waitFor(t, func() bool {
		clear(names)
		for _, s := range l.Witnesses() {
			names[s.Name] = true
		}
		return len(l.Witnesses()) == 5
	})
	if len(names) != 5 {
		t.Errorf("two witnesses under one name: %v", names)
	}
	w.down(false, 1, 2)
	waitFor(t, func() bool { return len(l.Witnesses()) == 3 })
}

// TestTrialUnderLoad: a policy passes while heads move all the time, though two of
// its witnesses are in force and the third is one of those at another address.
func TestTrialUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	l := w.open(w.addresses(newNobody(), new(atomic.Int64)))
	w.everyWitness(l)
	ctx, stop := context.WithCancel(t.Context())
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		for n := uint64(1); ctx.Err() == nil; n++ {
			if _, err := on(l).Append(t.Context(), propose(commit("t", n))); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Millisecond) // a load, not a wait
		}
	}()
	if _, err := l.AddKey(t.Context(), as("tok_admin"),
		&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all("/moved")}, nil); err != nil {
		t.Error(err)
	}
	stop()
	<-loaded
	w.awaitCosigned(l, l.Head().Size-1)
	w.judged()
}

// moving is a store whose address changes: what a sequencer reads and writes with goes where at says.
type moving struct {
	ledger.Store
	at atomic.Pointer[ledger.Store]
}

func newMoving(at ledger.Store) *moving {
	m := &moving{Store: at}
	m.to(at)
	return m
}

func (m *moving) to(at ledger.Store) { m.at.Store(&at) }

func (m *moving) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	return (*m.at.Load()).Append(ctx, id, old, b)
}

func (m *moving) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	return (*m.at.Load()).Head(ctx, id)
}

func (m *moving) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return (*m.at.Load()).Rows(ctx, id, from, to)
}

func (m *moving) CheckpointAfter(ctx context.Context, id ledger.ID, i uint64) (ledger.Head, error) {
	return (*m.at.Load()).CheckpointAfter(ctx, id, i)
}

func (m *moving) Tile(ctx context.Context, id ledger.ID, level int, i uint64) ([]byte, error) {
	return (*m.at.Load()).Tile(ctx, id, level, i)
}

// TestGhosts: keys that were seen in a copy of the ledger that went another way are
// keys of no entry, once the address is put right.
func TestGhosts(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	h := newHouse(t, db.open())
	mine, theirs := newMoving(h.store), newMoving(h.store)
	c := h.config("mark")
	c.Store = mine
	l := h.open(c)
	other := h.second(func(c *ledger.Config) { c.Store, c.Probe = theirs, 5*time.Millisecond })
	h.must(other, propose(commit("x", 1)))
	must(t, l.Refresh(t.Context()))
	h.must(l, propose(commit("y", 1)))
	must(t, other.Refresh(t.Context()))
	copied := db.backup()
	back, astray := db.open(), copied.open()
	h.store = back
	mine.to(back)
	theirs.to(astray)
	waitReady(t, l)
	h.must(l, propose(commit("t", 1)))
	waitReady(t, other)
	for other.Head().Size < l.Head().Size {
		h.must(other, propose(commit("u", other.Head().Size)))
	}
	ghost := propose(commit("v", 1))
	h.must(other, ghost)
	mine.to(astray)
	waitFor(t, func() bool { return errors.Is(l.Ready(), ledger.ErrFrozen) })
	mine.to(back)
	waitReady(t, l)
	h.must(l, ghost)
}

// broken loses every other append, which is not written.
type broken struct {
	ledger.Store
	left, tries atomic.Int32
}

func (b *broken) Append(ctx context.Context, id ledger.ID, old ledger.Head, batch ledger.Batch) error {
	if b.left.Load() > 0 && b.tries.Add(1)%2 == 1 {
		b.left.Add(-1)
		return ledger.ErrUnknownOutcome
	}
	return b.Store.Append(ctx, id, old, batch)
}

// TestDuplicateAfterUnknown: a repeated key whose batch was lost on its way, again
// and again, is a repeated key, and no sign of rows that no head covers.
func TestDuplicateAfterUnknown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	b := &broken{Store: h.store}
	c := h.config("mark")
	c.Store = b
	l := h.open(c)
	h.must(l, propose(commit("t", 1)))
	must(t, l.Close())
	l = h.open(c) // which has forgotten the key
	before := len(h.entries())
	b.left.Store(3)
	_, err := on(l).Append(t.Context(), propose(commit("t", 1)))
	var duplicate *ledger.DuplicateError
	if !errors.As(err, &duplicate) || len(duplicate.Tags) != 1 {
		t.Errorf("it is told as %v", err)
	}
	waitReady(t, l)
	h.must(l, propose(commit("t", 2)))
	if n := len(h.entries()); n != before+1 {
		t.Errorf("%d entries, want %d: something was logged", n, before+1)
	}
}
