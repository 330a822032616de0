package client

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	silence      = 20 * time.Second // of a stream of events: a daemon sends something every five seconds
	maxEventLine = 64 << 10         // bytes of a line of a stream
)

// Events yields the events of the ledger, from the entry behind after on, or from now on if after is nil, until ctx is
// over or the daemon refuses. After an interruption and a pause, the stream goes on where it ended, at any daemon that
// answers, so that nothing is left out. The events closing_soon and witnessed may then come again. To go on after a
// restart, keep the index of the last event that has one. Events are the daemon's word and prove nothing: a receipt or
// a transcript proves what they say.
func (c *Client) Events(ctx context.Context, after *uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		failed := 0
		for {
			again, err := c.stream(ctx, &after, func(e Event) bool { failed = 0; return yield(e, nil) })
			failed++
			if again != never {
				err = sleep(ctx, max(again, c.pause(failed)))
			}
			if err != nil {
				yield(Event{}, err)
			}
			if err != nil || again == never {
				return
			}
		}
	}
}

// stream reads one stream until it ends. It reports the shortest pause before the stream may be asked for again, or
// never. It keeps in after the entry up to which events came.
func (c *Client) stream(ctx context.Context, after **uint64, yield func(Event) bool) (again time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	r := request{method: http.MethodGet, path: "/v1/" + url.PathEscape(c.ledger) + "/events"}
	query(&r, "after", *after)
	req, err := c.newRequest(ctx, r, nil)
	if err != nil {
		return never, err
	}
	endless := *c.http // a stream lasts longer than the timeout of a call
	endless.Timeout = 0
	resp, err := endless.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxEventLine))
		return retryAfter(resp), refusal(resp, answer)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEventLine)
	var id *uint64
	var data string
	for lines.Scan() {
		watch.Reset(silence)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			*after = cmp.Or(id, *after)
			if data == "" {
				continue
			}
			var e Event
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return never, &Fault{What: "an event is not what the contract says", Answer: []byte(data), Err: err}
			}
			data = ""
			if !yield(e) {
				return never, nil // the caller wants no more events
			}
		case field == "id":
			index, err := strconv.ParseUint(value, 10, 63)
			if err != nil {
				return never, &Fault{What: "the id of an event is no index", Answer: []byte(lines.Text())}
			}
			id = &index
		case field == "data" && len(data) <= maxEventLine: // the rest of a longer event is not read
			data += value
		}
	}
	return 0, lines.Err()
}
