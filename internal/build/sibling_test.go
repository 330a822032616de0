package build

import "testing"

// TestIsOf: a program is a sibling if the linker wrote the same commit into it.
func TestIsOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, commit string
		want         bool
	}{
		{"…c0ffee…", "c0ffee", true}, {"…decade…", "c0ffee", false}, {"…decade…", "", true},
		{"…c0ffee-modified…", "c0ffee", false}, {"…c0ffee…", "c0ffee-modified", false},
		{"…c0ffee-modified…", "c0ffee-modified", true},
	} {
		if got := isOf([]byte(c.text), c.commit); got != c.want {
			t.Errorf("%q is a sibling of %q: %v", c.text, c.commit, got)
		}
	}
}
