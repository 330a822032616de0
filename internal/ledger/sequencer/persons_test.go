package sequencer_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// person is an administrator with a key.
type person struct {
	note.Signer
	audit.Administrator
}

func newPerson(t *testing.T, name string) person {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, name)
	must(t, err)
	signer, err := note.NewSigner(skey)
	must(t, err)
	key, err := audit.SigningKey(vkey)
	must(t, err)
	return person{signer, audit.Administrator{Name: name, Key: key}}
}

// approve is the act of these administrators that approves body, as identity writes it.
func approve(t *testing.T, l *sequencer.Ledger, identity string, body audit.Body, by ...person) *audit.ActEntry {
	t.Helper()
	p, err := l.Persons(t.Context())
	must(t, err)
	return approveIn(t, p, identity, body, by...)
}

// approveIn is approve for what administrators were shown of a ledger.
func approveIn(t *testing.T, p ledger.Persons, identity string, body audit.Body, by ...person) *audit.ActEntry {
	t.Helper()
	act, ok := audit.ActFor(body)
	if !ok {
		t.Fatalf("no act approves a %s", body.Type())
	}
	a := &audit.ActEntry{Act: act, Digest: audit.Approved(identity, body), Previous: p.Newest, HeadSize: p.Head.Size,
		HeadRoot: p.Head.Root, Expires: time.Now().Add(time.Hour).UnixMilli()}
	for _, who := range by {
		raw, err := who.Sign(a.Signed(p.Genesis))
		must(t, err)
		a.Signatures = append(a.Signatures,
			audit.ActSignature{Administrator: who.Administrator.Name, Signature: [64]byte(raw)})
	}
	return a
}

// administered creates a ledger in which these acts need two persons.
func administered(t *testing.T, store ledger.Store, acts ...audit.Act) (h *house, alice, bob person) {
	t.Helper()
	h, vkey := newKeys(t, store)
	alice, bob = newPerson(t, "alice"), newPerson(t, "bob")
	g := genesis(t, vkey)
	g.Administrators, g.TwoPersons, g.Delay = []audit.Administrator{alice.Administrator, bob.Administrator}, acts, 60
	h.create(g)
	return h, alice, bob
}

// TestProductionQuorumsMeet: a production ledger takes no policy of which two quorums share
// no witness, and says which two.
func TestProductionQuorumsMeet(t *testing.T) {
	t.Parallel()
	h, vkey := newKeys(t, openSQLite(t))
	g := genesis(t, vkey)
	g.Production, g.Administrators = true,
		[]audit.Administrator{newPerson(t, "alice").Administrator, newPerson(t, "bob").Administrator}
	g.TwoPersons = []audit.Act{audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover, audit.ActTwoPersons,
		audit.ActCoDealer}
	h.create(g)
	l := h.open(h.config("mark"))
	_, a, err := note.GenerateKey(nil, "w1")
	must(t, err)
	_, b, err := note.GenerateKey(nil, "w2")
	must(t, err)
	text := "witness w1 " + witnessKey(t, a) + " http://127.0.0.1:1/\nwitness w2 " + witnessKey(t, b) +
		" http://127.0.0.1:1/\ngroup g any w1 w2\nquorum g\n"
	_, err = l.AddKey(t.Context(), audit.Operator, &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(text)}, nil)
	var illegal *audit.Illegal
	if !errors.As(err, &illegal) || illegal.Code != audit.RuleKey ||
		!strings.Contains(illegal.Detail, "the quorum of w1 and the quorum of w2 share no witness") {
		t.Errorf("%v", err)
	}
}

// witnessKey is the verifier key of a witness with this key.
func witnessKey(t *testing.T, vkey string) string {
	t.Helper()
	key, err := audit.SigningKey(vkey)
	must(t, err)
	name, _, _ := strings.Cut(vkey, "+")
	as, err := audit.WitnessVKey(name, key[1:])
	must(t, err)
	return as
}

// TestRotationByAct: a signing key that two administrators approve comes behind its act, and
// the checkpoint over both carries the signatures of the old and the new key.
func TestRotationByAct(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		h, alice, bob := administered(t, store, audit.ActSigning)
		next := newSigningKey(t)
		l := h.open(h.holding("mark", h.signer, next))
		rotation := next.rotation()
		act := approve(t, l, "operator", rotation, alice, bob)
		if _, err := on(l).Append(t.Context(),
			ledger.Proposal{Actor: audit.Operator, Bodies: []audit.Body{act, rotation, commit("t", 1)}}); err == nil {
			t.Error("an entry behind the new signing key, in one batch")
		}
		a, err := l.AddKey(t.Context(), audit.Operator, rotation, act)
		must(t, err)
		for name, key := range map[string]note.Verifier{"old": h.key, "new": next.key} {
			c, err := audit.OpenCheckpoint(a.Receipt.Checkpoint, key)
			if err != nil || c.Size != a.Index+1 {
				t.Errorf("the %s key, at the checkpoint of the rotation: %+v, %v", name, c, err)
			}
		}
		h.key = next.key
		h.must(l, propose(commit("t", 1)))
		l.Close()
		h.must(h.open(h.holding("mark", h.signer, next)), propose(commit("t", 2)))
	})
}

// TestActInOneBatch: what two administrators approve stands right behind their act,
// under one checkpoint, also while others write; neither stands alone.
func TestActInOneBatch(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		h, alice, bob := administered(t, store, audit.ActTakeover)
		l := h.open(h.config("mark"))
		id := h.must(l, propose(commit("t", 1)))[0].Index
		take := &audit.Takeover{Shuffle: id, Extent: audit.ExtentPlay, Reason: "the backend is down"}
		by := func(bodies ...audit.Body) ledger.Proposal {
			return ledger.Proposal{Actor: as("second"), Bodies: bodies}
		}
		act := approve(t, l, "second", take, alice, bob)
		other, err := l.Persons(t.Context())
		if other.Head.Root[0] ^= 1; err != nil {
			t.Fatal(err)
		}
		size := l.Head().Size
		for name, c := range map[string]struct {
			p    ledger.Proposal
			rule string
		}{
			"no act":                  {by(take), audit.RuleTwoPersons},
			"the act alone":           {by(act), audit.RulePair},
			"the act after its entry": {by(take, act), audit.RuleTwoPersons},
			"of another history":      {by(approveIn(t, other, "second", take, alice, bob), take), audit.RuleAct},
		} {
			_, err := on(l).Append(t.Context(), c.p)
			wantRule(t, name, err, c.rule)
		}
		if n := l.Head().Size; n != size {
			t.Fatalf("%d entries were written", n-size)
		}
		var others sync.WaitGroup
		for n := range 20 {
			others.Go(func() { on(l).Append(t.Context(), propose(commit("u", uint64(n)))) })
		}
		done := h.must(l, by(act, take))
		others.Wait()
		if len(done) != 2 || done[1].Index != done[0].Index+1 ||
			!slices.Equal(done[0].Receipt.Checkpoint, done[1].Receipt.Checkpoint) {
			t.Errorf("the act is entry %d and the takeover %d, under two checkpoints or apart", done[0].Index,
				done[1].Index)
		}
		_, err = on(l).Append(t.Context(), by(act, take))
		wantRule(t, "the act again", err, audit.RuleAct)
		h.entries()

		p, err := l.Persons(t.Context())
		if err != nil || p.Newest != done[0].Index || p.Delay != 60 || len(p.Waiting) != 0 ||
			!slices.Equal(p.TwoPersons, []audit.Act{audit.ActTakeover}) ||
			!cmp.Equal(p.Administrators, []audit.Administrator{alice.Administrator, bob.Administrator}) {
			t.Errorf("%+v, %v", p, err)
		}
		state, head, _, err := ledger.ReadState(t.Context(), h.store, "main")
		must(t, err)
		if diff := cmp.Diff(p, ledger.PersonsOf(state, head)); diff != "" {
			t.Errorf("of the store: %s", diff)
		}
	})
}

// TestProductionGenesis: a production ledger names two administrators, and what changes them needs both of them.
func TestProductionGenesis(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		h, vkey := newKeys(t, store)
		alice, bob := newPerson(t, "alice").Administrator, newPerson(t, "bob").Administrator
		needed := []audit.Act{audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover, audit.ActTwoPersons,
			audit.ActCoDealer}
		g := genesis(t, vkey)
		g.Production, g.Delay = true, 60
		for name, c := range map[string]struct {
			persons []audit.Administrator
			acts    []audit.Act
		}{
			"nobody":                 {nil, nil},
			"nobody, and acts":       {nil, needed},
			"one":                    {[]audit.Administrator{alice}, needed},
			"two, and no acts":       {[]audit.Administrator{alice, bob}, nil},
			"two, and an act less":   {[]audit.Administrator{alice, bob}, needed[:3]},
			"two, and another less":  {[]audit.Administrator{alice, bob}, needed[1:]},
			"two, and takeover less": {[]audit.Administrator{alice, bob}, slices.Delete(slices.Clone(needed), 2, 3)},
		} {
			g.Administrators, g.TwoPersons = c.persons, c.acts
			err := sequencer.Create(t.Context(), store, ledger.Info{Name: "main", Origin: origin}, g, h.signer,
				h.mark("mark"), time.Now())
			wantRule(t, name, err, audit.RuleAdmins)
		}
		if all, err := store.Ledgers(t.Context()); err != nil || len(all) != 0 {
			t.Fatalf("%v, %v", all, err)
		}
		g.Administrators, g.TwoPersons = []audit.Administrator{alice, bob}, needed
		h.create(g)
		l := h.open(h.config("mark"))
		_, err := on(l).Append(t.Context(), propose(commit("t", 1)))
		wantRule(t, "a commit by nobody's credential", err, audit.RuleCredential)
	})
}
