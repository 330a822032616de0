package ledger

import (
	"log/slog"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
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

// SetDefaults fills the members that are 0.
func (c *Config) SetDefaults() {
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

// StoreTimeout is how long one step at the store may take, while an outcome is resolved or entries are folded.
const StoreTimeout = 10 * time.Second

// Witness is an outside party that cosigns checkpoints (C2SP tlog-witness).
type Witness = gateway.Witness
