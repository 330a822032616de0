package ledger

import (
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
	settled chan struct{} // closed when the first round has ended
	group   sync.WaitGroup

	round  *round // nil: none under way
	states map[string]WitnessState
	doubts map[string]bool // members whose doubt the sequencer has
	first  bool            // a round has ended
}

// round is one head on its way to a quorum.
type round struct {
	head  Head
	note  []byte           // its checkpoint with the cosignatures so far
	waits map[*member]bool // that did not answer yet
	lines map[string]bool  // cosignatures in note: none stands twice
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
		states:  make(map[string]WitnessState), doubts: make(map[string]bool)}
	for _, one := range policy.Witnesses {
		asked, err := l.cfg.Witness(one)
		if err != nil {
			return nil, fmt.Errorf("reaching witness %s: %w", one.Name, err)
		}
		w.members = append(w.members, &member{name: one.Name, witness: asked, targets: make(chan Head, 1)})
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

// run opens a round whenever the published head is above the cosigned one, and
// again after a pause when the round before found no quorum.
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
		behind := !w.first || head.Size > w.l.cosignedSize() || len(w.doubts) > 0
		if w.round == nil && behind && !time.Now().Before(earliest) {
			w.open(head)
		}
	}
}

// open begins a round. A member that is busy with an earlier head finds this one
// when it is done.
func (w *witnessing) open(head Head) {
	w.round = &round{head: head, note: slices.Clone(head.Checkpoint),
		waits: make(map[*member]bool), lines: make(map[string]bool)}
	for _, m := range w.members {
		w.round.waits[m] = true
		select {
		case <-m.targets: // an older one that was not begun
		default:
		}
		m.targets <- head
	}
}

// answered takes a member's reply into account and ends the round when its
// quorum is reached or everybody has answered. failed: it ended without.
func (w *witnessing) answered(r reply) (failed bool) {
	w.note(r)
	if w.round == nil || r.head.Size != w.round.head.Size {
		return false // of an earlier round
	}
	delete(w.round.waits, r.member)
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
	}
	w.round = nil
	if !w.first {
		w.first = true
		close(w.settled)
	}
	return failed
}

// note keeps what a member said, and hands a doubt, or the end of one, to the
// sequencer.
func (w *witnessing) note(r reply) {
	s := w.states[r.member.name]
	if told := s.Err == nil || r.err == nil || s.Err.Error() != r.err.Error(); told && r.err != nil {
		w.l.cfg.Log.Warn("a witness did not cosign", "ledger", w.l.cfg.Info.Name, "witness", r.member.name, "error", r.err)
	}
	if s.Err = r.err; r.err == nil {
		s.Size = r.head.Size
	}
	w.states[r.member.name] = s
	w.show()
	doubt := errors.Is(r.err, errContradicts)
	if doubt || r.err == nil && w.doubts[r.member.name] {
		if w.l.doubt(r.member.name, r.err) == nil {
			w.doubts[r.member.name] = doubt
		}
	}
	if !w.doubts[r.member.name] {
		delete(w.doubts, r.member.name)
	}
}

// show publishes the members' states, by name.
func (w *witnessing) show() {
	states := slices.SortedFunc(maps.Values(w.states), func(a, b WitnessState) int { return strings.Compare(a.Name, b.Name) })
	w.l.witnesses.Store(&states)
}

// member asks one witness. Its goroutine, serve, owns size.
type member struct {
	name    string
	witness Witness
	targets chan Head // capacity 1: the newest head to ask for
	size    uint64    // that the witness has cosigned, as far as known
}

// reply is what came of asking a member for a head.
type reply struct {
	member *member
	head   Head
	lines  []string // signature lines, each with its newline
	err    error
}

// errContradicts is matched when what a witness has seen is not in the stored
// ledger.
var errContradicts = errors.New("a witness has seen another history")

func (m *member) serve(l *Ledger, results chan<- reply) {
	for {
		select {
		case <-l.stop:
			return
		case head := <-m.targets:
			ctx, cancel := context.WithTimeout(l.running, witnessTimeout)
			lines, err := m.ask(ctx, l, head)
			cancel()
			select {
			case results <- reply{m, head, lines, err}:
			case <-l.stop:
				return
			}
		}
	}
}

// ask gets the witness's cosignatures on head. The first answer of a witness
// that this daemon does not know, or that another daemon was with meanwhile, is
// the size to prove from.
func (m *member) ask(ctx context.Context, l *Ledger, head Head) ([]string, error) {
	for range 3 {
		old := min(m.size, head.Size)
		proof, err := l.consistency(ctx, old, head)
		if err != nil {
			return nil, err
		}
		text, err := m.witness.AddCheckpoint(ctx, old, proof, head.Checkpoint)
		var conflict *audit.WitnessConflict
		switch {
		case err == nil:
			m.size = head.Size
			return slices.Collect(strings.Lines(string(text))), nil
		case errors.As(err, &conflict) && conflict.Size <= head.Size && conflict.Size != old:
			m.size = conflict.Size
		case errors.As(err, &conflict) && conflict.Size > head.Size:
			return nil, m.ahead(ctx, l, conflict.Size)
		case errors.Is(err, audit.ErrWitnessContradicts):
			return nil, m.beside(ctx, l, old, head)
		default:
			return nil, err
		}
	}
	return nil, errors.New("another daemon is with the witness: it moves on with every question")
}

// ahead decides what it means that a witness has cosigned more than the head it
// was asked for: another daemon of this ledger was there first, or the stored
// ledger lost its end. A checkpoint under our own key settles it; where a
// witness does not show one, its word is doubt enough to stop.
func (m *member) ahead(ctx context.Context, l *Ledger, size uint64) error {
	if l.Head().Size >= size {
		return fmt.Errorf("the witness is at size %d already", size)
	}
	if err := l.Refresh(ctx); err != nil && !errors.Is(err, ErrFrozen) {
		return err
	}
	if l.Head().Size >= size {
		return fmt.Errorf("the witness is at size %d already", size)
	}
	signed, err := m.witness.Latest(ctx, l.cfg.Info.Origin)
	if errors.Is(err, audit.ErrWitnessNone) {
		return fmt.Errorf("%w: it says size %d, the stored ledger has %d entries", errContradicts, size, l.Head().Size)
	}
	if err != nil {
		return fmt.Errorf("it says size %d, and does not show it: %w", size, err)
	}
	c, err := audit.OpenCheckpoint(signed, l.key)
	if err != nil || c.Size < size {
		return fmt.Errorf("it says size %d and shows no checkpoint of it under this ledger's key", size)
	}
	return fmt.Errorf("%w: it holds a checkpoint of size %d under this ledger's key, and the stored ledger has %d entries",
		errContradicts, c.Size, l.Head().Size)
}

// beside decides what it means that a witness at size old refuses head: it has
// seen another history, unless it shows a checkpoint that head does extend.
func (m *member) beside(ctx context.Context, l *Ledger, old uint64, head Head) error {
	signed, err := m.witness.Latest(ctx, l.cfg.Info.Origin)
	if err == nil {
		c, err := audit.OpenCheckpoint(signed, l.key)
		if err != nil {
			return fmt.Errorf("it refuses the head of size %d, and shows nothing under this ledger's key: %w", head.Size, err)
		}
		if root, err := l.rootAt(ctx, head, min(c.Size, head.Size)); err == nil && c.Size <= head.Size && root == c.Root {
			return fmt.Errorf("it refuses the head of size %d, and shows one of size %d that it extends", head.Size, c.Size)
		}
	} else if !errors.Is(err, audit.ErrWitnessNone) {
		return fmt.Errorf("it refuses the head of size %d, and does not show why: %w", head.Size, err)
	}
	return fmt.Errorf("%w: it refuses the head of size %d after one of size %d", errContradicts, head.Size, old)
}

// keepCosigned stores a cosigned checkpoint and then shows it. It reports
// whether a checkpoint of that size or above is held.
func (l *Ledger) keepCosigned(h Head) bool {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	err := l.cfg.Store.PutCosigned(ctx, l.id, h)
	if errors.Is(err, ErrExists) { // another daemon was first
		return l.followCosigned()
	}
	if err != nil {
		l.cfg.Log.Error("storing a cosigned checkpoint", "ledger", l.cfg.Info.Name, "size", h.Size, "error", err)
		return false
	}
	l.showCosigned(h)
	return true
}

// followCosigned takes over what another daemon stored, and reports whether it
// is newer than what this one held.
func (l *Ledger) followCosigned() bool {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	h, err := l.CosignedAtMost(ctx, l.Head().Size)
	if err != nil || h.Size <= l.cosignedSize() {
		return false
	}
	l.showCosigned(h)
	return true
}

// CosignedAtMost returns the newest stored checkpoint of at most size entries
// that the ledger's witnesses cosigned; ErrNotFound when there is none. What the
// store holds is believed only under the ledger's key and the policy's quorum.
func (l *Ledger) CosignedAtMost(ctx context.Context, size uint64) (Head, error) {
	if l.witnessing == nil {
		return Head{}, ErrNotFound
	}
	h, err := l.cfg.Store.CosignedAtMost(ctx, l.id, size)
	if err != nil {
		return Head{}, Unavailable(err)
	}
	c, err := audit.OpenCheckpoint(h.Checkpoint, l.key)
	if err == nil && (c.Size != h.Size || c.Root != h.Root || !l.witnessing.policy.Satisfied(h.Checkpoint)) {
		err = errors.New("it is of another head, or lacks the quorum")
	}
	if err != nil {
		l.cfg.Log.Error("a stored cosigned checkpoint does not hold", "ledger", l.cfg.Info.Name, "size", h.Size, "error", err)
		return Head{}, ErrNotFound
	}
	return h, nil
}

// showCosigned makes h the newest cosigned head and wakes who waits for one.
func (l *Ledger) showCosigned(h Head) {
	l.cosign.Lock()
	defer l.cosign.Unlock()
	if l.cosigned == nil || h.Size > l.cosigned.Size {
		l.cosigned = &h
		close(l.cosignedMore)
		l.cosignedMore = make(chan struct{})
	}
}

// Cosigned returns the newest cosigned head that this daemon holds; ok is false
// when there is none.
func (l *Ledger) Cosigned() (h Head, ok bool) {
	l.cosign.Lock()
	defer l.cosign.Unlock()
	if l.cosigned == nil {
		return Head{}, false
	}
	return *l.cosigned, true
}

func (l *Ledger) cosignedSize() uint64 {
	h, _ := l.Cosigned()
	return h.Size
}

// AwaitCosigned waits until a cosigned checkpoint covers the entry at index. It
// returns ErrNotWitnessed when ctx ends first.
func (l *Ledger) AwaitCosigned(ctx context.Context, index uint64) error {
	for {
		l.cosign.Lock()
		more, size := l.cosignedMore, uint64(0)
		if l.cosigned != nil {
			size = l.cosigned.Size
		}
		l.cosign.Unlock()
		if size > index {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%w: entry %d, and %d entries are cosigned", ErrNotWitnessed, index, size)
		case <-l.done:
			return ErrClosed
		}
	}
}

// Witnesses returns the ledger's witnesses by name, empty without any.
func (l *Ledger) Witnesses() []WitnessState {
	if p := l.witnesses.Load(); p != nil {
		return *p
	}
	return nil
}

// consistency proves that head extends the ledger's first old entries.
func (l *Ledger) consistency(ctx context.Context, old uint64, head Head) ([]tlog.Hash, error) {
	if old == 0 || old == head.Size {
		return nil, nil
	}
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.tileReader(ctx))
	proof, err := tlog.ProveTree(int64(head.Size), int64(old), reader)
	if err != nil {
		return nil, fmt.Errorf("proving that size %d extends size %d: %w", head.Size, old, err)
	}
	return proof, nil
}
