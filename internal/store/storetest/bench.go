package storetest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// Benchmark measures appends of 1, 64 and 256 commits, each with an entry of 500 bytes and a sealed tape of 200, which
// do not compress. open returns a new store.
func Benchmark(b *testing.B, open func(b *testing.B) store.Database) {
	for _, n := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b)
			defer s.Close()
			c := benchChain(b, s)
			serial := uint64(0)
			rows := make([]ledger.Row, n)
			for b.Loop() {
				b.StopTimer()
				for i := range rows {
					serial++
					rows[i] = commitRow(b, "table-1", serial, tag(int(serial)), 0)
					rows[i].Entry, rows[i].Kept = noise(serial, 500), noise(serial+1<<32, 200)
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

// BenchmarkReads measures look-ups in a ledger of 4,096 commits. open returns a new store.
func BenchmarkReads(b *testing.B, open func(b *testing.B) store.Database) {
	const n = 4096
	s := open(b)
	defer s.Close()
	c := benchChain(b, s)
	for serial := uint64(0); serial < n; serial += 512 {
		rows := make([]ledger.Row, 512)
		for i := range rows {
			rows[i] = commitRow(b, "table-1", serial+uint64(i)+1, tag(int(serial)+i), 129)
		}
		batch := c.batch(rows...)
		batch.Tiles = tilesOf(batch)
		if err := s.Append(b.Context(), c.id, c.head, batch); err != nil {
			b.Fatal(err)
		}
		c.head = batch.Head
	}
	for _, read := range []struct {
		name string
		do   func(i int) error
	}{
		{"Rows", func(i int) (err error) {
			for _, err = range s.Rows(b.Context(), c.id, uint64(i%8)*512, uint64(i%8+1)*512) {
			}
			return err
		}},
		{"ByKeyTags", func(i int) error { _, err := s.ByKeyTags(b.Context(), c.id, tag(i%n)); return err }},
		{"CheckpointAfter", func(i int) error {
			_,
				err := s.CheckpointAfter(b.Context(), c.id, uint64(i%n))
			return err
		}},
		{"Tile", func(i int) error { _, err := s.Tile(b.Context(), c.id, 0, uint64(i%(n/256))); return err }},
		{"Commits", func(i int) error {
			_, err := s.Commits(b.Context(), c.id,
				ledger.CommitQuery{Table: "table-1", From: uint64(i % n), To: n, Limit: 10})
			return err
		}},
	} {
		b.Run(read.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := read.do(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchChain(b *testing.B, s ledger.Store) *chain {
	b.Helper()
	c := newTestChain(nil, s, "bench")
	first := c.batch(eventRow(b))
	if err := s.Create(b.Context(), ledger.Info{Name: "bench", Origin: originOf("bench")}, first); err != nil {
		b.Fatal(err)
	}
	c.head = first.Head
	return c
}

// noise returns n bytes that look random.
func noise(seed uint64, n int) (b []byte) {
	for i := uint64(0); len(b) < n; i++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}
