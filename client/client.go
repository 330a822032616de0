package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// Config says which ledger to use, and how.
type Config struct {
	// URL is the daemon's address, such as https://shuffle.example.com.
	URL string
	// Ledger is the ledger's name in addresses.
	Ledger string
	// VKey is the ledger's verifier key (C2SP signed-note), from somewhere else
	// than the daemon. Every answer is held against it.
	VKey string
	// Token is the bearer token, or "" to read a public ledger.
	Token string

	// HTTP makes the calls; nil is a client that gives each 30 s. Redirects are
	// not followed.
	HTTP *http.Client
	// Attempts is how often a call is made at most; 0 is 8.
	Attempts int
	// Pause is the pause before the second attempt, which doubles with every
	// further one up to MaxPause; 0 are 100 ms and 5 s.
	Pause, MaxPause time.Duration
}

// Client uses one ledger. It is safe for concurrent use.
type Client struct {
	cfg    Config
	base   string
	ledger string
	http   *http.Client
	key    note.Verifier

	mu    sync.Mutex
	decks map[[32]byte][]string // card names by deck hash, proved
}

// New returns a client, or an error about the configuration.
func New(cfg Config) (*Client, error) {
	base, err := baseOf(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if err := audit.CheckName(cfg.Ledger); err != nil {
		return nil, fmt.Errorf("making a client: the ledger's name %w", err)
	}
	key, err := audit.ParseVKey(cfg.VKey)
	if err != nil {
		return nil, fmt.Errorf("making a client: reading the verifier key: %w", err)
	}
	if cfg.Attempts == 0 {
		cfg.Attempts = 8
	}
	if cfg.Pause == 0 {
		cfg.Pause = 100 * time.Millisecond
	}
	if cfg.MaxPause == 0 {
		cfg.MaxPause = 5 * time.Second
	}
	if cfg.Attempts < 0 || cfg.Pause < 0 || cfg.MaxPause < cfg.Pause {
		return nil, errors.New("making a client: attempts and pauses are positive, and the first pause is the shortest")
	}
	own := http.Client{Timeout: 30 * time.Second}
	if cfg.HTTP != nil {
		own = *cfg.HTTP
	}
	own.CheckRedirect = noRedirect
	return &Client{cfg: cfg, base: base, ledger: cfg.Ledger, http: &own, key: key, decks: make(map[[32]byte][]string)}, nil
}

// Committed is a shuffle whose commit was proved.
type Committed struct {
	Shuffle
	commit *audit.Commit
}

// Places returns how many cards can be dealt.
func (s *Committed) Places() int { return s.commit.Context.Recipe.Positions() }

// Commit asks for a shuffle and returns it when its commit is proved to stand in
// the ledger under this key. The same key and request give the same shuffle for
// ever. Errors are *Error, *Fault, or of the network or context; after the last
// kind call again with the same key to learn what became of it.
func (c *Client) Commit(ctx context.Context, key string, req ShuffleRequest) (*Committed, error) {
	answer, err := c.createShuffle(ctx, CreateShuffleParams{IdempotencyKey: key}, req)
	if err != nil {
		return nil, err
	}
	var s Shuffle
	if err := decode(answer, &s); err != nil {
		return nil, err
	}
	committed, err := c.proveCommit(s, answer)
	if err != nil {
		return nil, err
	}
	if what := committed.differs(c.key.Name(), key, &req); what != "" {
		return nil, &Fault{What: what, Answer: answer}
	}
	return committed, nil
}

// Load returns a shuffle that was committed earlier, its commit proved again.
func (c *Client) Load(ctx context.Context, id uint64) (*Committed, error) {
	state, answer, err := c.state(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.proveCommit(Shuffle{
		ID: state.ID, Table: state.Table, Serial: state.Serial, Commitment: state.Commitment,
		DeckRoot: state.DeckRoot, CloseBy: state.CloseBy, Receipt: state.Receipt,
	}, answer)
}

// State returns the state of a shuffle as the daemon tells it. What is in it
// beyond the commit is proved by a transcript only.
func (c *Client) State(ctx context.Context, id uint64) (*ShuffleState, error) {
	state, _, err := c.state(ctx, id)
	return state, err
}

func (c *Client) state(ctx context.Context, id uint64) (*ShuffleState, []byte, error) {
	answer, err := c.getShuffle(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	var s ShuffleState
	if err := decode(answer, &s); err != nil {
		return nil, nil, err
	}
	if s.ID != id {
		return nil, nil, &Fault{What: "it is of another shuffle", Answer: answer}
	}
	return &s, answer, nil
}

// Deal deals the next places and returns their cards when the deal is proved to
// stand in the ledger and every card to be the one committed to.
func (c *Client) Deal(ctx context.Context, s *Committed, req DealRequest) (*Deal, error) {
	answer, err := c.dealCards(ctx, s.ID, req)
	if err != nil {
		return nil, err
	}
	var d Deal
	if err := decode(answer, &d); err != nil {
		return nil, err
	}
	if err := c.proveDeal(s, &req, &d, answer); err != nil {
		return nil, err
	}
	names, err := c.names(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, card := range d.Cards {
		if deref(card.Card) != names(card.Value) {
			return nil, &Fault{What: fmt.Sprintf("the card at place %d has another card's name", card.Place), Answer: answer}
		}
	}
	return &d, nil
}

// Close ends a shuffle and returns its tape, where everybody gets it, when the
// close is proved to stand in the ledger and the tape to be the one committed to.
func (c *Client) Close(ctx context.Context, s *Committed, req CloseRequest) (*Close, error) {
	answer, err := c.closeShuffle(ctx, s.ID, req)
	if err != nil {
		return nil, err
	}
	var ending Close
	if err := decode(answer, &ending); err != nil {
		return nil, err
	}
	if err := c.proveClose(s, &req, &ending, answer); err != nil {
		return nil, err
	}
	return &ending, nil
}

// Transcript returns the evidence of a shuffle that this token may see, proved
// under the verifier key; with a recipient, which takes a dealer's token, that
// recipient's file. Pass it on byte for byte.
func (c *Client) Transcript(ctx context.Context, id uint64, recipient string) ([]byte, error) {
	answer, _, err := c.transcript(ctx, id, recipient)
	return answer, err
}

func (c *Client) transcript(ctx context.Context, id uint64, recipient string) ([]byte, *verify.Verdict, error) {
	var params GetTranscriptParams
	if recipient != "" {
		params.Recipient = &recipient
	}
	answer, err := c.getTranscript(ctx, id, params)
	if err != nil {
		return nil, nil, err
	}
	v := verify.Transcript(answer, verify.Trust{VKey: c.cfg.VKey})
	switch {
	case v.Verdict != verify.Proved:
		return nil, nil, &Fault{What: "the transcript is " + v.Verdict + " at " + v.Failed + v.Unknown, Answer: answer}
	case v.ID != id || v.Recipient != recipient:
		return nil, nil, &Fault{What: "the transcript is another one", Answer: answer}
	}
	return answer, v, nil
}

// Receipt returns the receipt of an entry, proved under the verifier key.
func (c *Client) Receipt(ctx context.Context, index uint64) (string, error) {
	answer, err := c.getReceipt(ctx, index)
	if err != nil {
		return "", err
	}
	if _, err := c.prove(string(answer), index, answer); err != nil {
		return "", err
	}
	return string(answer), nil
}

// Keys returns what the daemon says the ledger's keys are. Compare them with
// what you have; do not pin them from here.
func (c *Client) Keys(ctx context.Context) (*Keys, error) {
	answer, err := c.getKeys(ctx)
	if err != nil {
		return nil, err
	}
	var k Keys
	if err := decode(answer, &k); err != nil {
		return nil, err
	}
	return &k, nil
}
