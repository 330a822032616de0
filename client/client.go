// Package client is for game back ends. It asks a shuffled daemon for shuffles and draws, and mixes, deals and closes
// them. It returns an answer only after it has checked the evidence in it under the ledger's verifier key, which the
// caller has pinned: the commit against the request, each card against the deck root and the public mix, and the ledger
// against what it was before.
//
// Every call is safe to repeat, so the client repeats it when the network fails or the daemon asks for it, with growing
// pauses that are partly random. For this a commit has an idempotency key, which the caller chooses and keeps with the
// game before the call: after a crash the same key and the same request give the same shuffle. Prefer keys of NewKey,
// UUIDs of version 7: they keep the daemon's index warm. A random key costs a cold page each time.
//
// docs/CLIENT.md says how to integrate the client, and what to do with each error. The types of requests and answers
// are generated from the daemon's contract, openapi.yaml.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/outbound"
	"shuffled/internal/process"
	"shuffled/internal/shuffle"
	meaning "shuffled/internal/terms"
	"shuffled/internal/verify"
)

//go:generate go tool oapi-codegen -config oapi-codegen.yaml ../internal/httpapi/openapi.yaml

// Config says which ledger to use, what to trust, and how to call.
type Config struct {
	// URL is the daemon's address, such as https://shuffle.example.com.
	URL string
	// Ledger is the ledger's name in addresses.
	Ledger string
	// Token is the bearer token, or "" to read a public ledger.
	Token string
	// Identity is the service that Token is a credential of. Every answer must be of this identity. If it is "", the
	// client takes the identity of the first entry that shows Token, and refuses entries of other tokens until then.
	Identity string

	// VKey is the ledger's verifier key (C2SP signed-note). Get it from somewhere else than the daemon: every answer is
	// checked under it.
	VKey string
	// Policy, in place of VKey, is the text of a C2SP tlog-policy. Its log lines are the keys of this one ledger:
	// before a signing key changes, the next one alongside the old one. If its quorum asks for witnesses, nothing is
	// mixed or dealt before they cosigned the commit: see Client.Await.
	Policy string
	// Production refuses the commits of a sandbox.
	Production bool
	// State remembers across restarts what the ledger was. With nil the client forgets. See FileState.
	State State

	// HTTP makes the calls. nil is a client of its own with a timeout of 30 s for each call. Redirects are not
	// followed.
	HTTP *http.Client
	// Attempts is how often a call is made at most; 0 means 8.
	Attempts int
	// Pause is the pause before the second attempt. It doubles with every further one, up to MaxPause. 0 means 100 ms
	// and 5 s.
	Pause, MaxPause time.Duration
}

// Client uses one ledger. It is safe for concurrent use, starts no goroutine, and is meant to live as long as the
// program.
type Client struct {
	cfg    Config
	base   string
	ledger string
	origin string // of the ledger, and the name of its keys
	http   *http.Client
	keys   []note.Verifier
	policy *trust.Policy // nil: none was given
	signed verify.Trust  // the keys alone
	full   verify.Trust  // the keys, and the policy's quorum if there is one

	// The service whose entries answer this client: Config.Identity, or that of the first entry that shows the client's
	// own token, whose public id is credential, "" without one.
	identity   atomic.Pointer[string]
	credential string

	heads  heads
	tables tables

	decks  cache[[32]byte, shuffle.Deck]      // by hash, proved
	wheels cache[[32]byte, *meaning.Document] // by hash, proved
}

// cache keeps values by a key. When it is full, it begins anew. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

func (c *cache[K, V]) get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.values[key]
	return v, ok
}

// put keeps a value alongside fewer than most others.
func (c *cache[K, V]) put(key K, v V, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= most {
		c.values = make(map[K]V)
	}
	c.values[key] = v
}

// New returns a client. Its errors are about the configuration, or of the State.
func New(cfg Config) (*Client, error) {
	address, err := outbound.ParseURL(cfg.URL)
	if err != nil {
		return nil, errors.New("making a client: the daemon's address is an http or https URL without query or fragment")
	}
	if err := audit.CheckName(cfg.Ledger); err != nil {
		return nil, fmt.Errorf("making a client: the ledger's name %w", err)
	}
	cfg.Attempts = cmp.Or(cfg.Attempts, 8)
	cfg.Pause = cmp.Or(cfg.Pause, 100*time.Millisecond)
	cfg.MaxPause = cmp.Or(cfg.MaxPause, 5*time.Second)
	if cfg.Attempts < 0 || cfg.Pause < 0 || cfg.MaxPause < cfg.Pause {
		return nil, errors.New("making a client: attempts and pauses are positive, and the first pause is the shortest")
	}
	c := &Client{cfg: cfg, base: strings.TrimRight(address.String(), "/"), ledger: cfg.Ledger,
		http: httpClient(cfg.HTTP), heads: newHeads()}
	if id, _, ok := strings.Cut(cfg.Token, "."); ok {
		c.credential = id
	}
	if cfg.Identity != "" {
		c.identity.Store(&cfg.Identity)
	}
	if err = c.trust(); err == nil {
		err = c.remember()
	}
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

func httpClient(given *http.Client) *http.Client {
	own := &http.Client{Timeout: 30 * time.Second}
	if given != nil {
		own = given
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = 64 // not two, as by default: all calls go to one host
		own.Transport = t
	}
	return outbound.Client(own) // a call, its token and its body stay at the address that it was made to
}

// CloseIdleConnections closes the connections that no call uses.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Origin returns the name of the ledger that the pinned keys are of.
func (c *Client) Origin() string { return c.origin }

// Receipt returns the receipt of an entry, proved.
func (c *Client) Receipt(ctx context.Context, index uint64) (string, error) {
	e, err := c.receipt(ctx, index)
	return e.receipt, err
}

func (c *Client) receipt(ctx context.Context, index uint64) (proved, error) {
	when := c.reading()
	answer, err := c.getReceipt(ctx, index)
	if err != nil {
		return proved{}, err
	}
	return c.prove(ctx, string(answer), index, reply{when, answer})
}

// State keeps some bytes for a client, so that after a restart it still refuses a ledger that does not extend what it
// saw before: one that was rolled back, or begun anew under the same key. The bytes are signed checkpoints, and not
// secret. The client saves before it returns an answer under a newer checkpoint. If Save fails, so does the call. One
// goroutine at a time calls Save.
type State interface {
	Load() ([]byte, error) // nil without an error before the first Save
	Save([]byte) error
}

// FileState keeps the state in a file, in place and in two slots, so that a write that is cut off leaves what was saved
// before. The bytes are flushed to disk before Save returns, so that the newest state survives a crash of the machine:
// back end and daemon may be on one machine, and start anew together. A new checkpoint costs one flush, which
// concurrent calls share. Each client needs a file of its own.
func FileState(path string) State { return &fileState{path: path} }

type fileState struct {
	path string
	file *process.Slots // nil: not opened
}

func (f *fileState) Load() (b []byte, err error) {
	if f.file, b, err = process.OpenSlots(f.path); err != nil {
		return nil, fmt.Errorf("reading the state %s: %w", f.path, err)
	}
	return b, nil
}

func (f *fileState) Save(b []byte) error {
	if f.file == nil {
		if _, err := f.Load(); err != nil {
			return err
		}
	}
	return f.file.Write(b)
}
