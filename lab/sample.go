package lab

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

// Limits of one run.
const (
	MaxCount   = 1_000_000_000_000 // outcomes
	MaxWorkers = 256
)

// FieldError names the wrong member of a request, and the rule that it breaks.
type FieldError struct{ Field, Rule string }

func (e *FieldError) Error() string { return e.Field + " " + e.Rule }

func between(low, high, got uint64) string {
	return fmt.Sprintf("must be %d to %d, not %d", low, high, got)
}

// CheckWorkers reports, as *FieldError, what is wrong with a number of workers.
func CheckWorkers(workers int) error {
	if workers < 1 || workers > MaxWorkers {
		return &FieldError{"workers", fmt.Sprintf("must be 1 to %d, not %d", MaxWorkers, workers)}
	}
	return nil
}

// A Sample says which outcomes are written, and in which form. Decks, Draws and Numbers make them.
type Sample struct {
	Recipe shuffle.Recipe
	Deck   shuffle.Deck // zero for draws
	Count  uint64       // outcomes
	Format Format
	// Distinct says that the draws take numbers without repeats, which are written instead of the draws
	// (docs/SPEC.md section 2.5).
	Distinct bool
}

// Decks returns a sample of shuffled decks, as a dealer commits to them, of which the first take cards are
// written. An error is a *FieldError.
func Decks(deck shuffle.Deck, take int, count uint64, format Format) (Sample, error) {
	s := Sample{Recipe: shuffle.Recipe{Cards: deck.Len(), Take: take}, Deck: deck, Count: count, Format: format}
	if take < 1 || take > deck.Len() {
		return s, &FieldError{"take", fmt.Sprintf("must be 1 to the %d cards of the deck, not %d", deck.Len(), take)}
	}
	return s, s.check()
}

// Draws returns a sample of draw lists: each outcome is one tape, which gives this many values of 1..k. An
// error is a *FieldError.
func Draws(k uint64, values int, count uint64, format Format) (Sample, error) {
	if k < 1 || k > shuffle.MaxRange {
		return Sample{}, &FieldError{"k", between(1, shuffle.MaxRange, k)}
	}
	if values < 1 || values > shuffle.MaxRanges {
		return Sample{}, &FieldError{"values", fmt.Sprintf("must be 1 to %d, not %d", shuffle.MaxRanges, values)}
	}
	s := Sample{Recipe: shuffle.Recipe{Ranges: slices.Repeat([]uint32{uint32(k)}, values)}, Count: count,
		Format: format}
	return s, s.check()
}

// Numbers returns a sample of this many of the numbers 1..k without repeats, in the order of the draws that
// take them. An error is a *FieldError.
func Numbers(k uint64, values int, count uint64, format Format) (Sample, error) {
	s, err := Draws(k, values, count, format)
	if err != nil {
		return s, err
	}
	s.Distinct = true
	if s.Recipe.Ranges, err = shuffle.NumberRanges(int(k), values); err != nil {
		return s, &FieldError{"values", "does not fit distinct: " + err.Error()}
	}
	return s, nil
}

// next makes one outcome.
func (s Sample) next(m Maker) ([]uint32, error) {
	values, err := m.Next()
	if err != nil || !s.Distinct {
		return values, err
	}
	return shuffle.Numbers(int(s.Recipe.Ranges[0]), values)
}

func (s Sample) check() error {
	if s.Count < 1 || s.Count > MaxCount {
		return &FieldError{"count", between(1, MaxCount, s.Count)}
	}
	if !slices.Contains(Formats, s.Format) {
		return &FieldError{"format", "must be csv, bin or jsonl"}
	}
	return nil
}

// block is the number of consecutive outcomes of one worker: 65,536 values in all, so that long lists take
// no more memory than short ones, and at most Block.
func (s Sample) block() uint64 {
	return min(Block, max(1, uint64(65_536/s.Recipe.Positions())))
}

// Write makes the outcomes on this many workers and writes them in order: worker ⌊i/block⌋ mod workers
// makes outcome i, block being Written.Block. progress, which may be nil, is told how many are written.
func (s Sample) Write(ctx context.Context, src *entropy.Source, workers int, w io.Writer,
	progress func(done uint64)) (*Written, error) {
	if err := CheckWorkers(workers); err != nil {
		return nil, err
	}
	block, encode := s.block(), s.encoder()
	filler := func(int) fill {
		m := NewMaker(src, s.Recipe)
		return func(b uint64, buf []byte) ([]byte, error) {
			for i := b * block; i < min((b+1)*block, s.Count); i++ {
				values, err := s.next(m)
				if err != nil {
					return nil, err
				}
				buf = encode(buf, i, values)
			}
			return buf, nil
		}
	}
	return record(src, workers, block, func() (uint64, [32]byte, error) {
		return stream(ctx, w, workers, (s.Count+block-1)/block, filler, func(b uint64) {
			if progress != nil {
				progress(min(b*block, s.Count))
			}
		})
	})
}

// Written says what was written, and from which tapes.
type Written struct {
	Bytes     uint64 // of the output
	SHA256    string // of the output, hexadecimal
	Workers   int
	Block     uint64 // consecutive outcomes, or tapes of raw output, of one worker
	Tapes     uint64 // that were read
	TapeBytes uint64 // of those tapes
}

// record runs write and says what the source gave in that time. Nothing else may use the source.
func record(src *entropy.Source, workers int, block uint64, write func() (uint64, [32]byte, error)) (*Written, error) {
	before := src.Stats()
	n, sum, err := write()
	if err != nil {
		return nil, err
	}
	after := src.Stats()
	return &Written{n, hex.EncodeToString(sum[:]), workers, block, after.Tapes - before.Tapes,
		after.Bytes - before.Bytes}, nil
}
