package inspect

import (
	"testing"

	"shuffled/internal/inspect/inspecttest"
)

// TestQuorumOfTheNewest: the trusted quorum must have cosigned the newest cosigned
// checkpoint. That it cosigned an older one says nothing of what came since.
func TestQuorumOfTheNewest(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Cosigned("w1", "w2", "w3")
	l.hand("t2")
	l.Cosigned("w1", "w2")
	l.hand("t3")
	l.Cosigned("w2", "w3")
	l.Finish()
	for _, test := range []struct {
		name   string
		policy []byte
		want   []string
	}{
		{"two of three", inspecttest.Policy(true, 2, "w1", "w2", "w3"), nil},
		{"the second", inspecttest.Policy(true, 1, "w2"), nil},
		{"the two", inspecttest.Policy(true, 2, "w2", "w3"), nil},
		{"all three, who cosigned the first", inspecttest.Policy(true, 3, "w1", "w2", "w3"), []string{"quorum"}},
		{"the first, that cosigned the first and the second", inspecttest.Policy(true, 1, "w1"), []string{"quorum"}},
		{"the two of the second", inspecttest.Policy(true, 2, "w1", "w2"), []string{"quorum"}},
		{"another", inspecttest.Policy(true, 1, "x1"), []string{"quorum"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantFaults(t, inspectDir(t, l.Dir, Options{Policy: test.policy}),
				test.want)
		})
	}
}
