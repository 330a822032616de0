package battery

import (
	"encoding/binary"
	"math/rand/v2"
	"syscall"
	"testing"
)

// fairDeck returns a shuffler for tests: a fixed seed, so that no test fails by chance.
func fairDeck(seed byte, n int) func() []uint32 { return shuffler(rand.NewChaCha8([32]byte{seed}), n) }

// fairDeckOf is fairDeck for many seeds.
func fairDeckOf(seed uint64, n int) func() []uint32 {
	var key [32]byte
	binary.BigEndian.PutUint64(key[24:], seed)
	return shuffler(rand.NewChaCha8(key), n)
}

func shuffler(src rand.Source, n int) func() []uint32 {
	r := rand.New(src)
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	return func() []uint32 {
		r.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
}

// cpu is the processor time of the process in nanoseconds: steadier than the clock on
// a busy machine.
func cpu(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

func BenchmarkAdd(b *testing.B) {
	for _, s := range []Shape{{Cards: 52, Decks: 1}, {Cards: 416, Decks: 8}} {
		b.Run(map[int]string{52: "deck", 416: "shoe-8"}[s.Cards], func(b *testing.B) {
			next := fairDeck(1, s.Cards)
			games := make([][]uint32, 1024)
			for i := range games {
				games[i] = append([]uint32(nil), next()...)
			}
			battery, err := New(s)
			if err != nil {
				b.Fatal(err)
			}
			w := battery.Worker()
			b.ReportAllocs()
			start := cpu(b)
			for i := 0; b.Loop(); i++ {
				w.Add(games[i%len(games)])
			}
			b.ReportMetric(float64(cpu(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}
