package place

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDatabaseOfLedger: SHUFFLED_DATABASE stands for the daemon's database and no ledger's own;
// --database with another one stands for every ledger's.
func TestDatabaseOfLedger(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shuffled.toml")
	text := "[[ledger]]\nname = \"main\"\n[[ledger]]\nname = \"far\"\ndatabase = \"sqlite:/far.db\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(databaseEnv, "sqlite:/env.db")
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
