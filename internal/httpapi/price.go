package httpapi

import (
	"net/http"
	"path"
	"strings"
)

// route is an operation of the contract.
type route struct {
	method string
	path   string   // as in the contract
	roles  []string // that may call it; none: all who may read
	scope  string   // x-scope of the contract; "" if the operation is of no ledger
	call   func(*call) error
}

// ofLedger reports whether the path names a ledger.
func (r route) ofLedger() bool { return strings.Contains(r.path, "/{ledger}/") }

// ofShuffle reports whether the path names a shuffle.
func (r route) ofShuffle() bool { return strings.Contains(r.path, "/shuffles/{id}") }

// open reports whether the route is a read of a ledger that asks for no role.
func (r route) open() bool { return r.method == http.MethodGet && len(r.roles) == 0 && r.ofLedger() }

// pattern turns a path of the contract into one of net/http: a tile's path has slashes, and the root is only itself.
func pattern(path string) string {
	if path == "/" {
		return "/{$}"
	}
	return strings.Replace(path, "/{tile}", "/{tile...}", 1)
}

// plainPath reports whether the path has its one spelling: clean and without
// escapes. Any other spelling has no address, whereas net/http would redirect it.
func plainPath(r *http.Request) bool {
	p := r.URL.Path
	return r.URL.RawPath == "" && !strings.Contains(r.URL.EscapedPath(), "%") && p == path.Clean(p) && p[0] == '/'
}

// noRoute is the refusal of an address, or of a method, that mux does not have.
func noRoute(mux *http.ServeMux, r *http.Request) error {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(other); pattern != "/" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		return refuse(CodeNoSuchRoute)
	}
	return &refusal{code: CodeMethodNotAllowed, allow: strings.Join(allow, ", "),
		detail: "this address takes " + strings.Join(allow, ", ") + ", not " + shown(r.Method, "method")}
}

// place is where a request is until its answer is computed.
type place uint8

const (
	noPlace   place = iota // the answer is of no ledger
	workPlace              // one of a ledger; strangers have a share of their own
	readPlace              // and, of all who do not deal, one of readers, who have connections to the store apart
	logPlace               // and one of readers, of all
)

// addressRate is the rate that a request without a credential counts against, of its address.
type addressRate uint8

const (
	noRate     addressRate = iota
	readRate               // a long answer counts as several
	verifyRate             // with a credential, too: no ledger checks it
)

// price is what a request takes. Two things more are alike for all routes: with a credential a request takes one of its
// token's rate, and a stranger in a reader's place the bytes of the answer, of the address and of all strangers.
type price struct {
	place  place
	rate   addressRate
	large  bool     // the body may be as large as evidence, and counts against a quota apart
	routes []string // of the contract
}

// prices are the prices of all routes of the contract: none is served without. Five routes take more by themselves,
// when they know how much: events a stream, a deal one of the places to wait for witnesses, a batch for each operation
// a place and one of the rate, terms the bytes of a new document, of its identity, and verify a place to send evidence
// and one to have it judged.
var prices = []price{
	{noPlace, noRate, false, []string{"GET /", "GET /errors", "GET /openapi.yaml"}},
	{noPlace, verifyRate, true, []string{"POST /v1/verify"}},
	{workPlace, noRate, false, []string{"GET /v1/{ledger}/keys", "GET /v1/{ledger}/decks",
		"GET /log/{ledger}/checkpoint", "POST /v1/{ledger}/shuffles", "POST /v1/{ledger}/shuffles/{id}/mix",
		"POST /v1/{ledger}/shuffles/{id}/deal", "POST /v1/{ledger}/shuffles/{id}/reveal",
		"POST /v1/{ledger}/shuffles/{id}/close", "POST /v1/{ledger}/shuffles/{id}/takeover",
		"POST /v1/{ledger}/shuffles/{id}/statements",
		"POST /v1/{ledger}/batch", "POST /v1/{ledger}/draws", "POST /v1/{ledger}/switches", "POST /v1/{ledger}/tables",
		"POST /v1/{ledger}/credentials", "POST /v1/{ledger}/acts", "PUT /v1/{ledger}/terms"}},
	{readPlace, readRate, false, []string{"GET /v1/{ledger}/shuffles/{id}", "GET /v1/{ledger}/shuffles/{id}/transcript",
		"GET /v1/{ledger}/entries/{index}/receipt", "GET /v1/{ledger}/terms/{hash}", "GET /v1/{ledger}/shuffles",
		"GET /v1/{ledger}/tables", "GET /v1/{ledger}/switches", "GET /v1/{ledger}/credentials", "GET /v1/{ledger}/acts",
		"GET /v1/{ledger}/access", "GET /v1/{ledger}/events"}},
	{logPlace, noRate, false, []string{"GET /log/{ledger}/tile/{tile}", "GET /log/{ledger}/tile/entries/{tile}"}},
}
