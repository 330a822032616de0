package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// document is the contract, loaded once.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	for _, media := range []string{"application/yaml", "text/html"} {
		openapi3filter.RegisterBodyDecoder(media,
			func(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
				b, err := io.ReadAll(body)
				return string(b), err
			})
	}
	return openapi3.NewLoader().LoadFromData(contract)
})

func loadContract(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := document()
	must(t, err)
	return doc
}

// find returns the operation of a request, or nil. Of several paths that fit the
// one with the fewest parameters counts, as in OpenAPI, and of those the longest.
func find(doc *openapi3.T, method, path string) (*routers.Route, map[string]string) {
	var best *routers.Route
	var bestParams map[string]string
	for template, item := range doc.Paths.Map() {
		op := item.GetOperation(method)
		if op == nil && method == http.MethodHead {
			op = item.Get
		}
		if op == nil {
			continue
		}
		params, ok := match(template, path)
		if ok && (best == nil || len(params) < len(bestParams) || len(params) == len(bestParams) &&
			len(template) > len(best.Path)) {
			best = &routers.Route{Spec: doc, Path: template, PathItem: item, Method: method, Operation: op}
			bestParams = params
		}
	}
	return best, bestParams
}

var braces = regexp.MustCompile(`\\\{(\w+)\\\}`)

func match(template, path string) (map[string]string, bool) {
	pattern := braces.ReplaceAllStringFunc(regexp.QuoteMeta(template), func(s string) string {
		name := s[2 : len(s)-2]
		if name == "tile" {
			return "(?P<tile>.+)"
		}
		return "(?P<" + name + ">[^/]+)"
	})
	re := regexp.MustCompile("^" + pattern + "$")
	m := re.FindStringSubmatch(path)
	if m == nil {
		return nil, false
	}
	params := make(map[string]string)
	for i, name := range re.SubexpNames() {
		if name != "" {
			params[name] = m[i]
		}
	}
	return params, true
}

// checkContract holds an answer against the contract, and a request that was
// accepted too: what the server takes, the contract must allow.
func checkContract(t testing.TB, a ask, got answer) {
	t.Helper()
	doc := loadContract(t)
	u, err := url.Parse("http://daemon" + a.path)
	must(t, err)
	route, params := find(doc, a.method, u.Path)
	if route == nil {
		checkProblem(t, doc, a, got)
		return
	}
	req := a.request(t, "http://daemon")
	input := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, QueryParams: u.Query(), Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if got.status == http.StatusOK && route.Path != "/v1/verify" { // which judges anything
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			t.Errorf("%s %s was accepted against the contract: %v", a.method, a.path, err)
		}
	}
	if a.method == http.MethodHead {
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: got.status, Header: got.header,
		Body:    io.NopCloser(bytes.NewReader(got.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: %d: %v\n%s", a.method, a.path, got.status, err, cut(got.body))
	}
	checkHeaders(t, a, got)
}

// checkProblem checks the answer to an address or method that is not in the contract.
func checkProblem(t testing.TB, doc *openapi3.T, a ask, got answer) {
	t.Helper()
	if media := got.header.Get("Content-Type"); media != "application/problem+json" {
		t.Errorf("%s %s: %d %s", a.method, a.path, got.status, media)
		return
	}
	if a.method == http.MethodHead {
		return
	}
	schema := doc.Components.Schemas["Problem"].Value
	if err := schema.VisitJSON(decodeAny(t, got.body), openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s %s: %v\n%s", a.method, a.path, err, cut(got.body))
	}
	checkHeaders(t, a, got)
}

// sentence is one that stands by itself: a capital or a name in quotes, and a full stop.
var (
	sentences = regexp.MustCompile(`^["A-Z0-9].*\.$`)
	machine   = regexp.MustCompile(`\b\d+ ?ms\b|\d{13}|\b(u?int\d*|float64|bool|struct|httpapi)\b|\.\.$`)
)

// checkSentences checks the words of a problem, of every one that any test of the API meets.
func checkSentences(t testing.TB, detail string) {
	t.Helper()
	detail, _, _ = strings.Cut(detail, " The value sent is ")
	if !sentences.MatchString(detail) || machine.MatchString(detail) {
		t.Errorf("no whole sentence for people: %s", detail)
	}
}

// checkHeaders checks what every answer has, and every problem.
func checkHeaders(t testing.TB, a ask, got answer) {
	t.Helper()
	if got.header.Get("Request-Id") == "" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
		got.header.Get("Cache-Control") == "" {
		t.Errorf("%s %s: headers %v", a.method, a.path, got.header)
	}
	if !strings.HasPrefix(got.header.Get("Content-Type"), "application/problem+json") {
		if got.status >= 400 && got.status != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d without a problem document", a.method, a.path, got.status)
		}
		return
	}
	p := got.problem(t)
	if p.Status != got.status || problems[p.Code].Status != got.status || problems[p.Code].Title != p.Title {
		t.Errorf("%s %s: %d with %+v", a.method, a.path, got.status, p)
	}
	checkSentences(t, value(p.Detail))
	if retry := got.header.Get("Retry-After") != ""; retry != problems[p.Code].Retry {
		t.Errorf("%s %s: %s with Retry-After %t", a.method, a.path, p.Code, retry)
	}
	if strings.Contains(string(got.body), a.token) && a.token != "" {
		t.Errorf("%s %s: the token is in the answer", a.method, a.path)
	}
}

func cut(b []byte) []byte { return b[:min(len(b), 600)] }
