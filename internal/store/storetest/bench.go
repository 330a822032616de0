package storetest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"shuffled/internal/ledger"
)

// Benchmark measures appends of 1, 64 and 256 commits, each of an entry of 500
// bytes and a sealed tape of 200, of which nothing compresses. open returns a new
// store.
func Benchmark(b *testing.B, open func(b *testing.B) Store) {
	for _, n := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b)
			defer s.Close()
			c := newTestChain(nil, s, "bench")
			first := c.batch(eventRow(b))
			if err := s.Create(b.Context(), ledger.Info{Name: "bench", Origin: originOf("bench")}, first); err != nil {
				b.Fatal(err)
			}
			c.head = first.Head
			serial := uint64(0)
			rows := make([]ledger.Row, n)
			for b.Loop() {
				b.StopTimer()
				for i := range rows {
					serial++
					rows[i] = commitRow(b, "table-1", serial, tag(int(serial)), 0)
					rows[i].Entry, rows[i].Sealed = noise(serial, 500), noise(serial+1<<32, 200)
				}
				batch := c.batch(rows...)
				batch.Tiles = tilesOf(batch)
				b.StartTimer()
				if err := s.Append(b.Context(), c.id, c.head, batch); err != nil {
					b.Fatal(err)
				}
				c.head = batch.Head
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// noise returns n bytes that look random.
func noise(seed uint64, n int) (b []byte) {
	for i := uint64(0); len(b) < n; i++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}
