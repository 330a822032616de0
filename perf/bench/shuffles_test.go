package bench

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

// compareShuffles: ours makes the tape from the platform generator, with health
// tests, and the order; the others are those of Go.
func compareShuffles(all *table) {
	source, err := entropy.New(entropy.Config{})
	if err != nil {
		panic(err)
	}
	recipe := shuffle.Recipe{Cards: 52, Take: 52}
	var seed [32]byte
	rand.Read(seed[:])
	names := []string{"shuffled: tape, health tests, order", "math/rand/v2 over ChaCha8, no OS bytes",
		"math/rand/v2 over crypto/rand"}
	each := []func(b *testing.B){
		func(b *testing.B) {
			for b.Loop() {
				tape, err := source.Tape(recipe.TapeLen())
				if err == nil {
					_, err = recipe.Run(tape)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		},
		goShuffle(mathrand.New(mathrand.NewChaCha8(seed))),
		goShuffle(mathrand.New(systemSource{})),
	}
	var contestants []func() result
	for _, run := range each {
		contestants = append(contestants, func() result {
			r := testing.Benchmark(run)
			return result{PerSecond: float64(r.N) / r.T.Seconds()}
		})
	}
	best := again(contestants)
	var rows []row
	for i, r := range best {
		o := row{Name: names[i], Unit: "ns", Value: 1e9 / r.PerSecond, Ran: took(1e9)}
		if i > 0 {
			o.Ratio, o.To = best[i].PerSecond/best[0].PerSecond, "that is what shuffled takes"
		}
		rows = append(rows, o)
	}
	all.add("A shuffle of 52", "on one core", rows...)
}

// order keeps an order for the caller, as ours does.
var order []uint32

func goShuffle(r *mathrand.Rand) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			a := make([]uint32, 52)
			for i := range a {
				a[i] = uint32(i)
			}
			r.Shuffle(52, func(i, j int) { a[i], a[j] = a[j], a[i] })
			order = a
		}
	}
}

type systemSource struct{}

func (systemSource) Uint64() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}
