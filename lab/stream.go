package lab

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"
)

// A fill appends one block of output to buf. One goroutine uses it.
type fill func(block uint64, buf []byte) ([]byte, error)

// belt moves blocks from one worker to the writer and back. It holds two buffers, so memory does not grow
// with the output: one is filled while the other one is written.
type belt struct{ full, free chan []byte }

// stream writes blocks 0 … blocks−1 in order, block b made by worker b mod workers, and returns the number
// of their bytes and their SHA-256. It owns the workers and returns when all have ended. progress is called
// after each block, by the caller's goroutine, with the number of written blocks.
func stream(ctx context.Context, w io.Writer, workers int, blocks uint64,
	filler func(worker int) fill, progress func(blocks uint64)) (n uint64, sum [32]byte, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil) // before the wait
	belts := make([]belt, workers)
	for i := range belts {
		belts[i] = belt{full: make(chan []byte, 1), free: make(chan []byte, 2)}
		belts[i].free <- nil
		belts[i].free <- nil
		all.Go(func() {
			if err := belts[i].work(ctx, uint64(i), uint64(workers), blocks, filler(i)); err != nil {
				stop(err)
			}
		})
	}
	hash := sha256.New()
	for b := range blocks {
		at := belts[b%uint64(workers)]
		select {
		case <-ctx.Done():
			return n, sum, context.Cause(ctx)
		case buf := <-at.full:
			if _, err := w.Write(buf); err != nil {
				return n, sum, err
			}
			hash.Write(buf)
			n += uint64(len(buf))
			at.free <- buf
			progress(b + 1)
		}
	}
	return n, [32]byte(hash.Sum(nil)), nil
}

// work makes a worker's blocks: first, first + step, … below blocks.
func (l belt) work(ctx context.Context, first, step, blocks uint64, fill fill) error {
	for b := first; b < blocks; b += step {
		var buf []byte
		select {
		case <-ctx.Done():
			return nil
		case buf = <-l.free:
		}
		buf, err := fill(b, buf[:0])
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case l.full <- buf:
		}
	}
	return nil
}
