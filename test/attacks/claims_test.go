package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestChosenRecipients: after the mix the house knows the order, and chooses burns and
// recipients so that its confederate gets the good cards. The verdict is `mixed`, says
// no more than that, and names what was still the house's word.
func TestChosenRecipients(t *testing.T) {
	attack(t)
	h := open(t, terms{witnesses: 1})
	var slot struct{ Value, Hash string }
	out := h.must("slot", "new", "--origin", origin, "--table", "t1", "--json")
	h.check(json.Unmarshal([]byte(out), &slot))
	body := fmt.Sprintf(`{"table":"t1","deck":"standard-52","mix":{"slots":[%q]}}`, slot.Hash)
	hand := h.shuffle(h.ok(h.do(http.MethodPost, "/v1/main/shuffles", h.house, "k1", body)))
	h.ok(h.settled(hand+"/mix", h.house, fmt.Sprintf(`{"slots":[%q]}`, slot.Value)))
	h.ok(h.settled(hand+"/deal", h.house, `{"first":0,"runs":[
		{"count":3,"purpose":"burn"},{"count":2,"purpose":"seat","recipient":"confederate"},
		{"count":1,"purpose":"discard"},{"count":2,"purpose":"seat","recipient":"player"}]}`))
	h.ok(h.settled(hand+"/close", h.house, completed))
	h.cosigned()
	h.write("slot", slot.Value)
	file := h.keep(hand, "t.json")
	flags := []string{"verify", file, "--policy", h.path("player.policy"), "--my-slot-file", h.path("slot")}
	if out := h.must(append(flags, "--json")...); level(out) != "mixed" {
		t.Errorf("the level is %q, not mixed", level(out))
	}
	text := h.must(flags...)
	h.modest("the verdict", text)
	if !strings.Contains(strings.Join(strings.Fields(text), " "), "house's word") {
		t.Errorf("the verdict does not say that who got which place was the house's word: %s", text)
	}
}

// modest wants none of the sentences that say more than the evidence.
func (h *house) modest(what, text string) {
	h.t.Helper()
	text = strings.Join(strings.Fields(text), " ")
	for _, claim := range []string{"unsteerable", "could not choose what you see", "could not choose what was dealt"} {
		if strings.Contains(strings.ToLower(text), claim) {
			h.t.Errorf("%s says %q", what, claim)
		}
	}
}

// TestClaimsOfThePage: the page that players see, the contract and the commands make
// no claim beyond the evidence.
func TestClaimsOfThePage(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	h.modest("the page", string(h.ok(h.get("/", "")).body))
	h.modest("the contract", string(h.ok(h.get("/openapi.yaml", "")).body))
	h.modest("verify --help", h.must("verify", "--help"))
}

// TestEditedManifest: a bundle's manifest is edited so that what stands beside the
// entries is not compared any more. Each member is held against the entries.
func TestEditedManifest(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	for i := range 3 {
		h.ok(h.post(h.hand(fmt.Sprint("k", i), "t1")+"/close", h.house, `{"outcome":"void","reason":"misdeal"}`))
	}
	h.export()
	verify := func() (int, string) { return h.run("audit", "verify", h.path("bundle"), "--key", h.path("main.vkey")) }
	if code, out := verify(); code != 0 {
		t.Fatalf("the bundle as it was exported: exit code %d: %s", code, out)
	}
	manifest, checkpoint := h.read("bundle/manifest.json"), h.read("bundle/checkpoint")
	for member, value := range map[string]any{
		"exported_at": "2001-01-01T00:00:00.000Z", "period": map[string]any{"first": 5, "entries": 1},
		"production": true, "name": "other",
	} {
		var m map[string]any
		h.check(json.Unmarshal([]byte(manifest), &m))
		if _, ok := m[member]; !ok {
			continue // this build's manifest does not say it
		}
		m[member] = value
		edited, err := json.Marshal(m)
		h.check(err)
		h.write("bundle/manifest.json", string(edited))
		h.write("bundle/checkpoint", checkpoint+"\n— someone AAAAAAAA\n") // the manifest seems to be of another one
		if code, out := verify(); code != 1 {
			t.Errorf("a manifest with another %s: exit code %d: %.300s", member, code, out)
		}
	}
	h.write("bundle/manifest.json", manifest)
	h.write("bundle/checkpoint", checkpoint+"\n— someone AAAAAAAA\n")
	for _, name := range []string{"policy", "keys.json"} {
		if _, err := os.Stat(h.path("bundle/" + name)); err != nil {
			continue // this build's bundles have no such file
		}
		h.write("bundle/"+name, "log evil\n")
		if code, out := verify(); code != 1 {
			t.Errorf("another %s beside the entries: exit code %d: %.300s", name, code, out)
		}
	}
}
