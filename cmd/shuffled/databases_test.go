package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"shuffled/internal/testdb"
)

// TestTwoClusters: one daemon serves a ledger in each of two PostgreSQL clusters. While either is
// gone the ledger in the other goes on, and the one in it does again when it is back.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills two clusters")
	}
	p, far := newProduction(t), newProduction(t)
	p.must("", "key", "generate", "sealing", "--out", p.path("sealing.key"))
	ledgers, in := []string{"main", "far"}, []*production{p, far}
	for i, name := range ledgers {
		in[i].psql()
		at := []string{"--data", p.dir, "--database", in[i].as("shuffled_owner")}
		p.must("owner", append([]string{"migrate", "up"}, at...)...)
		in[i].psql()
		p.must("owner", append([]string{"ledger", "create", "--house", "casino", "--name", name, "--origin",
			"cards.example.com/" + name, "--deals", "signed"}, at...)...)
	}
	config := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\ndatabase = %q\ndatabase_password_file = %q\n"+
		"[[ledger]]\nname = \"main\"\n[[ledger]]\nname = \"far\"\ndatabase = %q\ndatabase_password_file = %q\n",
		p.addr, strings.TrimPrefix(p.operator, "http://"), p.dir, p.as("shuffled_writer"), p.path("password"),
		far.as("shuffled_writer"), far.path("password"))
	if err := os.WriteFile(p.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	place := func(i int) []string {
		return []string{"--config", p.config, "--database", in[i].as("shuffled_writer"), "--ledger", ledgers[i]}
	}
	var tokens []string
	for i := range ledgers {
		tokens = append(tokens, strings.TrimSpace(p.must("", append([]string{"token", "create", "--role", "dealer",
			"--identity", "dealer"}, place(i)...)...)))
	}
	out := p.must("", "doctor", "--config", p.config)
	if n := strings.Count(out, "rights, guards and durability are as they must be"); n != 2 {
		t.Errorf("doctor looked at %d databases:\n%s", n, out)
	}
	p.serve()

	keys := 0
	commit := func(ledger int) (int, []byte, error) {
		keys++
		return p.post("/v1/"+ledgers[ledger]+"/shuffles", tokens[ledger], fmt.Sprint("key-", keys),
			map[string]any{"table": fmt.Sprint("t", keys), "deck": "standard-52"})
	}
	goesOn := func(ledger int) {
		t.Helper()
		if status, body, err := commit(ledger); status != http.StatusOK {
			t.Fatalf("%s: %d %s %v", ledgers[ledger], status, body, err)
		}
	}
	for gone := range ledgers {
		goesOn(0)
		goesOn(1)
		in[gone].cluster.Stop(t, testdb.Immediate)
		if status, body, err := commit(gone); status != http.StatusServiceUnavailable {
			t.Errorf("%s, whose database is gone: %d %s %v", ledgers[gone], status, body, err)
		}
		for range 20 {
			goesOn(1 - gone)
		}
		in[gone].cluster.Start(t)
		p.waitFor(p.operator+"/healthz", func(*http.Response) bool {
			status, _, _ := commit(gone)
			return status == http.StatusOK
		})
	}
	figures := &daemon{t: t, url: p.operator}
	status, text, err := figures.get("/metrics", "")
	for _, name := range []string{"", "far"} {
		if line := fmt.Sprintf("shuffled_store_pool_limit{database=%q,pool=\"appends\"}", name); status != http.StatusOK ||
			!strings.Contains(string(text), line) {
			t.Errorf("no figure %s: %d, %v", line, status, err)
		}
	}
	for i, name := range ledgers {
		p.must("", append([]string{"audit", "export", "--out", p.path("bundle-" + name)}, place(i)...)...)
		p.must("", "audit", "verify", p.path("bundle-"+name), "--key", p.path(name+".vkey"))
	}
}
