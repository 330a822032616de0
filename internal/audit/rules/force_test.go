package rules

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// audited folds entries as an audit does and returns the rules broken, by index.
func audited(s *State, entries []audit.Entry) map[int]string {
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
	slot, plan := spec.StorySlot("t", 0)
	return map[string]forced{
		"a place left out": {"place", 3, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Deal(id, 2, 1))
			s.Then(s.Deal(id, 3, 1))
			s.Then(s.Close(id, 1))
			s.Then(s.Commit("t"))
			return s
		}},
		"a place twice": {"place", 2, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Deal(id, 0, 2, spec.Final))
			s.Then(s.Close(id, 1))
			s.Then(s.Commit("t"))
			return s
		}},
		"a round left out, and the rounds after it": {"round", 3, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Deal(id, 1, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 3, Round: 7})))
			s.Then(s.Deal(id, 2, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 3, Round: 8}), spec.Final))
			s.Then(s.Close(id, 1))
			s.Then(s.Commit("t"))
			return s
		}},
		"a place of long ago": {"place", 2, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Deal(id, 1, 2))
			s.Then(s.Deal(id, 0, 1))
			s.Then(s.Deal(id, 3, 1, spec.Final))
			s.Then(s.Close(id, 1))
			return s
		}},
		"an auditor retired as a signing key": {"key", 4, func() *spec.Story {
			s := spec.NewStory(spec.WithAuditors("1", "2"))
			s.Then(s.Retire(1, spec.AuditorKey("2")))
			key := s.Then(s.Disclosure("1", "1", "2"))
			id := s.Then(s.Commit("t", spec.ToAuditors))
			s.Then(s.Close(id, 2, spec.Sealed(key)))
			s.Then(s.Retire(3, spec.AuditorKey("2")))
			return s
		}},
		"out of turn": {"earlier_serial", 3, func() *spec.Story {
			s := spec.NewStory()
			one, two := s.Then(s.Commit("t")), s.Then(s.Commit("t"))
			s.Then(s.Deal(two, 0, 1))
			s.Then(s.Deal(one, 0, 1))
			s.Then(s.Deal(two, 1, 1))
			s.Then(s.Close(two, 1))
			return s
		}},
		"a serial left out": {"serial", 4, func() *spec.Story {
			s, _ := dealt()
			e := s.Commit("t")
			e.Commit.Serial = 5
			id := s.Then(e)
			for serial := uint64(6); serial < 8; serial++ {
				e = s.Commit("t")
				e.Commit.Serial = serial
				s.Then(e)
			}
			s.Then(s.Deal(id, 0, 1))
			s.Then(s.Close(id, 1))
			return s
		}},
		"a commit under the latch": {"latch", 5, func() *spec.Story {
			s := spec.NewStory()
			s.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}})
			id := s.Then(s.Commit("t"))
			s.Then(s.Deal(id, 0, 4))
			s.Then(s.Close(id, 1))
			s.Then(spec.Operator(spec.Event{Kind: 7, Reason: "replaced"}))
			s.Then(s.Commit("t"))
			s.Then(s.Commit("u"))
			return s
		}},
		"an illegal mix": {"mix", 2, func() *spec.Story {
			s := spec.NewStory()
			id := s.Then(s.Commit("t", spec.Planned(plan)))
			s.Then(s.Mix(id, spec.Value{Source: 1, Value: spec.BytesOf("x", 32)}))
			s.Then(s.Deal(id, 0, 4))
			s.Then(s.Close(id, 1))
			return s
		}},
		"a mix out of turn": {"earlier_serial", 3, func() *spec.Story {
			s := spec.NewStory()
			one, two := s.Then(s.Commit("t")), s.Then(s.Commit("t", spec.Planned(plan)))
			s.Then(s.Mix(two, slot))
			s.Then(s.Deal(one, 0, 1))
			s.Then(s.Deal(two, 0, 1))
			s.Then(s.Close(two, 1))
			return s
		}},
		"a late close": {"deadline", 1, func() *spec.Story {
			s, id := dealt()
			late := s.Close(id, 1)
			late.Time = s.Entries[id].Commit.CloseBy
			s.Then(late)
			s.Then(s.Commit("t"))
			return s
		}},
		"an earlier time": {"time", 2, func() *spec.Story {
			s, id := dealt()
			back := s.Deal(id, 1, 1)
			back.Time = s.Now - 10
			s.Then(back)
			s.Then(s.Deal(id, 2, 1))
			s.Then(s.Close(id, 1))
			return s
		}},
		"a final deal without its close": {"pair", 2, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Deal(id, 1, 1, spec.Final))
			s.Then(s.Commit("u"))
			s.Then(s.Close(id, 1))
			s.Then(s.Commit("t"))
			return s
		}},
		"a reveal of a place that was not dealt": {"reveal", 2, func() *spec.Story {
			s, id := handDealt()
			s.Then(s.Reveal(id, []uint64{1, 5}))
			s.Then(s.Reveal(id, []uint64{2}))
			s.Then(s.Close(id, 1))
			return s
		}},
		"a final reveal of what was public": {"reveal", 2, func() *spec.Story {
			s, id := handDealt()
			s.Then(s.Reveal(id, []uint64{0, 2}, spec.FinalReveal))
			s.Then(s.Close(id, 1))
			s.Then(s.Commit("t"))
			return s
		}},
		"a place again, and reveals of what is dealt by then": {"place", 3, func() *spec.Story {
			s, id := handDealt()
			s.Then(s.Reveal(id, []uint64{1}))
			s.Then(s.Deal(id, 4, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 2, Public: true}, spec.Run{Cards: 1,
				Purpose: 1})))
			s.Then(s.Reveal(id, []uint64{2, 5}))
			s.Then(s.Reveal(id, []uint64{3}, spec.FinalReveal))
			s.Then(s.Close(id, 1))
			return s
		}},
		"a deal after the close": {"not_open", 2, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Close(id, 1))
			s.Then(s.Deal(id, 1, 1, spec.Final))
			s.Then(s.Start())
			s.Then(s.Commit("t"))
			return s
		}},
		"a child of nothing": {"parent", 2, func() *spec.Story {
			s := spec.NewStory()
			kid := s.Then(s.Commit("t", spec.ChildOf(1, 0, 1)))
			s.Then(s.Deal(kid, 0, 2))
			s.Then(s.Close(kid, 1))
			return s
		}},
		"a child at another table": {"parent", 3, func() *spec.Story {
			s, id := dealt()
			kid := s.Then(s.Commit("u", spec.ChildOf(id, 0, 1)))
			s.Then(s.Close(id, 3))
			s.Then(s.Deal(kid, 0, 2))
			s.Then(s.Close(kid, 1))
			return s
		}},
		"an auditor's key twice": {"key", 3, func() *spec.Story {
			s := spec.NewStory(spec.WithAuditors("1"))
			key := s.Then(s.Disclosure("1", "1"))
			s.Then(s.Auditor("1"))
			id := s.Then(s.Commit("t", spec.ToAuditors))
			s.Then(s.Deal(id, 0, 4))
			s.Then(s.Close(id, 1, spec.Sealed(key)))
			return s
		}},
		"an auditor retired twice": {"key", 2, func() *spec.Story {
			s := spec.NewStory(spec.WithAuditors("1", "2"))
			s.Then(s.Retire(3, spec.AuditorKey("2")))
			key := s.Then(s.Disclosure("1", "1"))
			s.Then(s.Retire(3, spec.AuditorKey("2")))
			id := s.Then(s.Commit("t", spec.ToAuditors))
			s.Then(s.Close(id, 2, spec.Sealed(key)))
			return s
		}},
		"a key that is not wrapped to everybody": {"key", 2, func() *spec.Story {
			s := spec.NewStory(spec.WithAuditors("1", "2"))
			key := s.Then(s.Disclosure("1", "1"))
			id := s.Then(s.Commit("t", spec.ToAuditors))
			s.Then(s.Close(id, 2, spec.Sealed(key)))
			return s
		}},
		"the last auditor retired": {"key", 4, func() *spec.Story {
			s := spec.NewStory(spec.WithAuditors("1"))
			s.Then(s.Retire(3, spec.AuditorKey("1")))
			s.Then(s.Auditor("2"))
			key := s.Then(s.Disclosure("1", "2"))
			id := s.Then(s.Commit("t", spec.ToAuditors))
			s.Then(s.Close(id, 2, spec.Sealed(key)))
			return s
		}},
		"a second genesis": {"genesis_first", 1, func() *spec.Story {
			s := spec.NewStory()
			s.Then(spec.Entry{Genesis: &spec.Genesis{Revision: 1, Origin: "x", SigningKey: spec.SigningKey("2"),
				Deals: 1, Disclosure: 1, DefaultCloseBy: 1, MaxCloseBy: 1, Access: 1}})
			s.Then(s.Commit("t"))
			return s
		}},
		"a table opened twice": {"table", 1, func() *spec.Story {
			s, _ := dealt()
			s.Then(spec.Operator(spec.Event{Kind: 2, Table: "t"}))
			s.Then(s.Commit("t"))
			return s
		}},
		"a closed table that nobody opened": {"table", 2, func() *spec.Story {
			s := spec.NewStory()
			s.Then(spec.Operator(spec.Event{Kind: 3, Table: "t"}))
			s.Then(spec.Operator(spec.Event{Kind: 2, Table: "t"}))
			s.Then(s.Commit("t"))
			return s
		}},
		"a deal by another": {"owner", 2, func() *spec.Story {
			s, id := dealt()
			s.Then(spec.Of("dealer-2", s.Deal(id, 1, 1)))
			s.Then(s.Deal(id, 2, 1))
			s.Then(s.Close(id, 1))
			return s
		}},
		"a close by another": {"owner", 1, func() *spec.Story {
			s, id := dealt()
			s.Then(spec.Of("dealer-2", s.Close(id, 1)))
			s.Then(s.Commit("t"))
			return s
		}},
		"a commit by the daemon, which then plays": {"owner", 2, func() *spec.Story {
			s := spec.NewStory()
			id := s.Then(spec.Of("daemon", s.Commit("t")))
			s.Then(spec.Of("daemon", s.Deal(id, 0, 4)))
			s.Then(spec.Of("daemon", s.Close(id, 1)))
			return s
		}},
		"taken over by the operator": {"owner", 2, func() *spec.Story {
			s, id := dealt()
			s.Then(s.Takeover(id, "operator", 2))
			s.Then(spec.Of("operator", s.Deal(id, 1, 1)))
			s.Then(spec.Of("operator", s.Close(id, 2)))
			return s
		}},
		"taken over to play, without an act": {"two_persons", 3, func() *spec.Story {
			s := spec.NewStory(spec.WithTwo(10))
			id := s.Then(s.Commit("t"))
			s.Then(s.Takeover(id, "dealer-2", 2))
			s.Then(spec.Of("dealer-2", s.Deal(id, 0, 4)))
			s.Then(spec.Of("dealer-2", s.Close(id, 1)))
			s.Then(s.Commit("t"))
			return s
		}},
		"a takeover of nothing": {"not_open", 1, func() *spec.Story {
			s := spec.NewStory()
			s.Then(s.Takeover(1, "dealer-2", 2))
			s.Then(s.Commit("t"))
			return s
		}},
		"a credential created twice": {"credential", 1, func() *spec.Story {
			s := spec.NewStory()
			s.Then(s.Credential("dealer-1", 1))
			s.Then(s.Credential("dealer-1", 3))
			s.Then(s.Commit("t")) // the first one counts
			return s
		}},
		"a credential created by a stranger": {"credential", 1, func() *spec.Story {
			s := spec.NewStory(spec.Production)
			s.Then(spec.Of("stranger", s.Credential("dealer-1", 1)))
			s.Then(s.Commit("t"))
			return s
		}},
		"a credential of the daemon": {"credential", 1, func() *spec.Story {
			s := spec.NewStory()
			s.Then(s.Credential("dealer-1", 1, func(h *spec.Holder) { h.Identity = "daemon" }))
			s.Then(spec.Of("dealer-7", s.Commit("t"))) // there is none still
			return s
		}},
		"a credential revoked that was none": {"credential", 1, func() *spec.Story {
			s := spec.NewStory()
			s.Then(s.Revoke("token-1"))
			s.Then(s.Credential("dealer-1", 1))
			return s
		}},
		"an act with a bad signature, and its entry": {"act", 3, func() *spec.Story {
			s := spec.NewStory(spec.WithTwo(1))
			policy := s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"})
			act := s.Act(1, policy, "alice", "bob")
			act.Act.Signatures[0].Signature[0] ^= 1
			s.Then(act)
			s.Then(policy)
			s.Approved(1, s.Key(spec.Key{Subject: 4, Policy: spec.WitnessPolicy("w1")}))
			return s
		}},
		"another entry than was approved": {"pair", 2, func() *spec.Story {
			s := spec.NewStory(spec.WithTwo(1))
			s.Then(s.Act(1, s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"}), "alice", "bob"))
			id := s.Then(s.Commit("t"))
			s.Then(s.Deal(id, 0, 4))
			s.Then(s.Close(id, 1))
			return s
		}},
		"an entry before the delay is over, which spends its act": {"two_persons", 3, func() *spec.Story {
			s := spec.NewStory(spec.WithTwo(6), func(g *spec.Genesis) { g.Delay = 10 })
			clear := spec.Operator(spec.Event{Kind: 7, Reason: "r"})
			s.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}})
			s.Then(s.Act(6, clear, "alice"))
			s.Then(clear)
			s.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}})
			s.Then(s.Act(6, clear, "alice", "bob"))
			s.Then(clear)
			return s
		}},
		"an administrator who stood before": {"administrators", 2, func() *spec.Story {
			s := spec.NewStory(spec.WithTwo(1))
			s.Then(s.Administrator(1, "alice", "alice 2"))
			policy := s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"})
			w := s.Act(1, policy, "bob")
			text := *w.Act
			twice := spec.SignedAct(s.Entries[0].Bytes(), text, "alice 2", "bob")
			twice.Signatures[0].Administrator = "alice"
			s.Then(spec.Entry{Act: twice})
			s.Then(policy)
			return s
		}},
		"a switch set twice": {"kill", 2, func() *spec.Story {
			s := spec.NewStory()
			s.Then(spec.KillSwitch(true, 2, "t", nil))
			s.Then(spec.KillSwitch(true, 2, "t", nil))
			s.Then(spec.KillSwitch(false, 2, "t", nil))
			s.Then(s.Commit("t"))
			return s
		}},
	}
}

// forced is a ledger with one fault.
type forced struct {
	rule  string
	after int // entries after the fault; the rest is before it
	tell  func() *spec.Story
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
				entries[i] = spec.GenEntry().Draw(t, "other").Value()
			}
		}
		s := NewState()
		audited(s, entries)
		holdForced(t, s, len(entries))
	})
}

// holdForced looks at what must be so in every state.
func holdForced(t interface{ Fatalf(string, ...any) }, s *State, size int) {
	if s.Size() != uint64(size) || len(s.keys.auditors) > audit.MaxAuditors {
		t.Fatalf("%d entries of %d, %d auditors", s.Size(), size, len(s.keys.auditors))
	}
	for o := range s.open.all() {
		_, waits := slices.BinarySearch(o.table.Waiting, o.id)
		if waits != (o.next == 0 && o.stage == playing && (waits || o.child || o.forLedger)) || int(o.next) > o.m ||
			o.table != s.tables[o.commit().Context.Table] {
			t.Fatalf("shuffle %d: next %d of %d, waiting %t", o.id, o.next, o.m, waits)
		}
	}
	for name, table := range s.tables {
		for _, id := range table.Waiting {
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
func unframed(b []byte) (entries []audit.Entry) {
	for len(b) >= 2 {
		n := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
		e, _ := audit.ParseEntry(b[2 : 2+n])
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
	spec.Seeds(f, 200, ledgerSeeds(f))
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
	told := spec.NewStory(spec.WithTwo(6))
	clearing := spec.Operator(spec.Event{Kind: 7, Reason: "r"})
	told.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}})
	told.Then(told.Act(6, clearing, "alice"))
	s := fold(t, told.Values())
	early := told.Dated(clearing).Value()
	if len(s.WaitingActs()) != 1 || codeOf(s.Apply(early)) != audit.RuleTwoPersons {
		t.Fatalf("%d acts wait", len(s.WaitingActs()))
	}
	if s.Force(early); len(s.WaitingActs()) != 0 || s.Latched() {
		t.Errorf("%d acts wait, latched %t", len(s.WaitingActs()), s.Latched())
	}
	told.Then(told.Act(6, clearing, "alice", "bob"))
	s = fold(t, told.Values())
	if s.Complete() {
		t.Fatal("an act asks for nothing")
	}
	if s.Force(audit.Entry{}); !s.Complete() {
		t.Error("an entry that nobody can read left the pair open")
	}
}
