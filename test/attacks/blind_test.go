package attacks

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/witness/witnesstest"
)

var (
	handsPlayed = flag.Int("hands", 192, "blind hands of TestNobodyHoldsTheNextCard on SQLite; a quarter of them on PostgreSQL")
	handsLooks  = flag.Int("looks", 2, "random steps of a hand, of six, after which everything is searched")
	handsSeed   = flag.Uint64("seed", 0, "of what is played; 0: another one each time")
)

const (
	tablesAtOnce = 96 // hands that are at the same step during a search
	handSteps    = 6  // commit, mix, three deals, close
)

// pair is a house and its co-dealer. Each has a daemon, keys, a database and a directory of its
// own; one witness cosigns both ledgers.
type pair struct {
	*house
	lab *house

	mu    sync.Mutex
	heard []byte // in this round: all answers of the house's daemon, and of the co-dealer's to the house's token
	token string // the house's token at the co-dealer
}

func openPair(t *testing.T, postgres bool) *pair {
	t.Helper()
	p := &pair{house: prepare(t, terms{postgres: postgres, production: true, mix: "co_dealer,cut"}),
		lab: prepare(t, terms{postgres: postgres, production: true, origin: "lab.example.org/orders"})}
	w := witnesstest.Start(t, p.vkey, p.lab.vkey)
	for _, h := range []*house{p.house, p.lab} {
		text := fmt.Sprintf("%s\nquorum %s\n", w.PolicyLine, w.Name)
		h.write("ledger.policy", text)
		h.write("player.policy", "log "+h.vkey+"\n"+text)
		h.policy = h.path("ledger.policy")
		h.configure("")
		h.create()
	}
	p.lab.write("houses.policy", p.read("player.policy"))
	p.lab.append(fmt.Sprintf("houses = [%q]\n", p.lab.path("houses.policy")))
	p.token = p.lab.token("blind", "casino")
	p.write("lab.token", p.token)
	p.append(fmt.Sprintf("co_dealers = [%q]\n", p.lab.terms.origin+" "+p.lab.url+"/v1/main "+p.path("lab.token")))
	p.house.house = p.house.token("dealer", "backend")
	config := p.path("shuffled.toml")
	p.must("act", "do", "co_dealer", "--config", config, "--public", p.lab.path("main.vkey"), "--policy",
		p.lab.path("player.policy"), "--every", "--sign", p.path("alice.key"), "--out", p.path("pin.act"), "--yes")
	p.must("act", "sign", p.path("pin.act"), "--sign", p.path("bob.key"), "--yes")
	p.must("act", "submit", p.path("pin.act"), "--config", config)
	p.lab.serve()
	p.serve()
	return p
}

// append adds lines to the ledger's part of the configuration, and sets the log level to debug.
func (h *house) append(lines string) {
	h.t.Helper()
	h.write("shuffled.toml", "log.level = \"debug\"\n"+h.read("shuffled.toml")+"\n"+lines)
}

// TestNobodyHoldsTheNextCard: random hands are dealt blind. After random steps, an attacker with
// root on a host looks through all memory of the daemon, every file, every line of its log, and
// every answer that it gave or can get. The house's host must hold no secret that the co-dealer
// did not open: no tape, no salt and no order of places. The co-dealer's host must hold no card
// and no salt of the house. A single position is one byte, so the search cannot look for it; it
// looks for rows of positions. Sealed tapes are not opened in the search: a host has the sealing
// key of its own tapes only.
func TestNobodyHoldsTheNextCard(t *testing.T) {
	attackAlone(t)
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) {
			p := openPair(t, postgres)
			seed := *handsSeed
			for seed == 0 {
				seed = rand.Uint64()
			}
			t.Logf("-seed %d", seed)
			s := newSearch(p)
			n := *handsPlayed
			if postgres {
				n = (n + 3) / 4
			}
			began := time.Now()
			for played := 0; played < n; played += tablesAtOnce {
				p.round(s, rand.New(rand.NewPCG(seed, uint64(played))), min(tablesAtOnce, n-played))
			}
			t.Logf("%d hands in %s: %s", n, time.Since(began).Round(time.Second), s)
			s.positive()
			s.planted()
		})
	}
}

// round plays a hand at each table, and searches after random steps that all tables make together.
func (p *pair) round(s *search, random *rand.Rand, tables int) {
	p.t.Helper()
	p.heard = nil
	looks := random.Perm(handSteps)[:min(*handsLooks, handSteps)]
	step := 0
	all := func(jobs []func() error) {
		p.t.Helper()
		p.all(jobs)
		if slices.Contains(looks, step) {
			s.look()
		}
		step++
	}
	hands, next := make([]string, tables), make([]int, tables)
	var jobs []func() error
	for i := range hands {
		key, mix := fmt.Sprintf("hand-%d", random.Uint64()), `"co_dealer":true`
		if i%2 == 1 {
			mix += `,"cut":true`
		}
		body := fmt.Sprintf(`{"table":"table-%d","deck":%q,"mix":{%s}}`, i, decks[random.IntN(len(decks))], mix)
		jobs = append(jobs, func() error {
			a, err := p.done("/v1/main/shuffles", key, body)
			if err == nil {
				hands[i] = p.shuffle(a)
			}
			return err
		})
	}
	all(jobs)
	jobs = nil
	for i := 1; i < len(hands); i += 2 {
		cut := random.IntN(30)
		jobs = append(jobs, func() error {
			_, err := p.done(hands[i]+"/mix", "", fmt.Sprintf(`{"cut":%d}`, cut))
			return err
		})
	}
	all(jobs)
	for range 3 {
		jobs = nil
		for i := range hands {
			runs, count := randomRuns(random)
			body := fmt.Sprintf(`{"first":%d,"runs":[%s]}`, next[i], runs)
			next[i] += count
			jobs = append(jobs, func() error {
				_, err := p.done(hands[i]+"/deal", "", body)
				return err
			})
		}
		all(jobs)
	}
	jobs = nil
	for i := range hands {
		end := completed
		if random.IntN(4) == 0 {
			end = `{"outcome":"void","reason":"misdeal"}`
		}
		jobs = append(jobs, func() error {
			_, err := p.done(hands[i]+"/close", "", end)
			return err
		})
	}
	all(jobs)
}

// randomRuns returns the runs of one deal and the number of their places: at most six, so that the
// three deals of a hand deal at most half of the smallest deck.
func randomRuns(random *rand.Rand) (runs string, count int) {
	var all []string
	for range 1 + random.IntN(3) {
		n := 1 + random.IntN(2)
		count += n
		all = append(all, fmt.Sprintf([]string{
			`{"count":%d,"purpose":"seat","recipient":"seat-%d"}`, `{"count":%d,"purpose":"board","public":true}%.0d`,
			`{"count":%d,"purpose":"burn"}%.0d`, `{"count":%d,"purpose":"discard"}%.0d`,
		}[random.IntN(4)], n, 0))
	}
	return strings.Join(all, ","), count
}

var decks = []string{"standard-52", "standard-54", "short-36", "pinochle-48", "spanish-40"}

// all does the jobs of one step at the same time.
func (p *pair) all(jobs []func() error) {
	p.t.Helper()
	errs := make([]error, len(jobs))
	var group sync.WaitGroup
	for i, job := range jobs {
		group.Go(func() { errs[i] = job() })
	}
	group.Wait()
	for _, err := range errs {
		p.check(err)
	}
}

// done repeats a request to the house's daemon until it is answered: witnesses and the co-dealer
// may be slow.
func (p *pair) done(path, key, body string) (a answer, err error) {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		a = p.do(http.MethodPost, path, p.house.house, key, body)
		p.hear(a)
		switch {
		case a.status == http.StatusOK:
			return a, nil
		case a.code() == "cosigned", a.status == http.StatusServiceUnavailable:
		default:
			return a, fmt.Errorf("%s: %s", path, a)
		}
		if time.Now().After(end) {
			return a, fmt.Errorf("%s is not answered: %s", path, a)
		}
	}
}

func (p *pair) hear(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, a.body...)
}
