package rules

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// codeOf is the rule that Apply named, or holds.
func codeOf(err error) string {
	var illegal *audit.Illegal
	if errors.As(err, &illegal) {
		return illegal.Code
	}
	if err != nil {
		return "not an *Illegal: " + err.Error()
	}
	return holds
}

// fold is the state after entries that are known to be legal.
func fold(t interface{ Fatalf(string, ...any) }, entries model) *State {
	s := NewState()
	for i, e := range entries {
		if err := s.Apply(e); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
	s.Commit()
	return s
}

var stateOptions = cmp.Options{
	cmp.AllowUnexported(State{}, restored{}, stops{}, Switch{}, Table{}, heldOpen{}, open{}, chained{}, keys{},
		sharedContext{}, standing{}, disclosure{}, pair{}, holders{}, Holder{}, persons{}, approval{}, WaitingAct{}),
	cmpopts.IgnoreFields(holders{}, "numbers", "identities", "changes"),
	cmpopts.IgnoreFields(State{}, "undo", "saved", "scratch"), cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b [32]byte) bool { return a == b }),
	cmp.Transformer("open", heldOf),
	cmp.Comparer(func(a, b *audit.Commit) bool { return sameBody(a, b) }),
	cmp.Comparer(func(a, b *audit.Genesis) bool { return sameBody(a, b) }),
}

// heldOpen is an open shuffle, wherever its slot is.
type heldOpen struct {
	slot    open // without the number of its context
	context sharedContext
	long    string
	shown   shown
	given   []uint32
}

// addsUp panics unless a pool has these holders of each key, and no other.
func addsUp[V any](p pool[V], want map[string]int) {
	held := make(map[string]int)
	for key, number := range p.numbers {
		held[key] = p.holders[number]
	}
	if !maps.Equal(held, want) || len(p.numbers)+len(p.unused) != len(p.values) || len(p.values) != len(p.holders) {
		panic(fmt.Sprintf("what open shuffles have in common does not add up: %v, not %v", held, want))
	}
}

func heldOf(s openShuffles) map[uint64]heldOpen {
	held, shares, patterns := make(map[uint64]heldOpen), make(map[string]int), map[string]int{"": 1}
	for o := range s.all() {
		slot := *o.open
		slot.context, slot.owner, slot.shownNumber = 0, 0, 0 // numbers, which differ with the order they were given in
		slot.prev, slot.succ = 0, 0                          // so do the slots
		held[o.id] = heldOpen{slot, *o.sharedContext, o.long, o.shown, o.given}
		shares[o.encoded]++
		patterns[string(o.shown)]++
	}
	addsUp(s.contexts, shares)
	addsUp(s.shown, patterns)
	if len(held) != len(s.slots) || len(s.slots)+len(s.free) != len(s.chunks)*chunkSlots {
		panic("the slots of open shuffles do not add up")
	}
	listed := 0
	for t := range s.first {
		for o := range s.atTable(t) {
			if listed++; o.table != t {
				panic("an open shuffle is in the list of another table")
			}
		}
	}
	if listed != len(held) {
		panic("the tables do not list what is open")
	}
	return held
}

// sameBody: the same one, or one of the same bytes.
func sameBody[B interface {
	comparable
	audit.Body
}](a, b B) bool {
	var none B
	if a == b || a == none || b == none {
		return a == b
	}
	return bytes.Equal(refBody(audit.Entry{Actor: spec.Someone, Body: a}),
		refBody(audit.Entry{Actor: spec.Someone, Body: b}))
}

// holdState fails unless s is what a fold of entries gives, in every field.
func holdState(t interface{ Fatalf(string, ...any) }, s *State, entries model) {
	if diff := cmp.Diff(fold(t, entries), s, stateOptions); diff != "" {
		t.Fatalf("the state after %d entries is not their fold (-want +got):\n%s", len(entries), diff)
	}
	for o := range s.open.all() {
		if o.table != s.tables[o.commit().Context.Table] {
			t.Fatalf("shuffle %d holds another table than the state", o.id)
		}
	}
}

// rules are the codes of section 9.
var rules = []string{"genesis_first", "time", "pair", "origin", "instance", "latch", "kill", "table", "serial",
	"close_by", "mix_modes", "beacon", "disclosure_key", "parent", "terms", "not_open", "deadline", "set_aside",
	"earlier_serial", "mix", "place", "places", "round", "checkpoint", "outcome", "form", "entries", "key", "owner",
	"credential", "two_persons", "act", "administrators", "reveal", "co_dealer"}

// TestLegalityAgreesWithModel: whatever comes next, the state and the model say the same, down to the rule; an illegal
// entry changes nothing; a rollback to any mark restores the state exactly, and the same entries lead on from it; so
// does a state that was encoded and parsed.
func TestLegalityAgreesWithModel(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	missing := func() []string {
		return slices.DeleteFunc(append(slices.Clone(rules), holds, "resumed", "waiting", "taken over", "credentials",
			"revealed", "continued", "disclosed", "chain of three", "given twice",
			"dealt for another ledger"), func(what string) bool { return seen[what] > 0 })
	}
	// rapid's default of 100 ledgers is small for so many rules, and that of -short leaves some out by chance
	for round := 0; round < 6 || round < 60 && len(missing()) > 0; round++ {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld()
			for range rapid.IntRange(10, 120).Draw(t, "steps") {
				switch n := rapid.IntRange(0, 30).Draw(t, "step"); {
				case n == 30:
					w.marks = append(w.marks, point{w.s.Mark(), len(w.m)})
				case n == 29 && len(w.marks) > 0:
					w.rollback(t)
				case n == 28 && w.s.Complete():
					w.s.Commit()
					w.marks = nil
				case n == 27:
					w.resume(t)
					seen["resumed"] += min(1, len(w.m))
					seen["taken over"] += min(1, len(all(w.m, func(*audit.Takeover) bool { return true })))
					seen["revealed"] += min(1, len(all(w.m, func(*audit.Reveal) bool { return true })))
					seen["continued"] += min(1, len(w.m.live())-len(w.m.open()))
					seen["disclosed"] += min(1, len(all(w.m, func(*audit.DisclosureEntry) bool { return true })))
					seen["chain of three"] += min(1, len(all(w.m, func(c *audit.Commit) bool {
						return c.Context.Parent != nil && len(w.m.ancestors(c.Context.Parent.ID)) > 0
					})))
					seen["dealt for another ledger"] += min(1,
						len(all(w.m, func(d *audit.Deal) bool { return d.Asked != nil })))
					seen["credentials"] += min(1, len(w.s.holders.known))
				default:
					verdict := w.attempt(t)
					seen[verdict]++
					if verdict == holds && w.givenTwice() { // which is rare: the state is encoded and parsed at once
						w.resume(t)
						seen["given twice"]++
					}
					seen["waiting"] += min(1, len(w.s.persons.waiting))
				}
			}
			holdState(t, w.s, w.m)
		})
	}
	t.Logf("verdicts: %v", seen)
	for _, what := range missing() {
		t.Errorf("no attempt ended with %s", what)
	}
}

type point struct{ mark, size int }

type world struct {
	m     model
	s     *State
	marks []point

	pending map[[32]byte]audit.Entry // see attempts
}

// givenTwice tells whether two deals gave positions of one shuffle with a co-dealer.
func (w *world) givenTwice() bool {
	for id := range w.s.open.given {
		if len(w.m.dealsOf(id)) > 1 {
			return true
		}
	}
	return false
}

func newWorld() *world { return &world{s: NewState(), pending: make(map[[32]byte]audit.Entry)} }

// attempt applies one entry to both sides and returns the verdict.
func (w *world) attempt(t *rapid.T) string {
	e := newAttempts(t, w.m, w.pending).entry()
	b, err := e.Encode()
	if err != nil {
		t.Fatalf("an attempt that is no entry: %v: %+v", err, e.Body)
	}
	if e, err = audit.ParseEntry(b); err != nil {
		t.Fatal(err)
	}
	want := w.m.rule(e)
	if got := codeOf(w.s.Apply(e)); got != want {
		t.Fatalf("entry %d at %d, %s %+v: %s, want %s", len(w.m), e.Time, e.Body.Type(), e.Body, got, want)
	}
	if want == holds {
		w.m = append(w.m[:len(w.m):len(w.m)], e)
	} else if rapid.IntRange(0, 9).Draw(t, "look") == 9 {
		holdState(t, w.s, w.m)
	}
	w.look(t)
	return want
}

// rollback goes back to one of the marks, and sometimes forward again by the entries that were taken back.
func (w *world) rollback(t *rapid.T) {
	i := rapid.IntRange(0, len(w.marks)-1).Draw(t, "mark")
	p := w.marks[i]
	w.marks = w.marks[:i+1]
	taken := w.m[p.size:]
	w.s.Rollback(p.mark)
	w.m = w.m[:p.size]
	holdState(t, w.s, w.m)
	if w.s.Mark() != p.mark {
		t.Fatalf("at mark %d after a rollback to %d", w.s.Mark(), p.mark)
	}
	if rapid.Bool().Draw(t, "again") {
		for _, e := range taken {
			if err := w.s.Apply(e); err != nil {
				t.Fatalf("entry %d again: %v", len(w.m), err)
			}
			w.m = append(w.m[:len(w.m):len(w.m)], e)
		}
		holdState(t, w.s, w.m)
	}
}

// resume goes on from a copy of the state, whose encoding the reference writes, too.
// Only a state that may be the last of a batch is copied.
func (w *world) resume(t *rapid.T) {
	b := w.s.Encode()
	if want := refState(w.m); !bytes.Equal(b, want) {
		t.Fatalf("the state of %d entries encodes to\n%x, want\n%x", len(w.m), b, want)
	}
	if len(w.m) == 0 || !w.s.Complete() {
		return
	}
	w.s.Commit()
	s := copied(t, w.s, 2, nil)
	if again := s.Encode(); !bytes.Equal(again, b) {
		t.Fatalf("%x is copied and encodes to\n%x", b, again)
	}
	holdState(t, s, w.m)
	w.s, w.marks = s, nil
}

// look compares what the state shows with the model.
func (w *world) look(t *rapid.T) {
	ids := w.m.live()
	if w.s.Size() != uint64(len(w.m)) || w.s.OpenCount() != len(ids) || w.s.Latched() != w.m.latched() {
		t.Fatalf("size %d, %d open, latched %t, want %d, %d, %t", w.s.Size(), w.s.OpenCount(), w.s.Latched(), len(w.m),
			len(ids), w.m.latched())
	}
	if len(w.m) == 0 {
		return
	}
	last := w.m[len(w.m)-1]
	due := w.m.pending()
	if w.s.Time() != last.Time || w.s.Complete() == due || !sameBody(w.s.Genesis(), w.m.genesis()) {
		t.Fatalf("time %d, complete %t, genesis %+v", w.s.Time(), w.s.Complete(), w.s.Genesis())
	}
	for i, o := range w.s.OpenShuffles() {
		alone, ok := w.s.Shuffle(ids[i])
		if o.ID != ids[i] || !ok || o != alone || !sameBody(o.Commit(), w.m[o.ID].Body.(*audit.Commit)) {
			t.Fatalf("open shuffle %d: %+v, %+v", ids[i], o, alone)
		}
	}
	signing := w.m.known(audit.SubjectSigning)
	if audit.KeyID(w.s.SigningKey()) != signing[len(signing)-1] {
		t.Fatalf("signing key %x", w.s.SigningKey())
	}
}
