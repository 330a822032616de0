package selftest

import (
	"errors"
	"strings"
	"testing"

	"shuffled/internal/known"
)

// TestRun passes every test, and holds the table itself: names that stand once,
// a reason and a source for each, and no test that compares little.
func TestRun(t *testing.T) {
	results := Run()
	passed, err := Judge(results)
	if err != nil {
		t.Error(err)
	}
	if passed.Tests < 40 || passed.Answers < 250 {
		t.Errorf("only %d tests with %d answers", passed.Tests, passed.Answers)
	}
	seen := map[string]bool{}
	for _, r := range results {
		if r.Name == "" || r.Covers == "" || r.Rule == "" || r.Source == "" || seen[r.Name] {
			t.Errorf("a test without a name of its own, a reason or a source: %+v", r)
		}
		seen[r.Name] = true
		if len(r.Answers) < 2 && r.Name != "aes-256-ctr" {
			t.Errorf("%s compares only %q", r.Name, r.Answers)
		}
		answers := map[string]bool{}
		for _, what := range r.Answers {
			if what == "" || answers[what] {
				t.Errorf("%s: the answer %q stands twice, or has no name", r.Name, what)
			}
			answers[what] = true
		}
		if strings.HasPrefix(r.Name, "entry-") && !strings.Contains(strings.Join(r.Answers, "\n"), ", written out") {
			t.Errorf("%s has no entry that is written out", r.Name)
		}
	}
}

// TestFailsClosed: whatever goes wrong in a test is a failure that names it.
func TestFailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(*known.Answers)
		want string
	}{
		"a wrong answer": {func(a *known.Answers) { a.Is("one", "1", nil, "1"); a.Is("two", "3", nil, "2") },
			"two: 3, want 2"},
		"an error": {func(a *known.Answers) { a.Is("one", "1", errors.New("broken"), "1") },
			"one: error: broken, want 1"},
		"a box that opens": {func(a *known.Answers) { a.Refused("one", nil, errors.ErrUnsupported) },
			"one: accepted"},
		"for another reason": {func(a *known.Answers) { a.Refused("one", errors.New("x"), errors.ErrUnsupported) },
			"for another reason: x"},
		"a panic": {func(a *known.Answers) { a.Is("one", "1", nil, "1"); panic("slice") },
			"it panicked: slice"},
		"a bad constant":   {func(a *known.Answers) { known.Unhex("0") }, "not hexadecimal"},
		"nothing compared": {func(*known.Answers) {}, "it compared nothing"},
		"no vectors": {func(*known.Answers) { known.Load[struct{ A int }]([]byte(`{"B":1}`)) },
			"reading the vectors"},
	} {
		r := test{"name", "covers", "rule", "source", func(_ string, a *known.Answers) { c.run(a) }}.result()
		if all := strings.Join(r.Wrong, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
		if _, err := Judge([]Result{{Name: "another", Answers: []string{"x"}}, r}); err == nil ||
			!strings.Contains(err.Error(), "1 of 2 known-answer tests failed: name (") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Judge(nil); err == nil {
		t.Error("no tests at all have passed")
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		Run()
	}
}
