// Package web holds the pages that the daemon serves. One is the second implementation
// of the verifier, written from docs/SPEC.md alone, which works from disk as well: it is
// made from client/typescript by npm run page, shares no code with the rest of this
// module, and verify.mjs is its command line. The other is the operators' console.
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

// Policy is the Content-Security-Policy to serve Page under: its own, which allows its own
// blocks by their hashes, and no other script or style; but requests to the server that it came
// from only, where a copy from elsewhere may ask the server that a link names; and no frame
// around it, which a page cannot ask for itself.
var Policy = strings.Replace(pagePolicy(), elsewhere, "", 1) + "; frame-ancestors 'none'"

// elsewhere are the servers that a copy of Page may ask alongside its own.
const elsewhere = " https: http://localhost:* http://127.0.0.1:*"

// ETag is the entity tag of Page (RFC 9110 section 8.8.3).
var ETag = pageTag()

// Console is console.html, in UTF-8, for the operators' listener.
//
//go:embed console.html
var Console []byte

// ConsolePolicy is the Content-Security-Policy to serve Console under: it runs its own
// script and no other, and asks the server that it came from and no other; its icon is in it.
// Its bars have heights that the script sets, which no hash covers and no policy forbids.
var ConsolePolicy = "default-src 'none'; connect-src 'self'; img-src data:; script-src " + blockHash("script") +
	"; style-src " + blockHash("style") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// blockHash is the source expression that allows the one block of Console in a tag.
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

func pageTag() string {
	sum := sha256.Sum256(Page)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}
