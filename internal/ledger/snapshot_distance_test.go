package ledger

import "testing"

// TestSnapshotDistance: a snapshot of a million open shuffles is not written with
// each 65,536 entries.
func TestSnapshotDistance(t *testing.T) {
	t.Parallel()
	for open, want := range map[int]uint64{0: 0, 1: 0, 131_072: 0, 131_074: 1, 1_131_072: 500_000} {
		if got := snapshotDistance(open); got != want {
			t.Errorf("%d open: %d entries, not %d", open, got, want)
		}
	}
}
