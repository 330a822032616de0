package ledger

import (
	"slices"
	"testing"
	"time"
)

// TestWithdrawnFromTheEnd: when the time of a batch is over, the sequencer has taken all of its requests up to one, and
// none behind that, nor anything of the next portion.
func TestWithdrawnFromTheEnd(t *testing.T) {
	t.Parallel()
	for range 20 {
		ctx := WithPatience(t.Context(), time.Now())
		l := &Core{life: &Life{Running: t.Context(), Done: make(chan struct{}), Queue: make(chan []*Request, 2)}}
		all := slices.Repeat([]Proposal{{Kept: [][]byte{make([]byte, MaxBatchBytes/400)}}}, 400)
		answered := make(chan []Answer)
		go func() { answered <- l.AppendAll(ctx, all) }()
		requests := <-l.life.Queue
		taken := make([]bool, len(all))
		for range 100 {
			for i, r := range requests {
				if r.Take() {
					taken[i] = true
					r.Answer(Answer{})
				}
			}
		}
		for i, a := range <-answered {
			if taken[i] != (a.Err == nil) || i > 0 && taken[i] && !taken[i-1] ||
				len(l.life.Queue) > 0 && !taken[len(requests)-1] {
				t.Fatalf("request %d: taken %t behind %t, %v", i, taken[i], taken[max(0, i-1)], a.Err)
			}
		}
	}
}
