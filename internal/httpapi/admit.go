package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// call is one request on its way through an operation.
type call struct {
	w      *recorder
	r      *http.Request
	route  route
	price  price
	ledger *served // nil if the path names none
	caller caller
	works  bool // it has a place among those that work on ledgers

	whole    context.Context // of the request, without the time that an answer may take
	computed func(bytes int) // of a reader, until its answer is ready to be sent: told its size
}

// ServeHTTP answers a request to the public listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := s.record(w, r)
	defer s.finish(rec, r)
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	if !plainPath(r) {
		s.fail(rec, r, refuse(CodeNoSuchRoute))
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// serve answers a request whose route was found.
func (s *Server) serve(rec *recorder, r *http.Request, rt route, p price) {
	rec.route = r.Pattern
	if rt.open() && r.Header.Get("Authorization") == "" {
		// A page of another server may read evidence, too (Fetch standard, CORS protocol). Nothing
		// else is shared: before a browser sends a token it asks with OPTIONS, and no route answers that.
		rec.Header().Set("Access-Control-Allow-Origin", "*")
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Limits.RequestTimeout.Duration())
	defer cancel()
	until := rec.start.Add(s.cfg.Limits.Patience.Duration())
	if r.Method != http.MethodPost {
		ctx = ledger.WithFirstPatience(ctx, until)
	} else {
		ctx = ledger.WithPatience(ctx, until)
	}
	c := &call{w: rec, r: r.WithContext(ctx), route: rt, price: p, whole: r.Context()}
	if err := s.answer(c); err != nil {
		s.fail(rec, r, c.explained(err))
	}
}

// answer answers the call, or returns an error and has answered nothing.
func (s *Server) answer(c *call) error {
	release, err := s.limitBody(c)
	if err != nil {
		return err
	}
	defer release()
	if c.price.place == noPlace {
		if !s.rates[c.price.rate].allow(remote(c.r), s.cfg.Now()) {
			return refuse(CodeRateLimited)
		}
		return c.route.call(c)
	}
	if c.ledger, err = s.ledgers.find(c.r.PathValue("ledger")); err != nil {
		return err
	}
	// An anonymous crowd takes no place from callers with a credential.
	if !presents(c.r) && !s.rates[c.price.rate].allow(remote(c.r), s.cfg.Now()) {
		s.metrics.refuse(c.ledger, refusedAddress)
		return refuse(CodeRateLimited)
	}
	if err := s.enter(c, c.w.start); err != nil {
		return err
	}
	defer s.leave(c)
	if from := remote(c.r); !presents(c.r) {
		if !s.strangers.try(from, 1) {
			return s.overloaded(c, refusedReaders)
		}
		defer s.strangers.leave(from)
	}
	if err := s.admit(c); err != nil {
		return err
	}
	return s.work(c)
}

// smallBody is the size in bytes up to which a body of stated length does not count
// against a quota: the number of requests bounds these bodies.
const smallBody = 8 << 10

// errNoRoom: the quota of bytes in memory, of all bodies together, is spent.
var errNoRoom = errors.New("the memory for request bodies is full")

// limitBody bounds the size of the call's body, and counts it against the quota of all
// bodies. The caller calls release at the end of the request.
func (s *Server) limitBody(c *call) (release func(), err error) {
	limit, quota := int64(s.cfg.Limits.MaxBody), &s.bodies
	if c.price.large {
		limit, quota = int64(s.cfg.Limits.MaxVerifyBody), &s.evidence
	}
	if c.r.ContentLength > limit {
		return nil, refuse(CodeBodyTooLarge)
	}
	// net/http closes the connection of a body that is too long, if it can see its own writer.
	c.r.Body = http.MaxBytesReader(c.w.ResponseWriter, c.r.Body, limit)
	if c.r.ContentLength >= 0 && c.r.ContentLength <= smallBody {
		return func() {}, nil
	}
	body := &countedBody{ReadCloser: c.r.Body, quota: quota}
	c.r.Body = body
	return body.release, nil
}

// countedBody is a body that counts against a byte quota: how many bytes of bodies may be in memory at a time. They
// count as they arrive: a body that is only announced takes nothing from others. It belongs to the request's goroutine.
type countedBody struct {
	io.ReadCloser
	quota *atomic.Int64 // bytes that are left
	took  int64
}

// Read reads, and fails with errNoRoom when the quota is spent.
func (m *countedBody) Read(p []byte) (n int, err error) {
	n, err = m.ReadCloser.Read(p)
	m.took += int64(n)
	if m.quota.Add(-int64(n)) < 0 {
		return n, errNoRoom
	}
	return n, err
}

// release gives back what was taken.
func (m *countedBody) release() { m.quota.Add(m.took) }

// queueKey is what shares the places of work. Requests without a credential have a share and a line of their own: a
// caller that reads its answer slowly holds a place, and strangers must not hold those of dealers. Of the strangers of
// one address only half can be at work (readers.strangers).
type queueKey struct {
	ledger   ledger.ID
	stranger bool
}

func (c *call) queueKey() queueKey { return queueKey{c.ledger.id, !presents(c.r)} }

// enter takes a place of work for the call, which leave gives back, or refuses the call.
// It waits for half of the queue deadline. The other half is for the queues that follow:
// if a later queue refused the request, the work done so far would be lost.
func (s *Server) enter(c *call, since time.Time) error {
	if !s.working.enter(c.r.Context(), c.queueKey(), since.Add(s.cfg.Limits.Patience.Duration()/2)) {
		return s.overloaded(c, refusedQueue)
	}
	c.works = true
	return nil
}

// overloaded refuses a call for which there is no place.
func (s *Server) overloaded(c *call, reason string) error {
	s.metrics.refuse(c.ledger, reason)
	c.w.away = true
	return refuse(CodeOverloaded)
}

// leave gives the call's place back, if it has one.
func (s *Server) leave(c *call) {
	if c.works {
		c.works = false
		s.working.leave(c.queueKey())
	}
}

// awaitWitnesses waits, if the ledger deals only from what is cosigned, until the witnesses have cosigned the commit at
// index id. That may take seconds, in which the request does no work: it gives its place to others, and takes one
// again. The dealer asks once more, which then costs nothing. It returns the context in which the request goes on.
func (s *Server) awaitWitnesses(c *call, id uint64) (context.Context, error) {
	ctx, live := c.r.Context(), c.ledger.Log.Live()
	if c.ledger.Log.Genesis().Deals != audit.DealsCosigned || id < live.Cosigned || id >= live.Size {
		return ctx, nil
	}
	if !s.witnessed.try(c.ledger.id, 1) {
		s.metrics.refuse(c.ledger, refusedWitness)
		return ctx, refuse(CodeOverloaded)
	}
	defer s.witnessed.leave(c.ledger.id)
	s.leave(c)
	if err := c.ledger.Dealer.Shuffles().AwaitWitnesses(ctx, id); err != nil {
		return ctx, err
	}
	now := time.Now()
	ctx = ledger.WithPatience(ctx, now.Add(s.cfg.Limits.Patience.Duration()))
	c.r = c.r.WithContext(ctx)
	return ctx, s.enter(c, now)
}

// admit decides who the caller is, how often the caller may ask, and what. A request of a regulator or an administrator
// that is not one too many is on record before anything else is decided, even if it is then refused.
func (s *Server) admit(c *call) (err error) {
	if c.caller, err = s.identify(c.r.Context(), c.ledger, c.r); err != nil {
		if r, ok := errors.AsType[*refusal](err); ok && r.code == CodeRateLimited {
			s.metrics.refuse(c.ledger, refusedUnknown)
		}
		return err
	}
	c.w.actor = c.caller.actor.Credential
	if c.caller.known() && !s.tokenRates.allow(tokenKey{c.ledger.id, c.caller.actor.Credential}, s.cfg.Now()) {
		s.metrics.refuse(c.ledger, refusedToken)
		return refuse(CodeRateLimited) // in front of the record, which is work, and stays
	}
	if c.caller.role == audit.RoleRegulator || c.caller.role == audit.RoleAdmin {
		if err := s.keepAccess(c); err != nil {
			return err
		}
	}
	if err := c.may(c.route.roles...); err != nil {
		return err
	}
	return c.mayScope()
}

// may reports whether the caller has one of the roles; no roles: whether it may read the ledger.
func (c *call) may(roles ...string) error {
	anybody := len(roles) == 0 && c.ledger.public
	switch {
	case !c.caller.known() && !anybody:
		return unauthorized("the request has no credential")
	case c.caller.known() && c.caller.role == 0:
		return c.otherTables()
	case len(roles) > 0 && !slices.Contains(roles, c.caller.role.String()):
		return &refusal{code: CodeForbidden, detail: "this takes the role " + strings.Join(roles, " or ") + ", and " +
			c.caller.actor.Credential + " has the role " + c.caller.role.String()}
	}
	return nil
}

// keepAccess puts the request on record. Without a record there is no answer. Records are written one after the other.
// So few requests may be at this at a time that they hold few places of work, and that an administrator's kill switch
// waits for few.
func (s *Server) keepAccess(c *call) error {
	by := c.caller.actor.Credential
	if !c.ledger.recording.try(by, 1) {
		return s.overloaded(c, refusedRecord)
	}
	defer c.ledger.recording.leave(by)
	err := c.ledger.Access.PutAccess(c.r.Context(), c.ledger.id, ledger.Access{
		Time: s.cfg.Now().UnixMilli(), Request: c.w.id, Token: c.caller.actor.Credential,
		Method: c.r.Method, Path: recordedPath(c.r.URL),
	})
	if err != nil {
		s.metrics.refuse(c.ledger, refusedRecord)
		return &refusal{code: CodeUnavailable, detail: "The access could not be recorded.",
			cause: fmt.Errorf("recording an access: %w", err)}
	}
	return nil
}

// recordedPath is the address as the record has it: printable, cut to its limit, and
// without a query that may hold a token, which does not belong there.
func recordedPath(u *url.URL) string {
	path := u.EscapedPath()
	if at := strings.Index(strings.ToLower(path), "tok_"); at >= 0 {
		path = path[:at] + "withheld"
	}
	if u.RawQuery != "" {
		query, err := url.QueryUnescape(u.RawQuery)
		if err != nil || strings.Contains(strings.ToLower(query), "tok_") {
			path += "?withheld"
		} else {
			path += "?" + u.RawQuery
		}
	}
	path = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, path)
	return path[:min(len(path), ledger.MaxAccessPath)]
}
