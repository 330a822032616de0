package shuffle

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"testing"
)

// BenchmarkShuffle52 puts the exact shuffle alongside what a Go programmer would pick instead (design goal: at most 1.5
// × ChaCha8, which reads no OS bytes; health tests are measured where they live, in cmd's bench).
func BenchmarkShuffle52(b *testing.B) {
	b.Run("shuffled", func(b *testing.B) {
		r := Recipe{Cards: 52, Take: 52}
		tape := make([]byte, r.TapeLen())
		b.ReportAllocs()
		for b.Loop() {
			rand.Read(tape)
			if _, err := r.Run(tape); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tape-in-memory", func(b *testing.B) { benchRun(b, Recipe{Cards: 52, Take: 52}) })
	b.Run("math-rand-v2-ChaCha8", func(b *testing.B) {
		var seed [32]byte
		rand.Read(seed[:])
		benchShuffle(b, mathrand.New(mathrand.NewChaCha8(seed)))
	})
	b.Run("math-rand-v2-over-crypto-rand", func(b *testing.B) {
		benchShuffle(b, mathrand.New(systemSource{}))
	})
}

// BenchmarkRun is the other recipes.
func BenchmarkRun(b *testing.B) {
	b.Run("shoe-8", func(b *testing.B) { benchRun(b, Recipe{Cards: 416, Take: 416}) })
	b.Run("draws", func(b *testing.B) { benchRun(b, Recipe{Ranges: []uint32{37, 6, 6, 1000, 1_000_000}}) })
	b.Run("mix-52", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Mix([32]byte{1}, 52); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchRun spends tapes from memory. There are so many that no processor learns which of their lanes are rejected.
func benchRun(b *testing.B, r Recipe) {
	tapes := make([][]byte, 1024)
	for i := range tapes {
		tapes[i] = make([]byte, r.TapeLen())
		rand.Read(tapes[i])
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := r.Run(tapes[i%len(tapes)]); err != nil {
			b.Fatal(err)
		}
	}
}

func benchShuffle(b *testing.B, r *mathrand.Rand) {
	b.ReportAllocs()
	for b.Loop() {
		a := make([]uint32, 52)
		for i := range a {
			a[i] = uint32(i)
		}
		r.Shuffle(52, func(i, j int) { a[i], a[j] = a[j], a[i] })
	}
}

type systemSource struct{}

func (systemSource) Uint64() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}
