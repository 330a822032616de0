// Package relay fetches rounds of drand's quicknet from its public relays, over
// the HTTP API that they share. Nothing a relay says is believed: a round is
// returned once its signature holds under the pinned key.
package relay

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"shuffled/internal/beacon"
	"shuffled/internal/outbound"
)

// Limits of one relay's answer.
const (
	timeout = 10 * time.Second
	maxBody = 16 << 10 // bytes; an honest answer has about 220
)

var (
	// ErrEarly: a relay does not have the round yet, and none has it. Ask again
	// after the round's time; relays lag behind it by a second or two.
	ErrEarly = errors.New("the round is not published yet")

	// ErrNoRelay: there is no relay to ask.
	ErrNoRelay = errors.New("no beacon relay is configured")
)

// Check reports whether a relay's address can be asked: an http or https URL
// without query, to which /{chain hash}/public/{round} is added.
func Check(relay string) error {
	u, err := url.Parse(relay)
	switch {
	case err != nil:
		return errors.New("a beacon relay is an http or https URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("beacon relay %s: an http or https URL without query is wanted", u.Redacted())
	}
	return nil
}

// Fetch asks the relays one after the other for a round of quicknet, from 1, and
// returns its signature, which holds, from the first that has it. The error says
// of each relay what it answered; it is ErrEarly when one of them has no such
// round yet.
func Fetch(ctx context.Context, relays []string, round uint64) ([beacon.Size]byte, error) {
	if len(relays) == 0 {
		return [beacon.Size]byte{}, ErrNoRelay
	}
	var refused []error
	for _, r := range relays {
		sig, err := ask(ctx, r, round)
		if err == nil {
			return sig, nil
		}
		refused = append(refused, err)
		if ctx.Err() != nil {
			break
		}
	}
	return [beacon.Size]byte{}, fmt.Errorf("fetching round %d: %w", round, joined(refused))
}

// ask fetches a round from one relay.
func ask(ctx context.Context, relay string, round uint64) (sig [beacon.Size]byte, err error) {
	if err := Check(relay); err != nil {
		return sig, err
	}
	u, err := url.Parse(relay)
	if err != nil {
		return sig, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", u.Redacted(), err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	at := strings.TrimSuffix(relay, "/") + fmt.Sprintf("/%x/public/%d", beacon.Quicknet().Hash(), round)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return sig, errors.New("the address cannot be asked")
	}
	resp, err := outbound.Client(nil).Do(req)
	if err != nil {
		return sig, outbound.Reason(err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return read(resp.Body, round)
	case http.StatusNotFound, http.StatusTooEarly:
		return sig, fmt.Errorf("status %d: %w", resp.StatusCode, ErrEarly)
	}
	return sig, fmt.Errorf("status %d", resp.StatusCode)
}

// read takes a round out of a relay's answer. Members other than round and
// signature follow from these.
func read(body io.Reader, round uint64) (sig [beacon.Size]byte, err error) {
	b, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return sig, fmt.Errorf("reading its answer: %w", outbound.Reason(err))
	}
	if len(b) > maxBody {
		return sig, fmt.Errorf("its answer has more than %d bytes", maxBody)
	}
	var answer struct {
		Round     uint64 `json:"round"`
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return sig, errors.New("its answer is no JSON of a round")
	}
	decoded, err := hex.DecodeString(answer.Signature)
	switch {
	case answer.Round != round:
		return sig, fmt.Errorf("it answers with round %d", answer.Round)
	case err != nil || len(decoded) != beacon.Size:
		return sig, fmt.Errorf("its signature is not %d bytes in hexadecimal", beacon.Size)
	}
	sig = [beacon.Size]byte(decoded)
	return sig, beacon.Quicknet().Verify(round, sig)
}

// joined lists errors on one line, for a log.
func joined(all []error) error {
	if len(all) == 1 {
		return all[0]
	}
	return list(all)
}

type list []error

func (l list) Error() string {
	texts := make([]string, len(l))
	for i, err := range l {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (l list) Unwrap() []error { return l }
