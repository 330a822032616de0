package monitoring

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

var client = &http.Client{Timeout: 20 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // a certificate of this test

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits until come is true, and fails the test if that takes too long.
func until(t *testing.T, what string, come func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !come(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// start starts a program. It logs to a file, and is ended at the end of the test.
func start(t *testing.T, log string, path string, args ...string) {
	t.Helper()
	f, err := os.Create(log)
	must(t, err)
	defer f.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = f, f
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if text, _ := os.ReadFile(log); t.Failed() {
			t.Logf("%s:\n%.6000s", path, text)
		}
	})
}

// certificate writes a certificate that is valid for 30 days, and its key.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(30 * 24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	for _, f := range []struct {
		name, kind string
		der        []byte
	}{{"server.pem", "CERTIFICATE", der}, {"server.key", "PRIVATE KEY", secret}} {
		text := pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der})
		must(t, os.WriteFile(filepath.Join(dir, f.name), text, 0o600))
	}
	return filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
}

// get decodes the answer of an address, and reports whether there was one.
func get(t *testing.T, address string, answer any) bool {
	t.Helper()
	resp, err := client.Get(address)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK && (answer == nil || json.Unmarshal(b, answer) == nil)
}

// TestDashboard: a Prometheus scrapes two daemons under load: one with TLS and a database with a
// synchronous standby, and one that deals blind. It then answers each query of each panel, and
// computes each alerting rule.
func TestDashboard(t *testing.T) {
	prometheus, err := exec.LookPath("prometheus")
	if err != nil && os.Getenv("SHUFFLED_REQUIRE_PROMETHEUS") == "1" {
		t.Fatal("no prometheus: run scripts/prometheus.sh")
	}
	if err != nil {
		t.Skip("no prometheus: run scripts/prometheus.sh")
	}
	dir := t.TempDir()
	must(t, termtest.Build(dir, "shuffled"))
	primary := testdb.Start(t)
	dsn := primary.Database(t)
	primary.NewStandby(t)
	primary.Synchronous(t, true)
	t.Cleanup(func() { primary.Synchronous(t, false) }) // or its database could not be dropped without the standby

	api, operator, at := testdb.FreeAddress(t), testdb.FreeAddress(t), testdb.FreeAddress(t)
	cert, key := certificate(t, dir)
	config := filepath.Join(dir, "shuffled.toml")
	must(t, os.WriteFile(config, fmt.Appendf(nil, "listen = %q\noperator_listen = %q\ndata = %q\n[tls]\ncert = %q\nkey = %q\n",
		api, operator, filepath.Join(dir, "data"), cert, key), 0o600))
	start(t, filepath.Join(dir, "daemon.log"), filepath.Join(dir, "shuffled"), "serve", "--dev", "--config", config,
		"--operator-listen", operator, "--database", dsn)
	until(t, "the daemon", func() bool { return get(t, "http://"+operator+"/readyz", nil) })
	blindAPI, blindOperator := testdb.FreeAddress(t), testdb.FreeAddress(t)
	start(t, filepath.Join(dir, "blind.log"), filepath.Join(dir, "shuffled"), "serve", "--dev", "--co-dealer",
		"--data", filepath.Join(dir, "blind"), "--listen", blindAPI, "--operator-listen", blindOperator)
	until(t, "the daemon that deals blind", func() bool { return get(t, "http://"+blindOperator+"/readyz", nil) })
	playBoth := func(key string) {
		play(t, "https://"+api, filepath.Join(dir, "data"), key, "")
		play(t, "http://"+blindAPI, filepath.Join(dir, "blind"), key, `,"mix":{"co_dealer":true}`)
	}
	playBoth("before")

	alerts, err := filepath.Abs("../../deploy/alerts.yaml")
	must(t, err)
	scrape := filepath.Join(dir, "prometheus.yml")
	must(t, os.WriteFile(scrape, fmt.Appendf(nil, "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"scrape_configs:\n  - job_name: shuffled\n    static_configs: [{targets: [%q, %q]}]\n", alerts, operator, blindOperator), 0o600))
	start(t, filepath.Join(dir, "prometheus.log"), prometheus, "--config.file="+scrape,
		"--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+at)
	n := 0
	scrapes := func() bool {
		n++
		playBoth(fmt.Sprint(n))
		return answers(t, at, `min(count_over_time(up{job="shuffled"}[5m])) >= 5`)
	}
	until(t, "five scrapes", scrapes)

	text, err := os.ReadFile("../../deploy/grafana.json")
	must(t, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must(t, json.Unmarshal(text, &board))
	queries := 0
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			queries++
			expr := strings.ReplaceAll(q.Expr, "$instance", ".*")
			what := fmt.Sprintf("an answer for panel %q to %s", p.Title, expr)
			until(t, what, func() bool { return answers(t, at, expr) }) // figures of the host come with its second look
		}
	}
	if len(board.Panels) < 10 || queries < 20 {
		t.Errorf("%d panels, %d queries", len(board.Panels), queries)
	}
	if answers(t, at, "shuffled_nothing") {
		t.Error("a figure that there is not has an answer")
	}
	rulesHold(t, at)
}

// play commits to a shuffle, deals and closes, with the dealer's token in the data directory.
func play(t *testing.T, url, data, key, mix string) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(data, "dealer.token"))
	must(t, err)
	post := func(path, body string) (answer struct{ ID uint64 }) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, url+path, bytes.NewReader([]byte(body)))
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		req.Header.Set("Idempotency-Key", key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		must(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode/100 != 2 {
			t.Fatalf("%s: %s %s %v", path, resp.Status, b, err)
		}
		must(t, json.Unmarshal(b, &answer))
		return answer
	}
	id := post("/v1/main/shuffles", `{"table":"table-1","deck":"standard-52"`+mix+`}`).ID
	post(fmt.Sprintf("/v1/main/shuffles/%d/deal", id),
		`{"first":0,"runs":[{"count":1,"purpose":"board","public":true}]}`)
	post(fmt.Sprintf("/v1/main/shuffles/%d/close", id), `{"outcome":"completed"}`)
}

// answers reports whether Prometheus has a value other than NaN for the query.
func answers(t *testing.T, at, query string) bool {
	t.Helper()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if !get(t, "http://"+at+"/api/v1/query?query="+url.QueryEscape(query), &answer) {
		return false
	}
	for _, r := range answer.Data.Result {
		if r.Value[1] != "NaN" {
			return true
		}
	}
	return false
}

// rulesHold checks that each rule is computed without an error, and that none fires for these
// healthy daemons.
func rulesHold(t *testing.T, at string) {
	t.Helper()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, State, LastError string }
			}
		}
	}
	until(t, "the rules", func() bool {
		if !get(t, "http://"+at+"/api/v1/rules", &answer) || len(answer.Data.Groups) != 1 {
			return false
		}
		for _, r := range answer.Data.Groups[0].Rules {
			if r.Health == "unknown" {
				return false
			}
		}
		return true
	})
	for _, r := range answer.Data.Groups[0].Rules {
		if r.Health != "ok" || r.State == "firing" {
			t.Errorf("rule %s: %s, %s %s", r.Name, r.Health, r.State, r.LastError)
		}
	}
	if len(answer.Data.Groups[0].Rules) < 20 {
		t.Errorf("%d rules", len(answer.Data.Groups[0].Rules))
	}
}
