package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

// maxAnswer bounds an answer; the largest is a transcript.
const maxAnswer = 64 << 20

// request is one call before it is sent.
type request struct {
	method, path string
	values       url.Values
	headers      http.Header
	body         any // JSON, or nil for none
}

// query adds a parameter of the query if it has a value.
func query[T any](r *request, name string, value *T) {
	if value == nil {
		return
	}
	text := fmt.Sprint(*value)
	if at, ok := any(*value).(Timestamp); ok { // as in JSON
		text = at.UTC().Format(timestampLayout)
	}
	if r.values == nil {
		r.values = make(url.Values)
	}
	r.values.Set(name, text)
}

func (r *request) header(name, value string) { r.headers = http.Header{name: {value}} }

// send makes the call until it is answered or refused for good. The body and its idempotency key are the same every
// time, so nothing is done twice.
func (c *Client) send(ctx context.Context, r request) (_ []byte, err error) {
	var body []byte
	if r.body != nil {
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
	}
	heard, ok := ctx.Value(openTries{}).(*atomic.Bool)
	if !ok {
		heard = new(atomic.Bool)
	}
	fail := func(err error) error {
		if heard.Load() {
			err = &unresolved{err}
		}
		return fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	connected := false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true }})
	for attempt := 1; ; attempt++ {
		connected = false
		answer, again, err := c.try(traced, r, body)
		if err == nil {
			return answer, nil
		}
		if connected && open(err) {
			heard.Store(true)
		}
		if again == never || attempt == c.cfg.Attempts || ctx.Err() != nil {
			return nil, fail(err)
		}
		if ctxErr := sleep(ctx, max(again, c.pause(attempt))); ctxErr != nil {
			return nil, fail(fmt.Errorf("%w, after: %w", ctxErr, err))
		}
	}
}

// sleep waits for d, or returns the error of ctx when it is over before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// never is the pause before a call that must not be made again.
const never = -1

// try makes the call once. With an error, again is the shortest pause before the call may be made again, or never.
func (c *Client) try(ctx context.Context, r request, body []byte) (answer []byte, again time.Duration, err error) {
	req, err := c.newRequest(ctx, r, body)
	if err != nil {
		return nil, never, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("reading the answer: %w", err)
	case len(answer) > maxAnswer:
		return nil, never, fmt.Errorf("reading the answer: more than %d bytes", maxAnswer)
	case resp.StatusCode == http.StatusOK:
		return answer, 0, nil
	}
	return nil, retryAfter(resp), refusal(resp, answer)
}

// newRequest makes the HTTP request of a call.
func (c *Client) newRequest(ctx context.Context, r request, body []byte) (*http.Request, error) {
	u := c.base + r.path
	if r.values != nil {
		u += "?" + r.values.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.headers)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	return req, nil
}

// refusal reads a problem document, or makes one from the status if the answer is none.
func refusal(resp *http.Response, answer []byte) error {
	e := new(Error)
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if media != "application/problem+json" || e.read(answer) != nil {
		e = &Error{Problem: Problem{Title: http.StatusText(resp.StatusCode)}}
	}
	e.Status, e.RequestID = resp.StatusCode, resp.Header.Get("Request-Id")
	return e
}

// maxRetryAfter is the longest pause that an answer may ask for.
const maxRetryAfter = 60 * time.Second

// retryAfter returns the pause that the header of that name asks for. The daemon sends it when another try is safe and
// may help, and proxies send it with 503. A gateway that had no answer is treated as a network that lost the answer.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode < 400 {
		return never
	}
	if seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(resp.Header.Get("Retry-After")); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	if resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusGatewayTimeout {
		return 0
	}
	return never
}

// pause returns how long to wait after an attempt. It doubles up to Config.MaxPause. Half of it is random, so that
// clients that failed together do not come back together.
func (c *Client) pause(attempt int) time.Duration {
	d := c.cfg.MaxPause
	if attempt < 20 {
		d = min(c.cfg.Pause<<(attempt-1), d)
	}
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return d/2 + time.Duration(binary.LittleEndian.Uint64(b[:])%uint64(d/2+1))
}

// decoded reads the answer to a call. Members of a later contract are skipped.
func decoded[T any](answer []byte, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(answer, v); err != nil {
		return nil, &Fault{What: "it is not what the contract says", Answer: answer, Err: err}
	}
	return v, nil
}
