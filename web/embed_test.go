package web

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

// TestPolicy: the policy allows the page's own blocks and no other.
func TestPolicy(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile(`(?s)<(script|style)[^>]*>(.*?)</(?:script|style)>`).FindAllSubmatch(Page, -1)
	hashes := map[string][]string{}
	for _, b := range blocks {
		sum := sha256.Sum256(b[2])
		hashes[string(b[1])] = append(hashes[string(b[1])], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	if len(hashes["script"]) != 2 || len(hashes["style"]) != 1 {
		t.Fatalf("%d blocks in the page", len(blocks))
	}
	want := "default-src 'none'; connect-src 'self'; img-src data:; script-src " + strings.Join(hashes["script"], " ") +
		"; style-src " + hashes["style"][0] + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if Policy != want {
		t.Errorf("the policy is\n%s\nand should be\n%s", Policy, want)
	}
}
