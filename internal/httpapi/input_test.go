package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// badBody is a body that no POST takes. BODY stands for a good one, MEMBER for
// the name of its first member, which is a string where STRING stands.
type badBody struct {
	name string
	make func(good string) string
	code Code
}

// anyBad are wrong whatever the route.
var anyBad = []badBody{
	{"empty", func(string) string { return "" }, CodeInvalidJSON},
	{"space", func(string) string { return " \n\t" }, CodeInvalidJSON},
	{"null", func(string) string { return "null" }, CodeInvalidValue},
	{"array", func(string) string { return "[]" }, CodeInvalidValue},
	{"array around", func(g string) string { return "[" + g + "]" }, CodeInvalidValue},
	{"string", func(string) string { return `"x"` }, CodeInvalidValue},
	{"number", func(string) string { return "1" }, CodeInvalidValue},
	{"true", func(string) string { return "true" }, CodeInvalidValue},
	{"cut short", func(g string) string { return g[:len(g)-1] }, CodeInvalidJSON},
	{"second value", func(g string) string { return g + "{}" }, CodeInvalidJSON},
	{"trailing comma", func(g string) string { return g[:len(g)-1] + ",}" }, CodeInvalidJSON},
	{"trailing letter", func(g string) string { return g + "x" }, CodeInvalidJSON},
	{"trailing NUL", func(g string) string { return g + "\x00" }, CodeInvalidJSON},
	{"byte order mark", func(g string) string { return "\xef\xbb\xbf" + g }, CodeInvalidJSON},
	{"UTF-16", func(g string) string { return strings.ReplaceAll(g, "", "\x00")[1:] }, CodeInvalidJSON},
	{"comment", func(g string) string { return g + "// x" }, CodeInvalidJSON},
	{"single quotes", func(g string) string { return strings.ReplaceAll(g, `"`, `'`) }, CodeInvalidJSON},
	{"unknown member", func(g string) string { return `{"extra":1,` + g[1:] }, CodeUnknownMember},
	{"unknown member last", func(g string) string { return g[:len(g)-1] + `,"extra":{"a":[]}}` }, CodeUnknownMember},
	{"empty member name", func(g string) string { return `{"":1,` + g[1:] }, CodeUnknownMember},
	{"prototype", func(g string) string { return `{"__proto__":{},` + g[1:] }, CodeUnknownMember},
	{"bad UTF-8 in a name", func(g string) string { return "{\"\xff\":1," + g[1:] }, CodeInvalidJSON},
	{"duplicate member", func(g string) string { return g[:len(g)-1] + "," + g[1:] }, CodeDuplicateMember},
	{"duplicate member, escaped", func(g string) string {
		return g[:len(g)-1] + fmt.Sprintf(`,"\u%04x`, g[2]) + g[3:]
	}, CodeDuplicateMember},
	{"other case", func(g string) string { return g[:2] + strings.ToUpper(g[2:3]) + g[3:] }, CodeUnknownMember},
	{"deep array", func(string) string { return strings.Repeat("[", 100_000) }, CodeInvalidValue},
	{"deep object", func(string) string { return strings.Repeat(`{"a":`, 100_000) }, CodeUnknownMember},
	{"huge name", func(string) string { return `{"` + strings.Repeat("a", 900_000) + `":1}` }, CodeUnknownMember},
	{"10 MB", func(g string) string { return strings.Repeat(" ", 10<<20) + g }, CodeBodyTooLarge},
}

// posts are the routes that take a body, each with a good one and bad ones of
// its own: a change in the good one, and the field that is named.
func posts(path string) []struct {
	path, key, good string
	bad             [][3]string // replace, by, field
} {
	return []struct {
		path, key, good string
		bad             [][3]string
	}{
		{"/v1/main/shuffles", "bad", `{"table":"t","deck":"standard-52","take":5,"end_at":4,"disclosure":"public","close_by":"2030-01-02T03:04:05Z","game_ref":"g"}`, [][3]string{
			{`"t"`, `null`, "table"}, {`"t"`, `7`, "table"}, {`"t"`, `""`, "table"}, {`"t"`, `"a b"`, "table"},
			{`"t"`, `"ä"`, "table"},
			{`"t"`, "\"\xff\"", "table"}, {`"t"`, `"\ud800"`, "table"},
			{`"t"`, `"` + strings.Repeat("t", 65) + `"`, "table"}, {`"t"`, `["t"]`, "table"},
			{`"t"`, "\"t\n\"", "table"}, {`"table":"t",`, ``, "table"}, {`"t"`, `"t\u0000"`, "table"},
			{`"standard-52"`, `null`, "deck"}, {`"standard-52"`, `""`, "deck"},
			{`"standard-52"`, `"Standard-52"`, "deck"}, {`"standard-52"`, `52`, "deck"},
			{`"deck":"standard-52",`, ``, "deck"}, {`"take"`, `"cards":["a","b"],"take"`, "deck"},
			{`"deck":"standard-52"`, `"cards":null`, "cards"}, {`"deck":"standard-52"`, `"cards":[]`, "cards"},
			{`"deck":"standard-52"`, `"cards":["a"]`, "cards"},
			{`"deck":"standard-52"`, `"cards":["a",null]`, "cards[1]"},
			{`"deck":"standard-52"`, `"cards":["a",1]`, "cards[1]"},
			{`"deck":"standard-52"`, `"cards":["a",""]`, "cards[1]"},
			{`"deck":"standard-52"`, `"cards":["a","\u0007"]`, "cards"},
			{`"deck":"standard-52"`, `"cards":{"a":1}`, "cards"},
			{`"deck":"standard-52"`, `"cards":["a"` + strings.Repeat(`,"b"`, 4096) + `]`, "cards"},
			{`:5,`, `:null,`, "take"}, {`:5,`, `:0,`, "take"}, {`:5,`, `:-1,`, "take"}, {`:5,`, `:53,`, "take"},
			{`:5,`, `:"5",`, "take"}, {`:5,`, `:5.0,`, "take"}, {`:5,`, `:5e0,`, "take"}, {`:5,`, `:1e999,`, "take"},
			{`:5,`, `:05,`, ""}, {`:5,`, `:+5,`, "take"}, {`:5,`, `:0x5,`, ""}, {`:5,`, `:NaN,`, "take"},
			{`:5,`, `:Infinity,`, "take"}, {`:5,`, `:99999999999999999999,`, "take"}, {`:5,`, `:1_0,`, ""},
			{`:5,`, `:true,`, "take"},
			{`4,`, `null,`, "end_at"}, {`4,`, `0,`, "end_at"}, {`4,`, `6,`, "end_at"}, {`4,`, `"4",`, "end_at"},
			{`4,`, `{},`, "end_at"}, {`4,`, `{"lo":1},`, "end_at"}, {`4,`, `{"lo":3,"hi":2},`, "end_at"},
			{`4,`, `{"lo":1,"hi":6},`, "end_at"}, {`4,`, `{"lo":1,"hi":2,"hi":3},`, "end_at.hi"},
			{`4,`, `{"lo":1,"hi":2,"mid":3},`, "end_at.mid"}, {`4,`, `{"lo":null,"hi":2},`, "end_at"},
			{`4,`, `{"Lo":1,"hi":2},`, "end_at.Lo"}, {`4,`, `[1,2],`, "end_at"}, {`4,`, `4.5,`, "end_at"},
			{`"public"`, `null`, "disclosure"}, {`"public"`, `"Public"`, "disclosure"},
			{`"public"`, `""`, "disclosure"}, {`"public"`, `true`, "disclosure"},
			{`05Z`, `05`, "close_by"}, {`05Z`, `05+00:00`, "close_by"}, {`05Z`, `05.1Z`, "close_by"},
			{`05Z`, `05,123Z`, "close_by"}, {`05Z`, `65Z`, "close_by"}, {`2030-01-02`, `2030-1-2`, "close_by"},
			{`2030-01-02`, `1969-01-02`, "close_by"}, {`2030-01-02`, `2030-02-30`, "close_by"},
			{`"2030-01-02T03:04:05Z"`, `1893553445`, "close_by"}, {`"2030-01-02T03:04:05Z"`, `null`, "close_by"},
			{`05Z`, `05z`, "close_by"},
			{`"g"`, `""`, "game_ref"}, {`"g"`, `"a@b"`, "game_ref"}, {`"g"`, `null`, "game_ref"},
			{`"take"`, `"mix":null,"take"`, "mix"}, {`"take"`, `"parent":null,"take"`, "parent"},
		}},
		{path + "/deal", "", `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1","public":false},{"count":1,"purpose":"burn"}],"close":{"outcome":"void","reason":"misdeal"}}`, [][3]string{
			{`0,`, `null,`, "first"}, {`0,`, `-1,`, "first"}, {`0,`, `"0",`, "first"}, {`0,`, `0.0,`, "first"},
			{`0,`, `4097,`, "first"}, {`"first":0,`, ``, "first"}, {`0,`, `9223372036854775808,`, "first"},
			{`"runs":[`, `"runs":[],"x":[`, "x"}, {`"count":2,`, ``, "runs[0].count"}, {`2,`, `0,`, "runs[0].count"},
			{`2,`, `-2,`, "runs[0].count"}, {`2,`, `4097,`, "runs[0].count"}, {`2,`, `null,`, "runs[0].count"},
			{`2,`, `2,"count":2,`, "runs[0].count"}, {`"burn"`, `"Burn"`, "runs[1].purpose"},
			{`"burn"`, `null`, "runs[1].purpose"}, {`"burn"`, `3`, "runs[1].purpose"},
			{`,"purpose":"burn"`, ``, "runs[1].purpose"},
			{`"seat-1"`, `""`, "runs[0].recipient"}, {`"seat-1"`, `"seat 1"`, "runs[0].recipient"},
			{`"seat-1"`, `null`, "runs[0].recipient"}, {`"recipient":"seat-1",`, ``, "runs[0].recipient"},
			{`"burn"`, `"seat"`, "runs[1].recipient"}, {`false`, `0`, "runs[0].public"},
			{`false`, `"false"`, "runs[0].public"}, {`false`, `null`, "runs[0].public"},
			{`{"count":1,"purpose":"burn"}`, `null`, "runs[1]"}, {`{"count":1,"purpose":"burn"}`, `7`, "runs[1]"},
			{`{"count":1,"purpose":"burn"}`, `{"count":1,"purpose":"burn","note":"x"}`, "runs[1].note"},
			{`"void"`, `"expired"`, "close.outcome"}, {`"void"`, `"continued"`, "close.outcome"},
			{`"void"`, `"VOID"`, "close.outcome"}, {`"void"`, `null`, "close.outcome"},
			{`"outcome":"void",`, ``, "close.outcome"},
			{`"misdeal"`, `"tape_lost"`, "close.reason"}, {`"misdeal"`, `""`, "close.reason"},
			{`"misdeal"`, `"because"`, "close.reason"}, {`,"reason":"misdeal"`, ``, "close.reason"},
			{`"void"`, `"completed"`, "close.reason"},
			{`"close":{"outcome":"void","reason":"misdeal"}`, `"close":null`, "close"},
			{`"close":{"outcome":"void","reason":"misdeal"}`, `"close":"void"`, "close"},
			{`"misdeal"`, `"misdeal","tape":""`, "close.tape"},
		}},
		{path + "/close", "", `{"outcome":"void","reason":"misdeal"}`, [][3]string{
			{`"void"`, `"expired"`, "outcome"}, {`"void"`, `""`, "outcome"}, {`"void"`, `4`, "outcome"},
			{`"void"`, `null`, "outcome"}, {`"outcome":"void",`, ``, "outcome"}, {`"void"`, `"completed"`, "reason"},
			{`"misdeal"`, `null`, "reason"}, {`,"reason":"misdeal"`, ``, "reason"},
			{`"misdeal"`, `"misdeal\u0000"`, "reason"},
		}},
	}
}

// TestBadInput wants a 4xx with the right name for everything that is wrong, and no entry written.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("bad", "bad-0")
	size := s.ledger.Live().Size
	tried := 0
	try := func(name string, a ask, codes string, field string) {
		t.Helper()
		tried++
		a.method, a.token = http.MethodPost, s.dealerToken
		got := s.do(a)
		p := got.problem(t)
		if got.status < 400 || got.status > 499 || !strings.Contains(codes, string(p.Code)) || field != "" &&
			value(p.Field) != field {
			t.Errorf("%s: %s: %d %s %q (%s), not %s %q", a.path, name, got.status, p.Code, value(p.Field),
				value(p.Detail), codes, field)
		}
	}
	for _, post := range posts(path) {
		for _, bad := range anyBad {
			try(bad.name, ask{path: post.path, key: post.key, body: bad.make(post.good)}, string(bad.code), "")
		}
		for _, bad := range post.bad {
			body := strings.Replace(post.good, bad[0], bad[1], 1)
			if body == post.good {
				t.Errorf("%s: %q is not in the good body", post.path, bad[0])
			}
			const codes = "invalid_json invalid_value invalid_request unknown_member duplicate_member"
			try(bad[1], ask{path: post.path, key: post.key, body: body}, codes, bad[2])
		}
		tryHeaders(try, post.path, post.key, post.good)
	}
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written for bad requests", got-size)
	}
	if tried < 200 {
		t.Fatalf("%d bad requests", tried)
	}
	t.Logf("%d bad requests", tried)
	// The good bodies are good, so it was the changes.
	for _, post := range posts(path)[:2] {
		inAnHour := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		if got := s.post(post.path, post.key,
			strings.Replace(post.good, "2030-01-02T03:04:05Z", inAnHour, 1)); got.status != 200 {
			t.Errorf("%s: %d %s", post.path, got.status, cut(got.body))
		}
	}
}

func tryHeaders(try func(string, ask, string, string), path, key, good string) {
	header := func(name string, values ...string) http.Header { return http.Header{name: values} }
	media := string(CodeUnsupportedMediaType)
	for _, v := range []string{"", "text/plain", "application/json; charset=latin1",
		"application/json; charset=utf-8; x=1", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x", "application/JSON/x", "json", "application/json,application/json"} {
		try("content type "+v, ask{path: path, key: key, body: good, header: header("Content-Type", v)}, media,
			"Content-Type")
	}
	try("no content type", ask{path: path, key: key, body: good, header: header("Content-Type")}, media, "Content-Type")
	try("two content types", ask{path: path, key: key, body: good,
		header: header("Content-Type", "application/json", "application/json")}, media, "Content-Type")
	for _, v := range []string{"gzip", "deflate", "br", "identity", ""} {
		try("encoding "+v, ask{path: path, key: key, body: good, header: header("Content-Encoding", v)}, media,
			"Content-Encoding")
	}
	try("endless body", ask{path: path, key: key, body: io.MultiReader(strings.NewReader(good[:1]), endless{})},
		string(CodeBodyTooLarge), "")
	for _, q := range []string{"?x=1", "?recipient=seat-1", "?", "?%zz", "?a;b"} {
		try("query "+q, ask{path: path + q, key: key, body: good}, string(CodeInvalidValue), "")
	}
	if key == "" {
		return
	}
	try("no key", ask{path: path, body: good}, string(CodeIdempotencyKeyMissing), "Idempotency-Key")
	try("two keys", ask{path: path, body: good, header: header("Idempotency-Key", "a", "b")},
		string(CodeIdempotencyKeyMissing), "Idempotency-Key")
	for _, v := range []string{"a b", "ä", strings.Repeat("k", 256), ""} {
		try("key "+v, ask{path: path, body: good, header: header("Idempotency-Key", v)}, string(CodeInvalidValue),
			"Idempotency-Key")
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestBadPaths wants a problem document for every address that is none.
func TestBadPaths(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, good := s.commit("t", "k")
	for path, code := range map[string]Code{
		"/v2":                                    CodeNoSuchRoute,
		"/v1":                                    CodeNoSuchRoute,
		"/v1/":                                   CodeNoSuchRoute,
		"/v1/main":                               CodeNoSuchRoute,
		"/v1/main/nothing":                       CodeNoSuchRoute,
		"/log/main":                              CodeNoSuchRoute,
		"/log/main/":                             CodeNoSuchRoute,
		"/index.html":                            CodeNoSuchRoute,
		"/favicon.ico":                           CodeNoSuchRoute,
		"/healthz":                               CodeNoSuchRoute, // on the operator's listener only
		"/readyz":                                CodeNoSuchRoute,
		"/metrics":                               CodeNoSuchRoute,
		"/debug/pprof/":                          CodeNoSuchRoute,
		"//":                                     CodeNoSuchRoute,
		"//v1/main/keys":                         CodeNoSuchRoute,
		"/v1//keys":                              CodeNoSuchRoute,
		"/v1/main/keys/":                         CodeNoSuchRoute,
		"/v1/main/../main/keys":                  CodeNoSuchRoute,
		"/v1/./main/keys":                        CodeNoSuchRoute,
		"/v1/m%61in/keys":                        CodeNoSuchRoute,
		"/v1/main%2Fkeys":                        CodeNoSuchRoute,
		"/v1/main/keys%00":                       CodeNoSuchRoute,
		good + "/deal/":                          CodeNoSuchRoute,
		good + "/nothing":                        CodeNoSuchRoute,
		"/v1/other/keys":                         CodeNoSuchLedger,
		"/v1/Main/keys":                          CodeNoSuchLedger,
		"/log/other/checkpoint":                  CodeNoSuchLedger,
		"/v1/main/shuffles/99":                   CodeNotFound,
		"/v1/main/shuffles/x":                    CodeInvalidValue,
		"/v1/main/shuffles/-1":                   CodeInvalidValue,
		"/v1/main/shuffles/+2":                   CodeInvalidValue,
		"/v1/main/shuffles/02":                   CodeInvalidValue,
		"/v1/main/shuffles/2.0":                  CodeInvalidValue,
		"/v1/main/shuffles/0x2":                  CodeInvalidValue,
		"/v1/main/shuffles/2e0":                  CodeInvalidValue,
		"/v1/main/shuffles/9007199254740992":     CodeInvalidValue,
		"/v1/main/shuffles/18446744073709551618": CodeInvalidValue,
		"/v1/main/entries/9007199254740991/receipt":  CodeNotFound,
		"/v1/main/entries/00/receipt":                CodeInvalidValue,
		good + "?x":                                  CodeInvalidValue,
		good + "?":                                   CodeInvalidValue,
		good + "/transcript?recipient=":              CodeInvalidValue,
		good + "/transcript?recipient=a&recipient=b": CodeInvalidValue,
		good + "/transcript?recipient=a%20b":         CodeInvalidValue,
		good + "/transcript?Recipient=a":             CodeInvalidValue,
		good + "/transcript?recipient=a&x=1":         CodeInvalidValue,
		good + "/transcript?recipient=a;b":           CodeInvalidValue,
		good + "/transcript?recipient=%ff":           CodeInvalidValue,
	} {
		s.get(path, s.dealerToken).want(t, code, "")
	}
	for _, a := range []ask{
		{method: "DELETE", path: good}, {method: "PUT", path: good + "/deal"},
		{method: "POST", path: "/log/main/checkpoint"}, {method: "POST", path: "/"},
		{method: "OPTIONS", path: "/v1/main/access"},
		{method: "GET", path: good + "/close"}, {method: "PATCH", path: "/openapi.yaml"},
		{method: "get", path: "/v1/main/access"},
		{method: "GET", path: "/v1/verify"}, {method: "PROPFIND", path: "/log/main/checkpoint"},
		{method: "TRACE", path: "/"},
	} {
		got := s.do(a)
		got.want(t, CodeMethodNotAllowed, "")
		if allow := got.header.Get("Allow"); allow != "POST" && allow != "GET, HEAD" {
			t.Errorf("%s %s: allow %q", a.method, a.path, allow)
		}
	}
	for _, a := range []struct{ method, path, allow string }{
		{"PUT", "/v1/main/shuffles", "GET, HEAD, POST"}, {"GET", "/v1/main/terms", "PUT"},
	} {
		got := s.do(ask{method: a.method, path: a.path})
		got.want(t, CodeMethodNotAllowed, "")
		if allow := got.header.Get("Allow"); allow != a.allow {
			t.Errorf("%s %s: allow %q", a.method, a.path, allow)
		}
	}
}

// TestProblemsHoldNoInput wants nothing of a caller in a problem but a clipped name.
func TestProblemsHoldNoInput(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	secret := strings.Repeat("PLANTED", 200)
	for _, body := range []string{`{"table":"` + secret + `"}`, `{"` + secret + `":1}`, `{"table":"t","deck":"` +
		secret + `"}`, `{"table":"t","close_by":"` + secret + `"}`, secret} {
		got := s.post("/v1/main/shuffles", "k", body)
		if n := bytes.Count(got.body, []byte("PLANTED")); got.status/100 != 4 || n > 30 {
			t.Errorf("%d with %d times the input", got.status, n)
		}
	}
	got := s.post("/v1/main/shuffles", "k", "{\"\\u001b[31m\\u202e\":1}")
	if got.want(t, CodeUnknownMember, ""); bytes.ContainsAny(got.body, "\x1b") {
		t.Errorf("%q", got.body)
	}
}
