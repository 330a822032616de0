package verify

import (
	"bufio"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// javascript is the second implementation, web/verify.html, in a Node process
// that judges one file after the other. The test that opened it owns it.
type javascript struct {
	t    testing.TB
	to   *json.Encoder
	from *bufio.Reader
}

// openJavaScript starts it, and skips the test where there is no Node.
func openJavaScript(t testing.TB) *javascript {
	t.Helper()
	js := javaScriptIfAny(t)
	if js == nil {
		t.SkipNow()
	}
	return js
}

// javaScriptIfAny starts it, and is nil without Node: loudly, or the test fails if
// SHUFFLED_REQUIRE_NODE=1, as in continuous integration.
func javaScriptIfAny(t testing.TB) *javascript {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("SHUFFLED_REQUIRE_NODE") == "1" {
			t.Fatal("no node in PATH, and SHUFFLED_REQUIRE_NODE=1")
		}
		t.Log("NO NODE HERE: the second implementation was not asked. Install Node 20 (scripts/web.sh)")
		return nil
	}
	cmd := exec.Command(node, filepath.Join("..", "..", "web", "lines.mjs"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	return &javascript{t, json.NewEncoder(in), bufio.NewReaderSize(out, 1<<20)}
}

// judge returns its verdict in the members of docs/SPEC.md section 10.4.
func (js *javascript) judge(file []byte, trust Trust) map[string]any {
	js.t.Helper()
	ask := map[string]any{"file": file}
	if trust.VKey != "" {
		ask["vkey"] = trust.VKey
	}
	if trust.Policy != nil {
		ask["policy"] = trust.Policy
	}
	if trust.CoDealer != nil {
		ask["co_dealer"] = trust.CoDealer
	}
	if trust.History != nil {
		ask["history"] = trust.History
	}
	if trust.Deck != "" {
		ask["deck"] = trust.Deck
	}
	if trust.Auditors != nil {
		ask["auditors"] = trust.Auditors
	}
	for _, s := range trust.Slots {
		slots, _ := ask["slots"].([][]byte)
		ask["slots"] = append(slots, s[:])
	}
	must(js.t, js.to.Encode(ask))
	line, err := js.from.ReadBytes('\n')
	must(js.t, err)
	var answer struct{ Verdict map[string]any }
	must(js.t, json.Unmarshal(line, &answer))
	return answer.Verdict
}

// differ judges a file by both, and says what differs beyond texts for people. It returns the verdict of this package.
func (js *javascript) differ(file []byte, trust Trust) (*Verdict, string) {
	js.t.Helper()
	v := File(file, trust)
	b, err := json.Marshal(v)
	must(js.t, err)
	var here map[string]any
	must(js.t, json.Unmarshal(b, &here))
	there := js.judge(file, trust)
	for _, m := range []map[string]any{here, there} {
		stripped(m)
	}
	return v, cmp.Diff(here, there)
}

// stripped takes out the texts that may change, and of a file that does not hold
// what it says: that is what could be read by then.
func stripped(v map[string]any) {
	if v["unknown"] != nil {
		v["unknown"] = true
	}
	if v["level"] == nil {
		maps.DeleteFunc(v, func(name string, _ any) bool {
			return !slices.Contains([]string{"verdict", "failed", "unknown", "steps"}, name)
		})
	}
	steps, _ := v["steps"].([]any)
	for _, s := range steps {
		delete(s.(map[string]any), "detail")
		delete(s.(map[string]any), "cause")
	}
}

// TestVectorsElsewhere has the second implementation judge every vector.
func TestVectorsElsewhere(t *testing.T) {
	t.Parallel()
	js := openJavaScript(t)
	for _, dir := range []string{"good", "bad"} {
		vectors := load(t, dir)
		if len(vectors) == 0 {
			t.Fatalf("no vectors in %s", dir)
		}
		for _, v := range vectors {
			if _, diff := js.differ(v.bytes(), v.trust()); diff != "" {
				t.Errorf("%s (-Go +JavaScript):\n%s", v.Name, diff)
			}
		}
	}
}

// TestBothImplementations has the second implementation judge random files:
// honest, damaged, edited, and signed by a house that cheats, under trust of
// every kind. Half of them are the same in every run. SHUFFLED_SEED repeats a
// run that failed; SHUFFLED_FILES makes it longer.
func TestBothImplementations(t *testing.T) {
	t.Parallel()
	fresh := setting(t, "SHUFFLED_SEED", rand.Uint64()>>1)
	each := int(setting(t, "SHUFFLED_FILES", 1000))
	for name, seed := range map[string]uint64{"fixed": 1, "fresh": fresh} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := openJavaScript(t)
			p := newPlayer(t, seed)
			seen, differing := map[string]int{}, 0
			for i := range each {
				kind, file := p.file()
				trust := p.trust()
				v, diff := js.differ(file, trust)
				seen[v.Verdict+" "+v.Failed+string(v.Level)]++
				if diff == "" {
					continue
				}
				t.Errorf("SHUFFLED_SEED=%d, file %d, %s (-Go +JavaScript):\n%s\nGo: %+v\ntrust: %s %s\n%.6000q", seed,
					i, kind, diff, v.Steps, trust.VKey, trust.Policy, file)
				if differing++; differing == 5 {
					t.FailNow()
				}
			}
			t.Logf("SHUFFLED_SEED=%d: %d files, %v", seed, each, seen)
			var missing []string
			for _, want := range []string{"proved recorded", "proved witnessed", "consistent key not pinned",
				"cannot judge ", "failed format", "failed entries",
				"failed signature", "failed inclusion", "failed witnesses", "failed origin", "failed legality",
				"failed deck", "failed openings", "failed tape", "failed order"} {
				if seen[want] == 0 {
					missing = append(missing, want)
				}
			}
			// Any one of them is rare enough to be missed by chance.
			if len(missing) > 1 {
				t.Errorf("no file is any of %q", missing)
			}
		})
	}
}

// TestPoliciesInBoth has both read random policies: what one can read the other
// can, and the quorum that is met for one is met for the other.
func TestPoliciesInBoth(t *testing.T) {
	t.Parallel()
	js, seed := openJavaScript(t), setting(t, "SHUFFLED_SEED", rand.Uint64()>>1)
	p := newPlayer(t, seed)
	g := witnessedGame(t, p.trio).played() // cosigned by a and c
	file, seen := g.file(""), map[string]int{}
	for i := range 2 * int(setting(t, "SHUFFLED_FILES", 1000)) {
		policy := p.randomPolicy()
		v, diff := js.differ(file, Trust{Policy: policy})
		seen[v.Verdict+" "+v.Failed+string(v.Level)]++
		if diff != "" {
			t.Fatalf("SHUFFLED_SEED=%d, policy %d (-Go +JavaScript):\n%s\nGo: %s %+v\n%.3000q", seed, i, diff,
				v.Unknown, v.Steps, policy)
		}
	}
	t.Logf("SHUFFLED_SEED=%d: %v", seed, seen)
	for _, want := range []string{"proved recorded", "proved witnessed", "consistent key not pinned", "cannot judge ",
		"failed signature", "failed witnesses"} {
		if seen[want] == 0 {
			t.Errorf("no policy makes it %s", want)
		}
	}
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 64)
	must(t, err)
	return n
}
