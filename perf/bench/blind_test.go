package bench

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/testdb"
)

// apart are the round-trip times to the co-dealer, in turn.
var apart = []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond}

// compareBlind: deals of one card, one after another, by the house alone and with its co-dealer at
// some distance. Each is a daemon with its own embedded store; one witness of both is on this host.
func compareBlind(t *testing.T, all *table, binary string) {
	p := startPair(t, binary, false)
	contestants := []func() result{func() result { return p.deals(t, nil, 0) }}
	plan := &client.MixPlan{CoDealer: new(client.MixPlanCoDealerTrue)}
	var dealt uint64
	for _, delay := range apart {
		contestants = append(contestants, func() result {
			r := p.deals(t, plan, delay)
			dealt += r.Acknowledged
			return r
		})
	}
	best := again(contestants)
	rows := []row{best[0].row("the house alone", "/s", 1)}
	for i, delay := range apart {
		r := best[i+1].row(fmt.Sprintf("with a co-dealer, %v away", delay), "/s", 1)
		r.Ratio, r.To = (r.P50-milliseconds(delay))/rows[0].P50, "the house alone, without the round trip (p50)"
		rows = append(rows, r)
	}
	rows = append(rows, row{Name: "calls of the co-dealer", Unit: "a deal",
		Value: float64(p.calls.Load()) / float64(dealt)})
	all.add("Dealing blind, two daemons", "latency is of a deal of one card", rows...)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// pair is a house with the proxy between it and its co-dealer.
type pair struct {
	dir, binary string
	game        *client.Client
	delay       atomic.Int64 // of a round trip
	calls       atomic.Uint64
	counts      bool     // whether its programs are traced
	traced      []string // files of strace, if so
	operators   []string // addresses for operators of house and co-dealer
}

// deals deals hands of 52 cards, one card at a time.
func (p *pair) deals(t *testing.T, plan *client.MixPlan, delay time.Duration) result {
	t.Helper()
	p.delay.Store(int64(delay))
	var times []time.Duration
	var sum time.Duration
	for began := time.Now(); time.Since(began) < *period; {
		s, err := p.game.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: "t-" + client.NewKey()[:23],
			Deck: new("standard-52"), Mix: plan})
		if err == nil {
			err = p.game.Await(t.Context(), s)
		}
		for i := 0; i < 52 && err == nil; i++ {
			at := time.Now()
			_, err = p.game.Deal(t.Context(), s, client.DealRequest{First: i,
				Runs: []client.Run{{Count: 1, Purpose: client.PurposeBoard, Public: new(true)}}})
			times = append(times, time.Since(at))
			sum += times[len(times)-1]
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(times)
	n := len(times)
	return result{PerSecond: float64(n) / sum.Seconds(), Mean: milliseconds(sum) / float64(n),
		P50: milliseconds(times[n/2]), P99: milliseconds(times[n*99/100]), Acknowledged: uint64(n)}
}

// startPair starts a witness, a co-dealer and a house, as docs/operations/blind.md says. If it counts, the syncs of
// all three are counted.
func startPair(t *testing.T, binary string, counts bool) *pair {
	t.Helper()
	p := &pair{dir: t.TempDir(), binary: binary, counts: counts}
	urls, vkeys := make(map[string]string), make(map[string]string)
	for _, in := range []string{"lab", "house"} {
		if err := os.Mkdir(filepath.Join(p.dir, in), 0o700); err != nil {
			t.Fatal(err)
		}
		urls[in] = "http://" + testdb.FreeAddress(t)
		p.run(t, in, "key generate signing --out main.key --origin bench.example.com/"+in)
		p.run(t, in, "key generate sealing --out sealing.key")
		for _, name := range []string{"alice", "bob"} {
			p.run(t, in, "key generate administrator --name "+name+" --out "+name+".key")
		}
		vkeys[in] = p.read(t, in+"/main.vkey")
	}
	p.run(t, "", "key generate witness --name w.example.net/w --out witness.key")
	witness := testdb.FreeAddress(t)
	p.serve(t, "", "http://"+witness, "witness", "serve", "--key", "witness.key", "--state", "witness", "--log",
		vkeys["house"], "--log", vkeys["lab"], "--listen", witness)
	witnesses := fmt.Sprintf("witness w %s http://%s/\nquorum w\n", p.read(t, "witness.vkey"), witness)
	configs := make(map[string]string)
	for _, in := range []string{"lab", "house"} {
		p.write(t, in+"/ledger.policy", witnesses)
		p.write(t, in+"/player.policy", "log "+vkeys[in]+"\n"+witnesses)
		operators := testdb.FreeAddress(t)
		p.operators = append(p.operators, "http://"+operators)
		configs[in] = fmt.Sprintf("data = %q\nlisten = %q\noperator_listen = %q\nlog.level = \"error\"\n"+
			"[[ledger]]\nname = \"main\"\n", filepath.Join(p.dir, in), strings.TrimPrefix(urls[in], "http://"),
			operators)
		p.write(t, in+"/shuffled.toml", configs[in])
		p.run(t, in, "migrate up --data .")
		p.run(t, in, "ledger create --house casino --name main --mix co_dealer --data . --production "+
			"--policy ledger.policy --administrator alice=alice.vkey --administrator bob=bob.vkey --origin bench.example.com/"+in)
	}
	p.write(t, "house/lab.token", p.run(t, "lab", "token create --config shuffled.toml --role blind --identity house"))
	dealer := p.run(t, "house", "token create --config shuffled.toml --role dealer --identity game")
	p.run(t, "house", "act do co_dealer --yes --config shuffled.toml --public ../lab/main.vkey "+
		"--policy ../lab/player.policy --sign alice.key --out pin.act")
	p.run(t, "house", "act sign pin.act --sign bob.key --yes")
	p.run(t, "house", "act submit pin.act --config shuffled.toml")
	p.write(t, "lab/shuffled.toml", configs["lab"]+fmt.Sprintf("houses = [%q]\n",
		filepath.Join(p.dir, "house/player.policy")))
	p.write(t, "house/shuffled.toml", configs["house"]+fmt.Sprintf("co_dealers = [%q]\n",
		"bench.example.com/lab "+p.between(t, urls["lab"])+"/v1/main "+filepath.Join(p.dir, "house/lab.token")))
	for _, in := range []string{"lab", "house"} {
		p.serve(t, in, urls[in]+"/log/main/checkpoint", "serve", "--config", "shuffled.toml")
	}
	var err error
	if p.game, err = client.New(client.Config{URL: urls["house"], Ledger: "main", Token: dealer,
		Policy: p.read(t, "house/player.policy")}); err != nil {
		t.Fatal(err)
	}
	return p
}

// between serves the proxy between house and co-dealer, and counts the calls for deals.
func (p *pair) between(t *testing.T, to string) string {
	address, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	way := httputil.NewSingleHostReverseProxy(address)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/deal") {
			p.calls.Add(1)
		}
		time.Sleep(time.Duration(p.delay.Load()))
		way.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// run runs a command in a directory of the pair, and returns the last line that it
// printed.
func (p *pair) run(t *testing.T, in, line string) string {
	t.Helper()
	cmd := exec.Command(p.binary, strings.Fields(line)...)
	cmd.Dir = filepath.Join(p.dir, in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("shuffled %s: %v\n%s", line, err, err.(*exec.ExitError).Stderr)
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// serve starts a process in a directory of the pair, and waits until it answers.
func (p *pair) serve(t *testing.T, in, until string, args ...string) {
	t.Helper()
	address, err := url.Parse(until)
	if err != nil {
		t.Fatal(err)
	}
	d := &service{url: address.Scheme + "://" + address.Host, dir: filepath.Join(p.dir, in)}
	if p.counts {
		d.traced = filepath.Join(p.dir, fmt.Sprintf("syncs-%d", len(p.traced)))
		p.traced = append(p.traced, d.traced)
	}
	if address.Path != "" {
		d.run(t, p.binary, address.Path, args...)
		return
	}
	d.begin(t, p.binary, args...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address.Host); err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("shuffled %s does not listen", args[0])
		}
	}
}

func (p *pair) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func (p *pair) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
