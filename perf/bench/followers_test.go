package bench

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	streams   = 128
	behind    = 15_000 // entries that a stream begins with
	perUpload = 1000
)

// compareFollowers deals hands alone, and while 128 streams of one token follow the ledger from its first entry and
// read nothing, on both stores. The limit of streams of one token is raised for that.
func compareFollowers(t *testing.T, all *table, s *server, binary string) {
	for _, store := range []string{"PostgreSQL", "SQLite"} {
		database := ""
		if store == "PostgreSQL" {
			database = s.Database(t)
		}
		d := startDaemonOn(t, s, binary, database)
		d.underDefaultLimits(t, binary, fmt.Sprintf("[limits]\ntoken_followers = %d\n", streams))
		d.commitMany(t, behind)
		auditor, err := os.ReadFile(filepath.Join(d.data, "auditor.token"))
		if err != nil {
			t.Fatal(err)
		}
		var contestants []func() result
		for _, n := range []int{0, streams} {
			contestants = append(contestants, func() result {
				defer d.follow(t, n, strings.TrimSpace(string(auditor)))()
				return d.hands(t, 1)
			})
		}
		best := again(contestants)
		alone, followed := best[0].row("hands, nobody follows", "hands/s", 1),
			best[1].row(fmt.Sprintf("hands, %d streams from entry 0", streams), "hands/s", 1)
		followed.Ratio, followed.To = best[1].P50/best[0].P50, "the p50 of none"
		all.add("Dealing while streams of events catch up, "+store,
			fmt.Sprintf("a ledger of %d entries; latency is of the whole hand", behind), alone, followed)
		d.stop()
	}
}

// commitMany commits to so many shuffles.
func (d *service) commitMany(t *testing.T, n int) {
	t.Helper()
	for first := 0; first < n; first += perUpload {
		var ops []string
		for i := first; i < min(n, first+perUpload); i++ {
			ops = append(ops, fmt.Sprintf(
				`{"op":"shuffle","key":"behind-%d","body":{"table":"behind-%d","deck":"standard-52"}}`, i, i))
		}
		d.post(t, "/v1/main/batch", "", `{"operations":[`+strings.Join(ops, ",")+`]}`)
	}
}

// follow opens streams of events from the first entry on, and reads nothing of them until stop is called.
func (d *service) follow(t *testing.T, n int, token string) (stop func()) {
	t.Helper()
	var all []net.Conn
	for range n {
		conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /v1/main/events?after=0 HTTP/1.1\r\nHost: shuffled\r\nAuthorization: Bearer %s\r\n\r\n", token)
		head := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 200" {
			t.Fatalf("a stream of events: %s, %v", head, err)
		}
		all = append(all, conn)
	}
	return func() {
		for _, conn := range all {
			conn.Close()
		}
	}
}
