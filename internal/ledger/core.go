// Package ledger is what all parts of one append-only log share: its rows, heads and errors, the store that it needs,
// what readers see and prove, and the way to the sequencer. It neither orders nor signs.
package ledger

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"shuffled/internal/audit"
)

// Core is what all parts of a ledger share: what it was opened with, what it knows, and the way to the sequencer. Each
// part says which goroutine owns it. It neither orders nor signs.
type Core struct {
	cfg    Config // unchanged after Open
	id     ID     // unchanged
	memory *Memory
	shown  *Shown
	life   *Life

	foldNewer func(context.Context) error // has the sequencer's goroutine fold what other daemons wrote

	refreshes singleflight.Group // for readers of what other daemons wrote
	open      openList           // for recall
	tables    tableNames
	handovers sync.Map // first receipts of signing keys by the index of their entries; they never change
}

// NewCore returns the core of a ledger with its parts, for the sequencer alone.
func NewCore(cfg Config, foldNewer func(context.Context) error) (*Core, *Memory, *Shown, *Life) {
	l := &Core{cfg: cfg, id: IDOf(cfg.Info.Origin), memory: &Memory{state: audit.NewState()}, shown: &Shown{tree: newTree()},
		life:      &Life{queue: make(chan []*request, cfg.Queue), asks: make(chan func()), done: make(chan struct{})},
		foldNewer: foldNewer}
	l.open.turn, l.tables.turn = semaphore.NewWeighted(1), semaphore.NewWeighted(1)
	l.life.running, l.life.cancel = context.WithCancel(context.Background())
	return l, l.memory, l.shown, l.life
}

// Memory is what the sequencer's goroutine knows of the ledger, as of the newest durable head.
// While a batch is prepared, state is ahead of head.
type Memory struct {
	state *audit.State
	head  Head
}

// Shown is what readers see of the newest durable head. The sequencer's goroutine writes it, and all read it. Nobody
// changes what a pointer leads to.
type Shown struct {
	genesis     audit.Entry // unchanged after Open
	genesisHash [32]byte    // SHA-256 of it

	published atomic.Pointer[Head]
	keys      atomic.Pointer[audit.History]           // of memory.head
	holders   atomic.Pointer[map[string]audit.Holder] // credentials, by id
	moved     moved
	why       atomic.Pointer[error] // why nothing can be written now; nil if entries can

	folded  atomic.Int64 // when memory last covered the store's newest entry, in the clock's elapsed nanoseconds
	writing atomic.Int64 // since when a batch is at the store, in nanoseconds since 1970; 0: none is

	edge sync.RWMutex // guards tree, which readers of partial tiles use
	tree *tree
}

// Life is how the goroutines of a ledger begin and end.
type Life struct {
	queue chan []*request // the requests of one element go one behind another
	asks  chan func()     // functions to run on the sequencer's goroutine
	done  chan struct{}   // closed by the sequencer's goroutine when it ends
	once  sync.Once       // of Close
	group sync.WaitGroup  // of attend, caching.run and mark.syncEvery

	running context.Context    // ended by Close
	cancel  context.CancelFunc // of running
}

// Info returns the ledger's name and origin.
func (l *Core) Info() Info { return l.cfg.Info }

// ID returns the number of the ledger in its store.
func (l *Core) ID() ID { return l.id }

// GenesisEntry returns entry 0, which never changes.
func (l *Core) GenesisEntry() audit.Entry { return l.shown.genesis }

// Genesis returns the body of entry 0, which never changes.
func (l *Core) Genesis() *audit.Genesis { return l.shown.genesis.Body.(*audit.Genesis) }

// GenesisHash returns SHA-256 of entry 0, which every context names.
func (l *Core) GenesisHash() [32]byte { return l.shown.genesisHash }

// slowBatch is how long a batch may be at the store before Ready says so.
const slowBatch = 2 * time.Second

// Ready returns nil if the ledger can be written, and otherwise why not.
func (l *Core) Ready() error {
	if why := l.shown.why.Load(); why != nil {
		return *why
	}
	if since := l.shown.writing.Load(); since != 0 {
		if d := time.Since(time.Unix(0, since)); d > slowBatch {
			err := fmt.Errorf("%w: it has not written a batch for %v", ErrUnavailable, d.Truncate(time.Second))
			if b, ok := l.cfg.Store.(interface{ Blocked() Cause }); ok {
				return withCause(err, b.Blocked())
			}
			return err
		}
	}
	return nil
}

// QueueLen returns how many requests wait.
func (l *Core) QueueLen() int { return len(l.life.queue) }

// ask runs a function on the sequencer's goroutine, between two batches, and waits for its
// end. If the function did not run, the error is that of ctx or ErrClosed.
func (l *Core) ask(ctx context.Context, what func()) error {
	done := make(chan struct{})
	select {
	case l.life.asks <- func() { defer close(done); what() }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.life.done:
		return ErrClosed
	}
}

// Head returns the newest durable head that this daemon knows.
func (l *Core) Head() Head { return *l.shown.published.Load() }

// moved tells those who wait that what they look at has changed.
type moved struct {
	mu sync.Mutex
	on chan struct{} // nil while nobody waits
}

// tell wakes all who wait.
func (m *moved) tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on != nil {
		close(m.on)
		m.on = nil
	}
}

// next returns a channel that the next tell closes.
func (m *moved) next() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on == nil {
		m.on = make(chan struct{})
	}
	return m.on
}

// Changed returns a channel that is closed when there is a newer head, of this daemon or of
// another, or a newer cosigned head. A head from before the call does not close it.
func (l *Core) Changed() <-chan struct{} { return l.shown.moved.next() }

// openList is a list of open shuffles. The list does not change once it is made. The goroutine
// that has turn owns the other fields.
type openList struct {
	turn *semaphore.Weighted // of 1
	size uint64              // of the ledger, when the list was made
	next time.Time           // when the next may be made
	list []audit.OpenRef
}

// tableNames has the names of all tables, sorted. Tables are never removed, so that the list is
// made again only if there are more tables. The goroutine that has turn owns names.
type tableNames struct {
	turn  *semaphore.Weighted // of 1
	names []string            // a list does not change once it is made
}

// elapsed is the monotonic time of the ledger's clock.
func (l *Core) elapsed() time.Duration {
	_, elapsed := l.cfg.Clock()
	return elapsed
}

// signedBy returns the keys that sign the checkpoint of a size of at least 1 that is shown.
func (l *Core) signedBy(size uint64) []note.Verifier {
	return audit.Verifiers(l.shown.keys.Load().At(size))
}

// SignHead signs a checkpoint with each of the signers, in their order. With Ed25519 the same head gives the same bytes.
func SignHead(size uint64, root tlog.Hash, signers ...note.Signer) (Head, error) {
	text := audit.Checkpoint{Origin: signers[0].Name(), Size: size, Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		return Head{}, fmt.Errorf("%w: signing the checkpoint: %w", ErrNoKey, err)
	}
	return Head{Size: size, Root: root, Checkpoint: signed}, nil
}
