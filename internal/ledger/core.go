package ledger

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"shuffled/internal/audit"
)

// core is what all parts of a ledger share: what it was opened with, what it knows, and the way to the sequencer. Each
// part says which goroutine owns it.
type core struct {
	cfg     Config      // unchanged after Open
	id      ID          // unchanged
	genesis audit.Entry // unchanged after Open

	genesisHash [32]byte // SHA-256 of it

	memory   // of the sequencer's goroutine
	standing // of the sequencer's goroutine
	shown    // written by the sequencer's goroutine, read by all
	life     // how the goroutines begin and end

	foldNewer func(context.Context) error // has the sequencer's goroutine fold what other daemons wrote

	absent    atomic.Pointer[error] // why a signing key in force did not sign when it was asked last; nil: it did
	refreshes singleflight.Group    // for readers of what other daemons wrote
	open      openList              // for recall
	tables    tableNames
	handovers sync.Map // first receipts of signing keys by the index of their entries; they never change
}

// memory is what the sequencer's goroutine knows of the ledger, as of the newest durable head.
// While a batch is prepared, state is ahead of head.
type memory struct {
	state         *audit.State
	head          Head
	instance      uint64 // index of our instance_start; 0: it is not written
	clock         clock
	holderChanges uint64 // of state, when holders was shown
	keyCount      int    // of state, when keys was shown
}

// shown is what readers see of the newest durable head. Nobody changes what a pointer leads to.
type shown struct {
	published atomic.Pointer[Head]
	keys      atomic.Pointer[audit.History]           // of memory.head
	holders   atomic.Pointer[map[string]audit.Holder] // credentials, by id
	moved     moved
	live      atomic.Pointer[Live] // counts for metrics

	folded  atomic.Int64 // when memory last covered the store's newest entry, in the clock's elapsed nanoseconds
	writing atomic.Int64 // since when a batch is at the store, in nanoseconds since 1970; 0: none is

	edge sync.RWMutex // guards tree, which readers of partial tiles use
	tree *tree
}

// life is how the goroutines of a ledger begin and end.
type life struct {
	queue chan []*request // the requests of one element go one behind another
	asks  chan func()     // functions to run on the sequencer's goroutine
	done  chan struct{}   // closed by the sequencer's goroutine when it ends
	once  sync.Once       // of Close
	group sync.WaitGroup  // of attend, caching.run and mark.syncEvery

	running context.Context    // ended by Close
	cancel  context.CancelFunc // of running
}

// Live is what metrics show of a ledger.
type Live struct {
	Size    uint64
	Time    int64 // of the newest entry, UTC milliseconds
	Open    int   // open shuffles
	Latched bool
	Killed  bool // the kill switch of the whole ledger is set

	Switches int // kill switches that are set

	// Cosigned is the size of the newest cosigned checkpoint, 0 if there is none. Entries from
	// that index on are not witnessed yet.
	Cosigned uint64

	Appends Appends // of this daemon, since it was opened
}

// Info returns the ledger's name and origin.
func (l *core) Info() Info { return l.cfg.Info }

// ID returns the number of the ledger in its store.
func (l *core) ID() ID { return l.id }

// GenesisEntry returns entry 0, which never changes.
func (l *core) GenesisEntry() audit.Entry { return l.genesis }

// Genesis returns the body of entry 0, which never changes.
func (l *core) Genesis() *audit.Genesis { return l.genesis.Body.(*audit.Genesis) }

// GenesisHash returns SHA-256 of entry 0, which every context names.
func (l *core) GenesisHash() [32]byte { return l.genesisHash }

// slowBatch is how long a batch may be at the store before Ready says so.
const slowBatch = 2 * time.Second

// Ready returns nil if the ledger can be written, and otherwise why not.
func (l *core) Ready() error {
	if why := l.why.Load(); why != nil {
		return *why
	}
	if since := l.writing.Load(); since != 0 {
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
func (l *core) QueueLen() int { return len(l.queue) }

// ask runs a function on the sequencer's goroutine, between two batches, and waits for its
// end. If the function did not run, the error is that of ctx or ErrClosed.
func (l *core) ask(ctx context.Context, what func()) error {
	done := make(chan struct{})
	select {
	case l.asks <- func() { defer close(done); what() }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		return ErrClosed
	}
}

// Head returns the newest durable head that this daemon knows.
func (l *core) Head() Head { return *l.published.Load() }

// begun reports whether this daemon's instance_start stands.
func (l *core) begun() bool { return l.instance != 0 }

// stopping waits for d, or until the ledger is being closed, which it reports.
func (l *core) stopping(d time.Duration) bool { return !Sleep(l.running, d, nil) }

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
func (l *core) Changed() <-chan struct{} { return l.moved.next() }

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

// Appends counts what became of the batches that this daemon tried to append.
type Appends struct {
	Landed    uint64
	Lost      uint64 // another daemon moved the head first
	Duplicate uint64 // a key or slot stood in the ledger
	Failed    uint64 // nothing was written
	Unknown   uint64 // tries whose outcome had to be found out

	Most uint64 // how often the request that was overtaken most was overtaken
}

// appends are the counters of Appends, written by the sequencer.
type appends struct {
	landed, lost, duplicate, failed, unknown, most atomic.Uint64
}

func (a *appends) read() Appends {
	return Appends{Landed: a.landed.Load(), Lost: a.lost.Load(), Duplicate: a.duplicate.Load(),
		Failed: a.failed.Load(), Unknown: a.unknown.Load(), Most: a.most.Load()}
}

// elapsed is the monotonic time of the ledger's clock.
func (l *core) elapsed() time.Duration {
	_, elapsed := l.cfg.Clock()
	return elapsed
}

// isNewest notes that memory covers the store's newest entry now. It runs on the sequencer's goroutine.
func (l *core) isNewest() { l.folded.Store(int64(l.elapsed())) }

// signedBy returns the keys that sign the checkpoint of a size of at least 1 that is shown.
func (l *core) signedBy(size uint64) []note.Verifier {
	return audit.Verifiers(l.keys.Load().At(size))
}
