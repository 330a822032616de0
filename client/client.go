package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	meaning "shuffled/internal/terms"
	"shuffled/internal/verify"
)

// Config says which ledger to use, what to trust, and how to call.
type Config struct {
	// URL is the daemon's address, such as https://shuffle.example.com.
	URL string
	// Ledger is the ledger's name in addresses.
	Ledger string
	// Token is the bearer token, or "" to read a public ledger.
	Token string
	// Identity is the service that Token is a credential of. Every answer must be of
	// it. "" takes the identity of the first entry that shows this very token, and
	// refuses the entries of all others until then.
	Identity string

	// VKey is the ledger's verifier key (C2SP signed-note), from somewhere else
	// than the daemon. Every answer is held against it.
	VKey string
	// Policy, in place of VKey, is the text of a C2SP tlog-policy. Its log lines
	// are the keys of this one ledger: the next one alongside the old one before a
	// signing key changes. If its quorum asks for witnesses, nothing is mixed or
	// dealt before they cosigned the commit: see Client.Await.
	Policy string
	// Production refuses the commits of a sandbox.
	Production bool
	// State remembers over restarts what the ledger was; nil forgets. See
	// FileState.
	State State

	// HTTP makes the calls; nil is a client of its own that gives each 30 s.
	// Redirects are not followed.
	HTTP *http.Client
	// Attempts is how often a call is made at most; 0 is 8.
	Attempts int
	// Pause is the pause before the second attempt, which doubles with every
	// further one up to MaxPause; 0 are 100 ms and 5 s.
	Pause, MaxPause time.Duration
}

// Client uses one ledger. It is safe for concurrent use, starts no goroutine and
// is meant to live as long as the program.
type Client struct {
	cfg    Config
	base   string
	ledger string
	origin string // of the ledger, and the name of its keys
	http   *http.Client
	keys   []note.Verifier
	policy *audit.Policy // nil: none was given
	signed verify.Trust  // the keys alone
	full   verify.Trust  // the keys, and the policy's quorum if there is one

	identity *identity
	heads    heads
	tables   tables

	mu     sync.Mutex
	decks  map[[32]byte][]string          // card names by deck hash, proved
	wheels map[[32]byte]*meaning.Document // by hash, proved
}

// New returns a client, or an error about the configuration or of the State.
func New(cfg Config) (*Client, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

func newClient(cfg Config) (*Client, error) {
	base, err := baseOf(cfg.URL)
	if err != nil {
		return nil, err
	}
	if err := audit.CheckName(cfg.Ledger); err != nil {
		return nil, fmt.Errorf("the ledger's name %w", err)
	}
	cfg.Attempts = cmp.Or(cfg.Attempts, 8)
	cfg.Pause = cmp.Or(cfg.Pause, 100*time.Millisecond)
	cfg.MaxPause = cmp.Or(cfg.MaxPause, 5*time.Second)
	if cfg.Attempts < 0 || cfg.Pause < 0 || cfg.MaxPause < cfg.Pause {
		return nil, errors.New("attempts and pauses are positive, and the first pause is the shortest")
	}
	c := &Client{cfg: cfg, base: base, ledger: cfg.Ledger, http: httpClient(cfg.HTTP), identity: newIdentity(&cfg),
		heads: newHeads(), tables: newTables(), decks: make(map[[32]byte][]string)}
	if err := c.trust(); err != nil {
		return nil, err
	}
	return c, c.remember()
}

// idlePerHost is how many connections are kept for the next calls. The standard
// library keeps two for each host, and all calls go to one.
const idlePerHost = 64

func httpClient(given *http.Client) *http.Client {
	own := http.Client{Timeout: 30 * time.Second}
	if given != nil {
		own = *given
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = idlePerHost
		own.Transport = t
	}
	own.CheckRedirect = noRedirect
	return &own
}

// CloseIdleConnections closes the connections that no call uses.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Origin returns the name of the ledger that the pinned keys are of.
func (c *Client) Origin() string { return c.origin }

// Receipt returns the receipt of an entry, proved.
func (c *Client) Receipt(ctx context.Context, index uint64) (string, error) {
	receipt, _, err := c.receipt(ctx, index)
	return receipt, err
}

func (c *Client) receipt(ctx context.Context, index uint64) (string, proved, error) {
	when := c.reading()
	answer, err := c.getReceipt(ctx, index)
	if err != nil {
		return "", proved{}, err
	}
	p, err := c.prove(ctx, string(answer), index, when, answer)
	return string(answer), p, err
}
