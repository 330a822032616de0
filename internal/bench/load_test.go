package bench

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// daemon is the real binary, serving a sandbox on a database.
type daemon struct {
	url, token string
}

func startDaemon(t *testing.T, database string) *daemon {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "shuffled")
	if out, err := exec.Command("go", "build", "-o", binary, "shuffled/cmd/shuffled").CombinedOutput(); err != nil {
		t.Fatalf("building the daemon: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	data := filepath.Join(dir, "data")
	cmd := exec.Command(binary, "serve", "--dev", "--data", data, "--listen", addr, "--database", database, "--log-level", "warn")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get("http://" + addr + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the daemon did not get ready:\n%s", log.String())
		}
	}
	token, err := os.ReadFile(filepath.Join(data, "dealer.token"))
	if err != nil {
		t.Fatal(err)
	}
	return &daemon{url: "http://" + addr, token: strings.TrimSpace(string(token))}
}

// result is what a load measured.
type result struct {
	latencies []time.Duration // sorted
	period    time.Duration
}

func (r result) rate() float64 { return float64(len(r.latencies)) / r.period.Seconds() }

// quantile returns a latency in milliseconds.
func (r result) quantile(q float64) float64 {
	return float64(r.latencies[int(q*float64(len(r.latencies)-1))].Microseconds()) / 1000
}

// load commits from so many connections, each waiting for its answer, for a
// period after a second of warming up.
func (d *daemon) load(t *testing.T, connections int, period time.Duration) result {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	start := time.Now().Add(time.Second)
	end := start.Add(period)
	each := make([][]time.Duration, connections)
	var wg sync.WaitGroup
	for c := range connections {
		wg.Go(func() {
			for n := 0; ; n++ {
				before := time.Now()
				if before.After(end) {
					return
				}
				if err := d.commit(client, fmt.Sprintf("table-%d", c), fmt.Sprintf("%d-%d-%d", start.UnixNano(), c, n)); err != nil {
					t.Error(err)
					return
				}
				if before.After(start) {
					each[c] = append(each[c], time.Since(before))
				}
			}
		})
	}
	wg.Wait()
	all := slices.Concat(each...)
	if len(all) == 0 {
		t.Fatal("no commit was acknowledged")
	}
	slices.Sort(all)
	return result{all, period}
}

func (d *daemon) commit(client *http.Client, table, key string) error {
	body := strings.NewReader(`{"table":"` + table + `","deck":"standard-52"}`)
	req, err := http.NewRequest(http.MethodPost, d.url+"/v1/main/shuffles", body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("a commit was refused: %s", answer)
	}
	return err
}
