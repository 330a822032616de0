package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"shuffled/internal/ledger"
)

// TestLoaderShares: what is asked for while the database is busy is one question, with each key once. It has more keys
// than a question may have only if one look-up has them.
func TestLoaderShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		asked := make(chan int, 9) // keys in each question
		l := &loader[int, int]{most: 10, ask: func(_ context.Context, keys map[int]bool) (map[int]int, error) {
			<-release
			asked <- len(keys)
			return negated(keys), nil
		}}
		wrong := make(chan bool, 100)
		ask := func(keys ...int) {
			go func() {
				found, err := l.find(t.Context(), keys)
				wrong <- err != nil || slices.ContainsFunc(keys, func(k int) bool { return found[k] != -k })
			}()
			synctest.Wait()
		}
		ask(1)
		ask(2)
		for k := range 4 {
			ask(10*k, 10*k+1)
			ask(10 * k) // the same again
		}
		ask(slices.Repeat([]int{50}, 11)...)
		close(release)
		for range 11 {
			if <-wrong {
				t.Error("a caller did not get what it asked for")
			}
		}
		close(asked)
		var all []int
		for n := range asked {
			all = append(all, n)
		}
		if slices.Sort(all); !slices.Equal(all, []int{1, 1, 1, 8}) {
			t.Errorf("questions of %d keys", all)
		}
	})
}

// TestLoaderBound: while the store does not answer, nobody waits beyond patience,
// and what is to be asked does not grow without bound when callers leave.
func TestLoaderBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := &loader[int, int]{most: 10, ask: func(_ context.Context, keys map[int]bool) (map[int]int, error) {
			<-release
			return negated(keys), nil
		}}
		start := time.Now()
		const n = 10 * (maxWaiting + maxQuestions)
		refused := make(chan error, n)
		for key := range n {
			go func() {
				_, err := l.find(ledger.WithPatience(t.Context(), start.Add(time.Second)), []int{key})
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
		_, err := l.find(t.Context(), []int{n})
		if !errors.Is(err, ledger.ErrOverloaded) || time.Since(start) != time.Second {
			t.Errorf("one more: %v after %v", err, time.Since(start))
		}
		close(release)
		synctest.Wait()
		if v, err := l.find(t.Context(), []int{7}); v[7] != -7 || err != nil || len(l.waiting) != 0 {
			t.Errorf("afterwards: %d, %v, %d wait", v, err, len(l.waiting))
		}
	})
}

func negated(keys map[int]bool) map[int]int {
	found := make(map[int]int)
	for k := range keys {
		found[k] = -k
	}
	return found
}
