package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
)

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
		if strings.Trim(all[0], allowed) == "" {
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
