package verify

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
