// Package relay fetches rounds of drand's quicknet from its public relays, over the HTTP API that they share. It trusts
// no relay: it returns a round only after it has verified the signature under the pinned key.
package relay

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
	"shuffled/internal/outbound"
)

// Limits of one relay's answer.
const (
	timeout = 10 * time.Second
	maxBody = 16 << 10 // bytes; an honest answer has about 220
)

// Fetch asks the relays, of which there is one at least, to whose addresses it adds /{chain hash}/public/{round}, one
// after the other for a round of quicknet, counted from 1, and returns its signature, which it has verified, from the
// first relay that has it. The error says what each relay answered. Relays are a second or two behind the round's time.
func Fetch(ctx context.Context, relays []string, round uint64) ([beacon.Size]byte, error) {
	var refused error
	for _, r := range relays {
		sig, err := ask(ctx, r, round)
		switch {
		case err == nil:
			return sig, nil
		case refused == nil:
			refused = err
		default:
			refused = fmt.Errorf("%w; %w", refused, err) // one line for a log
		}
		if ctx.Err() != nil {
			break
		}
	}
	return [beacon.Size]byte{}, fmt.Errorf("fetching round %d: %w", round, refused)
}

// ask fetches a round from one relay.
func ask(ctx context.Context, relay string, round uint64) (sig [beacon.Size]byte, err error) {
	u, err := outbound.ParseURL(relay)
	if err != nil {
		return sig, fmt.Errorf("the address of a beacon relay %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", u, err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	at := strings.TrimSuffix(relay, "/") + fmt.Sprintf("/%x/public/%d", audit.Quicknet, round)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return sig, errors.New("the address is not valid")
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
		return sig, fmt.Errorf("status %d: the round is not published yet", resp.StatusCode)
	}
	return sig, fmt.Errorf("status %d", resp.StatusCode)
}

// read reads a round from a relay's answer. The members besides round and signature follow from these two.
func read(body io.Reader, round uint64) (sig [beacon.Size]byte, err error) {
	b, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return sig, fmt.Errorf("reading the relay's answer: %w", outbound.Reason(err))
	}
	if len(b) > maxBody {
		return sig, fmt.Errorf("the relay's answer has more than %d bytes", maxBody)
	}
	var answer struct {
		Round     uint64 `json:"round"`
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return sig, errors.New("the relay's answer is no JSON of a round")
	}
	decoded, err := hex.DecodeString(answer.Signature)
	switch {
	case answer.Round != round:
		return sig, fmt.Errorf("the relay answers with round %d", answer.Round)
	case err != nil || len(decoded) != beacon.Size:
		return sig, fmt.Errorf("the signature must be %d bytes in hexadecimal", beacon.Size)
	}
	sig = [beacon.Size]byte(decoded)
	return sig, beacon.Verify(round, sig)
}
