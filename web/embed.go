// Package web holds the second implementation of the verifier: one page,
// written from docs/SPEC.md alone, that the daemon serves at / and that works
// from disk as well. It is made from client/typescript by npm run page, shares no
// code with the rest of this module, and verify.mjs is its command line.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// Page is verify.html, in UTF-8.
//
//go:embed verify.html
var Page []byte

// Policy is the Content-Security-Policy to serve Page under: its own, which
// allows its own blocks by their hashes, no other script or style, and requests
// to the server that it came from; and no frame around it, which a page cannot
// ask for itself.
var Policy = pagePolicy() + "; frame-ancestors 'none'"

// ETag is the entity tag of Page (RFC 9110 section 8.8.3).
var ETag = pageTag()

func pagePolicy() string {
	_, rest, _ := bytes.Cut(Page, []byte(`<meta http-equiv="Content-Security-Policy" content="`))
	policy, _, ok := bytes.Cut(rest, []byte(`">`))
	if !ok {
		panic("web: verify.html has no policy")
	}
	return string(policy)
}

func pageTag() string {
	sum := sha256.Sum256(Page)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}
