// Package dealer is the lifecycle of shuffles: it turns requests into entries of a ledger. It draws a tape, turns it
// into an order, commits to the order, and then gives out cards with their openings. The rules of package audit decide
// which entry may follow; the sequencer of the ledger asks them.
//
// No answer has a tape or an undealt card before the close is durable. Under disclosure to auditors a tape leaves this
// package and those below it only sealed: for the database, and to the auditors.
package dealer

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"shuffled/internal/dealer/blind"
	"shuffled/internal/dealer/record"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// Config is what a dealer works with. All of it is required except what may be nil or 0.
type Config struct {
	Ledger  *sequencer.Ledger
	Store   ledger.Store // the ledger's
	Entropy *entropy.Source
	Keys    *seal.Keyring
	Recent  *record.Cache // of all dealers of a daemon; nil: its own
	Log     *slog.Logger
	// Now is the time in UTC milliseconds. It decides which shuffles are overdue, which round of the
	// beacon a plan gets, how long an order must stay open, and when a disclosure key is too old.
	// The ledger gives entries their times.
	Now func() int64

	// Round fetches the signature of a round of quicknet; nil: callers bring it.
	Round func(ctx context.Context, round uint64) ([48]byte, error)

	// Watch gets every outcome, after its tape is drawn and before its commit is written. So what
	// becomes of the commit does not choose what Watch gets. It keeps no outcome, and does not make
	// a commit wait. nil: outcomes are not watched.
	Watch func(shuffle.Recipe, shuffle.Outcome)

	// CoDealer reaches the co-dealers of the ledger; nil: none.
	CoDealer blind.CoDealer
	// Houses are the ledgers that this one deals orders for, by origin; nil: none.
	Houses map[string]blind.House

	// Decks are those that the ledger may commit, as in package config.
	Decks []string

	// Rotation is the age at which a commit makes a new disclosure key; 0 for a day.
	Rotation time.Duration
}

// Dealer serves one ledger. It is safe for concurrent use. What it remembers of shuffles is a cache of the ledger.
type Dealer struct {
	cfg       Config
	shuffles  *record.Reader
	blind     *blind.Sides
	underway  sync.Map                              // by key tag: a chan struct{}, closed and removed at its answer
	newestKey atomic.Pointer[ledger.Disclosure]     // for disclosure; other daemons may have written since
	keyTurn   *semaphore.Weighted                   // held to ask the ledger for a disclosure key or to make one
	wheels    *lru.Cache[[32]byte, *terms.Document] // that were read, by hash
	decks     sync.Map                              // hashes of published decks that the store holds
	conflicts atomic.Uint64
}

// Orders reports whether the ledger deals orders for others.
func (d *Dealer) Orders() bool { return len(d.cfg.Houses) > 0 }

// Conflicts counts requests of houses for places of an order that another request was given.
func (d *Dealer) Conflicts() uint64 { return d.conflicts.Load() }

// New returns a dealer.
func New(cfg Config) *Dealer {
	cfg.Rotation = cmp.Or(cfg.Rotation, 24*time.Hour)
	wheels, _ := lru.New[[32]byte, *terms.Document](maxWheels) // no error: the size is positive
	if cfg.Recent == nil {
		cfg.Recent = record.NewCache()
	}
	shuffles := record.New(cfg.Ledger, cfg.Store, cfg.Entropy, cfg.Keys, cfg.Recent, cfg.Log)
	return &Dealer{cfg: cfg, shuffles: shuffles, keyTurn: semaphore.NewWeighted(1), wheels: wheels,
		blind: &blind.Sides{Ledger: cfg.Ledger, Store: cfg.Store, Log: cfg.Log, Now: cfg.Now, Shuffles: shuffles,
			CoDealer: cfg.CoDealer, Houses: cfg.Houses}}
}

// Ledger returns the ledger that the dealer serves.
func (d *Dealer) Ledger() *sequencer.Ledger { return d.cfg.Ledger }

// maxWheels is how many wheels are kept in memory, each of at most terms.MaxDocument bytes.
const maxWheels = 64

// Latched reports whether this daemon's own latch is set. It may be set when the ledger's is cleared.
func (d *Dealer) Latched() bool { _, own := d.cfg.Entropy.Latched(); return own }

// Shuffles reads the shuffles of the ledger.
func (d *Dealer) Shuffles() *record.Reader { return d.shuffles }
