package entropy

import (
	"crypto/rand"
	"testing"
)

// tape52 is the tape of a 52-card deck in bytes.
const tape52 = 129

// BenchmarkTape52 shows what the health tests and the latch add to the read of
// one tape: compare source with crypto-rand.
func BenchmarkTape52(b *testing.B) {
	b.Run("crypto-rand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tape := make([]byte, tape52)
			rand.Read(tape)
			sink = tape
		}
	})
	b.Run("source", func(b *testing.B) {
		s, err := New(Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if sink, err = s.Tape(tape52); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("source-parallel", func(b *testing.B) {
		s, err := New(Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.Tape(tape52); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("health-tests", func(b *testing.B) {
		h, tape := NewHealth(AlphaExp), make([]byte, tape52)
		rand.Read(tape)
		for b.Loop() {
			if h.Test(tape) != 0 {
				h.Reset()
			}
		}
	})
}

var sink []byte
