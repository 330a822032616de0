package dealer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"shuffled/internal/ledger"
)

// TestLoaderBound: while the store does not answer, nobody waits beyond patience,
// and what is to be asked does not grow without bound when callers leave.
func TestLoaderBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := &loader[int, int]{most: 10, ask: func(_ context.Context, keys []int) (map[int]int, error) {
			<-release
			found := make(map[int]int)
			for _, k := range keys {
				found[k] = -k
			}
			return found, nil
		}}
		start := time.Now()
		const n = 10 * (maxWaiting + maxQuestions)
		refused := make(chan error, n)
		for key := range n {
			go func() {
				_, err := l.find(ledger.WithPatience(t.Context(), start.Add(time.Second)), key)
				refused <- err
			}()
			synctest.Wait()
		}
		for range n {
			if err := <-refused; !errors.Is(err, ledger.ErrOverloaded) {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != time.Second || len(l.waiting) != maxWaiting {
			t.Errorf("after %v %d questions wait", d, len(l.waiting))
		}
		if _, err := l.find(t.Context(), n); !errors.Is(err, ledger.ErrOverloaded) || time.Since(start) != time.Second {
			t.Errorf("one more: %v after %v", err, time.Since(start))
		}
		close(release)
		synctest.Wait()
		if v, err := l.find(t.Context(), 7); v != -7 || err != nil || len(l.waiting) != 0 {
			t.Errorf("afterwards: %d, %v, %d wait", v, err, len(l.waiting))
		}
	})
}
