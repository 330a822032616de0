package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/stops"
	"shuffled/internal/term"
	"shuffled/internal/testdb"
)

// clusters are a daemon with a ledger in each of two PostgreSQL clusters.
type clusters struct {
	*production
	in     []*production // whose cluster each ledger is in
	tokens []string
	keys   int
}

var clusterLedgers = []string{"main", "far"}

func newClusters(t *testing.T) *clusters {
	t.Helper()
	if testing.Short() {
		t.Skip("starts and kills two clusters")
	}
	p, far := newProduction(t), newProduction(t)
	c := &clusters{production: p, in: []*production{p, far}}
	for i, name := range clusterLedgers {
		c.in[i].tables()
		p.must("owner", "ledger", "create", "--house", "casino", "--name", name, "--origin", "cards.example.com/"+name,
			"--deals", "signed", "--data", p.dir, "--database", c.in[i].as("shuffled_owner"))
	}
	config := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\ndatabase = %q\ndatabase_password_file = %q\n"+
		"[[ledger]]\nname = \"main\"\n[[ledger]]\nname = \"far\"\ndatabase = %q\ndatabase_password_file = %q\n",
		p.addr, strings.TrimPrefix(p.operator, "http://"), p.dir, p.as("shuffled_writer"), p.path("password"),
		far.as("shuffled_writer"), far.path("password"))
	if err := os.WriteFile(p.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range clusterLedgers {
		c.tokens = append(c.tokens, strings.TrimSpace(p.must("", append([]string{"token", "create", "--role", "dealer",
			"--identity", "dealer"}, c.place(i)...)...)))
	}
	return c
}

// place is where a ledger is, as flags.
func (c *clusters) place(i int) []string {
	return []string{"--config", c.config, "--ledger", clusterLedgers[i]}
}

func (c *clusters) commit(i int) (int, []byte, error) {
	c.keys++
	return c.post("/v1/"+clusterLedgers[i]+"/shuffles", c.tokens[i], fmt.Sprint("key-", c.keys),
		map[string]any{"table": fmt.Sprint("t", c.keys), "deck": "standard-52"})
}

func (c *clusters) goesOn(i int) {
	c.t.Helper()
	if status, body, err := c.commit(i); status != http.StatusOK {
		c.t.Fatalf("%s: %d %s %v", clusterLedgers[i], status, body, err)
	}
}

func (c *clusters) wantFigures(lines ...string) {
	c.t.Helper()
	figures := &daemon{t: c.t, url: c.operator}
	status, text, err := figures.get("/metrics", "")
	for _, line := range lines {
		if status != http.StatusOK || !strings.Contains(string(text), line) {
			c.t.Errorf("no figure %s: %d, %v", line, status, err)
		}
	}
}

// serveWithout starts the daemon while the cluster of a ledger is gone, until the other ledger is served.
func (c *clusters) serveWithout(gone int) {
	c.t.Helper()
	c.in[gone].cluster.Stop(c.t, testdb.Immediate)
	c.launchUntil(c.operator+"/readyz", func(r *http.Response) bool {
		var answer struct {
			Ready   bool
			Reason  string
			Ledgers []struct {
				Name  string
				Ready bool
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || answer.Ready {
			c.t.Fatalf("readiness without the database of %s: %v, %+v", clusterLedgers[gone], err, answer)
		}
		return strings.HasPrefix(answer.Reason, "waiting for the database") &&
			strings.HasSuffix(answer.Reason, string(stops.Unreachable)) && len(answer.Ledgers) == 1 &&
			answer.Ledgers[0].Ready && answer.Ledgers[0].Name == clusterLedgers[1-gone]
	}, []string{"serve", "--config", c.config})
	for range 3 {
		c.goesOn(1 - gone)
	}
	status, body, err := c.commit(gone)
	if status != http.StatusServiceUnavailable || !strings.Contains(string(body), "not_ready") {
		c.t.Errorf("%s, whose database never answered: %d %s %v", clusterLedgers[gone], status, body, err)
	}
	c.wantFigures(fmt.Sprintf("shuffled_ledger_writable{ledger=%q} 0", clusterLedgers[gone]),
		fmt.Sprintf("shuffled_ledger_writable{ledger=%q} 1", clusterLedgers[1-gone]))
}

// TestTwoClusters: one daemon serves a ledger in each of two PostgreSQL clusters. While either is
// gone the ledger in the other goes on, and the one in it does again when it is back.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	c := newClusters(t)
	out := c.must("", "doctor", "--config", c.config)
	if n := strings.Count(out, "rights, guards and durability are as they must be"); n != 2 {
		t.Errorf("doctor looked at %d databases:\n%s", n, out)
	}
	c.serve()
	for gone := range clusterLedgers {
		c.goesOn(0)
		c.goesOn(1)
		c.in[gone].cluster.Stop(t, testdb.Immediate)
		if status, body, err := c.commit(gone); status != http.StatusServiceUnavailable {
			t.Errorf("%s, whose database is gone: %d %s %v", clusterLedgers[gone], status, body, err)
		}
		for range 20 {
			c.goesOn(1 - gone)
		}
		c.in[gone].cluster.Start(t)
		c.waitFor(c.operator+"/healthz", func(*http.Response) bool {
			status, _, _ := c.commit(gone)
			return status == http.StatusOK
		})
	}
	c.wantFigures(`shuffled_store_pool_limit{database="",pool="appends"}`,
		`shuffled_store_pool_limit{database="far",pool="appends"}`)
	for i, name := range clusterLedgers {
		c.must("", append([]string{"audit", "export", "--out", c.path("bundle-" + name)}, c.place(i)...)...)
		c.must("", "audit", "verify", c.path("bundle-"+name), "--key", c.path(name+".vkey"))
	}
}

// TestStartWithoutCluster: a daemon that starts while either of two clusters is gone serves the ledger in the other,
// and the one in it when it is back. It can be stopped before. What then stands in doubt stops it, as at any start.
func TestStartWithoutCluster(t *testing.T) {
	t.Parallel()
	c := newClusters(t)
	for gone := range clusterLedgers {
		c.serveWithout(gone)
		c.in[gone].cluster.Start(t)
		c.waitFor(c.operator+"/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusOK })
		c.goesOn(gone)
		c.wantFigures(fmt.Sprintf("shuffled_ledger_writable{ledger=%q} 1", clusterLedgers[gone]))
		c.stop()
	}
	c.serveWithout(1)
	c.stop()
	c.in[1].cluster.Start(t)

	if err := os.Rename(c.path("far.mark"), c.path("taken")); err != nil {
		t.Fatal(err)
	}
	c.serveWithout(1)
	c.in[1].cluster.Start(t)
	select {
	case <-c.done:
	case <-time.After(stopLimit):
		t.Fatal("a ledger without its mark did not stop the start")
	}
	if code := c.cmd.ProcessState.ExitCode(); code == 0 || !strings.Contains(c.logged(), "act do adopt_head") {
		t.Errorf("a ledger without its mark: exit code %d\n%s", code, c.logged())
	}
}

// TestCommandsFollow: where a configuration says which database a ledger is in, a command needs no
// --database for it; without a ledger it works on every database of the configuration.
func TestCommandsFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	config := fmt.Sprintf("data = %q\n[[ledger]]\nname = \"main\"\n[[ledger]]\nname = \"far\"\ndatabase = %q\n",
		dir, "sqlite:"+at("far.db"))
	if err := os.WriteFile(at("shuffled.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(args ...string) string {
		t.Helper()
		out, errs, code := command(t, append(args, "--config", at("shuffled.toml"))...)
		if code != term.ExitOK {
			t.Fatalf("shuffled %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return out
	}
	if out := must("migrate", "up"); strings.Count(out, "up to date") != 2 || !strings.Contains(out, "far") {
		t.Errorf("the forms of two databases:\n%s", out)
	}
	for _, name := range []string{"main", "far"} {
		must("ledger", "create", "--house", "casino", "--name", name, "--origin", "cards.example.com/"+name)
		of := []string{"--ledger", name}
		must(append([]string{"token", "create", "--role", "dealer", "--identity", "of-" + name}, of...)...)
		if out := must(append([]string{"token", "list"}, of...)...); !strings.Contains(out, "of-"+name) {
			t.Errorf("the tokens of %s:\n%s", name, out)
		}
		must(append([]string{"act", "list"}, of...)...)
		must(append([]string{"audit", "export", "--out", at("bundle-" + name)}, of...)...)
		must(append([]string{"audit", "fsck"}, of...)...)
	}
	for file, only := range map[string]string{"shuffled.db": "main", "far.db": "far"} {
		out := must("ledger", "list", "--json", "--database", "sqlite:"+at(file))
		if strings.Count(out, `"name"`) != 1 || !strings.Contains(out, "cards.example.com/"+only) {
			t.Errorf("the ledgers of %s:\n%s", file, out)
		}
	}
	for _, all := range [][]string{{"ledger", "list"}, {"retention", "run", "--dry-run"}} {
		if out := must(all...); !strings.Contains(out, "main") || !strings.Contains(out, "far") {
			t.Errorf("%s:\n%s", strings.Join(all, " "), out)
		}
	}
	if out, errs, code := command(t, "token", "list", "--ledger", "far", "--config", at("shuffled.toml"),
		"--database", "sqlite:"+at("shuffled.db")); code != term.ExitCannot {
		t.Errorf("--database is passed over: %d\n%s%s", code, out, errs)
	}
	if err := os.Rename(at("far.db"), at("gone.db")); err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]string{{"ledger", "list"}, {"retention", "run"}} {
		out, errs, code := command(t, append(all, "--config", at("shuffled.toml"))...)
		if all[0] == "retention" && !strings.Contains(out, "main") {
			t.Errorf("%s says nothing of the first database: %q", strings.Join(all, " "), out)
		}
		if code != term.ExitCannot || !strings.Contains(errs, at("far.db")+" of ledger far: ") ||
			!strings.Contains(errs, "done before: the embedded store "+at("shuffled.db")) {
			t.Errorf("%s without the second database: %d\n%s", strings.Join(all, " "), code, errs)
		}
	}
}

// TestClockAhead: a start says that this host's clock and the database's are far apart.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, testdb.DSN(t))
	for _, ahead := range []bool{false, true} {
		if ahead {
			d.exec("CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "+
				"'SELECT pg_catalog.clock_timestamp() + interval ''1 hour'''", "DO $$ BEGIN EXECUTE format("+
				"'ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$")
		}
		d.start()
		d.stop()
		if strings.Contains(d.logged(), "set this host's clock and the database's from one time service") != ahead {
			t.Errorf("the database is an hour ahead: %v\n%s", ahead, d.logged())
		}
	}
}
