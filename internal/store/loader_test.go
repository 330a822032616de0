package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shuffled/internal/ledger"
)

// rowsOf is the ask of a loader that finds of each id the row of that index.
func rowsOf(_ context.Context, keys []key) (map[key][]ledger.Row, error) {
	found := make(map[key][]ledger.Row)
	for _, k := range keys {
		found[k] = []ledger.Row{{Index: k.id}}
	}
	return found, nil
}

// number is a key of a ledger.
func number(of ledger.ID, n int) key { return key{of: of, id: uint64(n)} }

// rowOf reports whether a key has its row.
func rowOf(found map[key][]ledger.Row, k key) bool {
	return len(found[k]) == 1 && found[k][0].Index == k.id
}

// TestLoaderShares: what is asked for while the database is busy is one question, with each key once, and never more
// keys than a question may have. A listing is a question of its own, and waits for none.
func TestLoaderShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		asked := make(chan int, 99) // keys in each question
		l := &loader{most: 10, ask: func(ctx context.Context, keys []key) (map[key][]ledger.Row, error) {
			if asked <- len(keys); len(keys) < 20 {
				<-release
			}
			return rowsOf(ctx, keys)
		}}
		wrong := make(chan bool, 99)
		ask := func(keys ...key) {
			go func() {
				found, err := l.find(t.Context(), keys...)
				wrong <- err != nil || slices.ContainsFunc(keys, func(k key) bool { return !rowOf(found, k) })
			}()
			synctest.Wait()
		}
		for n := range maxQuestions {
			ask(number(1, n))
		}
		for n := range 12 {
			ask(number(ledger.ID(n%3), n))
			ask(number(ledger.ID(n%3), n)) // the same again
		}
		ask(slices.Repeat([]key{number(7, 7)}, 20)...)
		if <-wrong {
			t.Error("a listing did not get what it asked for")
		}
		close(release)
		for range maxQuestions + 24 {
			if <-wrong {
				t.Error("a caller did not get what it asked for")
			}
		}
		close(asked)
		var all []int
		for n := range asked {
			all = append(all, n)
		}
		slices.Sort(all)
		if want := append(slices.Repeat([]int{1}, maxQuestions), 3, 10, 20); !slices.Equal(all, want) {
			t.Errorf("questions of %d keys, want %d", all, want)
		}
	})
}

// TestLoaderFaults: what cannot be read in one ledger of a question fails for no other. After the time limit of the
// question nothing is asked again.
func TestLoaderFaults(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			questions, release := 0, make(chan struct{})
			l := &loader{most: 10, ask: func(ctx context.Context, keys []key) (map[key][]ledger.Row, error) {
				<-release
				if questions++; slices.ContainsFunc(keys, func(k key) bool { return k.id == 13 }) {
					if late {
						<-ctx.Done()
					}
					return nil, errors.New("a row cannot be read")
				}
				return rowsOf(ctx, keys)
			}, asking: maxQuestions - 1} // one goroutine more may run
			var all sync.WaitGroup
			// The first is a question by itself.
			for _, k := range []key{number(1, 1), number(1, 2), number(1, 13), number(2, 3), number(3, 4)} {
				all.Go(func() {
					found, err := l.find(t.Context(), k)
					fails := k.id > 1 && (late || k.of == 1)
					if (err != nil) != fails || !fails && !rowOf(found, k) {
						t.Errorf("late %t, %v: %v, %v", late, k, found[k], err)
					}
				})
				synctest.Wait()
			}
			close(release)
			all.Wait()
			if want := map[bool]int{false: 2 + 3, true: 2}[late]; questions != want {
				t.Errorf("late %t: %d questions, want %d", late, questions, want)
			}
		})
	}
}

// TestLoaderBound: while the store does not answer, nobody waits beyond patience,
// and what is to be asked does not grow without bound when callers leave.
func TestLoaderBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := &loader{most: 10, ask: func(ctx context.Context, keys []key) (map[key][]ledger.Row, error) {
			<-release
			return rowsOf(ctx, keys)
		}}
		start := time.Now()
		const n = maxQuestions + 10*maxWaiting
		refused := make(chan error, n)
		for key := range n {
			go func() {
				_, err := l.find(ledger.WithPatience(t.Context(), start.Add(time.Second)), number(1, key))
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
		_, err := l.find(t.Context(), number(1, n))
		if !errors.Is(err, ledger.ErrOverloaded) || time.Since(start) != time.Second {
			t.Errorf("one more: %v after %v", err, time.Since(start))
		}
		close(release)
		synctest.Wait()
		if v, err := l.find(t.Context(), number(1, 7)); !rowOf(v, number(1, 7)) || err != nil || len(l.waiting) != 0 {
			t.Errorf("afterwards: %v, %v, %d wait", v, err, len(l.waiting))
		}
	})
}
