package lab

import (
	"context"
	"io"

	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
)

// MaxBytes is the largest raw output of one run.
const MaxBytes = 1_000_000_000_000_000

// CheckRaw reports, as *FieldError, what is wrong with a number of bytes.
func CheckRaw(bytes uint64) error {
	if bytes < 1 || bytes > MaxBytes {
		return &FieldError{"bytes", between(1, MaxBytes, bytes)}
	}
	return nil
}

// Raw writes the generator's output before any scaling: the bytes that a dealer would read as tapes, in tapes of
// entropy.MaxTape bytes; the last one may be shorter. Worker t mod workers reads tape t. The health tests run over
// every byte; a failure ends the run. progress, which may be nil, is told how many bytes are written.
func Raw(ctx context.Context, src *entropy.Source, workers int, bytes uint64, w io.Writer,
	progress func(done uint64)) (*Written, error) {
	if err := CheckRaw(bytes); err != nil {
		return nil, err
	}
	if err := CheckWorkers(workers); err != nil {
		return nil, err
	}
	tape := func(t uint64, buf []byte) ([]byte, error) {
		b, err := outcome.Raw(src, int(min(bytes-t*entropy.MaxTape, entropy.MaxTape)))
		return append(buf, b...), err
	}
	tapes := (bytes + entropy.MaxTape - 1) / entropy.MaxTape
	return record(src, workers, 1, func() (n uint64, sum [32]byte, err error) {
		return stream(ctx, w, workers, tapes, func(int) fill { return tape }, func(t uint64) {
			if progress != nil {
				progress(min(t*entropy.MaxTape, bytes))
			}
		})
	})
}
