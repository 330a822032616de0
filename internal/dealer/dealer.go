package dealer

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/terms"
)

// Dealer serves one ledger. It is safe for concurrent use. What it remembers of shuffles is a cache of the ledger.
type Dealer struct {
	keyed
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
	return &Dealer{keyed: keyed{opener: opener{newReader(cfg)}, byKey: commitLoader(cfg.Store, cfg.Ledger.ID())},
		keyTurn: semaphore.NewWeighted(1), wheels: wheels}
}

// Ledger returns the ledger that the dealer serves.
func (d *Dealer) Ledger() *sequencer.Ledger { return d.cfg.Ledger }

// maxWheels is how many wheels are kept in memory, each of at most terms.MaxDocument bytes.
const maxWheels = 64
