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
