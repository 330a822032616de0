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

// TestDisjointQuorum: if two quorums of a policy have no witness in common, two histories
// can both look witnessed. No production ledger is created with such a policy, and the
// refusal names witnesses of both quorums.
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

// TestTwoHistories: the operator copies the database and the marks, and plays a shuffle
// while only one witness runs. Then the operator restores the copy, and plays a shuffle
// while only the other one runs. Both transcripts may be proved, but neither has the level
// witnessed.
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

// level returns the level in the output of verify --json, "" if there is none.
func level(out string) string {
	var verdict struct{ Level string }
	_, object, _ := strings.Cut(out, "{") // warnings may come before the object
	if json.NewDecoder(strings.NewReader("{"+object)).Decode(&verdict) != nil {
		return ""
	}
	return verdict.Level
}

// state reads the files of the database and the marks.
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

// restore removes the files of the database and the marks, and writes the saved ones.
func (h *house) restore(saved map[string][]byte) {
	h.t.Helper()
	for name := range h.state() {
		h.check(os.Remove(name))
	}
	for name, b := range saved {
		h.check(os.WriteFile(name, b, 0o600))
	}
}

// TestOneAdminReplacesWitnesses: one person with an administrator's token tries to replace
// the regulator's witness of a production ledger with the house's own. The daemon asks for
// a second person.
func TestOneAdminReplacesWitnesses(t *testing.T) {
	attack(t)
	h := open(t, terms{production: true, witnesses: 1})
	h.ok(h.settled(h.hand("k1", "t1")+"/deal", h.house, holeCards))
	// The house's own witness listens at the address of the regulator's, because a build may
	// send requests only to addresses that it knows.
	h.witnesses[0].stop()
	line := strings.Fields(h.read("w1.line"))
	line[1], line[2] = "w9", h.key("w9")
	h.startWitness("w9", strings.Trim(strings.TrimPrefix(line[3], "http://"), "/"))
	policy := strings.Join(line, " ") + "\ngroup g all w9\nquorum g\n"
	for _, got := range h.changePolicy("alice.key", policy) {
		if said := string(got.body); got.status != http.StatusUnprocessableEntity ||
			!strings.Contains(said, "two administrators") && !strings.Contains(said, "No act") {
			t.Errorf("a policy with the house's own witness: %s; the defence is a refusal that asks for a second administrator",
				got)
		}
	}
	for _, got := range h.changePolicy("alice.key", "quorum none\n") {
		if got.status == http.StatusOK {
			t.Errorf("a policy without witnesses: %s", got)
		}
	}
}

// changePolicy asks the daemon for a policy with the act of one administrator, and without the act.
func (h *house) changePolicy(key, policy string) (answers []answer) {
	h.t.Helper()
	h.write("attack.policy", policy)
	os.Remove(h.path("attack.act")) // of the call before: act do replaces no file
	h.must("act", "do", "policy", "--policy", h.path("attack.policy"), "--sign", h.path(key), "--yes", "--as", "admin",
		"--out", h.path("attack.act"), "--config", h.path("shuffled.toml"))
	var file struct {
		Entry, Body string
		Type        int
	}
	h.check(json.Unmarshal([]byte(h.read("attack.act")), &file))
	without := fmt.Sprintf(`"type":%d,"body":%q}`, file.Type, file.Body)
	return []answer{
		h.post("/v1/main/acts", h.admin, fmt.Sprintf(`{"act":%q,`, file.Entry)+without),
		h.post("/v1/main/acts", h.admin, "{"+without),
	}
}

// TestWitnessOfUnlistedHost: an administrator enters a policy with a witness at an inner
// service, so that the daemon would send requests there. The daemon sends requests only to
// hosts that are configured.
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
	policy := fmt.Sprintf("witness w9 %s http://%s/inner\ngroup g all w9\nquorum g\n", vkey, l.Addr())
	for _, got := range h.changePolicy("admin.key", policy) {
		if got.status == http.StatusOK || strings.Contains(string(got.body), "inner service") {
			t.Errorf("a policy with a witness at an unlisted host: %s", got)
		}
	}
	select {
	case request := <-asked:
		t.Errorf("the daemon asked a host that nobody configured: %s", request)
	default:
	}
}
