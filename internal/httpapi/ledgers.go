package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer"
	"shuffled/internal/follow"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/near"
)

// Access keeps the requests of regulators and administrators; every ledger.AccessStore is one.
type Access interface {
	PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error
	AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) ([]ledger.Access, error)
}

// Recall finds shuffles and tables; *recall.Finder is one.
type Recall interface {
	Find(ctx context.Context, q ledger.RecallQuery) (ledger.RecallPage, error)
	Tables(ctx context.Context, q ledger.TableQuery) (page []rules.TableRef, next string, err error)
}

// Ledger is one ledger as the API serves it. All of it is required.
type Ledger struct {
	Dealer *dealer.Dealer
	Log    *sequencer.Ledger
	Access Access
	Recall Recall
	Events *follow.Feed
}

// served is a Ledger with the state that the API keeps of it.
type served struct {
	Ledger
	id     ledger.ID
	public bool // whether its genesis lets everybody read

	batches *fairQueue[string] // operations of batches, by identity
}

// registry holds the ledgers by name. Ledgers are added while the daemon starts. Until it is
// complete, a ledger with an unknown name may still be added.
type registry struct {
	mu       sync.RWMutex
	byName   map[string]*served
	awaited  []string // names that the start is to add
	complete bool
	waiting  string // what the start waits for; "" for nothing
	leaving  bool   // readiness answers that the daemon is stopping; requests are served as before
	draining bool
}

// Add serves a ledger, which is loaded.
func (s *Server) Add(l Ledger) error {
	info, r := l.Log.Info(), &s.ledgers
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[info.Name] != nil {
		return fmt.Errorf("serving ledger %s: the name is taken", info.Name)
	}
	if r.byName == nil {
		r.byName = make(map[string]*served)
	}
	r.byName[info.Name] = &served{
		Ledger:  l,
		id:      ledger.IDOf(info.Origin),
		public:  l.Log.Genesis().Access == audit.AccessPublic,
		batches: newFairQueue[string](atOnce, 0),
	}
	return nil
}

// find returns the ledger with the name, or a refusal.
func (r *registry) find(name string) (*served, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch l := r.byName[name]; {
	case r.draining || l == nil && !r.complete:
		return nil, &refusal{code: CodeNotReady, detail: r.notReady()}
	case l == nil:
		return nil, &refusal{code: CodeNoSuchLedger, detail: shown(name, "name") + " is no ledger of this daemon." +
			near.Hint(name, slices.Sorted(maps.Keys(r.byName)))}
	default:
		return l, nil
	}
}

// all returns the ledgers by name, the names that are still to be added, and why the daemon as a whole is not ready.
func (r *registry) all() (ledgers []*served, missing []string, notReady string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	missing = slices.DeleteFunc(slices.Clone(r.awaited), func(name string) bool { return r.byName[name] != nil })
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		ledgers = append(ledgers, r.byName[name])
	}
	return ledgers, missing, r.notReady()
}

// notReady is why the daemon as a whole is not ready, "" if it is. r.mu is held.
func (r *registry) notReady() string {
	switch {
	case r.leaving || r.draining:
		return "stopping"
	case !r.complete && r.waiting != "":
		return "waiting for " + r.waiting
	case !r.complete:
		return "loading"
	case len(r.byName) == 0:
		return "no ledger is configured"
	}
	return ""
}

// set changes the state of the start or the stop.
func (r *registry) set(change func(*registry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}
