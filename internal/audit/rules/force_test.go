package audit

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// audited folds entries as an audit does and returns the rules broken, by index.
func audited(s *State, entries []Entry) map[int]string {
	faults := make(map[int]string)
	for i, e := range entries {
		if rule := codeOf(s.Apply(e)); rule != holds {
			faults[i] = rule
			s.Force(e)
		}
		s.Commit()
	}
	return faults
}

// TestForceIsApply: what is legal takes effect under Force as under Apply.
func TestForceIsApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, s := legalLedger(t, 80), NewState()
		for _, e := range m {
			s.Force(e)
		}
		if diff := cmp.Diff(fold(t, m), s, stateOptions, cmpopts.IgnoreFields(State{}, "faulty")); diff != "" ||
			!s.faulty && len(m) > 0 {
			t.Fatalf("forced otherwise than applied (-want +got):\n%s", diff)
		}
	})
}

// legalLedger is a ledger of up to so many entries, all legal.
func legalLedger(t *rapid.T, atMost int) model {
	w := newWorld()
	for range rapid.IntRange(1, atMost).Draw(t, "steps") {
		w.attempt(t)
	}
	return w.m
}

// forcedStories: a writer broke one rule and goes on from what it wrote.
func forcedStories() map[string]forced {
	slot, plan := storySlot("t", 0)
	return map[string]forced{
		"a place left out": {"place", 3, func() *story {
			s, id := dealt()
			s.then(s.deal(id, 2, 1))
			s.then(s.deal(id, 3, 1))
			s.then(s.close(id, 1))
			s.then(s.commit("t"))
			return s
		}},
		"a place twice": {"place", 2, func() *story {
			s, id := dealt()
			s.then(s.deal(id, 0, 2, final))
			s.then(s.close(id, 1))
			s.then(s.commit("t"))
			return s
		}},
		"a round left out, and the rounds after it": {"round", 3, func() *story {
			s, id := dealt()
			s.then(s.deal(id, 1, 0, runs(refRun{Cards: 1, Purpose: 3, Round: 7})))
			s.then(s.deal(id, 2, 0, runs(refRun{Cards: 1, Purpose: 3, Round: 8}), final))
			s.then(s.close(id, 1))
			s.then(s.commit("t"))
			return s
		}},
		"a place of long ago": {"place", 2, func() *story {
			s, id := dealt()
			s.then(s.deal(id, 1, 2))
			s.then(s.deal(id, 0, 1))
			s.then(s.deal(id, 3, 1, final))
			s.then(s.close(id, 1))
			return s
		}},
		"an auditor retired as a signing key": {"key", 4, func() *story {
			s := newStory(withAuditors("1", "2"))
			s.then(s.retire(1, auditorKey("2")))
			key := s.then(s.disclosure("1", "1", "2"))
			id := s.then(s.commit("t", toAuditors))
			s.then(s.close(id, 2, sealed(key)))
			s.then(s.retire(3, auditorKey("2")))
			return s
		}},
		"out of turn": {"earlier_serial", 3, func() *story {
			s := newStory()
			one, two := s.then(s.commit("t")), s.then(s.commit("t"))
			s.then(s.deal(two, 0, 1))
			s.then(s.deal(one, 0, 1))
			s.then(s.deal(two, 1, 1))
			s.then(s.close(two, 1))
			return s
		}},
		"a serial left out": {"serial", 4, func() *story {
			s, _ := dealt()
			e := s.commit("t")
			e.Commit.Serial = 5
			id := s.then(e)
			for serial := uint64(6); serial < 8; serial++ {
				e = s.commit("t")
				e.Commit.Serial = serial
				s.then(e)
			}
			s.then(s.deal(id, 0, 1))
			s.then(s.close(id, 1))
			return s
		}},
		"a commit under the latch": {"latch", 5, func() *story {
			s := newStory()
			s.then(refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}})
			id := s.then(s.commit("t"))
			s.then(s.deal(id, 0, 4))
			s.then(s.close(id, 1))
			s.then(operator(refEvent{Kind: 7, Reason: "replaced"}))
			s.then(s.commit("t"))
			s.then(s.commit("u"))
			return s
		}},
		"an illegal mix": {"mix", 2, func() *story {
			s := newStory()
			id := s.then(s.commit("t", planned(plan)))
			s.then(s.mix(id, refValue{Source: 1, Value: bytesOf("x", 32)}))
			s.then(s.deal(id, 0, 4))
			s.then(s.close(id, 1))
			return s
		}},
		"a mix out of turn": {"earlier_serial", 3, func() *story {
			s := newStory()
			one, two := s.then(s.commit("t")), s.then(s.commit("t", planned(plan)))
			s.then(s.mix(two, slot))
			s.then(s.deal(one, 0, 1))
			s.then(s.deal(two, 0, 1))
			s.then(s.close(two, 1))
			return s
		}},
		"a late close": {"deadline", 1, func() *story {
			s, id := dealt()
			late := s.close(id, 1)
			late.Time = s.entries[id].Commit.CloseBy
			s.then(late)
			s.then(s.commit("t"))
			return s
		}},
		"an earlier time": {"time", 2, func() *story {
			s, id := dealt()
			back := s.deal(id, 1, 1)
			back.Time = s.now - 10
			s.then(back)
			s.then(s.deal(id, 2, 1))
			s.then(s.close(id, 1))
			return s
		}},
		"a final deal without its close": {"pair", 2, func() *story {
			s, id := dealt()
			s.then(s.deal(id, 1, 1, final))
			s.then(s.commit("u"))
			s.then(s.close(id, 1))
			s.then(s.commit("t"))
			return s
		}},
		"a reveal of a place that was not dealt": {"reveal", 2, func() *story {
			s, id := handDealt()
			s.then(s.reveal(id, []uint64{1, 5}))
			s.then(s.reveal(id, []uint64{2}))
			s.then(s.close(id, 1))
			return s
		}},
		"a final reveal of what was public": {"reveal", 2, func() *story {
			s, id := handDealt()
			s.then(s.reveal(id, []uint64{0, 2}, finalReveal))
			s.then(s.close(id, 1))
			s.then(s.commit("t"))
			return s
		}},
		"a place again, and reveals of what is dealt by then": {"place", 3, func() *story {
			s, id := handDealt()
			s.then(s.reveal(id, []uint64{1}))
			s.then(s.deal(id, 4, 0, runs(refRun{Cards: 1, Purpose: 2, Public: true}, refRun{Cards: 1, Purpose: 1})))
			s.then(s.reveal(id, []uint64{2, 5}))
			s.then(s.reveal(id, []uint64{3}, finalReveal))
			s.then(s.close(id, 1))
			return s
		}},
		"a deal after the close": {"not_open", 2, func() *story {
			s, id := dealt()
			s.then(s.close(id, 1))
			s.then(s.deal(id, 1, 1, final))
			s.then(s.start())
			s.then(s.commit("t"))
			return s
		}},
		"a child of nothing": {"parent", 2, func() *story {
			s := newStory()
			kid := s.then(s.commit("t", child(1, 0, 1)))
			s.then(s.deal(kid, 0, 2))
			s.then(s.close(kid, 1))
			return s
		}},
		"a child at another table": {"parent", 3, func() *story {
			s, id := dealt()
			kid := s.then(s.commit("u", child(id, 0, 1)))
			s.then(s.close(id, 3))
			s.then(s.deal(kid, 0, 2))
			s.then(s.close(kid, 1))
			return s
		}},
		"an auditor's key twice": {"key", 3, func() *story {
			s := newStory(withAuditors("1"))
			key := s.then(s.disclosure("1", "1"))
			s.then(s.auditor("1"))
			id := s.then(s.commit("t", toAuditors))
			s.then(s.deal(id, 0, 4))
			s.then(s.close(id, 1, sealed(key)))
			return s
		}},
		"an auditor retired twice": {"key", 2, func() *story {
			s := newStory(withAuditors("1", "2"))
			s.then(s.retire(3, auditorKey("2")))
			key := s.then(s.disclosure("1", "1"))
			s.then(s.retire(3, auditorKey("2")))
			id := s.then(s.commit("t", toAuditors))
			s.then(s.close(id, 2, sealed(key)))
			return s
		}},
		"a key that is not wrapped to everybody": {"key", 2, func() *story {
			s := newStory(withAuditors("1", "2"))
			key := s.then(s.disclosure("1", "1"))
			id := s.then(s.commit("t", toAuditors))
			s.then(s.close(id, 2, sealed(key)))
			return s
		}},
		"the last auditor retired": {"key", 4, func() *story {
			s := newStory(withAuditors("1"))
			s.then(s.retire(3, auditorKey("1")))
			s.then(s.auditor("2"))
			key := s.then(s.disclosure("1", "2"))
			id := s.then(s.commit("t", toAuditors))
			s.then(s.close(id, 2, sealed(key)))
			return s
		}},
		"a second genesis": {"genesis_first", 1, func() *story {
			s := newStory()
			s.then(refEntry{Genesis: &refGenesis{Revision: 1, Origin: "x", SigningKey: signingKey("2"), Deals: 1,
				Disclosure: 1, DefaultCloseBy: 1, MaxCloseBy: 1, Access: 1}})
			s.then(s.commit("t"))
			return s
		}},
		"a table opened twice": {"table", 1, func() *story {
			s, _ := dealt()
			s.then(operator(refEvent{Kind: 2, Table: "t"}))
			s.then(s.commit("t"))
			return s
		}},
		"a closed table that nobody opened": {"table", 2, func() *story {
			s := newStory()
			s.then(operator(refEvent{Kind: 3, Table: "t"}))
			s.then(operator(refEvent{Kind: 2, Table: "t"}))
			s.then(s.commit("t"))
			return s
		}},
		"a deal by another": {"owner", 2, func() *story {
			s, id := dealt()
			s.then(of("dealer-2", s.deal(id, 1, 1)))
			s.then(s.deal(id, 2, 1))
			s.then(s.close(id, 1))
			return s
		}},
		"a close by another": {"owner", 1, func() *story {
			s, id := dealt()
			s.then(of("dealer-2", s.close(id, 1)))
			s.then(s.commit("t"))
			return s
		}},
		"a commit by the daemon, which then plays": {"owner", 2, func() *story {
			s := newStory()
			id := s.then(of("daemon", s.commit("t")))
			s.then(of("daemon", s.deal(id, 0, 4)))
			s.then(of("daemon", s.close(id, 1)))
			return s
		}},
		"taken over by the operator": {"owner", 2, func() *story {
			s, id := dealt()
			s.then(s.takeover(id, "operator", 2))
			s.then(of("operator", s.deal(id, 1, 1)))
			s.then(of("operator", s.close(id, 2)))
			return s
		}},
		"taken over to play, without an act": {"two_persons", 3, func() *story {
			s := newStory(withTwo(10))
			id := s.then(s.commit("t"))
			s.then(s.takeover(id, "dealer-2", 2))
			s.then(of("dealer-2", s.deal(id, 0, 4)))
			s.then(of("dealer-2", s.close(id, 1)))
			s.then(s.commit("t"))
			return s
		}},
		"a takeover of nothing": {"not_open", 1, func() *story {
			s := newStory()
			s.then(s.takeover(1, "dealer-2", 2))
			s.then(s.commit("t"))
			return s
		}},
		"a credential created twice": {"credential", 1, func() *story {
			s := newStory()
			s.then(s.credential("dealer-1", 1))
			s.then(s.credential("dealer-1", 3))
			s.then(s.commit("t")) // the first one counts
			return s
		}},
		"a credential created by a stranger": {"credential", 1, func() *story {
			s := newStory(production)
			s.then(of("stranger", s.credential("dealer-1", 1)))
			s.then(s.commit("t"))
			return s
		}},
		"a credential of the daemon": {"credential", 1, func() *story {
			s := newStory()
			s.then(s.credential("dealer-1", 1, func(h *refHolder) { h.Identity = "daemon" }))
			s.then(of("dealer-7", s.commit("t"))) // there is none still
			return s
		}},
		"a credential revoked that was none": {"credential", 1, func() *story {
			s := newStory()
			s.then(s.revoke("token-1"))
			s.then(s.credential("dealer-1", 1))
			return s
		}},
		"an act with a bad signature, and its entry": {"act", 3, func() *story {
			s := newStory(withTwo(1))
			policy := s.key(refKey{Subject: 4, Policy: "quorum none\n"})
			act := s.act(1, policy, "alice", "bob")
			act.Act.Signatures[0].Signature[0] ^= 1
			s.then(act)
			s.then(policy)
			s.approved(1, s.key(refKey{Subject: 4, Policy: witnessPolicy("w1")}))
			return s
		}},
		"another entry than was approved": {"pair", 2, func() *story {
			s := newStory(withTwo(1))
			s.then(s.act(1, s.key(refKey{Subject: 4, Policy: "quorum none\n"}), "alice", "bob"))
			id := s.then(s.commit("t"))
			s.then(s.deal(id, 0, 4))
			s.then(s.close(id, 1))
			return s
		}},
		"an entry before the delay is over, which spends its act": {"two_persons", 3, func() *story {
			s := newStory(withTwo(6), func(g *refGenesis) { g.Delay = 10 })
			clear := operator(refEvent{Kind: 7, Reason: "r"})
			s.then(refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}})
			s.then(s.act(6, clear, "alice"))
			s.then(clear)
			s.then(refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}})
			s.then(s.act(6, clear, "alice", "bob"))
			s.then(clear)
			return s
		}},
		"an administrator who stood before": {"administrators", 2, func() *story {
			s := newStory(withTwo(1))
			s.then(s.administrator(1, "alice", "alice 2"))
			policy := s.key(refKey{Subject: 4, Policy: "quorum none\n"})
			w := s.act(1, policy, "bob")
			text := *w.Act
			twice := signedAct(s.entries[0].bytes(), text, "alice 2", "bob")
			twice.Signatures[0].Administrator = "alice"
			s.then(refEntry{Act: twice})
			s.then(policy)
			return s
		}},
		"a switch set twice": {"kill", 2, func() *story {
			s := newStory()
			s.then(killSwitch(true, 2, "t", nil))
			s.then(killSwitch(true, 2, "t", nil))
			s.then(killSwitch(false, 2, "t", nil))
			s.then(s.commit("t"))
			return s
		}},
	}
}

// forced is a ledger with one fault.
type forced struct {
	rule  string
	after int // entries after the fault; the rest is before it
	tell  func() *story
}

// TestForceAnything mutilates legal ledgers: whatever is left, an audit reads it to the end.
func TestForceAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := slices.Clone(legalLedger(t, 120))
		for range rapid.IntRange(1, 20).Draw(t, "wounds") {
			if len(entries) == 0 {
				break
			}
			i := rapid.IntRange(0, len(entries)-1).Draw(t, "at")
			j := rapid.IntRange(0, len(entries)-1).Draw(t, "and")
			switch rapid.IntRange(0, 3).Draw(t, "wound") {
			case 0:
				entries = slices.Delete(entries, i, i+1)
			case 1:
				entries[i], entries[j] = entries[j], entries[i]
			case 2:
				entries = slices.Insert(entries, i, entries[j])
			case 3:
				entries[i] = genEntry().Draw(t, "other").entry()
			}
		}
		s := NewState()
		audited(s, entries)
		holdForced(t, s, len(entries))
	})
}

// holdForced looks at what must be so in every state.
func holdForced(t interface{ Fatalf(string, ...any) }, s *State, size int) {
	if s.Size() != uint64(size) || len(s.keys.auditors) > MaxAuditors {
		t.Fatalf("%d entries of %d, %d auditors", s.Size(), size, len(s.keys.auditors))
	}
	for o := range s.open.all() {
		_, waits := slices.BinarySearch(o.table.waiting, o.id)
		if waits != (o.next == 0 && o.stage == playing && (waits || o.child || o.forLedger)) || int(o.next) > o.m ||
			o.table != s.tables[o.commit().Context.Table] {
			t.Fatalf("shuffle %d: next %d of %d, waiting %t", o.id, o.next, o.m, waits)
		}
	}
	for name, table := range s.tables {
		for _, id := range table.waiting {
			if !s.open.has(id) {
				t.Fatalf("shuffle %d waits at table %s and is not open", id, name)
			}
		}
	}
}

// framed puts entries behind each other, each after a u16 of its length.
func framed(entries ...[]byte) (b []byte) {
	for _, e := range entries {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(e))), e...)
	}
	return b
}

// unframed takes them apart as far as it goes; what does not parse is Entry{}.
func unframed(b []byte) (entries []Entry) {
	for len(b) >= 2 {
		n := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
		e, _ := ParseEntry(b[2 : 2+n])
		entries, b = append(entries, e), b[2+n:]
	}
	return entries
}

// ledgerSeeds are the legality cases as framed ledgers.
func ledgerSeeds(f *testing.F) (corpus [][]byte) {
	v := loadLegality(f)
	for _, c := range v.Cases {
		var ledger [][]byte
		for _, p := range append(slices.Clone(c.Prefix), c.Next) {
			ledger = append(ledger, v.Entries[p])
		}
		if b := framed(ledger...); len(b) < 8000 {
			corpus = append(corpus, b)
		}
	}
	return corpus
}

// FuzzForce: an audit reads any ledger to its end.
func FuzzForce(f *testing.F) {
	seeds(f, 200, ledgerSeeds(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, entries := NewState(), unframed(b)
		for _, e := range entries {
			if e.Body == nil || s.Apply(e) != nil {
				s.Force(e)
			}
		}
		holdForced(t, s, len(entries))
	})
}

// TestForceActs: an entry that comes too early spends the act that it waited for, and
// one that nobody can read ends what an act asks for.
func TestForceActs(t *testing.T) {
	t.Parallel()
	told := newStory(withTwo(6))
	clearing := operator(refEvent{Kind: 7, Reason: "r"})
	told.then(refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}})
	told.then(told.act(6, clearing, "alice"))
	s := fold(t, told.values())
	early := told.dated(clearing).entry()
	if len(s.WaitingActs()) != 1 || codeOf(s.Apply(early)) != RuleTwoPersons {
		t.Fatalf("%d acts wait", len(s.WaitingActs()))
	}
	if s.Force(early); len(s.WaitingActs()) != 0 || s.Latched() {
		t.Errorf("%d acts wait, latched %t", len(s.WaitingActs()), s.Latched())
	}
	told.then(told.act(6, clearing, "alice", "bob"))
	s = fold(t, told.values())
	if s.Complete() {
		t.Fatal("an act asks for nothing")
	}
	if s.Force(Entry{}); !s.Complete() {
		t.Error("an entry that nobody can read left the pair open")
	}
}
