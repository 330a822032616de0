package load

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A histogram counts durations in buckets whose width is a 128th of their octave, so a reported duration is
// off by at most 1/256, 0.4 %, in either direction. Safe for concurrent use; its counts are exact when no
// goroutine adds any more.
type histogram struct {
	buckets [buckets]atomic.Uint64
	count   atomic.Uint64
	sum     atomic.Uint64 // nanoseconds
	most    atomic.Uint64 // nanoseconds
}

const (
	precision = 7 // bits of a value that its bucket keeps after the first
	buckets   = (64 - precision + 1) << precision
)

// bucketOf returns the bucket of v: v itself below 256, and above the eight highest bits and the number of
// bits that follow.
func bucketOf(v uint64) int {
	if v < 2<<precision {
		return int(v)
	}
	shift := bits.Len64(v) - precision - 1
	return shift<<precision + int(v>>shift)
}

// middleOf returns the value in the middle of a bucket.
func middleOf(bucket int) uint64 {
	if bucket < 2<<precision {
		return uint64(bucket)
	}
	shift := bucket>>precision - 1
	return uint64(bucket-shift<<precision)<<shift + 1<<shift>>1
}

func (h *histogram) add(d time.Duration) {
	v := uint64(max(d, 0))
	h.buckets[bucketOf(v)].Add(1)
	h.count.Add(1)
	h.sum.Add(v)
	for {
		most := h.most.Load()
		if v <= most || h.most.CompareAndSwap(most, v) {
			return
		}
	}
}

// counts are the buckets of one or more histograms at one time.
type counts struct {
	buckets [buckets]uint64
	n       uint64
}

// read adds what h has counted so far.
func (c *counts) read(h *histogram) {
	for i := range h.buckets {
		v := h.buckets[i].Load()
		c.buckets[i] += v
		c.n += v
	}
}

// since returns what was counted after an earlier reading.
func (c *counts) since(before *counts) *counts {
	d := &counts{n: c.n - before.n}
	for i := range c.buckets {
		d.buckets[i] = c.buckets[i] - before.buckets[i]
	}
	return d
}

// quantile returns the smallest duration that at least the share q of all do not exceed; 0 if there are none.
func (c *counts) quantile(q float64) time.Duration {
	rank := uint64(q * float64(c.n))
	if float64(rank) < q*float64(c.n) || rank == 0 {
		rank++
	}
	var seen uint64
	for i, n := range c.buckets {
		if seen += n; n > 0 && seen >= rank {
			return time.Duration(middleOf(i))
		}
	}
	return 0
}

// Latency is how long requests of one kind took, in milliseconds. The quantiles
// are off by at most 0.4 %; Mean and Max are exact.
type Latency struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	Max   float64 `json:"max"`
}

func (h *histogram) latency() Latency {
	c := new(counts)
	c.read(h)
	if c.n == 0 {
		return Latency{}
	}
	most := h.most.Load()
	at := func(q float64) float64 { return milliseconds(min(c.quantile(q), time.Duration(most))) }
	return Latency{
		Count: c.n, Mean: float64(h.sum.Load()) / float64(c.n) / 1e6,
		P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Max: milliseconds(time.Duration(most)),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }
