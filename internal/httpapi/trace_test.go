package httpapi

import (
	"net/http"
	"testing"
)

// TestTraceOf: the example of the standard is read, and what has another form is nothing.
func TestTraceOf(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]trace{
		"00-" + id + "-" + span + "-01":              {id: id, span: span},
		"cc-" + id + "-" + span + "-01-what-will-be": {id: id, span: span},
		"00-" + id + "-" + span + "-01-more":         {}, "ff-" + id + "-" + span + "-01": {}, "": {}, "00": {},
		"00-" + id + "-" + span: {}, "00-" + id + "-0000000000000000-01": {},
		"00-00000000000000000000000000000000-" + span + "-01": {}, "00-" + id[1:] + "-" + span + "-01": {},
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01": {}, "00-" + id + "-" + span + "-01\n": {},
	} {
		if got := traceOf(&http.Request{Header: http.Header{"Traceparent": {text}}}); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	both := "00-" + id + "-" + span + "-01"
	if got := traceOf(&http.Request{Header: http.Header{"Traceparent": {both, both}}}); got != (trace{}) {
		t.Errorf("two headers: %+v", got)
	}
	for text, want := range map[string]string{"hand-4711.2_a": "hand-4711.2_a", "a b": "", "é": "", "a\"b": "",
		"0123456789012345678901234567890123456789012345678901234567890123":  "0123456789012345678901234567890123456789012345678901234567890123",
		"01234567890123456789012345678901234567890123456789012345678901234": ""} {
		if got := traceOf(&http.Request{Header: http.Header{"X-Request-Id": {text}}}).caller; got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
