package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// TestBatchExamples sends the contract's examples of a batch. The example of the same name
// among the answers has the same statuses, members and codes.
func TestBatchExamples(t *testing.T) {
	t.Parallel()
	op := loadContract(t).Paths.Find("/v1/{ledger}/batch").Post
	answers := op.Responses.Value("200").Value.Content["application/json"].Examples
	s := newStack(t, stackOptions{})
	asked := op.RequestBody.Value.Content["application/json"].Examples
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		body, err := json.Marshal(asked[name].Value.Value)
		must(t, err)
		got := decodeAny(t, s.post("/v1/main/batch", "", string(body)).body)
		if answers[name] == nil {
			t.Errorf("%s has no answer among the examples", name)
			continue
		}
		text, err := json.Marshal(answers[name].Value.Value)
		must(t, err)
		if got, want := shape("", got), shape("", decodeAny(t, text)); got != want {
			t.Errorf("%s is answered with\n%s\nand in the example with\n%s", name, got, want)
		}
	}
	if len(asked) != 5 || len(answers) != 6 {
		t.Errorf("%d examples of requests and %d of answers", len(asked), len(answers))
	}
}

// shape are the members of a value, with the numbers and words that do not hang on a tape.
func shape(name string, v any) (out string) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if member != "detail" {
				out += " " + member + shape(member, v[member])
			}
		}
		return "{" + out + " }"
	case []any:
		if name == "proof" {
			return ""
		}
		for _, e := range v {
			out += shape(name, e)
		}
		return "[" + out + "]"
	}
	if slices.Contains([]string{"status", "code", "title", "field", "place", "next", "table", "purpose"}, name) {
		return fmt.Sprint(":", v)
	}
	return ""
}
