// Package webhook sends the events of a ledger to addresses that the configuration names,
// in the order of the ledger and at least once. It keeps no queue: for each address a file
// holds the index of the next entry, and after a failure or a restart the entries are read
// again from there. A delivery is signed as in Standard Webhooks (docs/SPEC.md section 17).
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/follow"
	"shuffled/internal/outbound"
	"shuffled/internal/process"
)

const (
	// firstPause and longestPause bound the pause after a failed delivery. It doubles with each failure.
	firstPause   = time.Second
	longestPause = time.Minute
	// answerTime is how long a receiver may take to answer.
	answerTime = 10 * time.Second
)

// Signer signs deliveries; keys.WebhookKey is one.
type Signer interface {
	Sign(message []byte) []byte
}

// Config is what a sender works with. All fields are required except Pause.
type Config struct {
	URL    string
	Ledger string // its name in addresses
	Origin string // its origin
	Size   uint64 // entries of the ledger; without File the sender begins after them
	File   string // keeps the index of the next entry
	Feed   *follow.Feed
	Key    Signer
	Log    *slog.Logger

	Pause time.Duration // firstPause, for tests; 0 is the constant
}

// File returns the name of the file for a ledger's address.
func File(ledger, address string) string {
	sum := sha256.Sum256([]byte(address))
	return fmt.Sprintf("%s.webhook-%x", ledger, sum[:8])
}

// Sender sends the events of one ledger to one address.
type Sender struct {
	cfg  Config
	http *http.Client
	host string // for the log: a path may be a secret of the receiver
	next uint64

	mu      sync.Mutex
	place   func() uint64 // all entries before it were sent, or have no event
	failing time.Time     // since when no try has succeeded; zero if the last one did
	failed  uint64
}

// Status is how far a sender is.
type Status struct {
	Ledger  string
	Host    string
	Behind  uint64        // entries that are not sent, or not looked at, yet
	Failing time.Duration // for how long no try has succeeded; 0 if the last one did
	Failed  uint64        // tries that failed since the daemon started
}

// Status returns how far the sender is. Safe for concurrent use.
func (s *Sender) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Ledger: s.cfg.Ledger, Host: s.host, Behind: s.cfg.Feed.Behind(s.place()), Failed: s.failed}
	if !s.failing.IsZero() {
		status.Failing = time.Since(s.failing)
	}
	return status
}

// at sets the place that Status counts from.
func (s *Sender) at(place func() uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place = place
}

// tried notes the outcome of a try.
func (s *Sender) tried(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.failing = time.Time{}
		return
	case s.failing.IsZero():
		s.failing = time.Now()
	}
	s.failed++
}

// New returns a sender that begins where its file says. A file without an index, or with an
// index beyond the ledger, is an error: no event is left out silently.
func New(cfg Config) (*Sender, error) {
	cfg.Pause = cmp.Or(cfg.Pause, firstPause)
	u, err := outbound.ParseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("opening a webhook: its address %w", err)
	}
	s := &Sender{cfg: cfg, host: u.Host, http: outbound.Client(&http.Client{Timeout: answerTime})}
	switch s.next, err = Place(cfg.File); {
	case errors.Is(err, fs.ErrNotExist):
		s.next = cfg.Size
		err = s.save()
	case err == nil && s.next > cfg.Size:
		err = noPlace(cfg.File, fmt.Sprintf(" from 0 to %d, the number of entries of the ledger", cfg.Size))
	}
	if err != nil {
		return nil, fmt.Errorf("opening the webhook to %s: %w", u.Host, err)
	}
	s.place = func() uint64 { return s.next }
	return s, nil
}

// Place reads the index of the next entry to send from the file of a webhook. A ledger without such a file is
// fs.ErrNotExist.
func Place(file string) (next uint64, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if next, err = strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63); err != nil {
		return 0, noPlace(file, "")
	}
	return next, nil
}

func noPlace(file, rule string) error {
	return fmt.Errorf("%s does not hold an index%s: write the index of the first entry to send into the file, or delete the file "+
		"to begin with the next entry", file, rule)
}

// save writes the place of the sender. It is on disk when save returns.
func (s *Sender) save() error {
	err := process.ReplaceFile(s.cfg.File, 0o600, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, s.next)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the place of a webhook: %w", err)
	}
	return nil
}

// Run sends until ctx ends.
func (s *Sender) Run(ctx context.Context) {
	w := s.cfg.Feed.Follow(s.next, nil)
	defer w.Close()
	pause := s.cfg.Pause
	for ctx.Err() == nil {
		s.at(w.Place)
		events, err := w.Next(ctx)
		if errors.Is(err, follow.ErrEnded) {
			return
		}
		if err == nil {
			from := s.next
			s.at(func() uint64 { return from })
			err = s.deliver(ctx, events, w.Place())
		}
		if err == nil {
			s.next, pause = w.Place(), s.cfg.Pause
			err = s.save()
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		s.cfg.Log.Warn("a webhook goes on after a pause", "ledger", s.cfg.Ledger, "host", s.host, "error", err)
		pause = wait(ctx, pause)
	}
}

// wait pauses, and returns the next pause.
func wait(ctx context.Context, pause time.Duration) time.Duration {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return min(2*pause, longestPause)
}

// delivery is the body that is sent: all events of the entries from ≤ index < next.
type delivery struct {
	Ledger string         `json:"ledger"`
	Origin string         `json:"origin"`
	From   uint64         `json:"from"`
	Next   uint64         `json:"next"`
	Events []follow.Event `json:"events"`
}

// deliver sends events until the receiver has accepted them, or ctx ends.
func (s *Sender) deliver(ctx context.Context, events []follow.Event, next uint64) error {
	body, err := json.Marshal(delivery{s.cfg.Ledger, s.cfg.Origin, s.next, next, events})
	if err != nil {
		return fmt.Errorf("writing a delivery: %w", err)
	}
	sum := sha256.Sum256(body)
	id := hex.EncodeToString(sum[:16]) // without a full stop, which separates what is signed
	for pause, tries := s.cfg.Pause, 1; ; tries++ {
		err := s.post(ctx, id, body)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.tried(err); err == nil {
			return nil
		}
		s.cfg.Log.Warn("a webhook was not delivered", "ledger", s.cfg.Ledger, "host", s.host, "from", s.next,
			"tries", tries, "error", err)
		pause = wait(ctx, pause)
	}
}

// post sends a body once.
func (s *Sender) post(ctx context.Context, id string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is no http or https address")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	signature := s.cfg.Key.Sign(append([]byte(id+"."+at+"."), body...))
	req.Header = http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {id}, "Webhook-Timestamp": {at},
		"Webhook-Signature": {"v1a," + base64.StdEncoding.EncodeToString(signature)}}
	resp, err := s.http.Do(req)
	if err != nil {
		return outbound.Reason(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %d", resp.StatusCode)
	}
	return nil
}
