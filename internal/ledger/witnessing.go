package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	// missedRounds is how many rounds without a quorum are an alarm: ten seconds of
	// refusals, or a minute of silence.
	missedRounds = 10
)

// witnessing gets cosignatures on published heads, in rounds: every member, which
// is a witness of the policy in force or of one that waits, is asked for the same
// head; when the quorum has cosigned it, the cosigned checkpoint is stored, then
// shown. Only heads whose commit is known are sent: one that was rolled back after
// a witness saw it would be a fork of our own making.
//
// The goroutine run owns what is below it, and starts and stops the members; each
// member has a goroutine of its own. All end when the ledger is closed. Before
// start it is Open's.
type witnessing struct {
	l       *Ledger
	moved   chan struct{} // capacity 1: the published head moved
	results chan reply
	trials  chan *trial   // policies that are tried before they are written
	settle  sync.Once     // closes settled
	settled chan struct{} // closed when every first member has answered once, if only that it does not
	group   sync.WaitGroup
	tenures atomic.Pointer[tenures] // which policy governs; written by run, read by anybody

	// Of run.
	policies *audit.Policies
	history  int      // records of the key history that policies has
	past     []tenure // of the policies that are or were in force
	looked   uint64   // stored checkpoints below this size let no waiting policy take over
	members  []*member
	round    *round // nil: none under way
	trial    *trial // nil: none
	states   map[*member]WitnessState
	missed   int              // rounds without a quorum since the last with one
	told     map[*member]told // what the log has of each member
	doubts   map[*member]bool // members whose doubt the sequencer has
	unheard  map[*member]bool // that did not answer yet since the start
}

// told is why a member did not cosign, as the log has it.
type told struct {
	why string // "": it did
	at  time.Time
}

// WitnessState is what the daemon knows of a witness.
type WitnessState struct {
	Name string // in its policy; where two have it, with the key's id, and then the URL, behind it
	Size uint64 // of the newest head that it cosigned for this daemon
	Err  error  // why it did not cosign the newest it was asked for; nil: it did
}

// newWitnessing returns what asks the witnesses of the ledger's policies, whether
// it has any now or not.
func (l *Ledger) newWitnessing() (*witnessing, error) {
	policies, err := audit.NewPolicies(l.Genesis().Policy)
	if err != nil {
		return nil, err
	}
	w := &witnessing{l: l, moved: make(chan struct{}, 1), settled: make(chan struct{}),
		results: make(chan reply, 64), trials: make(chan *trial), policies: policies,
		past:   []tenure{{0, policies.Governing(0)}},
		states: make(map[*member]WitnessState), told: make(map[*member]told),
		doubts: make(map[*member]bool), unheard: make(map[*member]bool)}
	w.learn()
	if w.tenures.Load().asks() && l.cfg.Witness == nil {
		return nil, errors.New("the ledger has witnesses, and there is no way to reach them")
	}
	return w, nil
}

// start finds out which policy is in force and runs the goroutines, which end
// with the ledger.
func (w *witnessing) start() {
	w.follow()
	w.recruit()
	for _, m := range w.members {
		w.unheard[m] = true
	}
	w.heard()
	w.group.Go(w.run)
}

// wait waits for the end of the goroutines.
func (w *witnessing) wait() { w.group.Wait() }

// wake says that the published head moved.
func (w *witnessing) wake() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// run opens a round whenever there is a reason to, and again after a pause when
// the round before found no quorum.
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
		case t := <-w.trials:
			w.begin(t)
			earliest = time.Time{}
		case <-w.moved:
		case <-retry.C:
			w.expire()
			if w.follow() {
				w.recruit()
			}
		}
		if w.learn() {
			w.recruit()
		}
		if head := w.l.Head(); w.round == nil && w.due(head) && !time.Now().Before(earliest) {
			w.open(head)
		}
	}
}

// due reports whether the members are to be asked for head: it is above the
// cosigned one or not confirmed yet, somebody doubts, or a policy is to be tried.
func (w *witnessing) due(head Head) bool {
	if w.trial.due() || len(w.doubts) > 0 {
		return true
	}
	return w.policies.Governing(head.Size).Asks() && (head.Size > w.l.cosignedSize() || !w.l.confirmed.Load())
}

// answered takes a member's reply into account. failed: it ended a round of the
// policy in force without its quorum.
func (w *witnessing) answered(r reply) (failed bool) {
	if !slices.Contains(w.members, r.member) {
		return false // it was let go meanwhile
	}
	w.note(r)
	if w.trial.waits(r.member) && r.head.Size == w.trial.round.head.Size { // else of an earlier round
		w.try(r)
		if w.round != nil && w.round.waits[r.member] && r.head.Size != w.round.head.Size {
			r.member.send(w.round.head) // kept back by open
		}
	}
	if w.round != nil && w.round.waits[r.member] && r.head.Size == w.round.head.Size {
		failed = w.count(r)
	}
	delete(w.unheard, r.member)
	w.heard()
	return failed
}

// heard ends the wait of the start when every member has answered.
func (w *witnessing) heard() {
	if len(w.unheard) == 0 {
		w.settle.Do(func() { close(w.settled) })
	}
}

// note keeps what a member said, and hands a doubt, or the end of one, to the
// sequencer. A witness that is only tried is no reason to stop.
func (w *witnessing) note(r reply) {
	s := w.states[r.member]
	if s.Err = r.err; r.err == nil {
		s.Size = r.head.Size
	}
	w.states[r.member] = s
	w.show()
	w.tell(r)
	var doubt *contradiction
	if !r.member.tried && errors.As(r.err, &doubt) || r.err == nil && w.doubts[r.member] {
		if w.l.doubt(r.member, doubt) == nil {
			w.doubts[r.member] = doubt != nil
		}
	}
	if !w.doubts[r.member] {
		delete(w.doubts, r.member)
	}
}

// tell logs why a member did not cosign when that is new, and not too often: a
// witness can make up a reason for every head.
func (w *witnessing) tell(r reply) {
	last := w.told[r.member]
	if r.err == nil {
		w.told[r.member] = told{at: last.at}
		return
	}
	if why := r.err.Error(); why != last.why && time.Since(last.at) >= witnessRetry {
		w.told[r.member] = told{why, time.Now()}
		w.l.cfg.Log.Warn("a witness did not cosign", "ledger", w.l.cfg.Info.Name, "witness", r.member.name, "url",
			r.member.at.url, "error", r.err)
	}
}

// show publishes the states, by name, of the members that are not only tried.
func (w *witnessing) show() {
	states := make([]WitnessState, 0, len(w.members))
	shown := make(map[string]bool)
	for _, m := range w.members {
		if m.tried {
			continue
		}
		s := w.states[m]
		keyed := m.name + m.signer[strings.LastIndexByte(m.signer, '+'):]
		for _, s.Name = range []string{m.name, keyed, keyed + " " + m.at.url} {
			if !shown[s.Name] {
				break
			}
		}
		shown[s.Name] = true
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b WitnessState) int { return strings.Compare(a.Name, b.Name) })
	w.l.witnesses.Store(&states)
}

// Witnesses returns the witnesses of the policy in force and of those that wait,
// by name; empty without any.
func (l *Ledger) Witnesses() []WitnessState {
	if p := l.witnesses.Load(); p != nil {
		return *p
	}
	return nil
}
