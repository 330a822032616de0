package fsck

import (
	"context"
	"fmt"
	"testing"

	"shuffled/internal/store"
)

// TestPages: every size is yielded once, also the last of a page and the first of the
// next one, and one that stands twice there is named.
func TestPages(t *testing.T) {
	t.Parallel()
	const size, twice = 3*page + 5, 2*page + 1
	query := func(_ context.Context, _ string, args []any, each func([]any) error) error {
		for n := max(args[1].(int64), 1); n < args[2].(int64); n++ {
			for range 1 + n/twice*twice/n { // two rows of the size twice
				if err := each([]any{int64(7), n, nil, nil}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, from := range []uint64{0, 1, page} {
		s := &source{rows: &store.Evidence{Query: query}, size: size, once: make(map[string]bool)}
		next := max(int64(from), 1)
		for r, err := range s.sizes(t.Context(), store.CheckpointRows, from) {
			if n, ok := r.Int("size"); err != nil || !ok || n != next {
				t.Fatalf("from %d: size %d, want %d, %v", from, n, next, err)
			}
			next++
		}
		if next != size+1 {
			t.Errorf("from %d: it ends before %d", from, next)
		}
		if len(s.faults) != 1 || s.faults[0].Where != fmt.Sprintf("checkpoints[size=%d]", twice) {
			t.Errorf("from %d: %+v", from, s.faults)
		}
	}
}
