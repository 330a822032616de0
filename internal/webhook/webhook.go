// Package webhook sends the events of a ledger to addresses that the configuration names,
// each in the order of the ledger and at least once. It keeps no queue: for each address
// the index of the entry that comes next stands in a file, and the entries are read again
// from there, after a failure and after a restart. A delivery is signed as Standard
// Webhooks says (docs/SPEC.md section 17).
package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/follow"
	"shuffled/internal/outbound"
	"shuffled/internal/process"
)

const (
	// firstPause and longestPause bound how long a delivery waits after it failed; the
	// pause doubles.
	firstPause   = time.Second
	longestPause = time.Minute
	// answerTime is how long a receiver may take to answer.
	answerTime = 10 * time.Second
)

// Signer signs deliveries; keys.WebhookKey is one.
type Signer interface {
	Sign(message []byte) []byte
}

// Config is what a sender works with. All of it is required except Pause.
type Config struct {
	URL    string
	Ledger string // its name in addresses
	Origin string // its origin
	Next   uint64 // where to begin if File does not exist
	File   string // keeps the index of the entry that comes next
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
}

// New reads where the sender is. A file that says nothing is an error: nothing is left out
// without a word.
func New(cfg Config) (*Sender, error) {
	if cfg.Pause == 0 {
		cfg.Pause = firstPause
	}
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("opening a webhook: its address is no http or https address")
	}
	s := &Sender{cfg: cfg, host: u.Host, http: outbound.Client(&http.Client{Timeout: answerTime})}
	b, err := os.ReadFile(cfg.File)
	if errors.Is(err, fs.ErrNotExist) {
		s.next = cfg.Next
		return s, s.save()
	}
	if err == nil {
		s.next, err = strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the webhook to %s: %s holds the index of an entry, or does not exist: %w", u.Host,
			cfg.File, err)
	}
	return s, nil
}

// save keeps where the sender is, on disk before it returns.
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

// Run sends until ctx is over.
func (s *Sender) Run(ctx context.Context) {
	w := s.cfg.Feed.Follow(s.next, nil)
	defer w.Close()
	pause := s.cfg.Pause
	for ctx.Err() == nil {
		events, err := w.Next(ctx)
		if errors.Is(err, follow.ErrEnded) {
			return
		}
		if err == nil {
			err = s.deliver(ctx, events, w.Place())
		}
		if err == nil {
			s.next, pause = w.Place(), s.cfg.Pause
			err = s.save()
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		s.cfg.Log.Warn("a webhook: reading its events", "ledger", s.cfg.Ledger, "host", s.host, "error", err)
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

// delivery is the body that is sent.
type delivery struct {
	Ledger string         `json:"ledger"`
	Origin string         `json:"origin"`
	Events []follow.Event `json:"events"`
}

// deliver sends events until the receiver has taken them, or ctx is over.
func (s *Sender) deliver(ctx context.Context, events []follow.Event, next uint64) error {
	body, err := json.Marshal(delivery{s.cfg.Ledger, s.cfg.Origin, events})
	if err != nil {
		return fmt.Errorf("writing a delivery: %w", err)
	}
	sum := sha256.Sum256(body)
	id := fmt.Sprintf("%s-%d-%d-%x", s.cfg.Ledger, s.next, next, sum[:8])
	for pause, tries := s.cfg.Pause, 1; ; tries++ {
		err := s.post(ctx, id, body)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
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
