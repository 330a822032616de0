package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
)

// TestDatabaseOfLedger: SHUFFLED_DATABASE stands for the daemon's database and no ledger's own;
// --database with another one stands for every ledger's.
func TestDatabaseOfLedger(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shuffled.toml")
	text := "[[ledger]]\nname = \"main\"\n[[ledger]]\nname = \"far\"\ndatabase = \"sqlite:/far.db\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHUFFLED_DATABASE", "sqlite:/env.db")
	for _, c := range []struct {
		flag, main, far string
		databases       int
	}{
		{"sqlite:/env.db", "sqlite:/env.db", "sqlite:/far.db", 2},
		{"sqlite:/flag.db", "sqlite:/flag.db", "sqlite:/flag.db", 1},
	} {
		p := Flags{Config: file, Database: c.flag}
		for name, want := range map[string]string{"main": c.main, "far": c.far} {
			if cfg, err := p.LoadOf(name); err != nil || cfg.Database != want {
				t.Errorf("--database %s, ledger %s: %+v, %v", c.flag, name, cfg, err)
			}
		}
		if all, err := p.LoadEach(); err != nil || len(all) != c.databases {
			t.Errorf("--database %s: %d databases, %v", c.flag, len(all), err)
		}
	}
}

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
		err := mayAsk(hosts, first, trust.Witness{Name: "w", URL: url})
		if (err == nil) != may || err != nil && strings.Contains(err.Error(), "word@") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := mayAsk(hosts, &audit.Genesis{}, trust.Witness{URL: "https://genesis.example.org:7443"}); err == nil {
		t.Error("a ledger that was created without witnesses names no host")
	}
}
