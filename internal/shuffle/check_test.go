package shuffle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// shuffler is one way to do what docs/SPEC.md section 2 asks. The checks of this package's tests are functions over it
// that return what they find wrong, so that they can be run on the reference as well.
type shuffler interface {
	// draw takes one value of 1..k, k > 1, off the front of buf; ok is false when buf runs out first.
	draw(k uint32, buf []byte) (v uint32, rest []byte, ok bool)
	// tally draws 1..k from buf until it runs out and counts the values.
	tally(counts []uint32, k uint32, buf []byte)
	// run is Recipe.Run.
	run(r Recipe, tape []byte) (Outcome, error)
}

// ours is the package itself.
type ours struct{}

func (ours) draw(k uint32, buf []byte) (uint32, []byte, bool) {
	l := lanes{buf: buf}
	v := l.draw(k)
	return v, buf[l.pos:], !l.dry
}

func (ours) tally(counts []uint32, k uint32, buf []byte) {
	l := lanes{buf: buf}
	for {
		v := l.draw(k)
		if l.dry {
			return
		}
		counts[v]++
	}
}

func (ours) run(r Recipe, tape []byte) (Outcome, error) { return r.Run(tape) }

// tallyByDraw is tally for those that have no faster way.
func tallyByDraw(s shuffler, counts []uint32, k uint32, buf []byte) {
	for {
		v, rest, ok := s.draw(k, buf)
		if !ok {
			return
		}
		counts[v]++
		buf = rest
	}
}

// expect checks that s gives exactly this outcome, or exactly this error and no part of an outcome.
func expect(s shuffler, r Recipe, tape []byte, want Outcome, wantErr error) error {
	got, err := s.run(r, tape)
	switch {
	case wantErr == errInvalid && err != nil:
		err = errInvalid // which rule it names is another test's matter
	case !errors.Is(err, wantErr):
		return fmt.Errorf("recipe %+v, tape %x: error %v, want %v", r, tape, err, wantErr)
	}
	if err != nil && (got.Values != nil || got.EndAt != 0) {
		return fmt.Errorf("recipe %+v, tape %x: error %v with outcome %v", r, tape, err, got)
	}
	if !slices.Equal(got.Values, want.Values) || got.EndAt != want.EndAt {
		return fmt.Errorf("recipe %+v, tape %x: outcome %v, want %v", r, tape, got, want)
	}
	return nil
}

// agree checks that s and the reference say the same about a tape.
func agree(s shuffler, r Recipe, tape []byte) error {
	want, wantErr := reference{}.run(r, tape)
	return expect(s, r, tape, want, wantErr)
}

// vectors calls f with every vector of draws 1..k for the given ks, until it
// returns an error. f must not keep the slice.
func vectors(ks []uint64, f func(v []uint64) error) error {
	v := make([]uint64, len(ks))
	for i := range v {
		v[i] = 1
	}
	for {
		if err := f(v); err != nil {
			return err
		}
		i := len(v) - 1
		for ; i >= 0 && v[i] == ks[i]; i-- {
			v[i] = 1
		}
		if i < 0 {
			return nil
		}
		v[i]++
	}
}

// tapeOf writes a tape on which r draws vector v after rejecting rejected[i] lanes before draw i (nil: none at all).
// Which of the lanes that mean the same are used is rng's choice, as are the bytes after the last draw. need is the
// length of the tape that the draws want; with need > len(tape) it runs out.
func tapeOf(rng *rand.Rand, r Recipe, v []uint64, rejected []int) (tape []byte, need int) {
	ks := refDraws(r)
	for i, k := range ks {
		w, limit := refWidth(k), refLimit(k)
		all := uint64(1) << (8 * w)
		if rejected != nil {
			for range rejected[i] {
				tape = appendLane(tape, w, limit+rng.Uint64N(all-limit))
			}
		}
		tape = appendLane(tape, w, v[i]-1+k*rng.Uint64N(limit/k))
	}
	need = len(tape)
	for length := refTapeLen(ks); len(tape) < length; {
		tape = append(tape, byte(rng.Uint32()))
	}
	return tape[:refTapeLen(ks)], need
}

// appendLane writes x as a lane of w bytes.
func appendLane(tape []byte, w int, x uint64) []byte {
	for i := w - 1; i >= 0; i-- {
		tape = append(tape, byte(x>>(8*i)))
	}
	return tape
}

// rejectable tells whether a draw 1..k rejects any lane.
func rejectable(k uint64) bool { return k&(k-1) != 0 }

// fixed returns a generator that gives the same numbers on every run.
func fixed(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(0x73687566666c6564, stream)) }

// checks are the checks that others run at greater length or on more recipes.
var checks = map[string]func(s shuffler) error{
	"lanes": func(s shuffler) error {
		for k := 2; k <= 1<<14; k++ {
			if k <= 80 || k == 255 || k == 256 || k == 257 || k == 13107 || k == 13108 || k >= 16383 {
				if err := checkLanes(s, uint32(k)); err != nil {
					return err
				}
			}
		}
		return nil
	},
	"wide lanes": checkWideLanes,
	"orders": func(s shuffler) error {
		for n := 2; n <= 5; n++ {
			for m := 1; m <= n; m++ {
				if err := checkOrders(s, n, m); err != nil {
					return err
				}
			}
		}
		return nil
	},
	"rejections":  checkRejections,
	"ways":        func(s shuffler) error { _, err := checkWays(s, Recipe{Cards: 5, Take: 3}); return err },
	"exhaustion":  checkExhaustion,
	"tape length": checkTapeLength,
	"reference":   func(s shuffler) error { _, err := checkReference(s, fixed(9), 2000); return err },
}

// TestChecks: the package and the reference pass each check. That the checks find faults is tried by TestFaults of
// test/proof, which plants them in this package.
func TestChecks(t *testing.T) {
	t.Parallel()
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []shuffler{ours{}, reference{}} {
				if err := check(s); err != nil {
					t.Errorf("rejects %T: %.300v", s, err)
				}
			}
		})
	}
}

// TestDrawEveryK: each k up to 2^14 at the ends of its lanes, at both sides of its limit and at some lanes.
func TestDrawEveryK(t *testing.T) {
	t.Parallel()
	rng := fixed(10)
	for k := uint64(2); k <= 1<<14; k++ {
		w, limit := refWidth(k), refLimit(k)
		all := uint64(1) << (8 * w)
		for _, x := range []uint64{0, 1, k - 1, k, limit - 1, limit % all, all - 1, rng.Uint64N(all)} {
			must(t, oneLane(ours{}, uint32(k), appendLane(nil, w, x), x, limit))
		}
	}
}

// TestEverySize: a deck of each size in two orders, in one of which the first card is last, and each take of a small
// deck.
func TestEverySize(t *testing.T) {
	t.Parallel()
	rng := fixed(11)
	for n := MinCards; n <= MaxCards; n++ {
		r := deck(n)
		tape := randomTape(rng, r.TapeLen(), 0)
		if err := agree(ours{}, r, tape); err != nil {
			t.Fatalf("%.300v", err)
		}
		appendLane(tape[:0], refWidth(uint64(n)), uint64(n-1))
		if err := agree(ours{}, r, tape); err != nil {
			t.Fatalf("%.300v", err)
		}
		for m := 1; m < n && n <= 64; m++ {
			r := Recipe{Cards: n, Take: m}
			must(t, agree(ours{}, r, randomTape(rng, r.TapeLen(), 1)))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
