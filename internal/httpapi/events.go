package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"shuffled/internal/follow"
	"shuffled/internal/ledger"
)

// heartbeat is the longest silence of a stream of events. The credential is checked again
// before each write, so heartbeat also bounds how long a revoked credential is served.
const heartbeat = 5 * time.Second

// follows are the streams of events, each of which waits most of the time.
type follows struct {
	followers  *fairQueue[tokenKey]
	streams    context.Context // of all streams; Drain ends it
	endStreams context.CancelFunc
}

// FollowEvents streams events until the caller leaves, the credential ends or the daemon stops.
func (s *Server) FollowEvents(c *call, params FollowEventsParams) error {
	next, err := c.followsFrom(params.After)
	if err != nil {
		return err
	}
	key := tokenKey{c.ledger.id, c.caller.actor.Credential}
	if !s.followers.tryWithin(key, s.cfg.Limits.TokenFollowers) {
		return s.overloaded(c, refusedFollowers)
	}
	defer s.followers.leave(key)
	if c.computed != nil { // from now on it mostly waits
		c.computed(0)
	}
	s.leave(c)

	ctx, cancel := context.WithCancel(c.whole)
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	follower := c.ledger.Events.Follow(next, c.caller.tables, s.catchUp(c, key))
	defer follower.Close()
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", noStore)
	h.Set("X-Accel-Buffering", "no") // for proxies that would hold events back
	out := stream{http.NewResponseController(c.w), c.w, s.cfg.Limits.WriteTimeout.Duration()}
	if out.ResponseController.SetReadDeadline(time.Time{}) != nil || !out.send(lines(nil, next)) {
		return nil
	}
	for {
		waiting, stop := context.WithTimeout(ctx, heartbeat)
		events, err := follower.Next(waiting)
		idle := waiting.Err() != nil && ctx.Err() == nil
		stop()
		if err != nil && !idle || !s.stillIs(ctx, c) || !out.send(lines(events, follower.Place())) {
			break
		}
	}
	return nil
}

// followsFrom returns the index of the entry that a stream begins with.
func (c *call) followsFrom(after *Index) (uint64, error) {
	field := "after"
	if values := c.r.Header.Values("Last-Event-ID"); len(values) > 0 {
		field = "Last-Event-ID"
		index, err := parseIndex(values[0])
		if err != nil || len(values) > 1 {
			return 0, refuseValue(field, "must be the id of an event: an index in decimal digits")
		}
		after = &index
	}
	size := c.ledger.Log.Live().Size
	switch {
	case after == nil:
		return size, nil
	case *after < size:
		return *after + 1, nil
	}
	// Another daemon may have written it a moment ago.
	if err := c.ledger.Log.ReachEntry(c.r.Context(), *after); err != nil {
		if !errors.Is(err, ledger.ErrNotFound) {
			return 0, err
		}
		return 0, refuseValue(field, fmt.Sprintf("must be the index of an entry, and the ledger has %d entries", size))
	}
	return *after + 1, nil
}

// lines returns events as they are sent. Without events it returns a heartbeat, with the
// index of the last entry that was looked at.
func lines(events []follow.Event, next uint64) []byte {
	var b bytes.Buffer
	for _, e := range events {
		if e.Index != nil {
			b.WriteString("id: " + strconv.FormatUint(*e.Index, 10) + "\n")
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Type, e.JSON())
	}
	if len(events) == 0 {
		fmt.Fprintf(&b, ":\nid: %d\n\n", next-1)
	}
	return b.Bytes()
}

// stream is an answer without an end.
type stream struct {
	*http.ResponseController
	w    http.ResponseWriter
	most time.Duration // that a write may take
}

// send writes b, and reports whether the caller took it in time.
func (s stream) send(b []byte) bool {
	if s.SetWriteDeadline(time.Now().Add(s.most)) != nil {
		return false
	}
	if _, err := s.w.Write(b); err != nil {
		return false
	}
	return s.Flush() == nil
}
