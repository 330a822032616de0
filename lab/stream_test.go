package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// line is what a test's block b holds; lengths differ.
func line(b uint64) string { return fmt.Sprintf("block %*d\n", 1+b%7, b) }

func lines(int) fill {
	return func(b uint64, buf []byte) ([]byte, error) { return append(buf, line(b)...), nil }
}

// TestStreamOrder: blocks are in order even if one worker is as far ahead of another
// as its buffers allow, and memory does not grow.
func TestStreamOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, workers := range []int{1, 2, 3, 8} {
		for _, blocks := range []uint64{0, 1, 7, 200} {
			t.Run(fmt.Sprintf("%d by %d", blocks, workers), func(t *testing.T) {
				ahead := make(chan bool)
				var open sync.Once
				var mu sync.Mutex
				buffers := map[*byte]bool{}
				filler := func(worker int) fill {
					return func(b uint64, buf []byte) ([]byte, error) {
						if buf == nil {
							buf = make([]byte, 0, 64)
						}
						mu.Lock()
						buffers[&buf[:1][0]] = true
						mu.Unlock()
						if b%uint64(workers) != uint64(worker) {
							t.Errorf("worker %d makes block %d", worker, b)
						}
						if b == uint64(workers)+1 { // the second block of worker 1
							open.Do(func() { close(ahead) })
						}
						if b == 0 && workers > 1 && blocks > uint64(workers)+1 {
							<-ahead
						}
						return append(buf, line(b)...), nil
					}
				}
				var want, got bytes.Buffer
				for b := range blocks {
					want.WriteString(line(b))
				}
				var last uint64
				n, sum, err := stream(t.Context(), &got, workers, blocks, filler, func(done uint64) {
					if done != last+1 {
						t.Errorf("progress went from %d to %d", last, done)
					}
					last = done
				})
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("wrote\n%swant\n%s", &got, &want)
				}
				if n != uint64(want.Len()) || sum != sha256.Sum256(want.Bytes()) || last != blocks {
					t.Errorf("%d bytes, SHA-256 %x, %d blocks", n, sum, last)
				}
				if len(buffers) > 2*workers {
					t.Errorf("%d buffers for %d workers", len(buffers), workers)
				}
			})
		}
	}
}

// writer fails at a write.
type writer struct {
	left int
	err  error
	then func()
}

func (w *writer) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		if w.then != nil {
			w.then()
			return len(b), nil
		}
		return 0, w.err
	}
	return len(b), nil
}

// TestStreamFails: after any end the error is the first one, and no goroutine is
// left.
func TestStreamFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		w      *writer
		filler func(int) fill
		want   error
	}{
		"writer":    {&writer{left: 9, err: broken}, lines, broken},
		"cancelled": {&writer{left: 9, then: cancel}, lines, context.Canceled},
		"fill": {&writer{left: 1 << 30}, func(w int) fill {
			return func(b uint64, buf []byte) ([]byte, error) {
				if b == 101 {
					return nil, broken
				}
				return append(buf, 0), nil
			}
		}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			of := ctx
			if name != "cancelled" {
				of = t.Context()
			}
			if _, _, err := stream(of, c.w, 3, 1<<40, c.filler, func(uint64) {}); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// TestStreamWaits: when the caller goes on, no worker works any more, even if the
// writer failed while they worked.
func TestStreamWaits(t *testing.T) {
	var begun, done atomic.Int32
	filler := func(int) fill {
		return func(_ uint64, buf []byte) ([]byte, error) {
			begun.Add(1)
			for range 10_000 {
				runtime.Gosched()
			}
			done.Add(1)
			return append(buf, 0), nil
		}
	}
	broken := errors.New("broken")
	if _, _, err := stream(t.Context(), &writer{err: broken}, 4, 1<<40, filler, func(uint64) {}); !errors.Is(err,
		broken) {
		t.Fatal(err)
	}
	if b, d := begun.Load(), done.Load(); b == 0 || b != d {
		t.Errorf("%d blocks were begun and %d done", b, d)
	}
}
