package httpapi

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// recorder remembers what a request's log line and metrics need. It belongs to the request's goroutine.
type recorder struct {
	http.ResponseWriter
	id     string // names the request in the log and to the caller
	start  time.Time
	route  string // method and pattern; "" for an unknown address
	actor  string // public id of the token, or ""
	status int    // written, 0 before
	body   []byte // of the request, when it was read as JSON
	trace  trace  // of the caller's work, of which this request is a part
	away   bool   // turned away for lack of a place; there may be very many such requests
}

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

// Write counts as status 200 when nothing else was said.
func (r *recorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	return r.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// hsts has browsers use TLS alone for a year (RFC 6797 section 6.1). Names below this one
// are not the daemon's, so it leaves them out.
const hsts = "max-age=31536000"

func (s *Server) record(w http.ResponseWriter, r *http.Request) *recorder {
	rec := &recorder{
		ResponseWriter: w,
		id:             s.epoch + "-" + strconv.FormatUint(s.number.Add(1), 10),
		start:          time.Now(),
		trace:          traceOf(r),
	}
	w.Header().Set("Request-Id", rec.id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.TLS != nil { // over plain HTTP the header means nothing (RFC 6797 section 7.2)
		w.Header().Set("Strict-Transport-Security", hsts)
	}
	return rec
}

// fail answers with the problem document of err and logs what caused it.
func (s *Server) fail(rec *recorder, r *http.Request, err error) {
	e := translate(r.Method, err)
	s.logCause(rec, r, e)
	e.body = rec.body
	if e.code == CodeUnauthorized && r.ProtoMajor == 1 && r.ContentLength != 0 {
		// net/http would wait for the rest of the body. One that is here leaves the connection open.
		_ = http.NewResponseController(rec).SetReadDeadline(time.Now())
	}
	writeProblem(rec, e)
}

// logCause logs why a request, or an operation of it, failed, if that is a fault of this side.
func (s *Server) logCause(rec *recorder, r *http.Request, e *refusal) {
	if e.cause != nil && problems[e.code].Status >= http.StatusInternalServerError {
		level := slog.LevelWarn
		switch e.code {
		case CodeInternal:
			level = slog.LevelError
		case CodeOverloaded:
			level = slog.LevelDebug // there may be very many
		}
		s.cfg.Log.LogAttrs(r.Context(), level, "request failed",
			slog.String("request", rec.id), slog.String("route", rec.route), rec.trace.attr(),
			slog.String("code", string(e.code)), slog.String("error", e.cause.Error()))
	}
}

// finish ends a request: it turns a panic into an answer, counts the request, and writes
// its log line, which has no body, secret, address or query string.
func (s *Server) finish(rec *recorder, r *http.Request) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		// A panic's value may hold anything; its type and place say enough.
		s.cfg.Log.Error("request panicked", "request", rec.id, "route", rec.route,
			"panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		if rec.status == 0 {
			writeProblem(rec, &refusal{code: CodeInternal})
		}
	}
	elapsed := time.Since(rec.start)
	s.metrics.observe(rec.route, rec.status, elapsed)
	level := slog.LevelInfo
	if rec.away {
		level = slog.LevelDebug // metrics count them
	}
	if s.cfg.Log.Enabled(r.Context(), level) {
		s.cfg.Log.LogAttrs(r.Context(), level, "request",
			slog.String("request", rec.id), slog.String("route", rec.route), slog.Int("status", rec.status),
			slog.Duration("duration", elapsed), slog.String("token", rec.actor), rec.trace.attr())
	}
}

// trace names the caller's work of which a request is a part: by the headers traceparent (W3C Trace Context, level 1)
// and X-Request-Id. They go to the log, so that its lines can be found from the caller's log, and have no other effect.
type trace struct {
	id, span string // of traceparent, in lower-case hexadecimal
	caller   string // of X-Request-Id
}

// traceOf reads the headers. A header that does not have its form is ignored.
func traceOf(r *http.Request) (t trace) {
	if all := r.Header["Traceparent"]; len(all) == 1 {
		part := strings.Split(all[0], "-")
		known := len(part) == 4 || len(part) > 4 && part[0] != "00" // later versions may add parts
		known = known && hexadecimal(part[0], 2) && part[0] != "ff" && hexadecimal(part[3], 2)
		if known && hexadecimal(part[1], 32) && hexadecimal(part[2], 16) &&
			strings.Trim(part[1], "0") != "" && strings.Trim(part[2], "0") != "" {
			t.id, t.span = part[1], part[2]
		}
	}
	if all := r.Header["X-Request-Id"]; len(all) == 1 && len(all[0]) <= 64 && all[0] != "" {
		const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
		if strings.Trim(all[0], allowed) == "" && !strings.Contains(all[0], "tok_") { // a token stays out of the log
			t.caller = all[0]
		}
	}
	return t
}

func hexadecimal(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// attr returns the trace as members of a log line.
func (t trace) attr() slog.Attr {
	var all []any
	if t.id != "" {
		all = append(all, slog.String("trace_id", t.id), slog.String("parent_span_id", t.span))
	}
	if t.caller != "" {
		all = append(all, slog.String("caller_request", t.caller))
	}
	return slog.Group("", all...) // inline; an empty group adds nothing
}
