package inspect

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect/inspecttest"
)

// forgeries are ledgers that a house with all keys writes: everything is hashed, signed and cosigned, and only the rule
// that is broken finds it. Each is one deed, and must be the faults of that deed and no others.
var forgeries = []struct {
	name  string
	write func(l *ledger)
	want  []string // codes, each once
}{
	{"honest", func(l *ledger) { l.hand("t1"); l.hand("t1") }, nil},

	// Terms.
	{"a wheel of another total", func(l *ledger) {
		l.play(l.commit("t1", inspecttest.Draws(11, 11), inspecttest.Bound(l.Terms(inspecttest.Wheel()))))
	}, []string{"terms"}},
	{"a wheel of ranges that differ", func(l *ledger) {
		l.play(l.commit("t1", inspecttest.Draws(10, 11), inspecttest.Bound(l.Terms(inspecttest.Wheel()))))
	}, []string{"rule_terms"}},
	{"a wheel of cards", func(l *ledger) {
		l.play(l.commit("t1", inspecttest.Bound(l.Terms(inspecttest.Wheel()))))
	}, []string{"rule_terms"}},
	{"a wheel that was never published", func(l *ledger) {
		l.play(l.commit("t1", inspecttest.Draws(10, 10),
			inspecttest.Bound(&audit.Terms{Kind: audit.TermsWheel, Hash: [32]byte{1}})))
	}, []string{"terms"}},
	{"a pay table as a wheel", func(l *ledger) {
		bound := l.Terms(inspecttest.PayTable())
		bound.Kind = audit.TermsWheel
		l.play(l.commit("t1", inspecttest.Draws(10, 10), inspecttest.Bound(bound)))
	}, []string{"terms"}},
	{"tickets without numbers", func(l *ledger) {
		l.play(l.commit("t1", inspecttest.Numbers(1001, 3), inspecttest.Bound(listed(1000))))
	}, []string{"rule_terms"}},
	{"numbers of a list that counts another number", func(l *ledger) {
		l.play(l.commit("t1", inspecttest.Draws(1000, 1000), inspecttest.Bound(listed(1000))))
	}, []string{"rule_terms"}},
	{"a child of other terms", func(l *ledger) {
		s := l.commit("t1", inspecttest.Bound(l.Terms(inspecttest.PayTable())))
		s.Deal(2, l.seen)
		child := l.Commit("t1", inspecttest.ChildOf(s, 9, 3, 30))
		s.Close(audit.OutcomeContinued, none)
		l.play(child)
		s.Disclose()
	}, []string{"rule_terms"}},

	// Order and lifecycle.
	{"close twice", func(l *ledger) { s := l.hand("t1"); s.Close(completed, none); l.hand("t1") },
		[]string{"rule_not_open"}},
	{"deal after the close", func(l *ledger) { s := l.hand("t1"); s.Deal(1, l.seen) }, []string{"rule_not_open"}},
	{"serial skipped", func(l *ledger) {
		l.hand("t1")
		l.play(l.Commit("t1", func(s *inspecttest.Shuffle) { s.Commit.Serial++ }))
		l.hand("t1")
	}, []string{"rule_serial"}},
	{"serial used again", func(l *ledger) {
		first := l.hand("t1")
		l.play(l.Commit("t1", func(s *inspecttest.Shuffle) { s.Commit.Serial, s.Commit.Previous = 1, 0 }))
		_ = first
	}, []string{"rule_serial"}},
	{"another previous", func(l *ledger) {
		l.hand("t1")
		l.hand("t1")
		l.play(l.Commit("t1", func(s *inspecttest.Shuffle) { s.Commit.Previous-- }))
		l.hand("t1")
	}, []string{"rule_serial"}},
	{"a place skipped", func(l *ledger) {
		s := l.commit("t1")
		l.Append(&audit.Deal{Shuffle: s.ID, First: 3, Checkpoint: l.seen, Runs: burn(2)})
		l.Append(&audit.Deal{Shuffle: s.ID, First: 5, Checkpoint: l.seen, Runs: burn(2)})
		s.Close(completed, none)
	}, []string{"rule_place"}},
	{"a place dealt twice", func(l *ledger) {
		s := l.commit("t1")
		s.Deal(4, l.seen)
		l.Append(&audit.Deal{Shuffle: s.ID, First: 2, Checkpoint: l.seen, Runs: burn(2)})
		s.Deal(1, l.seen)
		s.Close(completed, none)
	}, []string{"rule_place"}},
	{"more than there are", func(l *ledger) {
		s := l.commit("t1")
		s.Deal(50, l.seen)
		s.Deal(3, l.seen)
		s.Close(completed, none)
	}, []string{"rule_places"}},
	{"a late deal", func(l *ledger) {
		s := l.commit("t1")
		l.Now = s.Commit.CloseBy
		s.Deal(2, l.seen)
		s.Close(audit.OutcomeExpired, none)
	}, []string{"rule_deadline"}},
	{"a late close", func(l *ledger) {
		s := l.commit("t1")
		l.Now = s.Commit.CloseBy
		s.Close(completed, none)
		l.hand("t1")
	}, []string{"rule_deadline"}},
	{"expired too early", func(l *ledger) { l.commit("t1").Close(audit.OutcomeExpired, none) },
		[]string{"rule_deadline"}},
	{"an earlier serial passed over", func(l *ledger) {
		a, b := l.Commit("t1"), l.Commit("t1")
		l.see()
		l.play(b)
		l.play(a)
	}, []string{"rule_earlier_serial"}},
	{"time runs back", func(l *ledger) { l.hand("t1"); l.Now -= 5000; l.Start(); l.Now += 5000; l.hand("t1") },
		[]string{"rule_time"}},
	{"a closed table", func(l *ledger) {
		l.hand("t1")
		l.Append(&audit.Event{Kind: audit.EventTableClose, Name: "t1"})
		l.hand("t1")
	}, []string{"rule_table"}},
	{"under a kill switch", func(l *ledger) {
		l.Append(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "t1", Reason: "checked"})
		l.hand("t1")
	}, []string{"rule_kill"}},
	{"acts of another history", func(l *ledger) {
		clear := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeTable, Name: "t1", Reason: "settled"}
		digest := audit.Approved(audit.Daemon.Identity, clear)
		saw := audit.Head{Size: l.Size, Root: l.Root()}
		for _, root := range [][32]byte{saw.Root, {1}, saw.Root, {2}} {
			l.Append(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "t1", Reason: "dispute"})
			l.Saw = &audit.Head{Size: saw.Size, Root: root}
			l.Act(audit.ActKillClear, digest, "alice", "bob")
			l.Append(clear)
		}
		l.hand("t1")
	}, []string{"act_head"}},
	{"an adopted head of another history", func(l *ledger) {
		l.hand("t1")
		adopted := &audit.Event{Kind: audit.EventHeadAdopted, Size: l.Size, Digest: [32]byte{1}, Reason: "restored"}
		l.Approve(audit.Operator.Identity, adopted)
		l.By(audit.Operator, adopted)
	}, append(slices.Repeat([]string{"rule_credential"}, 4), "act_head")}, // an adopted head revokes the dealer's
	{"under the latch", func(l *ledger) {
		l.Append(&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchRepetition, Instance: 1})
		l.hand("t1")
		l.Append(&audit.Event{Kind: audit.EventLatchClear, Reason: "checked"})
	}, []string{"rule_latch"}},
	{"an instance that never started", func(l *ledger) {
		l.play(l.Commit("t1", func(s *inspecttest.Shuffle) { s.Commit.Instance = 0 }))
	}, []string{"rule_instance"}},
	{"close-by beyond the cap", func(l *ledger) {
		l.play(l.Commit("t1", func(s *inspecttest.Shuffle) { s.Commit.CloseBy += 1 << 40 }))
	}, []string{"rule_close_by"}},
	{"sandbox in production", func(l *ledger) {
		l.play(l.Commit("t1", func(s *inspecttest.Shuffle) { s.Commit.Context.Production = false }))
	}, []string{"rule_origin"}},
	{"a final deal without its close", func(l *ledger) {
		s := l.commit("t1")
		l.Append(&audit.Deal{Shuffle: s.ID, Checkpoint: l.seen, Final: true, Runs: burn(2)})
		l.hand("t2")
		s.Close(completed, none)
	}, []string{"rule_pair"}},
	{"two geneses", func(l *ledger) { g := *l.State.Genesis(); l.Append(&g); l.hand("t1") },
		[]string{"rule_genesis_first"}},

	// Mixes and cosigned checkpoints.
	{"another slot's value", func(l *ledger) {
		s := l.commit("t1", inspecttest.Mixed(2, 0, true))
		s.Slots[0], s.Slots[1] = s.Slots[1], s.Slots[0]
		s.Mix(l.seen)
		l.play(s)
	}, []string{"rule_mix"}},
	{"dealt before the mix", func(l *ledger) {
		s := l.commit("t1", inspecttest.Mixed(1, 0, true))
		s.Deal(2, l.seen)
		s.Close(completed, none)
	}, []string{"rule_mix"}},
	{"dealt before it was witnessed", func(l *ledger) {
		before := l.seen
		s := l.Commit("t1")
		s.Deal(2, before)
		s.Close(completed, none)
	}, []string{"rule_checkpoint"}},
	{"a cosigned checkpoint made up", func(l *ledger) {
		s := l.Commit("t1")
		l.Start()
		s.Deal(2, l.Size-1)
		s.Close(completed, none)
	}, []string{"cosigned_missing"}},
	{"a slot in two commits", func(l *ledger) {
		first := l.commit("t1", inspecttest.Mixed(1, 0, true))
		first.Mix(l.seen)
		l.play(first)
		second := l.commit("t1", func(s *inspecttest.Shuffle) {
			s.Slots, s.Commit.Context.Plan = first.Slots, first.Commit.Context.Plan
		})
		second.Mix(l.seen)
		l.play(second)
	}, []string{"slot_twice"}},

	// Tapes and orders.
	{"one commitment for two shuffles", func(l *ledger) {
		s := l.hand("t1")
		l.play(l.Commit("t1", func(again *inspecttest.Shuffle) { again.Tape = s.Tape }))
	}, []string{"commitment_twice"}},
	{"one idempotency key for two shuffles", func(l *ledger) {
		s := l.hand("t1")
		l.play(l.Commit("t1", func(again *inspecttest.Shuffle) { again.Commit.KeyTag = s.Commit.KeyTag }))
	}, []string{"key_tag_twice"}},
	{"another tape at the close", func(l *ledger) {
		s := l.commit("t1")
		s.Deal(2, l.seen)
		s.Tape = l.Bytes(len(s.Tape))
		s.Close(completed, none)
	}, []string{"tape"}},
	{"a tape too short", func(l *ledger) {
		s := l.commit("t1")
		s.Tape = s.Tape[1:]
		s.Close(audit.OutcomeVoid, audit.ReasonMisdeal)
	}, []string{"rule_form"}},
	{"another tape, with its commitment", func(l *ledger) {
		l.play(l.Forge("t1", func(s *inspecttest.Shuffle) {
			s.Tape = l.Bytes(len(s.Tape))
			s.Commit.Commitment = openings.Commitment(s.Commit.Context.Encode(), s.Tape)
		}))
	}, []string{"deck_root"}},
	{"two cards exchanged", func(l *ledger) {
		l.play(l.Forge("t1", func(s *inspecttest.Shuffle) {
			s.Values[0], s.Values[51] = s.Values[51], s.Values[0]
			s.Root()
		}))
	}, []string{"deck_root"}},
	{"a drawn value changed", func(l *ledger) {
		l.play(l.Forge("t1", func(s *inspecttest.Shuffle) {
			s.Values[1]++
			s.Root()
		}, inspecttest.Draws(37, 37)))
	}, []string{"deck_root"}},
	{"a tape that runs out", func(l *ledger) {
		l.play(l.Forge("t1", func(s *inspecttest.Shuffle) {
			s.Tape = bytes.Repeat([]byte{0xff}, len(s.Tape))
			s.Commit.Commitment = openings.Commitment(s.Commit.Context.Encode(), s.Tape)
		}))
	}, []string{"order"}},
	{"a tape lost", func(l *ledger) {
		l.Hire(inspecttest.Admin, audit.RoleAdmin)
		l.commit("t1").Close(audit.OutcomeVoid, audit.ReasonTapeLost)
	}, []string{"tape_lost"}},
	{"a child's cards exchanged", func(l *ledger) {
		s := l.commit("t1")
		child := l.Forge("t1", func(s *inspecttest.Shuffle) {
			s.Values[0], s.Values[1] = s.Values[1], s.Values[0]
			s.Root()
		}, inspecttest.ChildOf(s, 4, 7, 9))
		s.Close(audit.OutcomeContinued, none)
		grandchild := l.Commit("t1", inspecttest.ChildOf(child, 0, 2))
		child.Close(audit.OutcomeContinued, none)
		l.see()
		grandchild.Last(2, l.seen)
		s.Disclose()
		child.Disclose()
	}, []string{"deck_root"}},
	{"a chain, disclosed", func(l *ledger) {
		l.chain(false, func(root, child *inspecttest.Shuffle) { disclosing(root, child) })
	}, nil},
	{"a chain without its disclosures", func(l *ledger) { l.chain(false, func(_, _ *inspecttest.Shuffle) {}) },
		[]string{"rule_pair"}},
	{"a chain, disclosed out of turn", func(l *ledger) {
		l.chain(false, func(root, child *inspecttest.Shuffle) { disclosing(child, root) })
	}, []string{"rule_pair"}},
	{"a chain, its root's tape lost", func(l *ledger) {
		l.chain(false, func(root, child *inspecttest.Shuffle) {
			l.Append(&audit.DisclosureEntry{Shuffle: root.ID})
			child.Disclose()
		})
	}, []string{"tape_lost"}},
	{"a chain, its root disclosed by another tape", func(l *ledger) {
		l.chain(false, func(root, child *inspecttest.Shuffle) {
			root.Tape = l.Bytes(len(root.Tape))
			disclosing(root, child)
		})
	}, []string{"tape"}},
	{"a chain for auditors, disclosed by another tape", func(l *ledger) {
		l.chain(true, func(root, child *inspecttest.Shuffle) {
			child.Tape = l.Bytes(len(child.Tape))
			disclosing(root, child)
		})
	}, []string{"tape"}},
	{"a chain, its sealed tape does not open", func(l *ledger) {
		l.chain(true, func(root, child *inspecttest.Shuffle) {
			c := root.Closing(completed, none)
			c.Tape[100] ^= 1
			l.Append(&audit.DisclosureEntry{Shuffle: root.ID, Form: c.Form, Key: c.Key, Tape: c.Tape})
			child.Disclose()
		})
	}, []string{"sealed"}},
	{"a chain for auditors, disclosed to everybody", func(l *ledger) {
		l.chain(true, func(root, child *inspecttest.Shuffle) {
			l.Append(&audit.DisclosureEntry{Shuffle: root.ID, Form: audit.FormTape, Tape: root.Tape})
			child.Disclose()
		})
	}, []string{"rule_form"}},
	{"a disclosure of what is open", func(l *ledger) { l.commit("t1").Disclose() }, []string{"rule_not_open"}},
	{"a disclosure of a chain that goes on", func(l *ledger) {
		root := l.commit("t1")
		child := l.Commit("t1", inspecttest.ChildOf(root, 4, 7, 9))
		root.Close(audit.OutcomeContinued, none)
		root.Disclose()
		l.see()
		child.Last(3, l.seen)
		root.Disclose()
	}, []string{"rule_not_open"}},
	{"a child without its parent's close", func(l *ledger) {
		s := l.commit("t1")
		child := l.Commit("t1", inspecttest.ChildOf(s, 4, 7, 9))
		l.see()
		child.Last(3, l.seen)
		s.Close(audit.OutcomeVoid, audit.ReasonMisdeal)
	}, []string{"rule_pair"}},
	{"a child of nobody", func(l *ledger) {
		s := l.commit("t1")
		s.Close(completed, none)
		child := l.Commit("t1", inspecttest.ChildOf(s, 4, 7, 9))
		l.see()
		child.Last(3, l.seen)
	}, []string{"rule_parent"}},

	// Disclosure.
	{"sealed to auditors who changed", func(l *ledger) {
		l.Append(&audit.Key{Subject: audit.SubjectAuditor, Public: inspecttest.AuditorNamed("second").Public()})
		l.play(l.Commit("t1"))
		s := l.Commit("t2", inspecttest.ForAuditors)
		l.Disclosure()
		l.see()
		l.play(s)
	}, []string{"rule_disclosure_key"}},
	{"a sealed tape that does not open", func(l *ledger) {
		s := l.commit("t1", inspecttest.ForAuditors)
		c := s.Closing(completed, none)
		c.Tape[100] ^= 1
		l.Append(c)
	}, []string{"sealed"}},
	{"another tape sealed", func(l *ledger) {
		s := l.commit("t1", inspecttest.ForAuditors)
		s.Tape = l.Bytes(len(s.Tape))
		s.Close(completed, none)
	}, []string{"tape"}},
	{"auditors kept out", func(l *ledger) {
		k, err := disclosure.Body(inspecttest.Origin, l.State.AuditorKeys())
		if err != nil {
			panic(err)
		}
		k.Wraps[0].Sealed[80] ^= 1
		l.Append(k)
		l.play(l.commit("t1", inspecttest.ForAuditors))
	}, []string{"wrap"}},

	// Keys, witnesses, state.
	{"rotated without the old key", func(l *ledger) {
		l.RotateSigned(func(_, next key) []byte { return l.Signed(next) })
		l.hand("t1")
	}, []string{"rotation"}},
	{"rotated without the new key", func(l *ledger) {
		l.RotateSigned(func(old, _ key) []byte { return l.Signed(old) })
		l.hand("t1")
	}, []string{"rotation"}},
	{"rotated without a checkpoint", func(l *ledger) {
		l.RotateSigned(func(_, _ key) []byte { return nil })
		l.hand("t1")
	}, []string{"rotation"}},
	{"rotated, its checkpoint later", func(l *ledger) {
		l.RotateSigned(func(old, next key) []byte { l.Start(); return l.Signed(old, next) })
		l.hand("t1")
	}, []string{"rotation"}},
	{"the old key signs on", func(l *ledger) {
		l.Rotate()
		l.Start()
		l.KeepCosigned(inspecttest.Cosign(l.Signed(inspecttest.Key("signing 0")), l.Now/1000, "w1", "w2"))
		l.hand("t1")
	}, []string{"signature"}},
	{"a cosigned fork", func(l *ledger) {
		l.Start()
		l.fork(1)
		l.hand("t1")
	}, []string{"root"}},
	{"a cosigned fork that counts once", func(l *ledger) {
		s := l.Commit("t1")
		l.fork(1)
		s.Deal(1, l.Size)
		s.Deal(1, l.Size) // which is not kept
		s.Close(completed, none)
	}, []string{"cosigned_missing", "root"}},
	{"cosigned by too few", func(l *ledger) { l.Start(); l.Cosigned("w1"); l.hand("t1") }, []string{"quorum"}},
	{"cosigned by others", func(l *ledger) { l.Start(); l.Cosigned("x1", "x2", "x3"); l.hand("t1") },
		[]string{"quorum"}},
	{"the new witnesses alone", func(l *ledger) {
		l.Append(&audit.Key{Subject: audit.SubjectPolicy, Policy: inspecttest.Policy(false, 2, "n1", "n2")})
		l.Cosigned("n1", "n2")
		l.witnesses = []string{"w1", "w2", "n1", "n2"}
		l.hand("t1")
	}, []string{"quorum"}},
	{"a policy that is none", func(l *ledger) {
		l.Append(&audit.Key{Subject: audit.SubjectPolicy, Policy: []byte("witness nobody\n")})
		l.hand("t1")
	}, []string{"rule_key"}},
	{"bytes that are no entry", func(l *ledger) { l.AppendLost([]byte{1, 7, 0, 0}); l.hand("t1") },
		[]string{"malformed"}},
	{"two faults in one shuffle", func(l *ledger) {
		s := l.commit("t1")
		l.Append(&audit.Deal{Shuffle: s.ID, First: 3, Checkpoint: l.seen, Runs: burn(2)})
		s.Tape = l.Bytes(len(s.Tape))
		s.Close(completed, none)
	}, []string{"rule_place", "tape"}},
}

const (
	completed = audit.OutcomeCompleted
	none      = audit.ReasonNone
)

// ledger is one to be forged: the generator's, with the size of the newest cosigned checkpoint.
type ledger struct {
	*inspecttest.Ledger
	seen      uint64
	witnesses []string
}

func newLedger(t testing.TB) *ledger {
	t.Helper()
	g := inspecttest.Plain()
	g.Policy = inspecttest.Policy(false, 2, "w1", "w2", "w3")
	g.Deals = audit.DealsCosigned
	g.AuditorKeys = [][]byte{inspecttest.Auditor().Public()}
	l := &ledger{Ledger: inspecttest.New(t.TempDir(), t.Name(), g), witnesses: []string{"w1", "w2", "w3"}}
	l.Disclosure()
	l.see()
	return l
}

// fork keeps a cosigned checkpoint of another root.
func (l *ledger) fork(root byte) {
	c := audit.Checkpoint{Origin: inspecttest.Origin, Size: l.Size, Root: [32]byte{root}}
	l.KeepCosigned(inspecttest.Cosign(inspecttest.Sign(c.Text(), inspecttest.Key("signing 0")), l.Now/1000, "w1", "w2"))
}

func (l *ledger) see() { l.seen = l.Cosigned(l.witnesses...) }

// commit is a commit that was witnessed.
func (l *ledger) commit(table string, wishes ...inspecttest.Wish) *inspecttest.Shuffle {
	s := l.Commit(table, wishes...)
	l.see()
	return s
}

// play deals two cards and the rest.
func (l *ledger) play(s *inspecttest.Shuffle) {
	if l.seen <= s.ID {
		l.see()
	}
	s.Deal(1, l.seen)
	s.Last(1, l.seen)
}

// hand is a whole shuffle.
func (l *ledger) hand(table string) *inspecttest.Shuffle {
	s := l.commit(table)
	l.play(s)
	return s
}

// listed is a list of so many tickets.
func listed(n uint64) *audit.Terms { return &audit.Terms{Kind: audit.TermsTicketList, Count: n} }

// chain is a root, its child and the child of that, which ends; end discloses.
func (l *ledger) chain(toAuditors bool, end func(root, child *inspecttest.Shuffle)) {
	wish := func(*inspecttest.Shuffle) {}
	if toAuditors {
		wish = inspecttest.ForAuditors
	}
	root := l.commit("t1", wish)
	root.Deal(2, l.seen)
	child := l.Commit("t1", wish, inspecttest.ChildOf(root, 4, 7, 9))
	root.Close(audit.OutcomeContinued, none)
	last := l.Commit("t1", wish, inspecttest.ChildOf(child, 0, 2))
	child.Close(audit.OutcomeContinued, none)
	l.see()
	last.Last(2, l.seen)
	end(root, child)
}

func disclosing(shuffles ...*inspecttest.Shuffle) {
	for _, s := range shuffles {
		s.Disclose()
	}
}

func burn(n int) []audit.Run { return []audit.Run{{Count: n, Purpose: audit.PurposeBurn}} }

// trusting is what the honest auditor brings.
func trusting() Options {
	return Options{VKey: inspecttest.VKey(), Auditors: []*disclosure.Auditor{inspecttest.Auditor()}}
}

func TestForgeries(t *testing.T) {
	t.Parallel()
	if len(forgeries) < 25 {
		t.Fatalf("only %d forgeries", len(forgeries))
	}
	for _, test := range forgeries {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			l.hand("t0") // something honest in front and behind
			test.write(l)
			l.hand("t0")
			l.see()
			l.Finish()
			wantFaults(t, inspectDir(t, l.Dir, trusting()), test.want)
		})
	}
}

// wantFaults holds the faults of a report against codes, each as often as it stands there.
func wantFaults(t testing.TB, r *Report, want []string) {
	t.Helper()
	left := make(map[string]uint64)
	for _, code := range want {
		left[code]++
	}
	if fmt.Sprint(left) != fmt.Sprint(r.FaultCodes) {
		t.Errorf("faults %v, want %v", r.FaultCodes, left)
		for _, f := range r.Faults {
			t.Log(asJSON(t, f))
		}
	}
	verdict := Failed
	if len(want) == 0 {
		verdict = Proved
	}
	if r.Verdict != verdict {
		t.Errorf("verdict %s, want %s", r.Verdict, verdict)
	}
	if uint64(len(r.Faults)) != r.FaultCount {
		t.Errorf("%d faults listed, %d counted", len(r.Faults), r.FaultCount)
	}
	for _, c := range r.Tables {
		if c.Shuffles != c.Completed+c.EndedEarly+c.Continued+c.Void+c.Expired+c.Open {
			t.Errorf("%d shuffles of table %s, which ended or are open as %s", c.Shuffles, c.Table, asJSON(t, c.Counts))
		}
	}
}
