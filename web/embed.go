// Package web holds the pages that the daemon serves. verify.html is the second implementation of
// the verifier, written from docs/SPEC.md alone. It shares no code with the rest of this module.
// The page also works from disk, and verify.mjs runs its verifier on the command line. npm run page
// makes it from client/typescript. console.html is the operators' console.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

// Page is verify.html, in UTF-8.
//
//go:embed verify.html
var Page []byte

// Policy is the Content-Security-Policy to serve Page under. It is the policy in the page, which
// allows only the page's own script and style blocks, by their hashes, with two differences:
//   - Requests may go only to the server that the page came from. A copy from elsewhere may also
//     ask the server that a link names.
//   - No other page may frame it. A page cannot demand this in its own policy.
var Policy = strings.Replace(pagePolicy(), elsewhere, "", 1) + "; frame-ancestors 'none'"

// elsewhere is the part of the page's policy that allows a copy of Page to ask other servers.
const elsewhere = " https: http://localhost:* http://127.0.0.1:*"

// Console is console.html, in UTF-8, for the operators' listener.
//
//go:embed console.html
var Console []byte

// ConsolePolicy is the Content-Security-Policy to serve Console under. It allows the page's own
// script and style, requests to the server that the page came from, and the icon, which is in the
// page. The script sets the heights of the bars through the DOM, which a policy does not forbid.
var ConsolePolicy = "default-src 'none'; connect-src 'self'; img-src data:; script-src " + blockHash("script") +
	"; style-src " + blockHash("style") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// blockHash returns the source expression that allows the one block of Console with this tag.
func blockHash(tag string) string {
	_, rest, _ := bytes.Cut(Console, []byte("<"+tag+">"))
	block, _, ok := bytes.Cut(rest, []byte("</"+tag+">"))
	if !ok {
		panic("web: console.html has no " + tag)
	}
	sum := sha256.Sum256(block)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func pagePolicy() string {
	_, rest, _ := bytes.Cut(Page, []byte(`<meta http-equiv="Content-Security-Policy" content="`))
	policy, _, ok := bytes.Cut(rest, []byte(`">`))
	if !ok {
		panic("web: verify.html has no policy")
	}
	return string(policy)
}
