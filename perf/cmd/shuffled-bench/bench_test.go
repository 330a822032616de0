package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term"
	"shuffled/internal/term/termtest"
	"shuffled/perf/load"
)

// bench runs the command against a sandbox and returns its exit code and output.
func (d *daemon) bench(args ...string) (code int, stdout, stderr string) {
	d.t.Helper()
	args = append([]string{"bench", "--url", d.url, "--key", filepath.Join(d.data, "main.vkey"),
		"--token-file", filepath.Join(d.data, "dealer.token"), "--duration", "1s", "--warm-up", "0s", "--connections",
		"4"}, args...)
	var out, errs bytes.Buffer
	cmd := exec.Command(termtest.Path(d.t, "shuffled"), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// report is bench with --json, which succeeds.
func (d *daemon) report(args ...string) (r load.Report) {
	d.t.Helper()
	code, out, errs := d.bench(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &r); code != term.ExitOK || err != nil {
		d.t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	return r
}

// TestBench loads a sandbox in every possible way: all acknowledged answers are
// proved, and nothing was refused for good.
func TestBench(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	for name, c := range map[string]struct {
		args  []string
		kinds string
	}{
		"commits": {[]string{}, "commit"},
		"batches": {[]string{"--batch", "16"}, "commit"},
		"hands":   {[]string{"--mix", "hand=1"}, "close commit deal hand"},
		"everything": {[]string{"--mix", "commit=2,deal=5,close=2,verify=1,hand=1"},
			"close commit deal hand verify"},
		"batches of hands": {[]string{"--batch", "3", "--mix", "hand=1"}, "hand"},
		"at a rate":        {[]string{"--rate", "50"}, "commit"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "everything" {
				t.Skip("each way takes a second")
			}
			r := d.report(c.args...)
			v := r.Verified
			delete(r.Refused, "overloaded") // few verifications are admitted at a time
			if len(r.Refused) != 0 || r.Errors != 0 || r.GivenUp != 0 || v.Failed != 0 || v.Answers == 0 ||
				uint64(v.Answers) != v.Of || v.Checkpoints == 0 {
				t.Errorf("%+v", r)
			}
			if plays := strings.Contains(c.kinds, "deal") || name == "batches of hands"; (v.Cards > 0) != plays ||
				(v.Tapes > 0) != plays {
				t.Errorf("%d cards and %d tapes verified of %s", v.Cards, v.Tapes, c.kinds)
			}
			var kinds []string
			for _, k := range []string{"close", "commit", "deal", "hand", "verify"} {
				if l, ok := r.LatencyMS[k]; ok && l.P50 > 0 && l.P50 <= l.P99 && l.P99 <= l.Max {
					kinds = append(kinds, k)
				}
			}
			if strings.Join(kinds, " ") != c.kinds {
				t.Errorf("it did %v", kinds)
			}
			if name == "batches" && (v.Entries != 16*v.Answers || r.Shuffles != 16*r.PerSecond) {
				t.Errorf("batches: %+v", r)
			}
			if name == "at a rate" && (r.LateMS.Count == 0 || r.LatencyMS["commit"].Count+r.Unsent != 50) {
				t.Errorf("at a rate: %+v", r)
			}
		})
	}
	// Little memory: a stated sample.
	r := d.report("--keep", "1", "--batch", "128", "--connections", "2")
	if v := r.Verified; v.Of > 8 && uint64(v.Answers) >= v.Of || v.Failed != 0 || v.Answers == 0 {
		t.Errorf("%+v", v)
	}
	code, out, errs := d.bench("--mix", "hand=1,verify=1", "--duration", "3s")
	if code != term.ExitOK ||
		!regexp.MustCompile(`(?m)^  verified +all [0-9,]+ answers: [0-9,]+ entries under [0-9,]+ checkpoints, signed and included; [0-9,]+ cards open their deck roots; [0-9,]+ tapes lead to theirs$`).MatchString(out) ||
		!regexp.MustCompile(`(?m)^ +[0-9]+ s  +[0-9,]+/s  p50 +[0-9.]+ ms  p99 +[0-9.]+ ms`).MatchString(errs) {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// TestBenchScript tests the command line of bench, above all its errors.
func TestBenchScript(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	testscript.Run(t, testscript.Params{
		Files:               []string{filepath.Join("testdata", "bench.txtar")},
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for _, v := range d.environment() {
				name, value, _ := strings.Cut(v, "=")
				env.Setenv(name, value)
			}
			env.Setenv("AUDITOR", filepath.Join(d.data, "auditor.token"))
			env.Setenv("TOKENS", d.data)
			return nil
		},
		Cmds: termtest.Commands(),
	})
}

// TestBenchLies puts a proxy before the daemon that changes one answer in 20. These
// answers are not proved, and the load fails.
func TestBenchLies(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	honest, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(answer []byte, before [][]byte) []byte
		says  string
		of    string // the request on a shuffle; empty: commits
	}{
		"a byte of the entry": {func(b []byte, _ [][]byte) []byte { return flip(b, `extra `, 12) }, "proof", ""},
		"a byte of the signature": {func(b []byte,
			_ [][]byte) []byte {
			return flip(b, `\n— sandbox.localhost/main `, 20)
		},
			"not signed by the ledger's key", ""},
		"a hash of the proof": {func(b []byte, _ [][]byte) []byte { return flip(b, `index `, 14) }, "proof", ""},
		"the deck root": {func(b []byte, _ [][]byte) []byte { return flip(b, `"deck_root":"`, 4) },
			"another commitment or deck root", ""},
		"the id": {func(b []byte,
			_ [][]byte) []byte {
			return bytes.Replace(b, []byte(`"id":`), []byte(`"id":1`), 1)
		}, "receipt of entry", ""},
		"no receipt": {func(b []byte, _ [][]byte) []byte { return []byte(`{"id":7}`) }, "malformed receipt",
			""},
		"no JSON": {func(b []byte, _ [][]byte) []byte { return b[:len(b)/2] },
			"not what the contract says", ""},
		"another one's answer": {func(_ []byte, before [][]byte) []byte { return before[0] },
			"two requests|not asked for", ""},

		"the value of a card": {func(b []byte,
			_ [][]byte) []byte {
			return bytes.Replace(b, []byte(`"value":`), []byte(`"value":1`), 1)
		}, "of the deck|does not lead to the deck root", "/deal"},
		"the salt of a card": {func(b []byte, _ [][]byte) []byte { return flip(b, `"salt":"`, 4) },
			"does not lead to the deck root", "/deal"},
		"an older deal": {func(_ []byte, before [][]byte) []byte { return before[0] },
			"two requests|not asked for", "/deal"},
		"a card withheld": {func(b []byte,
			_ [][]byte) []byte {
			return bytes.Replace(b, []byte(`"cards":`), []byte(`"kept":`), 1)
		}, "place 4 of shuffle [0-9]+ is not opened", "/deal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := httptest.NewServer(liar(honest, cmp.Or(c.of, "/shuffles"), c.spoil))
			defer proxy.Close()
			lied := *d
			lied.t, lied.url = t, proxy.URL
			args := []string{"--connections", "1", "--duration", "3s", "--json"}
			if c.of != "" {
				args = append(args, "--mix", "commit=1,deal=4")
			}
			code, out, errs := lied.bench(args...)
			var r load.Report
			if err := json.Unmarshal([]byte(out), &r); err != nil || code != term.ExitFails {
				t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
			}
			v := r.Verified
			// If an answer is given twice, the first one fails too.
			if v.Failed == 0 || v.Failed > v.Answers/20+2 || len(v.Faults) == 0 ||
				!regexp.MustCompile(c.says).MatchString(v.Faults[0].What) {
				t.Errorf("%d of %d failed: %+v\n%s", v.Failed, v.Answers, v.Faults, errs)
			}
			if !strings.Contains(errs, "shuffled: error: an acknowledged answer is wrong: ") {
				t.Errorf("it says %s", errs)
			}
		})
	}
}

// flip changes a character of base64, n after a text.
func flip(b []byte, behind string, n int) []byte {
	i := bytes.Index(b, []byte(behind)) + len(behind) + n
	c := byte('A')
	if b[i] == c {
		c = 'B'
	}
	b[i] = c
	return b
}

// liar changes every 20th answer of addresses with this ending, beginning with the
// third.
func liar(honest *url.URL, end string, spoil func(answer []byte, before [][]byte) []byte) http.Handler {
	proxy := httputil.NewSingleHostReverseProxy(honest)
	var before [][]byte // one connection: one at a time
	proxy.ModifyResponse = func(resp *http.Response) error {
		if !strings.HasSuffix(resp.Request.URL.Path, end) {
			return nil
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if before = append(before, bytes.Clone(b)); len(before)%20 == 3 {
			b = spoil(b, before)
		}
		setBody(resp, b)
		return nil
	}
	return proxy
}

// setBody makes b the body of the answer.
func setBody(resp *http.Response, b []byte) {
	resp.Body = io.NopCloser(bytes.NewReader(b))
	resp.ContentLength = int64(len(b))
	resp.Header.Set("Content-Length", strconv.Itoa(len(b)))
}

// TestBenchTurnedAway puts a proxy before the daemon that answers most requests with
// 503: the figures then do not measure the daemon, and the exit code says so.
func TestBenchTurnedAway(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	honest, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(honest)
	for name, c := range map[string]struct {
		served int32 // of each ten
		args   []string
		code   int
		says   string
	}{
		"none": {0, nil, term.ExitCannot, `^nothing was acknowledged: overloaded$`},
		"three in ten": {3, nil, term.ExitCannot,
			`^[0-9]+ requests were refused and 0 failed, and [0-9]+ were acknowledged: overloaded$`},
		"seven in ten":     {7, nil, term.ExitOK, `^$`},
		"three, at a rate": {3, []string{"--rate", "50"}, term.ExitOK, `^$`},
		"none, at a rate":  {0, []string{"--rate", "50"}, term.ExitCannot, `^nothing was acknowledged: overloaded$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/shuffles") || n.Add(1)%10 < c.served {
					proxy.ServeHTTP(w, r)
					return
				}
				w.WriteHeader(http.StatusServiceUnavailable)
				io.WriteString(w, `{"code":"overloaded"}`)
			}))
			defer s.Close()
			turned := *d
			turned.t, turned.url = t, s.URL
			code, out, errs := turned.bench(append(c.args, "--json")...)
			var r load.Report
			if err := json.Unmarshal([]byte(out), &r); err != nil || code != c.code ||
				!regexp.MustCompile(c.says).MatchString(r.Unusable) {
				t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
			}
			told := strings.Contains(errs, "the figures measure nothing: "+r.Unusable)
			if told != (code == term.ExitCannot) {
				t.Errorf("exit %d, and it says %s", code, errs)
			}
			if code, out, _ := turned.bench(c.args...); code != c.code ||
				strings.Contains(out, "\n  unusable      ") != (code == term.ExitCannot) {
				t.Errorf("exit %d: %s", code, out)
			}
		})
	}
}

// TestBenchProduction: a production ledger is loaded only if the flag allows it.
func TestBenchProduction(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	honest, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(honest)
	var commits atomic.Int32
	proxy.ModifyResponse = func(resp *http.Response) error {
		if strings.HasSuffix(resp.Request.URL.Path, "/shuffles") {
			commits.Add(1)
			return nil
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		b = bytes.Replace(b, []byte(`"production":false`), []byte(`"production":true`), 1)
		setBody(resp, b)
		return nil
	}
	s := httptest.NewServer(proxy)
	defer s.Close()
	said := *d
	said.url = s.URL
	if code, _, errs := said.bench(); code != term.ExitUsage ||
		!strings.Contains(errs, "ledger main is for production") || commits.Load() != 0 {
		t.Errorf("exit %d after %d commits: %s", code, commits.Load(), errs)
	}
	if code, _, errs := said.bench("--production"); code != term.ExitOK || commits.Load() == 0 {
		t.Errorf("exit %d after %d commits: %s", code, commits.Load(), errs)
	}
}
