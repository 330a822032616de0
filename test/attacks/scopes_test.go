package attacks

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestScopedToken: a dealer whose token is for table t1 tries to read the tape of table t2,
// among others from the receipt of the close and from the entry bundle. Readers of this
// ledger need a token.
func TestScopedToken(t *testing.T) {
	attack(t)
	h := open(t, terms{access: "token"})
	hand := h.hand("k1", "t2")
	h.ok(h.post(hand+"/deal", h.house, holeCards))
	closed := h.ok(h.post(hand+"/close", h.house, completed)).object(t)
	tape, err := base64.StdEncoding.DecodeString(closed["tape"].(string))
	h.check(err)
	index := regexp.MustCompile(`(?m)^index (\d+)$`).FindStringSubmatch(closed["receipt"].(string))[1]
	_, extra, _ := strings.Cut(closed["receipt"].(string), "\nextra ") // the line that holds the entry
	extra, _, _ = strings.Cut(extra, "\n")
	size := strings.Split(string(h.ok(h.get("/log/main/checkpoint", h.house)).body), "\n")[1]
	for _, path := range []string{
		hand, hand + "/transcript", "/v1/main/entries/" + index + "/receipt",
		"/log/main/tile/entries/000.p/" + size, "/v1/main/shuffles?table=t2",
	} {
		got := h.get(path, h.room)
		if got.status != http.StatusForbidden {
			t.Errorf("%s with a token for table t1: %.100s", path, got)
		}
		for _, secret := range [][]byte{tape, []byte(closed["tape"].(string)), []byte(extra)} {
			if bytes.Contains(got.body, secret) {
				t.Errorf("%s holds the tape of table t2 for a token for table t1", path)
			}
		}
		h.ok(h.get(path, h.house))
	}
	ours := h.shuffle(h.ok(h.commit(h.room, "k2", "t1")))
	h.ok(h.post(ours+"/deal", h.room, holeCards))
	h.ok(h.get(ours+"/transcript", h.room))
}
