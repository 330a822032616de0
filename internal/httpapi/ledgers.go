package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/follow"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
	"shuffled/internal/terms"
)

// Dealer is what the API needs of a ledger's dealer; *dealer.Dealer is one.
type Dealer interface {
	Shuffle(ctx context.Context, actor audit.Actor, key string, req dealer.ShuffleRequest) (dealer.Shuffle, error)
	Draws(ctx context.Context, actor audit.Actor, key string, req dealer.DrawsRequest) (dealer.Shuffle, error)
	Mix(ctx context.Context, actor audit.Actor, id uint64, req dealer.MixRequest) (dealer.Mix, error)
	Deal(ctx context.Context, actor audit.Actor, id uint64, req dealer.DealRequest) (dealer.Deal, error)
	Reveal(ctx context.Context, actor audit.Actor, id uint64, req dealer.RevealRequest) (dealer.Reveal, error)
	Close(ctx context.Context, actor audit.Actor, id uint64, req dealer.CloseRequest) (dealer.Close, error)
	Batch(ctx context.Context, actor audit.Actor, ops []dealer.Operation, together bool,
		await func(id uint64) error) ([]dealer.Result, error)
	Takeover(ctx context.Context, actor audit.Actor, id uint64, req dealer.TakeoverRequest) (dealer.Takeover, error)
	Status(ctx context.Context, id uint64) (dealer.Status, error)
	Table(ctx context.Context, id uint64) (string, error)
	AwaitWitnesses(ctx context.Context, id uint64) error
	Transcript(ctx context.Context, id uint64, v dealer.View) ([]byte, error)
	PutTerms(ctx context.Context, document *terms.Document) error
	Terms(ctx context.Context, hash [32]byte) (*terms.Document, error)
	AddStatement(ctx context.Context, id uint64, text string) (n int, err error)

	SetSwitch(ctx context.Context, actor audit.Actor, req dealer.SwitchRequest) (dealer.Recorded, error)
	SetTable(ctx context.Context, actor audit.Actor, table string, open bool) (dealer.Recorded, error)
	ChangeCredential(ctx context.Context, actor audit.Actor, c *audit.Credential) (dealer.Recorded, error)
	SubmitAct(ctx context.Context, actor audit.Actor, act *audit.ActEntry, body audit.Body) (dealer.Recorded, error)
}

// Log is what the API needs of a ledger itself; *ledger.Ledger is one.
type Log interface {
	Info() ledger.Info
	Genesis() *audit.Genesis
	KeyHistory() *audit.History

	Credential(ctx context.Context, id string, anew bool) (audit.Credential, error)
	Credentials(ctx context.Context) ([]audit.Holder, error)
	Persons(ctx context.Context) (ledger.Persons, error)

	Checkpoint() []byte
	Receipt(ctx context.Context, index uint64) (string, error)
	Tile(ctx context.Context, t tlog.Tile) ([]byte, error)
	EntryBundle(ctx context.Context, t tlog.Tile) ([]byte, error)

	Ready() error
	Abilities() ledger.Abilities
	Live() ledger.Live
	Switches(ctx context.Context) ([]audit.Switch, error)
	Backlog(ctx context.Context, now int64) (ledger.Backlog, error)
	QueueLen() int
	Witnesses() []ledger.WitnessState
}

// Access keeps the requests of regulators and administrators; every ledger.AccessStore is one.
type Access interface {
	PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error
	AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) ([]ledger.Access, error)
}

// Recall finds shuffles and tables; *recall.Finder is one.
type Recall interface {
	Find(ctx context.Context, q ledger.RecallQuery) (ledger.RecallPage, error)
	Tables(ctx context.Context, q ledger.TableQuery) (page []audit.TableRef, next string, err error)
}

// Events is the feed of a ledger's events; *follow.Feed is one.
type Events interface {
	Follow(next uint64, tables []string, turn follow.Turn) *follow.Follower
	Followers() int
	Unread() uint64
}

// Ledger is one ledger as the API serves it. All of it is required.
type Ledger struct {
	Dealer Dealer
	Log    Log
	Access Access
	Recall Recall
	Events Events
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

func (r *registry) add(l Ledger) error {
	info := l.Log.Info()
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
