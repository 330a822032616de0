package attacks

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDisjointQuorum: a policy whose quorums do not meet allows two histories that
// both look witnessed. A production ledger is not created with it, and the refusal
// names the two quorums.
func TestDisjointQuorum(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	h.terms.production = true
	for _, quorum := range []string{"any w1 w2", "1 w1 w2", "2 w1 w2 w3 w4"} {
		text := ""
		for _, name := range strings.Fields(quorum)[1:] {
			if _, err := os.Stat(h.path(name + ".vkey")); err != nil {
				h.key(name)
			}
			text += fmt.Sprintf("witness %s %s http://127.0.0.1:1/\n", name, h.read(name+".vkey"))
		}
		h.write("bad.policy", text+"group g "+quorum+"\nquorum g\n")
		name := "l" + fmt.Sprint(len(quorum))
		args := []string{"ledger", "create", "--house", "casino",
			"--name", name, "--origin", "cards.example.com/" + name, "--production",
			"--policy", h.path("bad.policy")}
		code, out := h.run(slices.Concat(args, h.place(""), h.administrators())...)
		if code == 0 || !strings.Contains(out, "w1") || !strings.Contains(out, "w2") {
			t.Errorf("a production ledger under %q: exit code %d: %s", quorum, code, out)
		}
	}
}

// TestTwoHistories: the operator copies database and marks, plays a shuffle with one
// witness up, goes back to the copy and plays it again with the other. Both files
// may be proved, and neither is witnessed.
func TestTwoHistories(t *testing.T) {
	attack(t)
	h := open(t, terms{witnesses: 2, quorum: "any w1 w2"})
	h.daemon.stop()
	var addresses [2]string
	for i, w := range h.witnesses {
		w.stop()
		line := h.read(fmt.Sprintf("w%d.line", i+1))
		addresses[i] = strings.Trim(line[strings.Index(line, "http://")+len("http://"):], "/")
	}
	saved := h.state()
	for i, address := range addresses {
		h.restore(saved)
		w := h.startWitness(fmt.Sprintf("w%d", i+1), address)
		h.serve()
		hand := h.hand("k1", "t1")
		h.ok(h.settled(hand+"/deal", h.house, holeCards))
		h.cosigned()
		file := h.keep(hand, fmt.Sprintf("history-%d.json", i+1))
		code, out := h.run("verify", file, "--policy", h.path("player.policy"), "--json")
		if level(out) == "witnessed" {
			t.Errorf("history %d under the policy any w1 w2 is called witnessed, exit code %d", i+1, code)
		}
		h.daemon.stop()
		w.stop()
	}
}

// cosigned waits until the quorum has cosigned the newest entry.
func (h *house) cosigned() {
	h.t.Helper()
	h.daemon.until("cosigned to its newest entry", func() bool {
		var r struct {
			Ledgers []struct{ Size, Cosigned uint64 }
		}
		err := json.Unmarshal([]byte(h.readiness()), &r)
		return err == nil && len(r.Ledgers) == 1 && r.Ledgers[0].Size == r.Ledgers[0].Cosigned
	})
}

// level is what verify --json calls the level, "" for none.
func level(out string) string {
	var verdict struct{ Level string }
	_, object, _ := strings.Cut(out, "{") // behind warnings
	if json.NewDecoder(strings.NewReader("{"+object)).Decode(&verdict) != nil {
		return ""
	}
	return verdict.Level
}

// state reads database and marks.
func (h *house) state() map[string][]byte {
	h.t.Helper()
	saved := make(map[string][]byte)
	for _, pattern := range []string{"shuffled.db*", "*.mark*"} {
		names, err := filepath.Glob(h.path(pattern))
		h.check(err)
		for _, name := range names {
			b, err := os.ReadFile(name)
			h.check(err)
			saved[name] = b
		}
	}
	return saved
}

// restore puts them back, and nothing else of the kind stays.
func (h *house) restore(saved map[string][]byte) {
	h.t.Helper()
	for name := range h.state() {
		h.check(os.Remove(name))
	}
	for name, b := range saved {
		h.check(os.WriteFile(name, b, 0o600))
	}
}

// TestOneAdminReplacesWitnesses: one administrator's token replaces the regulator's
// witness of a production ledger by the house's own. It takes a second person.
func TestOneAdminReplacesWitnesses(t *testing.T) {
	attack(t)
	h := open(t, terms{production: true, witnesses: 1})
	h.ok(h.settled(h.hand("k1", "t1")+"/deal", h.house, holeCards))
	// The house's own witness stands where the regulator's did, since a build may ask
	// only at addresses that it knows.
	h.witnesses[0].stop()
	line := strings.Fields(h.read("w1.line"))
	line[1], line[2] = "w9", h.key("w9")
	h.startWitness("w9", strings.Trim(strings.TrimPrefix(line[3], "http://"), "/"))
	policy := strings.Join(line, " ") + `\ngroup g all w9\nquorum g\n`
	got := h.post("/v1/main/keys", h.admin, `{"subject":"policy","policy":"`+policy+`"}`)
	h.twoPersons("a policy with the house's own witness", got)
	got = h.post("/v1/main/keys", h.admin, `{"subject":"policy","policy":"quorum none\n"}`)
	if got.status == http.StatusOK {
		t.Errorf("a policy without witnesses: %s", got)
	}
}

// twoPersons wants an act of one administrator to be refused for lack of a second.
func (h *house) twoPersons(what string, got answer) {
	h.t.Helper()
	refused := got.status == http.StatusForbidden || got.status == http.StatusConflict
	said := string(got.body)
	if !refused || !strings.Contains(said, "second") && !strings.Contains(said, "two administrators") {
		h.t.Errorf("%s: %s; the defence is a refusal that asks for a second administrator", what, got)
	}
}

// TestWitnessOfUnlistedHost: an administrator has the daemon make requests to any
// host and port, by a policy with a witness there. Only configured hosts are asked.
func TestWitnessOfUnlistedHost(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	h.check(err)
	asked := make(chan string, 16)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		select {
		case asked <- fmt.Sprintf("%s %s, %d bytes", r.Method, r.URL, len(b)):
		default:
		}
		http.Error(w, "an inner service's secret", http.StatusTeapot)
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	vkey := h.key("w9")
	policy := fmt.Sprintf(`witness w9 %s http://%s/inner\ngroup g all w9\nquorum g\n`, vkey, l.Addr())
	got := h.post("/v1/main/keys", h.admin, `{"subject":"policy","policy":"`+policy+`"}`)
	if got.status == http.StatusOK || strings.Contains(string(got.body), "inner service") {
		t.Errorf("a policy with a witness at an unlisted host: %s", got)
	}
	select {
	case request := <-asked:
		t.Errorf("the daemon asked a host that nobody configured: %s", request)
	default:
	}
}
