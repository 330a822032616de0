package attacks

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

// TestFloodOfStrangers: 64 strangers again and again ask for a full bundle of entries, read
// 64 bytes and hang up. No request of a hand that is played alongside them is refused. The
// test prints how much longer a hand takes, and does not judge it: that depends on the
// machine.
func TestFloodOfStrangers(t *testing.T) {
	attackAlone(t)
	bothStores(t, terms{}, func(t *testing.T, h *house) {
		h.fill()
		quiet, refused := h.hands("quiet", func(n int) bool { return n < 20 })
		if refused > 0 {
			t.Fatalf("%d requests were refused while nobody else asked", refused)
		}
		stop, asked := h.flood(64, "/log/main/tile/entries/000")
		busy, refused := h.hands("busy", func(n int) bool { return n < 10 || n < 500 && asked.Load() < 2000 })
		stop()
		fmt.Printf("attacks: %s: a hand takes %.1f times as long alongside 64 strangers (%v, %v without; they asked %d times)\n",
			t.Name(), busy.Seconds()/quiet.Seconds(), busy, quiet, asked.Load())
		if refused > 0 {
			t.Errorf("%d requests of dealers were refused alongside 64 strangers", refused)
		}
	})
}

// TestBundleWithoutDatabase: a full bundle of entries never changes. After it was read once,
// the daemon serves it without a query, here while the database is stopped.
func TestBundleWithoutDatabase(t *testing.T) {
	attack(t)
	h := open(t, terms{postgres: true})
	h.fill()
	first := h.ok(h.get("/log/main/tile/entries/000", ""))
	h.cluster.Stop(t, testdb.Fast)
	got := h.get("/log/main/tile/entries/000", "")
	if got.status != http.StatusOK || string(got.body) != string(first.body) {
		t.Errorf("a full bundle of entries is read from the database each time: %.300s", got)
	}
}

// fill writes entries until the first bundle is full. The bundle is large, because each
// close holds the tape of a shuffle of 4,096 cards.
func (h *house) fill() {
	h.t.Helper()
	body := `{"table":"fill","cards":[` + deck(4096) + `]}`
	for i := range 135 {
		made := h.ok(h.do(http.MethodPost, "/v1/main/shuffles", h.house, fmt.Sprint("fill-", i), body)).object(h.t)
		path := fmt.Sprintf("/v1/main/shuffles/%.0f/close", made["id"])
		h.ok(h.post(path, h.house, `{"outcome":"void","reason":"misdeal"}`))
	}
	bundle := h.ok(h.get("/log/main/tile/entries/000", ""))
	h.t.Logf("the bundle has %d bytes", len(bundle.body))
}

// deck returns the names of n cards, as the elements of a JSON array.
func deck(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"c%04d"`, i)
	}
	return strings.Join(names, ",")
}

// hands plays hands while more returns true. It returns how long a hand took on average and
// how many requests were refused. A refused request is sent again.
func (h *house) hands(name string, more func(played int) bool) (each time.Duration, refused int) {
	h.t.Helper()
	send := func(path, key, body string) (a answer) {
		h.daemon.until("done with a hand", func() bool {
			if a = h.do(http.MethodPost, path, h.house, key, body); a.status != http.StatusOK {
				if refused++; refused == 1 {
					h.t.Logf("the first that was refused: %s: %s", path, a)
				}
			}
			return a.status == http.StatusOK
		})
		return a
	}
	began, n := time.Now(), 0
	for ; more(n); n++ {
		body := `{"table":"` + name + `","deck":"standard-52"}`
		hand := h.shuffle(send("/v1/main/shuffles", fmt.Sprint(name, n), body))
		send(hand+"/deal", "", holeCards)
		send(hand+"/deal", "", flop)
		send(hand+"/close", "", completed)
	}
	return (time.Since(began) / time.Duration(n)).Round(10 * time.Microsecond), refused
}

// flood has strangers ask for a path until stop is called. Each request has a connection of
// its own, which the stranger closes after 64 bytes. asked counts the answers.
func (h *house) flood(strangers int, path string) (stop func(), asked *atomic.Int64) {
	h.t.Helper()
	asked = new(atomic.Int64)
	ended := make(chan struct{})
	var all sync.WaitGroup
	for range strangers {
		all.Go(func() {
			c := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
			for {
				select {
				case <-ended:
					return
				default:
				}
				resp, err := c.Get(h.url + path)
				if err != nil {
					continue
				}
				io.ReadFull(resp.Body, make([]byte, 64))
				resp.Body.Close()
				asked.Add(1)
			}
		})
	}
	return func() { close(ended); all.Wait() }, asked
}

// TestTranscriptOfManyDeals: a legal shuffle of 4,096 cards in 2,048 deals has a
// transcript that strangers, auditors and the house get under default limits.
func TestTranscriptOfManyDeals(t *testing.T) {
	attack(t)
	h := open(t, terms{postgres: true})
	body := `{"table":"t1","cards":[` + deck(4096) + `]}`
	hand := h.shuffle(h.ok(h.do(http.MethodPost, "/v1/main/shuffles", h.house, "k1", body)))
	for first := 0; first < 4096; first += 2 {
		body := fmt.Sprintf(`{"first":%d,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"}]}`, first)
		h.ok(h.post(hand+"/deal", h.house, body))
	}
	h.ok(h.post(hand+"/close", h.house, completed))
	for who, token := range map[string]string{"a stranger": "", "the house": h.house, "an auditor": h.auditor} {
		if got := h.get(hand+"/transcript", token); got.status != http.StatusOK {
			t.Errorf("the transcript of 2,048 deals for %s: %.300s", who, got)
		}
	}
}
