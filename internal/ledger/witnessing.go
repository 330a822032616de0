package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Witness is an outside party that cosigns checkpoints (C2SP tlog-witness). Its
// errors are those of package audit, or of the way to it.
type Witness interface {
	// AddCheckpoint asks for cosignatures on a signed checkpoint, with the proof
	// that it extends the one of size old, and returns note signature lines. It
	// returns an *audit.WitnessConflict when the witness is at another size, and
	// an error that matches audit.ErrWitnessRefused when it will never cosign.
	AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error)

	// Latest returns the newest checkpoint that the witness cosigned for origin;
	// audit.ErrWitnessNone when there is none or it does not tell.
	Latest(ctx context.Context, origin string) ([]byte, error)
}

// How long a witness may take to answer, and how soon a round without a quorum
// is followed by the next.
const (
	witnessTimeout = 5 * time.Second
	witnessRetry   = time.Second
)

// witnessing gets cosignatures on published heads, in rounds: every witness of
// the policy is asked for the same head; when the quorum has cosigned it, the
// cosigned checkpoint is stored, then shown. Only heads whose commit is known
// are sent: one that was rolled back after a witness saw it would be a fork of
// our own making.
//
// The goroutine run owns the fields below it; each member has a goroutine of its
// own. All end when the ledger is closed.
type witnessing struct {
	l       *Ledger
	policy  *audit.Policy
	members []*member
	moved   chan struct{} // capacity 1: the published head moved
	results chan reply
	settle  sync.Once     // closes settled
	settled chan struct{} // closed when every member has answered once, if only that it does not
	group   sync.WaitGroup

	round   *round // nil: none under way
	states  map[string]WitnessState
	told    map[string]told  // what the log has of each member
	doubts  map[string]bool  // members whose doubt the sequencer has
	unheard map[*member]bool // that did not answer yet since the start
}

// told is why a member did not cosign, as the log has it.
type told struct {
	why string // "": it did
	at  time.Time
}

// round is one head on its way to a quorum.
type round struct {
	head  Head
	note  []byte           // its checkpoint with the cosignatures so far
	waits map[*member]bool // that did not answer yet
	lines map[string]bool  // cosignatures in note: none stands twice

	// The size that a witness said it is at, by the name of its key, where it is
	// not above the stored head.
	at map[string]uint64
}

// WitnessState is what the daemon knows of a witness.
type WitnessState struct {
	Name string
	Size uint64 // of the newest head that it cosigned for this daemon
	Err  error  // why it did not cosign the newest it was asked for; nil: it did
}

// newWitnessing returns what asks the witnesses of the ledger's policy, nil when
// it has none.
func (l *Ledger) newWitnessing() (*witnessing, error) {
	text := l.Genesis().Policy
	if len(text) == 0 {
		return nil, nil
	}
	policy, err := audit.ParsePolicy(text)
	if err != nil {
		return nil, err
	}
	if !policy.Asks() {
		return nil, nil
	}
	if l.cfg.Witness == nil {
		return nil, errors.New("the ledger has witnesses, and there is no way to reach them")
	}
	w := &witnessing{l: l, policy: policy, moved: make(chan struct{}, 1), settled: make(chan struct{}),
		results: make(chan reply, len(policy.Witnesses)),
		states:  make(map[string]WitnessState), told: make(map[string]told),
		doubts: make(map[string]bool), unheard: make(map[*member]bool)}
	for _, one := range policy.Witnesses {
		asked, err := l.cfg.Witness(one)
		if err != nil {
			return nil, fmt.Errorf("reaching witness %s: %w", one.Name, err)
		}
		m := &member{name: one.Name, key: one.Key.Name(), witness: asked, targets: make(chan Head, 1)}
		w.members, w.unheard[m] = append(w.members, m), true
		w.states[one.Name] = WitnessState{Name: one.Name, Err: errors.New("not asked yet")}
	}
	w.show()
	return w, nil
}

// start runs the goroutines, which end with the ledger. On nil it does nothing,
// as wait and wake.
func (w *witnessing) start() {
	if w == nil {
		return
	}
	for _, m := range w.members {
		w.group.Go(func() { m.serve(w.l, w.results) })
	}
	w.group.Go(w.run)
}

func (w *witnessing) wait() {
	if w != nil {
		w.group.Wait()
	}
}

// wake says that the published head moved.
func (w *witnessing) wake() {
	if w == nil {
		return
	}
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// run opens a round whenever the published head is above the cosigned one or not
// confirmed yet, and again after a pause when the round before found no quorum.
func (w *witnessing) run() {
	retry := time.NewTicker(min(witnessRetry, w.l.cfg.Probe))
	defer retry.Stop()
	var earliest time.Time // of the next round
	for {
		select {
		case <-w.l.stop:
			return
		case r := <-w.results:
			if failed := w.answered(r); failed {
				earliest = time.Now().Add(witnessRetry)
			}
		case <-w.moved:
		case <-retry.C:
		}
		head := w.l.Head()
		behind := head.Size > w.l.cosignedSize() || !w.l.confirmed.Load() || len(w.doubts) > 0
		if w.round == nil && behind && !time.Now().Before(earliest) {
			w.open(head)
		}
	}
}

// open begins a round. A member that is busy with an earlier head finds this one
// when it is done.
func (w *witnessing) open(head Head) {
	w.round = &round{head: head, note: slices.Clone(head.Checkpoint),
		waits: make(map[*member]bool), lines: make(map[string]bool), at: make(map[string]uint64)}
	for _, m := range w.members {
		w.round.waits[m] = true
		select {
		case <-m.targets: // an older one that was not begun
		default:
		}
		m.targets <- head
	}
}

// answered takes a member's reply into account. failed: it ended a round without
// a quorum.
func (w *witnessing) answered(r reply) (failed bool) {
	w.note(r)
	if w.round != nil && r.head.Size == w.round.head.Size { // else of an earlier round
		failed = w.count(r)
	}
	if delete(w.unheard, r.member); len(w.unheard) == 0 {
		w.settle.Do(func() { close(w.settled) })
	}
	return failed
}

// count adds a reply to its round, which it ends when the quorum is reached or
// everybody has answered. failed: it ended without.
func (w *witnessing) count(r reply) (failed bool) {
	delete(w.round.waits, r.member)
	var moved *movedError
	switch {
	case r.err == nil:
		w.round.at[r.member.key] = r.head.Size
	case errors.As(r.err, &moved):
		w.round.at[r.member.key] = moved.size
	}
	for _, line := range r.lines {
		// Two places are for the ledger's own signatures, of old and new key.
		if !w.round.lines[line] && len(w.round.lines) < audit.MaxSignatures-2 {
			w.round.lines[line] = true
			w.round.note = append(w.round.note, line...)
		}
	}
	quorum := r.err == nil && w.policy.Satisfied(w.round.note)
	if !quorum && len(w.round.waits) > 0 {
		return false
	}
	if quorum {
		w.l.confirmed.Store(true)
		failed = !w.l.keepCosigned(Head{Size: w.round.head.Size, Root: w.round.head.Root, Checkpoint: w.round.note})
	} else {
		failed = !w.l.followCosigned()
		w.confirm()
	}
	w.round = nil
	return failed
}

// confirm takes the witnesses' word for the stored ledger where another daemon is
// always with them first, so that they never cosign a head of this one: a quorum
// cosigned the newest cosigned checkpoint, and each of it said in this round that
// it has seen no more.
func (w *witnessing) confirm() {
	h, ok := w.l.Cosigned()
	if !ok || w.l.confirmed.Load() {
		return
	}
	signatures := bytes.LastIndex(h.Checkpoint, []byte("\n\n")) + 2
	said := slices.Clone(h.Checkpoint[:signatures])
	for line := range strings.Lines(string(h.Checkpoint[signatures:])) {
		if size, ok := w.round.at[strings.Fields(line)[1]]; ok && size <= h.Size {
			said = append(said, line...)
		}
	}
	if w.policy.Satisfied(said) {
		w.l.confirmed.Store(true)
	}
}

// note keeps what a member said, and hands a doubt, or the end of one, to the
// sequencer.
func (w *witnessing) note(r reply) {
	s := w.states[r.member.name]
	if s.Err = r.err; r.err == nil {
		s.Size = r.head.Size
	}
	w.states[r.member.name] = s
	w.show()
	w.tell(r)
	var doubt *contradiction
	if errors.As(r.err, &doubt) || r.err == nil && w.doubts[r.member.name] {
		if w.l.doubt(r.member.name, doubt) == nil {
			w.doubts[r.member.name] = doubt != nil
		}
	}
	if !w.doubts[r.member.name] {
		delete(w.doubts, r.member.name)
	}
}

// tell logs why a member did not cosign when that is new, and not too often: a
// witness can make up a reason for every head.
func (w *witnessing) tell(r reply) {
	last := w.told[r.member.name]
	if r.err == nil {
		w.told[r.member.name] = told{at: last.at}
		return
	}
	if why := r.err.Error(); why != last.why && time.Since(last.at) >= witnessRetry {
		w.told[r.member.name] = told{why, time.Now()}
		w.l.cfg.Log.Warn("a witness did not cosign", "ledger", w.l.cfg.Info.Name, "witness", r.member.name, "error", r.err)
	}
}

// show publishes the members' states, by name.
func (w *witnessing) show() {
	states := slices.SortedFunc(maps.Values(w.states), func(a, b WitnessState) int { return strings.Compare(a.Name, b.Name) })
	w.l.witnesses.Store(&states)
}

// Witnesses returns the ledger's witnesses by name, empty without any.
func (l *Ledger) Witnesses() []WitnessState {
	if p := l.witnesses.Load(); p != nil {
		return *p
	}
	return nil
}
