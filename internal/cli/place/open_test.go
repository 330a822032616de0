package place

import (
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
)

// TestMayAsk: the daemon asks witnesses where an operator said so, and nowhere else.
func TestMayAsk(t *testing.T) {
	t.Parallel()
	key, err := keys.GenerateWitness("w.example.org/1")
	if err != nil {
		t.Fatal(err)
	}
	first := &audit.Genesis{Policy: []byte("witness w " + key.VKey() +
		" https://Genesis.example.org:7443/w1\nquorum w\n")}
	hosts := []string{"plain.example.org", "port.example.org:8080", "[::1]:9"}
	for url, may := range map[string]bool{
		"https://genesis.example.org:7443/other": true, "https://genesis.example.org": false,
		"http://genesis.example.org:22": false,
		"http://plain.example.org/w":    true, "https://PLAIN.example.org/w": true,
		"https://plain.example.org:443": true,
		"http://plain.example.org:443":  false, "http://plain.example.org:17990": false,
		"http://x.plain.example.org":   false,
		"http://port.example.org:8080": true, "https://port.example.org:8080": true, "http://port.example.org": false,
		"http://[::1]:9/": true, "http://127.0.0.1:17990/": false, "http://169.254.169.254/latest": false,
		"https://user:word@plain.example.org": false, "file:///etc/passwd": false, "": false,
		"https://plain.example.org?to=x": false,
	} {
		err := mayAsk(hosts, first, audit.Witness{Name: "w", URL: url})
		if (err == nil) != may || err != nil && strings.Contains(err.Error(), "word@") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := mayAsk(hosts, &audit.Genesis{}, audit.Witness{URL: "https://genesis.example.org:7443"}); err == nil {
		t.Error("a ledger that was created without witnesses names no host")
	}
}
