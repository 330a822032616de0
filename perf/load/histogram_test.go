package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBuckets compares every bucket with its neighbours: no value is between them,
// and the middle is near enough to all values of the bucket.
func TestBuckets(t *testing.T) {
	if got := bucketOf(math.MaxUint64); got != buckets-1 {
		t.Errorf("the largest value is in bucket %d of %d", got, buckets)
	}
	first := uint64(0)
	for b := range buckets {
		if bucketOf(first) != b {
			t.Fatalf("%d is in bucket %d, not %d", first, bucketOf(first), b)
		}
		next := first
		for step := uint64(1) << 63; step > 0; step >>= 1 { // the last value in b
			if next+step > next && bucketOf(next+step) == b {
				next += step
			}
		}
		middle := middleOf(b)
		for _, v := range []uint64{first, next} {
			if off := math.Abs(float64(middle) - float64(v)); off > float64(v)/256 {
				t.Errorf("bucket %d: %d is told for %d", b, middle, v)
			}
		}
		first = next + 1
	}
	if first != 0 {
		t.Errorf("the buckets end at %d", first)
	}
}

// TestQuantiles compares with the exact quantiles of the same durations.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(1, 45).Draw(t, "bits")).Draw(t, "d"))
		}), 1, 300).Draw(t, "durations")
		h, sum := new(histogram), 0.0
		for _, d := range exact {
			h.add(d)
			sum += milliseconds(d)
		}
		slices.Sort(exact)
		l := h.latency()
		if l.Count != uint64(len(exact)) || l.Max != milliseconds(exact[len(exact)-1]) ||
			math.Abs(l.Mean-sum/float64(len(exact))) > 1e-9*sum+1e-12 {
			t.Fatalf("%d, mean %v, at most %v, of %v", l.Count, l.Mean, l.Max, exact)
		}
		for q, got := range map[float64]float64{0.5: l.P50, 0.9: l.P90, 0.99: l.P99, 0.999: l.P999} {
			rank := int(math.Ceil(q * float64(len(exact))))
			want := milliseconds(exact[rank-1])
			if math.Abs(got-want) > want/256+1e-9 { // of rounding
				t.Errorf("quantile %v of %d is %v, and exactly %v", q, len(exact), got, want)
			}
		}
	})
}

// TestSince separates the counts of one second from those of the one before.
func TestSince(t *testing.T) {
	h, before, after := new(histogram), new(counts), new(counts)
	h.add(time.Second)
	before.read(h)
	h.add(time.Millisecond)
	h.add(-time.Millisecond) // a clock that was set back
	after.read(h)
	d := after.since(before)
	if d.n != 2 || d.quantile(0.5) != 0 || d.quantile(1).Round(time.Millisecond) != time.Millisecond {
		t.Errorf("%d of %v and %v", d.n, d.quantile(0.5), d.quantile(1))
	}
	if none := new(histogram).latency(); none != (Latency{}) {
		t.Errorf("of none: %+v", none)
	}
}
