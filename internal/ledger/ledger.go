// Package ledger keeps one append-only log: the sequencer, which alone writes it, C2SP checkpoints and tiles, receipts,
// and the checks that keep a ledger from contradicting itself. It declares the store that it needs.
//
// Entries, tiles, checkpoint and head are written in one transaction, whose update of the
// head is a compare-and-swap. Then the high-water mark is written. Then callers get their
// receipts. Nothing signed leaves the process before its commit is known.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"shuffled/internal/audit"
)

// The errors of a ledger, alongside *audit.Illegal and those of the store.
var (
	// ErrFrozen: signing stopped because the stored ledger does not extend what was seen, or
	// cannot be compared with it. Reads go on.
	ErrFrozen = errors.New("the stored ledger does not extend what was seen: signing stopped")
	// ErrClock: the clock stepped further than the limit.
	ErrClock = errors.New("the clock stepped")
	// ErrOverloaded: too many requests wait, or this one waited too long. Nothing was written.
	ErrOverloaded = errors.New("the queue is full")
	// ErrTooLarge: what was to be appended together does not fit into one batch.
	ErrTooLarge = errors.New("one append holds at most 1,024 entries and 8 MiB")
	// ErrClosed: the ledger is shutting down.
	ErrClosed = errors.New("the ledger is closed")
	// ErrUnavailable: the store did not answer; nothing was written.
	ErrUnavailable = errors.New("the store is unavailable")
	// ErrNotWitnessed: no cosigned checkpoint covers the entry yet.
	ErrNotWitnessed = errors.New("the witnesses have not cosigned the entry yet")
	// ErrMarkLocked: another process of this host writes the ledger.
	ErrMarkLocked = errors.New("another daemon holds the lock")
	// ErrNoMark: a ledger has entries, and this host has no high-water mark of it.
	ErrNoMark = errors.New("no high-water mark for a ledger with entries")
)

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
	Witness func([]audit.Witness) (Witness, error)
	// Intervals have the shortest time between two questions to a witness, by the name of its key. A witness without an
	// interval is asked for every head. Open refuses an interval of a witness that a quorum cannot do without.
	Intervals map[string]time.Duration
	// MayAsk says why a witness may not be asked at the address that a policy gives it; nil if it may. An administrator
	// writes the policy, and this daemon sends requests to the address. Without MayAsk every witness may be asked.
	MayAsk func(*audit.Genesis, audit.Witness) error

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

// Unavailable marks an error of the store, or of the connection to it, as ErrUnavailable. An
// error that has a name stays as it is.
func Unavailable(err error) error {
	for _, named := range []error{nil, ErrNotFound, ErrExists, ErrStale, ErrUnknownOutcome, ErrFrozen, ErrUnavailable,
		ErrOverloaded} {
		if errors.Is(err, named) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func (c *Config) setDefaults() {
	if c.Tiles == nil {
		c.Tiles = NewTileCache(16 << 20)
	}
	if c.Queue == 0 {
		c.Queue = 4096
	}
	if c.ClockStep == 0 {
		c.ClockStep = 5 * time.Second
	}
	if c.MarkSync == 0 {
		c.MarkSync = time.Second
	}
	if c.CacheEvery == 0 {
		c.CacheEvery = 65_536
	}
	if c.Probe == 0 {
		c.Probe = time.Second
	}
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() (time.Time, time.Duration) { return time.Now(), time.Since(start) }
	}
	if c.Step == nil {
		c.Step = func(string) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Ledger is one open ledger. It is safe for concurrent use. Each part says which goroutine owns it.
type Ledger struct {
	cfg     Config      // unchanged after Open
	id      ID          // unchanged
	genesis audit.Entry // unchanged after Open

	genesisHash [32]byte // SHA-256 of it

	memory   // of the sequencer's goroutine
	standing // of the sequencer's goroutine
	shown    // written by the sequencer's goroutine, read by all
	life     // how the goroutines begin and end

	mark      *mark                 // the high-water mark, written by the sequencer's goroutine
	witnesses *witnesses            // asks the witnesses, if there are any
	cache     *caching              // writes the cache of the state
	absent    atomic.Pointer[error] // why a signing key in force did not sign when it was asked last; nil: it did
	appends   appends               // counters

	refreshes singleflight.Group // for readers of what other daemons wrote
	open      openList           // for recall
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

// Open loads the ledger, checks its signatures and rules, compares it with the high-water mark and the witnesses,
// starts the sequencer and writes the instance_start event. The caller must Close it. It is an error if the stored
// ledger is damaged. If it is sound and contradicts what was seen, it is opened for reading: nothing is signed until it
// extends everything that was seen, and Ready says why.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	cfg.setDefaults()
	l := &Ledger{
		cfg:    cfg,
		id:     IDOf(cfg.Info.Origin),
		memory: memory{state: audit.NewState(), clock: clock{read: cfg.Clock, limit: cfg.ClockStep}},
		life:   life{queue: make(chan []*request, cfg.Queue), asks: make(chan func()), done: make(chan struct{})},
		open:   openList{turn: semaphore.NewWeighted(1)},
		tables: tableNames{turn: semaphore.NewWeighted(1)},
	}
	l.tree = newTree()
	l.running, l.cancel = context.WithCancel(context.Background())
	if cfg.AdoptHead != "" {
		if err := audit.CheckReason(cfg.AdoptHead); err != nil {
			return nil, fmt.Errorf("opening ledger %s: the reason to adopt its head %w", cfg.Info.Name, err)
		}
	}
	l.cache = &caching{l: l, due: make(chan struct{}, 1)}
	if err := l.load(ctx); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.checkSigners(); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	var err error
	if l.witnesses, err = l.newWitnesses(); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if l.mark, err = openMark(cfg.Mark); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.readMark(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err), l.mark.close())
	}
	l.to(phaseStarting, fmt.Errorf("%w: starting", ErrUnavailable))
	l.isNewest()
	l.publish()
	go l.sequence()
	l.group.Go(l.attend)
	l.group.Go(l.cache.run)
	l.group.Go(func() { l.mark.syncEvery(l.running, cfg.MarkSync) })
	err = l.witnesses.start()
	if err == nil {
		err = l.begin(ctx)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	return l, nil
}

// Close stops the sequencer after the current batch and refuses the requests that wait with
// ErrClosed. It waits for all goroutines, and syncs the mark.
func (l *Ledger) Close() error {
	var err error
	l.once.Do(func() {
		l.cancel()
		<-l.done
		l.witnesses.wait()
		l.group.Wait()
		err = l.mark.close()
	})
	return err
}

// Info returns the ledger's name and origin.
func (l *Ledger) Info() Info { return l.cfg.Info }

// ID returns the number of the ledger in its store.
func (l *Ledger) ID() ID { return l.id }

// Overdue returns the ids of the open shuffles whose close-by has passed at now, in UTC
// milliseconds, as of the newest entry known here. They ascend.
func (l *Ledger) Overdue(ctx context.Context, now int64) (ids []uint64, err error) {
	err = l.ask(ctx, func() { ids = l.state.Overdue(now) })
	return ids, err
}

// ClosingBy returns the open shuffles whose close-by is at or before a time, in UTC milliseconds, by ascending id.
func (l *Ledger) ClosingBy(ctx context.Context, at int64) (refs []audit.OpenRef, err error) {
	err = l.ask(ctx, func() {
		for _, id := range l.state.Overdue(at) {
			o, _ := l.state.Shuffle(id)
			refs = append(refs, audit.OpenRef{ID: id, Table: o.Table, CloseBy: o.CloseBy})
		}
	})
	return refs, err
}

// GenesisEntry returns entry 0, which never changes.
func (l *Ledger) GenesisEntry() audit.Entry { return l.genesis }

// Genesis returns the body of entry 0, which never changes.
func (l *Ledger) Genesis() *audit.Genesis { return l.genesis.Body.(*audit.Genesis) }

// GenesisHash returns SHA-256 of entry 0, which every context names.
func (l *Ledger) GenesisHash() [32]byte { return l.genesisHash }

// Live returns counts for metrics.
func (l *Ledger) Live() Live {
	live := *l.live.Load()
	live.Cosigned, live.Appends = l.cosignedSize(), l.appends.read()
	return live
}

// Append writes the proposal and returns its entries with their receipts when they are durable. With these errors
// nothing was written: an *audit.Illegal if a rule forbids an entry; a *DuplicateError if a key tag is in the ledger;
// ErrOverloaded if the queue is full, or if the patience of ctx ends while the proposal waits in it; ErrFrozen,
// ErrClock, ErrUnavailable and ErrClosed. If ctx ends while the proposal is being written, the error is
// ErrUnknownOutcome.
func (l *Ledger) Append(ctx context.Context, p Proposal) ([]Appended, error) {
	for _, body := range p.Bodies {
		if act, ok := body.(*audit.ActEntry); ok && act.HeadSize > 0 {
			if err := l.saw(ctx, audit.Head{Size: act.HeadSize, Root: act.HeadRoot}); err != nil {
				return nil, err
			}
		}
	}
	r := newRequest(p)
	if err := l.enqueue(r); err != nil {
		return nil, err
	}
	a := l.await(ctx, r)
	return a.Appended, a.Err
}

// saw returns an *audit.Illegal if the entries have another root than a head that administrators saw: they signed for
// another history, and an audit refuses that (docs/SPEC.md section 14.1). Rule act refuses a size that is too large.
func (l *Ledger) saw(ctx context.Context, head audit.Head) error {
	log := witnessedLog{l}
	if size, err := log.Reach(ctx, head.Size); err != nil || head.Size > size {
		return err
	}
	extends, err := log.Extends(ctx, audit.Checkpoint{Size: head.Size, Root: head.Root})
	if err == nil && !extends {
		err = &audit.Illegal{Code: audit.RuleAct,
			Detail: fmt.Sprintf("the act names another root than the first %d entries have", head.Size)}
	}
	return err
}

// QueueLen returns how many requests wait.
func (l *Ledger) QueueLen() int { return len(l.queue) }

// slowBatch is how long a batch may be at the store before Ready says so.
const slowBatch = 2 * time.Second

// Ready returns nil if the ledger can be written, and otherwise why not.
func (l *Ledger) Ready() error {
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

// Checkpoint returns the checkpoint to publish: the newest cosigned one, if there is one and
// the policy in force asks for witnesses, and otherwise the newest signed one.
func (l *Ledger) Checkpoint() []byte {
	if h, ok := l.Cosigned(); ok && l.asksWitnesses(l.Head().Size) {
		return h.Checkpoint
	}
	return l.published.Load().Checkpoint
}

// publish shows the head and the counts to readers.
func (l *Ledger) publish() {
	head := l.head
	l.showHolders()
	l.live.Store(&Live{Size: head.Size, Time: l.state.Time(), Open: l.state.OpenCount(), Latched: l.state.Latched(),
		Killed: l.state.Killed(), Switches: len(l.state.Switches())})
	l.published.Store(&head)
	l.moved.tell()
	l.witnesses.wake()
	l.cache.wake()
}
