package cosign

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/trust"
)

// named is a key of which only the name matters.
type named struct {
	note.Verifier
	name string
}

func (k named) Name() string { return k.name }

// TestLateDue: one witness cannot keep another from its turn for longer than one interval.
func TestLateDue(t *testing.T) {
	t.Parallel()
	now := time.Now()
	every := map[string]time.Duration{"a": time.Minute, "b": time.Minute, "c": time.Hour}
	var slow []trust.Witness
	for _, name := range []string{"c", "a", "b"} {
		slow = append(slow, trust.Witness{Name: name, Key: named{name: name}})
	}
	for _, one := range []struct {
		what  string
		asked map[string]time.Duration // ago; without: never
		want  []string
	}{
		{"never asked", nil, []string{"a", "b", "c"}},
		{"just asked, and never", map[string]time.Duration{"a": 0}, []string{"b", "c"}},
		{"the first is due", map[string]time.Duration{"a": time.Minute, "b": 0, "c": 0}, []string{"a"}},
		{"the second waits for the first", map[string]time.Duration{"a": 0, "b": time.Minute, "c": 0}, nil},
		{"the second waits no longer", map[string]time.Duration{"a": 0, "b": 2 * time.Minute, "c": 0}, []string{"b"}},
		{"the longer waits", map[string]time.Duration{"a": 0, "b": 0, "c": time.Hour}, nil},
		{"the longer waits no longer", map[string]time.Duration{"a": 0, "b": 0, "c": 2 * time.Hour}, []string{"c"}},
		{"together", map[string]time.Duration{"a": time.Minute, "b": time.Minute, "c": time.Hour},
			[]string{"a", "b", "c"}},
	} {
		l := late{asked: make(map[string]time.Time)}
		for name, ago := range one.asked {
			l.asked[name] = now.Add(-ago)
		}
		var got []string
		for _, w := range l.due(every, slow) {
			got = append(got, w.Name)
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %v are due, not %v", one.what, got, one.want)
		}
	}
}
