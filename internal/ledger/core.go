// Package ledger is what all parts of one append-only log share: its rows, heads and errors, the store that it needs,
// what readers see and prove, and the way to the sequencer. It neither orders nor signs.
package ledger

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/stops"
	"shuffled/internal/witness/gateway"
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
	handovers sync.Map           // first receipts of signing keys by the index of their entries; they never change

	// For recall, a list of open shuffles. The list does not change once it is made. The goroutine that has turn owns
	// the other fields.
	open struct {
		turn *semaphore.Weighted // of 1
		size uint64              // of the ledger, when the list was made
		next time.Time           // when the next may be made
		list []rules.OpenRef
	}
	// The names of all tables, sorted. Tables are never removed, so that the list is made again only if there are more
	// tables. The goroutine that has turn owns names.
	tables struct {
		turn  *semaphore.Weighted // of 1
		names []string            // a list does not change once it is made
	}
}

// NewCore returns the core of a ledger with its parts, for the sequencer alone.
func NewCore(cfg Config, foldNewer func(context.Context) error) (*Core, *Memory, *Shown, *Life) {
	l := &Core{cfg: cfg, id: IDOf(cfg.Info.Origin), foldNewer: foldNewer}
	l.memory, l.shown = &Memory{State: rules.NewState()}, &Shown{Tree: newTree()}
	l.life = &Life{Queue: make(chan []*Request, cfg.Queue), Asks: make(chan func()), Done: make(chan struct{})}
	l.open.turn, l.tables.turn = semaphore.NewWeighted(1), semaphore.NewWeighted(1)
	l.life.Running, l.life.Cancel = context.WithCancel(context.Background())
	return l, l.memory, l.shown, l.life
}

// Memory is what the sequencer's goroutine knows of the ledger, as of the newest durable head.
// While a batch is prepared, State is ahead of Head.
type Memory struct {
	State *rules.State
	Head  Head
}

// Shown is what readers see of the newest durable head. The sequencer's goroutine writes it, and all read it. Nobody
// changes what a pointer leads to.
type Shown struct {
	Genesis     audit.Entry // unchanged after Open
	GenesisHash [32]byte    // SHA-256 of it

	Published atomic.Pointer[Head]
	Keys      atomic.Pointer[trust.History]           // of Memory.Head
	Holders   atomic.Pointer[map[string]rules.Holder] // credentials, by id
	Moved     Moved
	Why       atomic.Pointer[error] // why nothing can be written now; a nil error if entries can

	Folded  atomic.Int64 // when memory last covered the store's newest entry, in the clock's elapsed nanoseconds
	Writing atomic.Int64 // since when a batch is at the store, in nanoseconds since 1970; 0: none is
	Tree    *tree        // guards itself
}

// Life is how the goroutines of a ledger begin and end.
type Life struct {
	Queue chan []*Request // the requests of one element go one behind another
	Asks  chan func()     // functions to run on the sequencer's goroutine
	Done  chan struct{}   // closed by the sequencer's goroutine when it ends
	Once  sync.Once       // of Close
	Group sync.WaitGroup  // of attend, writeCaches and mark.syncEvery

	Running context.Context    // ended by Close
	Cancel  context.CancelFunc // of running
}

// Info returns the ledger's name and origin.
func (l *Core) Info() Info { return l.cfg.Info }

// ID returns the number of the ledger in its store.
func (l *Core) ID() ID { return l.id }

// GenesisEntry returns entry 0, which never changes.
func (l *Core) GenesisEntry() audit.Entry { return l.shown.Genesis }

// Genesis returns the body of entry 0, which never changes.
func (l *Core) Genesis() *audit.Genesis { return l.shown.Genesis.Body.(*audit.Genesis) }

// GenesisHash returns SHA-256 of entry 0, which every context names.
func (l *Core) GenesisHash() [32]byte { return l.shown.GenesisHash }

// slowBatch is how long a batch may be at the store before Ready says so.
const slowBatch = 2 * time.Second

// Ready returns nil if the ledger can be written, and otherwise why not.
func (l *Core) Ready() error {
	if why := l.shown.Why.Load(); why != nil && *why != nil {
		return *why
	}
	if since := l.shown.Writing.Load(); since != 0 {
		if d := time.Since(time.Unix(0, since)); d > slowBatch {
			err := fmt.Errorf("%w: it has not written a batch for %v", ErrUnavailable, d.Truncate(time.Second))
			if b, ok := l.cfg.Store.(interface{ Blocked() stops.Cause }); ok {
				return stops.With(err, b.Blocked())
			}
			return err
		}
	}
	return nil
}

// QueueLen returns how many requests wait.
func (l *Core) QueueLen() int { return len(l.life.Queue) }

// Ask runs a function on the sequencer's goroutine, between two batches, and waits for its
// end. If the function did not run, the error is that of ctx or ErrClosed.
func (l *Core) Ask(ctx context.Context, what func()) error {
	done := make(chan struct{})
	select {
	case l.life.Asks <- func() { defer close(done); what() }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.life.Done:
		return ErrClosed
	}
}

// Head returns the newest durable head that this daemon knows.
func (l *Core) Head() Head { return *l.shown.Published.Load() }

// Moved tells those who wait that what they look at has changed.
type Moved struct {
	mu sync.Mutex
	on chan struct{} // nil while nobody waits
}

// Tell wakes all who wait.
func (m *Moved) Tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on != nil {
		close(m.on)
		m.on = nil
	}
}

// Next returns a channel that the next tell closes.
func (m *Moved) Next() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on == nil {
		m.on = make(chan struct{})
	}
	return m.on
}

// Changed returns a channel that is closed when there is a newer head, of this daemon or of
// another, or a newer cosigned head. A head from before the call does not close it.
func (l *Core) Changed() <-chan struct{} { return l.shown.Moved.Next() }

// Elapsed is the monotonic time of the ledger's clock.
func (l *Core) Elapsed() time.Duration {
	_, elapsed := l.cfg.Clock()
	return elapsed
}

// SignedBy returns the keys that sign the checkpoint of a size of at least 1 that is shown.
func (l *Core) SignedBy(size uint64) []note.Verifier {
	return trust.Verifiers(l.shown.Keys.Load().At(size))
}

// SignHead signs a checkpoint with each of the signers in order. With Ed25519 the same head gives the same bytes.
func SignHead(size uint64, root tlog.Hash, signers ...note.Signer) (Head, error) {
	text := audit.Checkpoint{Origin: signers[0].Name(), Size: size, Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		return Head{}, fmt.Errorf("%w: signing the checkpoint: %w", ErrNoKey, err)
	}
	return Head{Size: size, Root: root, Checkpoint: signed}, nil
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

// Appends counts what became of the batches that this daemon tried to append.
type Appends struct {
	Landed    uint64
	Lost      uint64 // another daemon moved the head first
	Duplicate uint64 // a key or slot stood in the ledger
	Failed    uint64 // nothing was written
	Unknown   uint64 // tries whose outcome had to be found out

	Most uint64 // how often the request that was overtaken most was overtaken
}

// Config is what a ledger is opened with.
type Config struct {
	Store Store
	Info  Info
	// Signers are the private signing keys that are available, in any order; the name of each is the origin. Those in
	// force sign. Keys that are to be in force later, and old ones, may be among them.
	Signers []note.Signer

	// Mark is the path of the high-water mark file.
	Mark string
	// AdoptHead is the reason to accept the stored head although there is no mark. It is written to the ledger. Empty:
	// the head is not accepted.
	AdoptHead string
	// AdoptAct is the act of administrators that approves this.
	AdoptAct *audit.ActEntry

	// Witness reaches a witness, given the lines that the ledger's policies have for it. These
	// have one key name and one URL. Required if a policy asks for any witness.
	Witness func([]trust.Witness) (Witness, error)
	// Intervals have the shortest time between two questions to a witness, by the name of its key. A witness without an
	// interval is asked for every head. Open refuses an interval of a witness that a quorum cannot do without.
	Intervals map[string]time.Duration
	// MayAsk says why a witness may not be asked at the address that a policy gives it; nil if it may. An administrator
	// writes the policy, and this daemon sends requests to the address. Without MayAsk every witness may be asked.
	MayAsk func(*audit.Genesis, trust.Witness) error

	// Start describes this daemon, for the instance_start event. Open sets its Kind.
	Start audit.Event

	// Tiles keeps tiles and entry bundles in memory, for all ledgers that share it. nil: one of
	// 16 MiB for this ledger alone.
	Tiles *TileCache
	// Queue is how many requests may wait; 0: 4,096.
	Queue int
	// ClockStep is how far the clock may step; 0: 5 s.
	ClockStep time.Duration
	// MarkSync is how often the mark is synced; 0: every second.
	MarkSync time.Duration
	// CacheEvery is how many entries come between two caches of the state, which lie alongside the mark; 0: 65,536.
	CacheEvery uint64
	// Probe is how often the ledger looks at clock and store while no request comes; 0: every second.
	Probe time.Duration
	// Clock returns the wall clock, and a monotonic time since some start. It is safe for
	// concurrent use. nil: the clock of this host.
	Clock func() (wall time.Time, elapsed time.Duration)
	// Appended is called for each batch that became durable at the first attempt, with how long
	// the store took and how many entries it has; nil: it is not.
	Appended func(took time.Duration, entries int)
	// Log gets what an operator must know; nil: nothing is logged.
	Log *slog.Logger
	// Step is called with what Open does next and may have to wait for; nil: it is not.
	Step func(what string)
}

// SetDefaults fills the members that are 0, and has Log name the ledger.
func (c *Config) SetDefaults() {
	if c.Tiles == nil {
		c.Tiles = NewTileCache(16 << 20)
	}
	c.Queue = cmp.Or(c.Queue, 4096)
	c.ClockStep = cmp.Or(c.ClockStep, 5*time.Second)
	c.MarkSync = cmp.Or(c.MarkSync, time.Second)
	c.CacheEvery = cmp.Or(c.CacheEvery, 65_536)
	c.Probe = cmp.Or(c.Probe, time.Second)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler)).With("ledger", c.Info.Name)
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() (time.Time, time.Duration) { return time.Now(), time.Since(start) }
	}
	if c.Step == nil {
		c.Step = func(string) {}
	}
}

// StoreTimeout is how long one step at the store may take, while an outcome is resolved or entries are folded.
const StoreTimeout = 10 * time.Second

// Witness is an outside party that cosigns checkpoints (C2SP tlog-witness).
type Witness = gateway.Witness
