package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	shuffled "shuffled/client"
	"shuffled/internal/testdb"
)

// TestDealAhead: a second dealer deals the very runs that the house will deal
// later, and sees the flop before the betting. Only the identity that committed
// may mix, deal and close.
func TestDealAhead(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	hand := h.hand("k1", "t1")
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	h.refused("the flop, dealt ahead by another service", h.post(hand+"/deal", h.thief, flop), "not_yours")
	mine := h.ok(h.post(hand+"/deal", h.house, flop))
	if repeated, _ := mine.object(t)["repeated"].(bool); repeated {
		t.Errorf("the house's own deal had been made before: %s", mine)
	}
	h.refused("the flop, asked for again by another service", h.post(hand+"/deal", h.thief, flop), "not_yours")
	h.refused("a close by another service", h.post(hand+"/close", h.thief, completed), "not_yours")
	h.ok(h.post(hand+"/close", h.house, completed))
	h.refused("a close repeated by another service", h.post(hand+"/close", h.thief, completed), "not_yours")
}

// TestMixForeign: another dealer reveals a mix plan with values of its choice.
func TestMixForeign(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	body := `{"table":"t1","deck":"standard-52","mix":{"cut":true}}`
	hand := h.shuffle(h.ok(h.do(http.MethodPost, "/v1/main/shuffles", h.house, "k1", body)))
	h.refused("a mix by another service", h.post(hand+"/mix", h.thief, `{"cut":17}`), "not_yours")
	h.ok(h.post(hand+"/mix", h.house, `{"cut":17}`))
	h.refused("a mix repeated by another service", h.post(hand+"/mix", h.thief, `{"cut":17}`), "not_yours")
}

// TestGuessedKey: another dealer commits under the idempotency key that the house
// will use next, and deals that hand first. The house must not be given the
// thief's shuffle as its own.
func TestGuessedKey(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	theirs := h.ok(h.commit(h.thief, "hand-1", "t1"))
	ours := h.commit(h.house, "hand-1", "t1")
	if ours.status == http.StatusOK && h.shuffle(ours) == h.shuffle(theirs) {
		t.Errorf("the house's commit is answered with the thief's shuffle: %s", ours)
	} else if ours.status != http.StatusOK && ours.code() != "not_yours" {
		t.Errorf("the house's commit: %s", ours)
	}
}

// TestGreetingKey: what the daemon tells a first user to type must not teach keys that
// a thief can guess.
func TestGreetingKey(t *testing.T) {
	attack(t)
	address := testdb.FreeAddress(t)
	p := start(t, "serve", "--dev", "--data", t.TempDir()+"/data", "--listen", address)
	p.until("greeting", func() bool { return strings.Contains(p.printed(), "Idempotency-Key") })
	_, key, _ := strings.Cut(p.printed(), "Idempotency-Key: ")
	key, _, _ = strings.Cut(key, "'")
	if len(key) < 16 && !strings.Contains(key, "$") {
		t.Errorf("the greeting's idempotency key is %q, which a thief guesses", key)
	}
}

// TestReadOpenings: another dealer reads the hole cards of an open shuffle, from
// the transcript, a recipient's file and a repeated deal. Only the owner reads
// openings that are not public; others read what strangers do.
func TestReadOpenings(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	hand := h.hand("k1", "t1")
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	stranger := h.ok(h.get(hand+"/transcript", ""))
	got := h.get(hand+"/transcript", h.thief)
	if got.status == http.StatusOK && string(got.body) != string(stranger.body) {
		t.Errorf("another service's transcript of an open shuffle is not a stranger's: %d bytes, and not %d",
			len(got.body), len(stranger.body))
	}
	got = h.get(hand+"/transcript?recipient=seat-1", h.thief)
	if cards, _ := got.object(t)["cards"].([]any); len(cards) > 0 {
		t.Errorf("a recipient's file of another's open shuffle holds %d cards", len(cards))
	}
	h.refused("hole cards, dealt again by another service", h.post(hand+"/deal", h.thief, holeCards), "not_yours")
}

// TestTakeByChild: a child's commit closes its parent, with its tape, and continues
// with the undealt cards. Another dealer takes a shuffle over by it.
func TestTakeByChild(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	hand := h.hand("k1", "t1")
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	id := hand[strings.LastIndex(hand, "/")+1:]
	child := h.do(http.MethodPost, "/v1/main/shuffles", h.thief, "k2", `{"table":"t1","parent":{"id":`+id+`}}`)
	h.refused("a child of another's shuffle", child, "not_yours")
	h.ok(h.post(hand+"/deal", h.house, flop))
}

// TestSameToken: a thief uses the stolen token itself, so that no name differs. The
// house's own deal then says that it is a repeat, and of when.
func TestSameToken(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	hand := h.hand("k1", "t1")
	first := h.ok(h.post(hand+"/deal", h.house, holeCards)).object(t)
	if first["repeated"] == true {
		t.Errorf("a first deal is called a repeat")
	}
	again := h.ok(h.post(hand+"/deal", h.house, holeCards)).object(t)
	if again["repeated"] != true || again["time"] == nil {
		t.Errorf("a repeated deal does not say so: repeated %v, time %v", again["repeated"], again["time"])
	}
	commit := h.ok(h.commit(h.house, "k1", "t1")).object(t)
	if commit["repeated"] != true || commit["time"] == nil {
		t.Errorf("a repeated commit does not say so: repeated %v, time %v", commit["repeated"], commit["time"])
	}
}

// TestClientRefuses: the Go client, key pinned, is given a deal that somebody with
// its token made before it asked. It refuses entries older than its first try.
func TestClientRefuses(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	c, err := shuffled.New(shuffled.Config{URL: h.url, Ledger: "main", Token: h.house, VKey: h.vkey})
	h.check(err)
	table, deck := "t1", "standard-52"
	committed, err := c.Commit(t.Context(), shuffled.NewKey(), shuffled.ShuffleRequest{Table: table, Deck: &deck})
	h.check(err)
	hand := fmt.Sprintf("/v1/main/shuffles/%d", committed.ID)
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	var req shuffled.DealRequest
	h.check(json.Unmarshal([]byte(holeCards), &req))
	if _, err := c.Deal(t.Context(), committed, req); err == nil {
		t.Error("the client believes a deal that was made before it asked for one")
	} else {
		t.Logf("the client: %v", err)
	}
}

// TestTakeover: a shuffle changes hands by an explicit call only, which is an entry
// with its reason. The taker voids and closes; in production it neither deals on nor
// reads earlier answers without a second person. The audit counts it.
func TestTakeover(t *testing.T) {
	attack(t)
	h := open(t, terms{production: true})
	hand := h.hand("k1", "t1")
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	if got := h.post(hand+"/takeover", h.thief, `{}`); got.status == http.StatusOK {
		t.Errorf("a takeover without a reason: %s", got)
	}
	if got := h.post(hand+"/takeover", h.thief, `{"reason":"backend lost, ticket 4711"}`); got.status != http.StatusOK {
		t.Fatalf("a takeover with a reason: %s", got)
	}
	for what, body := range map[string]string{"deals on": flop, "reads earlier answers": holeCards} {
		got := h.post(hand+"/deal", h.thief, body)
		if got.status != http.StatusForbidden && got.status != http.StatusConflict {
			t.Errorf("the taker %s in production: %s", what, got)
		}
	}
	h.ok(h.post(hand+"/close", h.thief, `{"outcome":"void","reason":"misdeal"}`))
	h.export()
	report := h.must("audit", "verify", h.path("bundle"), "--key", h.path("main.vkey"))
	// The bundle's path has the test's name in it.
	if !strings.Contains(strings.Join(strings.Fields(report), " "), "1 taken over to close") {
		t.Errorf("the audit does not name the takeover:\n%s", report)
	}
}

// export writes the bundle of the ledger.
func (h *house) export() {
	h.t.Helper()
	h.must("audit", "export", "--config", h.path("shuffled.toml"), "--out", h.path("bundle"))
}
