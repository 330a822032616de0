package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
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
	"shuffled/internal/ledger/cosign"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

// quorum is three witnesses of a log, of which two suffice.
type quorum struct {
	witnesses []*witnesstest.Witness
	text      []byte
	policy    *trust.Policy
}

func newQuorum(t *testing.T, logs ...string) *quorum {
	t.Helper()
	q := &quorum{}
	for range 3 {
		q.witnesses = append(q.witnesses, witnesstest.Start(t, logs...))
	}
	return q.write(t)
}

func (q *quorum) write(t *testing.T) *quorum {
	t.Helper()
	var lines, names []string
	for _, one := range q.witnesses {
		lines, names = append(lines, one.PolicyLine), append(names, one.Name)
	}
	q.text = fmt.Appendf(nil, "%s\ngroup some 2 %s\nquorum some\n", strings.Join(lines, "\n"), strings.Join(names, " "))
	var err error
	if q.policy, err = trust.ParsePolicy(q.text); err != nil {
		t.Fatal(err)
	}
	return q
}

func (q *quorum) down(down bool) {
	for _, one := range q.witnesses {
		one.Down(down)
	}
}

// entry is the key entry that brings the policy.
func (q *quorum) entry() *audit.Key { return &audit.Key{Subject: audit.SubjectPolicy, Policy: q.text} }

// names are the witnesses' in order.
func (q *quorum) names() (names []string) {
	for _, one := range q.witnesses {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// addPolicy changes the policy as an administrator does.
func (w *witnessed) addPolicy(l *sequencer.Ledger, q *quorum) uint64 {
	w.t.Helper()
	a, err := l.AddKey(w.t.Context(), as("tok_admin"), q.entry(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Index
}

// asked waits until exactly the members of these quorums are asked.
func (w *witnessed) asked(l *sequencer.Ledger, quorums ...*quorum) {
	w.t.Helper()
	var want []string
	for _, q := range quorums {
		want = append(want, q.names()...)
	}
	slices.Sort(want)
	var got []string
	waitFor(w.t, func() bool {
		got = nil
		for _, s := range l.Witnesses() {
			got = append(got, s.Name)
		}
		return slices.Equal(got, want)
	})
}

// judged holds every stored cosigned checkpoint against the policy that governs
// it, as an audit does, and returns the policies after them.
func (w *witnessed) judged() *trust.Policies {
	w.t.Helper()
	policies, err := trust.NewPolicies(w.genesis.Policy)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, e := range w.entries() {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == audit.SubjectPolicy {
			if err := policies.Change(uint64(i), k.Policy); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for h, err := range w.store.CosignedFrom(w.t.Context(), ledger.IDOf(origin), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := audit.OpenCheckpoint(h.Checkpoint, w.key); err != nil {
			continue // junk that a test has put there
		}
		if !policies.Accept(h.Size, h.Checkpoint) {
			w.t.Errorf("the stored checkpoint of size %d lacks the quorum that governs it", h.Size)
		}
	}
	return policies
}

// stored returns the first stored cosigned checkpoint above index.
func (w *witnessed) stored(index uint64) ledger.Head {
	w.t.Helper()
	for h, err := range w.store.CosignedFrom(w.t.Context(), ledger.IDOf(origin), index+1) {
		if err != nil {
			w.t.Fatal(err)
		}
		return h
	}
	w.t.Fatalf("no cosigned checkpoint above %d", index)
	return ledger.Head{}
}

// TestPolicyHandsOn: the new quorum shares nobody with the old one. It takes over after a checkpoint that both
// cosigned; the old one is asked no more; a restart finds the same.
func TestPolicyHandsOn(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsCosigned)
		old := (&quorum{witnesses: w.witnesses}).write(t)
		next := newQuorum(t, w.vkey)
		l := w.open(w.config("mark"))
		before := w.must(l, propose(commit("t", 1)))[0].Index
		w.awaitCosigned(l, before)
		early := w.stored(before)
		index := w.addPolicy(l, next)
		waiting := w.must(l, propose(commit("t", 2)))[0].Index
		w.awaitCosigned(l, waiting) // deals that wait go on
		if h := w.stored(index); !old.policy.Satisfied(h.Checkpoint) || !next.policy.Satisfied(h.Checkpoint) {
			t.Errorf("the checkpoint that hands on, of size %d, lacks a quorum:\n%s", h.Size, h.Checkpoint)
		}
		w.asked(l, next)
		old.down(true)
		after := w.must(l, propose(commit("t", 3)))[0].Index
		w.awaitCosigned(l, after)
		w.must(l, propose(oneCard(before)))
		l.Close()

		l = w.open(w.config("mark"))
		waitReady(t, l)
		w.asked(l, next)
		if h, err := l.CosignedAtMost(t.Context(), early.Size); err != nil || h.Size != early.Size {
			t.Errorf("a checkpoint of the old quorum: size %d, %v", h.Size, err)
		}
		w.awaitCosigned(l, w.must(l, propose(commit("t", 4)))[0].Index)
		if p := w.judged(); p.InForce().Witnesses[0].Name != next.policy.Witnesses[0].Name || len(p.Waiting()) != 0 {
			t.Error("an audit does not see the new policy in force")
		}
	})
}

// TestPolicyRefused: a policy that its witnesses do not meet now is not written, and the old one goes on.
func TestPolicyRefused(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	l := w.open(w.config("mark"))
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
	dead, strange := newQuorum(t, w.vkey), newQuorum(t, newSigningKey(t).vkey)
	dead.witnesses[0].Down(true)
	dead.witnesses[2].Down(true)
	size := w.size()
	try := func(text []byte) error {
		_, err := l.AddKey(t.Context(), as("tok_admin"), &audit.Key{Subject: audit.SubjectPolicy, Policy: text}, nil)
		return err
	}
	if err := try(dead.text); !errors.Is(err, ledger.ErrPolicy) ||
		!strings.Contains(err.Error(), dead.witnesses[0].Name+": ") ||
		strings.Contains(err.Error(), dead.witnesses[1].Name+": ") {
		t.Errorf("two of three are down: %v", err)
	}
	if err := try(strange.text); !errors.Is(err, ledger.ErrPolicy) || !strings.Contains(err.Error(), "403") {
		t.Errorf("none of them knows the ledger's key: %v", err)
	}
	var illegal *audit.Illegal
	for _, text := range []string{"quorum none\n", "quorum nobody\n", "witness w bad\nquorum w\n"} {
		if err := try([]byte(text)); !errors.As(err, &illegal) || illegal.Code != audit.RuleKey {
			t.Errorf("%q: %v", text, err)
		}
	}
	if w.size() != size {
		t.Error("a refused policy was written")
	}
	w.asked(l, (&quorum{witnesses: w.witnesses}).write(t))
	w.awaitCosigned(l, w.must(l, propose(commit("t", 2)))[0].Index)
	if err := l.Ready(); err != nil {
		t.Error(err)
	}
}

// TestPolicyWaits: a policy stands in the ledger and its witnesses are away. What it covers is not cosigned, deals
// wait, a restart changes nothing; another policy may come in its place, or its witnesses back.
func TestPolicyWaits(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		t.Run(fmt.Sprint(replaced), func(t *testing.T) {
			t.Parallel()
			w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
			old := (&quorum{witnesses: w.witnesses}).write(t)
			next, third := newQuorum(t, w.vkey), newQuorum(t, w.vkey)
			l := w.open(w.config("mark"))
			next.down(true)
			index := w.must(l, propose(next.entry()))[0].Index
			w.asked(l, old, next)
			w.everyone(l, old)
			if h, ok := l.Cosigned(); ok && h.Size > index {
				t.Errorf("a checkpoint of size %d counts that only the old quorum cosigned", h.Size)
			}
			l.Close()
			l = w.open(w.config("mark"))
			waitReady(t, l) // the old quorum vouches for the head
			in := next
			if replaced {
				w.addPolicy(l, third)
				in = third
			} else {
				next.down(false)
			}
			w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
			w.asked(l, in)
			w.judged()
		})
	}
}

// everyone waits until these witnesses cosigned the newest head.
func (w *witnessed) everyone(l *sequencer.Ledger, q *quorum) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		return !slices.ContainsFunc(l.Witnesses(), func(s cosign.WitnessState) bool {
			return slices.Contains(q.names(), s.Name) && s.Size < l.Head().Size
		})
	})
}

// TestOldQuorumAway: without the old quorum the ledger stays with it, whatever the new one cosigned.
func TestOldQuorumAway(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	old := (&quorum{witnesses: w.witnesses}).write(t)
	next := newQuorum(t, w.vkey)
	l := w.open(w.config("mark"))
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
	old.down(true)
	index := w.must(l, propose(next.entry()))[0].Index
	w.asked(l, old, next)
	w.everyone(l, next)
	if h, _ := l.Cosigned(); h.Size > index {
		t.Errorf("size %d is cosigned without the old quorum", h.Size)
	}
	l.Close()
	l = w.open(w.config("mark"))
	w.asked(l, old, next)
	w.everyone(l, next)
	if h, _ := l.Cosigned(); h.Size > index {
		t.Errorf("after a restart size %d is cosigned without the old quorum", h.Size)
	}
	old.down(false)
	w.awaitCosigned(l, index)
	w.asked(l, next)
	w.judged()
}

// TestPolicyFromNoneAndToNone: a ledger without witnesses gets some, and a ledger
// whose deals do not wait may let them go.
func TestPolicyFromNoneAndToNone(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		h, vkey := newKeys(t, store)
		w := &witnessed{house: h, vkey: vkey, genesis: genesis(t, vkey)}
		w.create(w.genesis)
		first := newQuorum(t, vkey)
		l := w.open(w.config("mark"))
		w.must(l, propose(commit("t", 1)))
		if _, err := l.CosignedAtMost(t.Context(), audit.MaxInteger); !errors.Is(err, ledger.ErrNotFound) ||
			len(l.Witnesses()) != 0 {
			t.Errorf("without witnesses: %v", err)
		}
		index := w.addPolicy(l, first)
		w.awaitCosigned(l, index)
		w.awaitCosigned(l, w.must(l, propose(commit("t", 2)))[0].Index)
		if newest, _ := l.Cosigned(); string(l.Checkpoint()) != string(newest.Checkpoint) {
			t.Error("the cosigned checkpoint is not published")
		}
		l.Close()
		l = w.open(w.config("mark"))
		w.asked(l, first)
		w.everyone(l, first)
		// Nothing below the entry was ever cosigned.
		if _, err := l.CosignedAtMost(t.Context(), index); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("below the policy: %v", err)
		}
		none := &quorum{text: []byte("quorum none\n")}
		w.awaitCosigned(l, w.addPolicy(l, none))
		w.asked(l)
		last := w.must(l, propose(commit("t", 3)))[0]
		waitFor(t, func() bool { return l.Head().Size > last.Index })
		if string(l.Checkpoint()) != string(last.Receipt.Checkpoint) {
			t.Error("without witnesses the newest checkpoint is not published")
		}
		// And some again.
		w.awaitCosigned(l, w.addPolicy(l, first))
		w.judged()
	})
}

// TestPoliciesOnTwoDaemons: policies change on one daemon while both write; every checkpoint that either stores has the
// quorum that governs it, and both end with the same.
func TestPoliciesOnTwoDaemons(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsCosigned)
		a := w.open(w.config("mark"))
		w.copyMark("mark", "second")
		b := w.open(w.config("second"))
		stop := make(chan struct{})
		var group sync.WaitGroup
		for name, l := range map[string]*sequencer.Ledger{"a": a, "b": b} {
			group.Go(func() {
				for n := uint64(0); ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := on(l).Append(context.Background(), propose(commit(name, n))); err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Millisecond) // a load, not a wait
				}
			})
		}
		var last *quorum
		for range 3 {
			last = newQuorum(t, w.vkey)
			w.awaitCosigned(a, w.addPolicy(a, last))
			for _, l := range []*sequencer.Ledger{a, b} { // before the next one
				w.asked(l, last)
			}
		}
		close(stop)
		group.Wait()
		w.awaitCosigned(b, w.must(b, propose(commit("end", 1)))[0].Index)
		w.awaitCosigned(a, w.must(a, propose(commit("end", 2)))[0].Index)
		w.judged()
	})
}

// TestJunkBetweenPolicies: rows that do not hold stand where the checkpoint would
// that hands on. The next size does it, also after a restart.
func TestJunkBetweenPolicies(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	old := (&quorum{witnesses: w.witnesses}).write(t)
	next := newQuorum(t, w.vkey)
	l := w.open(w.config("mark"))
	w.everyone(l, old)
	old.down(true)
	index := w.must(l, propose(next.entry()))[0].Index
	w.must(l, propose(commits("t", 1, 40)...))
	for size := index + 1; size < index+40; size++ {
		junk := ledger.Head{Size: size, Checkpoint: []byte("junk")}
		if size%2 == 0 { // signed, and cosigned by nobody
			junk, _ = ledger.SignHead(size, w.rootAt(size), w.signer)
		}
		must(t, w.store.PutCosigned(t.Context(), l.ID(), junk))
	}
	old.down(false)
	w.awaitCosigned(l, index+40)
	w.asked(l, next)
	l.Close()
	l = w.open(w.config("mark"))
	w.asked(l, next)
	w.awaitCosigned(l, w.must(l, propose(commit("u", 1)))[0].Index)
}

// TestMovedWitness: a witness has moved, and without it there is no quorum, old or
// new. The policy with its new address still comes into force.
func TestMovedWitness(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	next := (&quorum{witnesses: w.witnesses}).write(t)
	next.text = []byte(strings.ReplaceAll(string(next.text), w.witnesses[0].URL, w.witnesses[0].URL+"/moved"))
	var gone atomic.Bool
	c := w.config("mark")
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		one := lines[0]
		url, moved := strings.CutSuffix(one.URL, "/moved")
		asked := &witness.Client{URL: url, Keys: []note.Verifier{one.Key}}
		if one.Name == w.witnesses[0].Name && !moved {
			return leaving{asked, &gone}, nil
		}
		return asked, nil
	}
	l := w.open(c)
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
	gone.Store(true)
	w.down(true, 1)
	w.awaitCosigned(l, w.addPolicy(l, next))
	w.awaitCosigned(l, w.must(l, propose(commit("t", 2)))[0].Index)
	w.asked(l, next)
	w.judged()
}

// leaving is a witness at an address that it leaves.
type leaving struct {
	ledger.Witness
	gone *atomic.Bool
}

func (a leaving) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error) {
	if a.gone.Load() {
		return nil, errors.New("nobody is here")
	}
	return a.Witness.AddCheckpoint(ctx, old, proof, checkpoint)
}

// TestSigningKeyTried: a signing key that a witness does not know is not written.
func TestSigningKeyTried(t *testing.T) {
	t.Parallel()
	for unaware := range 3 {
		w, next := rotatable(t, openSQLite(t), audit.DealsCosigned, unaware)
		l := w.open(w.holding("mark", w.signer, next))
		w.everyWitness(l)
		_, err := l.AddKey(t.Context(), as("tok_admin"), next.rotation(), nil)
		var illegal *audit.Illegal
		if unaware > 0 && (!errors.As(err, &illegal) || illegal.Code != audit.RuleKey ||
			!strings.Contains(err.Error(), w.witnesses[0].Name) || !strings.Contains(err.Error(), "--log")) {
			t.Errorf("%d of 3 do not know it: %v", unaware, err)
		}
		if unaware == 0 {
			must(t, err)
			w.key = next.key
			w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
		}
		l.Close()
	}
}

// watchedStore tells when the cosigned checkpoints were looked through.
type watchedStore struct {
	ledger.Store
	looked atomic.Int64
}

func (s *watchedStore) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	defer s.looked.Add(1)
	return s.Store.CosignedFrom(ctx, id, size)
}

// TestPolicyOfOthers: a writer that is content with the old quorum, as the specification is, hands on, above the head
// of a daemon that reaches no witness. That one takes the new policy when it has folded so far, and believes both
// checkpoints.
func TestPolicyOfOthers(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	next := newQuorum(t, w.vkey)
	next.down(true)
	a := w.open(w.config("mark"))
	w.awaitCosigned(a, w.must(a, propose(commit("t", 1)))[0].Index)
	f := &watchedStore{Store: w.store}
	w.copyMark("mark", "second")
	c := w.config("second")
	c.Store, c.Probe = f, time.Hour
	c.Witness = func([]trust.Witness) (ledger.Witness, error) { return nil, errors.New("no way out") }
	b := w.open(c)
	w.must(a, propose(next.entry()))
	must(t, b.Refresh(t.Context()))
	w.asked(b, (&quorum{witnesses: w.witnesses}).write(t), next)
	above := w.must(a, propose(commit("t", 2)))[0]
	w.everyone(a, (&quorum{witnesses: w.witnesses}).write(t))
	row := ledger.Head{Size: a.Head().Size, Root: a.Head().Root, Checkpoint: slices.Clone(above.Receipt.Checkpoint)}
	for _, one := range w.witnesses[:2] {
		lines, err := one.Client().AddCheckpoint(t.Context(), row.Size, nil, row.Checkpoint)
		must(t, err)
		row.Checkpoint = append(row.Checkpoint, lines...)
	}
	must(t, w.store.PutCosigned(t.Context(), a.ID(), row))
	seen := f.looked.Load()
	waitFor(t, func() bool { return f.looked.Load() >= seen+2 }) // in vain: it is above b's head
	must(t, b.Refresh(t.Context()))
	w.asked(b, next)
	w.asked(a, next)
	for _, l := range []*sequencer.Ledger{a, b} {
		if h, err := l.CosignedAtMost(t.Context(), row.Size); err != nil || h.Size != row.Size {
			t.Errorf("the checkpoint that hands on: size %d, %v; want %d", h.Size, err, row.Size)
		}
	}
	w.judged()
}

// TestTriedWitnessIsNoDoubt: a witness that is only tried, and claims to have seen
// another history, makes its policy unfit and does not stop the ledger.
func TestTriedWitnessIsNoDoubt(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	lying := newQuorum(t, w.vkey)
	c := w.config("mark")
	honest := c.Witness
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		one := lines[0]
		asked, err := honest(lines)
		if slices.Contains(lying.names(), one.Name) {
			return silent{liar{asked, 1 << 40}}, err
		}
		return asked, err
	}
	l := w.open(c)
	if _, err := l.AddKey(t.Context(), as("tok_admin"), lying.entry(), nil); !errors.Is(err, ledger.ErrPolicy) ||
		!strings.Contains(err.Error(), "another history") {
		t.Errorf("a policy of witnesses that have seen more: %v", err)
	}
	if err := l.Ready(); err != nil {
		t.Errorf("stopped by witnesses that are not the ledger's: %v", err)
	}
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
}
