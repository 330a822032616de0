package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/perf/load"
)

// bundlePath is the entry bundle that strangers request.
const bundlePath = "/log/main/tile/entries/000"

// compareStrangers deals hands under the default limits, alone and while strangers
// read a large entry bundle, on both stores.
func compareStrangers(t *testing.T, all *table, s *server, binary string) {
	for _, store := range []string{"PostgreSQL", "SQLite"} {
		database := ""
		if store == "PostgreSQL" {
			database = s.Database(t)
		}
		d := startDaemonOn(t, s, binary, database)
		d.underDefaultLimits(t, binary, "")
		bundle := d.fillBundle(t)
		var contestants []func() result
		var read [3]atomic.Int64
		crowds := []int{0, 16, 64}
		for i, strangers := range crowds {
			contestants = append(contestants, func() result {
				stop := d.besiege(t, strangers, &read[i])
				defer stop()
				return d.hands(t, 1)
			})
		}
		best := again(contestants)
		var rows []row
		for i, strangers := range crowds {
			r := best[i].row(fmt.Sprintf("hands, %d strangers reading", strangers), "hands/s", 1)
			if i > 0 {
				r.Ratio, r.To = best[i].P99/best[0].P99, fmt.Sprintf("the p99 of none (%.0f answers/s to strangers)",
					float64(read[i].Load())/(float64(*rounds)*(*period*6/5).Seconds()))
			}
			rows = append(rows, r)
		}
		all.add("Dealing while strangers read, "+store,
			fmt.Sprintf("a bundle of %.1f MB; latency is of the whole hand", float64(bundle)/1e6), rows...)
		d.stop()
	}
}

// hands deals one hand after another on this many connections.
func (d *service) hands(t *testing.T, connections int) result {
	t.Helper()
	r, err := load.Run(context.Background(), load.Config{
		URL: d.url, Ledger: "main", Token: d.token, Keys: []note.Verifier{d.key}, Connections: connections,
		Warmup: *period / 5, Duration: *period,
		Mix: load.Mix{load.Hand: 1}, Batch: 1, Deck: "standard-52", Tables: "t-" + client.NewKey()[:23], Keep: 16 << 20,
		Timeout: 30 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Refused) > 0 || r.Errors > 0 {
		t.Logf("refused while dealing: %v, %d errors", r.Refused, r.Errors)
	}
	l := r.LatencyMS["hand"]
	return result{PerSecond: r.PerSecond / 6, Mean: l.Mean, P50: l.P50, P99: l.P99}
}

// underDefaultLimits starts the daemon again on the state of the sandbox, with the
// default limits, which a sandbox does not have, except for those in more.
func (d *service) underDefaultLimits(t *testing.T, binary, more string) {
	t.Helper()
	d.stop()
	path := filepath.Join(d.data, "shuffled.toml")
	text := fmt.Sprintf("data = %q\nlisten = %q\noperator_listen = \"\"\n[log]\nlevel = \"error\"\n%s[[ledger]]\nname = \"main\"\n",
		d.data, strings.TrimPrefix(d.url, "http://"), more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--config", path}
	if d.database != "" {
		args = append(args, "--database", d.asWriter(t)) // with its password
	}
	d.run(t, binary, "/log/main/checkpoint", args...)
}

// asWriter returns the address of the database for a role that is no superuser,
// because a daemon outside a sandbox refuses a superuser.
func (d *service) asWriter(t *testing.T) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, sql := range []string{"DO 'BEGIN CREATE ROLE bench_writer LOGIN PASSWORD ''writer''; " +
		"EXCEPTION WHEN duplicate_object THEN NULL; END'", // of an earlier section
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO bench_writer"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	address, err := url.Parse(d.database)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("bench_writer", "writer")
	return address.String()
}

// fillBundle fills the ledger's first bundle with closes of large decks, and returns
// its size in bytes.
func (d *service) fillBundle(t *testing.T) int {
	t.Helper()
	for i := range 160 {
		answer := d.post(t, "/v1/main/draws", fmt.Sprintf("fill-%d", i),
			fmt.Sprintf(`{"table":"fill-%d","numbers":{"of":3500,"take":3500}}`, i))
		var drawn struct {
			ID json.Number `json:"id"`
		}
		if err := json.Unmarshal(answer, &drawn); err != nil {
			t.Fatal(err)
		}
		d.post(t, "/v1/main/shuffles/"+drawn.ID.String()+"/close", "", `{"outcome":"void","reason":"misdeal"}`)
	}
	resp, err := http.Get(d.url + bundlePath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	bundle, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || len(bundle) < 1<<20 {
		t.Fatalf("the bundle: %s, %v, %d bytes", resp.Status, err, len(bundle))
	}
	return len(bundle)
}

func (d *service) post(t *testing.T, path, key, body string) []byte {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, d.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", path, resp.Status, err, answer)
	}
	return answer
}

// besiege lets this many strangers, each with its own address, request the bundle
// repeatedly on new connections, on which they read 64 bytes. Answered counts the
// answers that had the bundle. The strangers end with stop.
func (d *service) besiege(t *testing.T, strangers int, answered *atomic.Int64) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	addr := strings.TrimPrefix(d.url, "http://")
	for i := range strangers {
		group.Go(func() {
			from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}, Timeout: time.Second}
			head := make([]byte, 64)
			for ctx.Err() == nil {
				conn, err := from.DialContext(ctx, "tcp", addr)
				if err != nil {
					continue
				}
				conn.SetDeadline(time.Now().Add(5 * time.Second))
				fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: shuffled\r\n\r\n", bundlePath)
				if _, err := io.ReadFull(conn, head); err == nil && bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
					answered.Add(1)
				}
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			}
		})
	}
	return func() { cancel(); group.Wait() }
}
