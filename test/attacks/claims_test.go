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
// recipients so that its confederate gets the good cards. The level is `mixed`, and the
// verdict claims no more: it says which facts rest on the house's word only.
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

// modest checks that a text has none of the sentences that claim more than the evidence.
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

// TestEditedManifest: somebody edits a bundle's manifest, or a file that repeats what the
// entries say, if this build writes one. The audit finds each edit.
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
	for _, edit := range [][2]string{
		{`"exported_at":"2`, `"exported_at":"1`}, {"v1/bundle", "v1/keys"},
		{`"period":{`, `"production":true,"period":{`},
		{`"period":{`, `"period":{"first":5,"entries":1`}, {`"name":"main"`, `"name":"other"`},
	} {
		edited := strings.Replace(manifest, edit[0], edit[1], 1)
		if edited == manifest {
			continue // the manifest of this build does not have the text
		}
		h.write("bundle/manifest.json", edited)
		// With a line added, the checkpoint is no longer the one that was exported.
		for _, line := range []string{"", "— someone AAAAAAAA\n"} {
			h.write("bundle/checkpoint", checkpoint+line)
			if code, out := verify(); code != 1 {
				t.Errorf("a manifest with %s, and a checkpoint with the line %q: exit code %d: %.300s", edit[1], line,
					code, out)
			}
		}
	}
	h.write("bundle/manifest.json", manifest)
	h.write("bundle/checkpoint", checkpoint+"— someone AAAAAAAA\n")
	for _, name := range []string{"policy", "keys.json"} {
		if _, err := os.Stat(h.path("bundle/" + name)); err != nil {
			continue // the bundles of this build do not have the file
		}
		h.write("bundle/"+name, "log evil\n")
		if code, out := verify(); code != 1 {
			t.Errorf("another %s next to the entries: exit code %d: %.300s", name, code, out)
		}
	}
}
