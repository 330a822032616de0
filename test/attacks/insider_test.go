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

// TestDealAhead: a second dealer deals the same runs that the house will deal later,
// and would see the flop before the betting. Only the identity that committed may mix,
// deal and close.
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

// TestMixForeign: another dealer mixes the house's shuffle with values of its choice.
func TestMixForeign(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	body := `{"table":"t1","deck":"standard-52","mix":{"cut":true}}`
	hand := h.shuffle(h.ok(h.do(http.MethodPost, "/v1/main/shuffles", h.house, "k1", body)))
	h.refused("a mix by another service", h.post(hand+"/mix", h.thief, `{"cut":17}`), "not_yours")
	h.ok(h.post(hand+"/mix", h.house, `{"cut":17}`))
	h.refused("a mix repeated by another service", h.post(hand+"/mix", h.thief, `{"cut":17}`), "not_yours")
}

// TestGuessedKey: another dealer commits under the idempotency key that the house will
// use next. The daemon must not answer the house's commit with the thief's shuffle.
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

// TestGreetingKey: the first command that the daemon tells a new user to type must not
// have an idempotency key that a thief can guess.
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

// TestReadOpenings: another dealer asks for the hole cards of an open shuffle: in the
// transcript, in a recipient's file and by a repeated deal. Only the owner gets openings
// that are not public; other dealers get what strangers get.
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

// TestTakeByChild: another dealer commits to a child of the house's shuffle. That would
// close the parent, disclose its tape, and continue with the undealt cards.
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

// TestSameToken: a thief uses the house's own token, so its entries name the house. The
// answer to the house's own deal then says that it is a repeat, and when it was made.
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

// TestClientRefuses: a thief with the token of the Go client deals before the client
// does. The client, with the ledger's key pinned, refuses an entry that is older than its
// own first try.
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

// TestTakeover: only an explicit takeover makes another identity the owner of a shuffle,
// and its entry has a reason. The new owner may void and close the shuffle. In production
// it may not deal further or read earlier answers without a second person. The audit
// counts the takeover.
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
	// A search for "takeover" alone would find the test's name in the bundle's path.
	if !strings.Contains(strings.Join(strings.Fields(report), " "), "1 taken over to close") {
		t.Errorf("the audit does not name the takeover:\n%s", report)
	}
}

// export writes the bundle of the ledger.
func (h *house) export() {
	h.t.Helper()
	h.must("audit", "export", "--config", h.path("shuffled.toml"), "--out", h.path("bundle"))
}
