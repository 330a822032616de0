package shuffle

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"testing"
)

// BenchmarkShuffle52 puts the exact shuffle beside what a Go programmer would
// pick instead (design goal: at most 1.5 × ChaCha8, which reads no OS bytes;
// health tests are measured where they live, in cmd's bench).
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
	b.Run("tape-in-memory", func(b *testing.B) {
		r := Recipe{Cards: 52, Take: 52}
		tape := make([]byte, r.TapeLen())
		rand.Read(tape)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Run(tape); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("math-rand-v2-ChaCha8", func(b *testing.B) {
		var seed [32]byte
		rand.Read(seed[:])
		benchShuffle(b, mathrand.New(mathrand.NewChaCha8(seed)))
	})
	b.Run("math-rand-v2-over-crypto-rand", func(b *testing.B) {
		benchShuffle(b, mathrand.New(systemSource{}))
	})
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
