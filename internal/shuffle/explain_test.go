package shuffle

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// checkExplain plays the steps of Explain out on paper: end to end they are the beginning of the tape, each follows
// from its bytes by the arithmetic of docs/SPEC.md section 2.1, their swaps make the order, and the outcome and the
// error are those of Run. On an error the steps are those before it.
func checkExplain(r Recipe, tape []byte) error {
	var steps []Step
	got, err := r.Explain(tape, func(s Step) { steps = append(steps, s) })
	want, wantErr := r.Run(tape)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got.Values, want.Values) || got.EndAt != want.EndAt {
		return fmt.Errorf("%+v, tape %x: explained %v, %v; ran %v, %v", r, tape, got, err, want, wantErr)
	}
	if err != nil && !errors.Is(err, ErrTapeExhausted) {
		if steps != nil {
			return fmt.Errorf("%+v: %d steps before %v", r, len(steps), err)
		}
		return nil
	}
	ks, drawn, read := refDraws(r), []uint64(nil), 0
	if len(steps) > len(ks) || (err == nil) != (len(steps) == len(ks)) {
		return fmt.Errorf("%+v: %d steps for %d draws (%v)", r, len(steps), len(ks), err)
	}
	for i, s := range steps {
		if uint64(s.K) != ks[i] || s.At != read {
			return fmt.Errorf("%+v, tape %x: step %d is a draw 1..%d at %d, want 1..%d at %d", r, tape, i, s.K, s.At,
				ks[i], read)
		}
		end, position := r.Ranges == nil && i == r.Take, i
		if end {
			position = 0
		}
		if s.EndAt != end || s.I != position {
			return fmt.Errorf("%+v: step %d fills position %d (end_at: %v)", r, i, s.I, s.EndAt)
		}
		if err := checkStep(s); err != nil {
			return fmt.Errorf("%+v, tape %x: step %d: %w", r, tape, i, err)
		}
		lanes := slices.Concat(s.Rejected, s.Lane)
		if !bytes.Equal(lanes, tape[read:read+len(lanes)]) {
			return fmt.Errorf("%+v, tape %x: step %d shows %x at %d", r, tape, i, lanes, read)
		}
		read, drawn = read+len(lanes), append(drawn, uint64(s.Value))
	}
	if err != nil {
		return nil
	}
	if paper := refOutcome(r, drawn); !slices.Equal(paper.Values, got.Values) || paper.EndAt != got.EndAt {
		return fmt.Errorf("%+v, tape %x: the steps make %v, the outcome is %v", r, tape, paper, got)
	}
	return nil
}

// checkStep recomputes one step from its lanes.
func checkStep(s Step) error {
	w, limit := refWidth(uint64(s.K)), refLimit(uint64(s.K))
	if len(s.Lane) != w || (w == 0 && len(s.Rejected) != 0) || (w > 0 && len(s.Rejected)%w != 0) {
		return fmt.Errorf("lanes %x and %x of width %d", s.Rejected, s.Lane, w)
	}
	number := func(lane []byte) (x uint64) {
		for _, b := range lane {
			x = x<<8 + uint64(b)
		}
		return x
	}
	for rest := s.Rejected; len(rest) > 0; rest = rest[w:] {
		if number(rest[:w]) < limit {
			return fmt.Errorf("lane %x was rejected, the limit is %d", rest[:w], limit)
		}
	}
	if x := number(s.Lane); x >= limit && w > 0 || uint64(s.Value) != 1+x%uint64(s.K) {
		return fmt.Errorf("lane %x gave %d of 1..%d, the limit is %d", s.Lane, s.Value, s.K, limit)
	}
	return nil
}

func TestExplain(t *testing.T) {
	t.Parallel()
	rng, tapes, exhausted := fixed(8), 20_000, 0
	if raceEnabled {
		tapes = 5000
	}
	for i := range tapes {
		r := randomRecipe(rng)
		if i < len(someRecipes) {
			r = someRecipes[i]
		}
		tape := randomTape(rng, r.TapeLen(), i%8)
		must(t, checkExplain(r, tape))
		if _, err := r.Run(tape); err != nil {
			exhausted++
		}
	}
	if exhausted < tapes/100 || exhausted > tapes/2 {
		t.Errorf("%d of %d tapes ran out", exhausted, tapes)
	}
	for _, r := range append([]Recipe{deck(1), {Ranges: []uint32{0}}}, someRecipes...) {
		for _, length := range []int{0, r.TapeLen() - 1, r.TapeLen() + 1} {
			must(t, checkExplain(r, make([]byte, length)))
		}
	}
}

// TestExplainByHand is one shuffle small enough to follow: three cards, first a lane beyond the limit 255 of 1..3.
func TestExplainByHand(t *testing.T) {
	t.Parallel()
	tape := append([]byte{0xff, 0xfe, 0x01}, make([]byte, 52)...)
	var steps []Step
	out, err := deck(3).Explain(tape, func(s Step) { steps = append(steps, s) })
	must(t, err)
	want := []Step{
		{At: 0, Rejected: []byte{0xff}, Lane: []byte{0xfe}, K: 3, Value: 3, I: 0}, // 254 mod 3 = 2: swap 0 and 2
		{At: 2, Lane: []byte{0x01}, K: 2, Value: 2, I: 1},                         // 1 mod 2 = 1: swap 1 and 2
		{At: 3, K: 1, Value: 1, I: 2},
	}
	if fmt.Sprint(steps) != fmt.Sprint(want) {
		t.Errorf("steps %+v, want %+v", steps, want)
	}
	if !slices.Equal(out.Values, []uint32{2, 0, 1}) {
		t.Errorf("order %d, want [2 0 1]", out.Values)
	}
}
