// Package outcome turns tapes into outcomes, and no other package does. The dealer commits to its
// outcomes and the lab measures its outcomes, so the lab measures what is dealt. No other package
// reads a tape from the source; internal/arrows checks this.
//
// A shuffle is recomputed from its stored tape with shuffle.Recipe.Run and Check, which take no randomness.
package outcome

import (
	"errors"
	"fmt"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

// ErrFoul reports an outcome that its recipe cannot give: a card that is there twice or is not of the deck, or a value
// outside of its range. No tape leads to one, so the program or the machine is broken.
var ErrFoul = errors.New("foul deck")

// Make reads one tape for the recipe, which must be valid, and makes its outcome. The caller clears both after use. An
// error that matches entropy.ErrLatched means that there are no outcomes until an operator clears the latch: the source
// refused the tape, or the outcome was in doubt and Make set the latch. Nothing is read a second time.
func Make(src *entropy.Source, r shuffle.Recipe) (tape []byte, out shuffle.Outcome, err error) {
	return makeBy(shuffle.Recipe.Run, src, r)
}

// makeBy is Make with another shuffle, for tests of doubt.
func makeBy(run func(shuffle.Recipe, []byte) (shuffle.Outcome, error), src *entropy.Source,
	r shuffle.Recipe) (tape []byte, out shuffle.Outcome, err error) {
	if tape, err = src.Tape(r.TapeLen()); err != nil {
		return nil, shuffle.Outcome{}, err
	}
	if out, err = run(r, tape); err == nil {
		err = Check(r, out)
	}
	if err != nil {
		clear(tape)
		return nil, shuffle.Outcome{}, doubt(src, err)
	}
	return tape, out, nil
}

// Raw reads n bytes, 1 ≤ n ≤ entropy.MaxTape, exactly as Make reads a tape. The lab measures them:
// they are the generator's output before scaling.
func Raw(src *entropy.Source, n int) ([]byte, error) { return src.Tape(n) }

// doubt sets the latch if err shows that the generator or the machine is broken. An invalid recipe does not show that.
func doubt(src *entropy.Source, err error) error {
	switch {
	case errors.Is(err, shuffle.ErrTapeExhausted):
		src.Trip(entropy.ReasonTapeExhausted) // below 2^-66 on an honest tape
	case errors.Is(err, ErrFoul):
		src.Trip(entropy.ReasonFoulDeck)
	default:
		return err
	}
	return fmt.Errorf("%w: %w", entropy.ErrLatched, err)
}

// Check returns ErrFoul for an outcome that the recipe cannot give. An outcome has one value for
// each position, in its range, and no card twice. Check judges the form, and not the randomness.
func Check(r shuffle.Recipe, out shuffle.Outcome) error {
	if len(out.Values) != r.Positions() {
		return fmt.Errorf("%w: %d values for %d positions", ErrFoul, len(out.Values), r.Positions())
	}
	if r.Ranges != nil {
		for i, k := range r.Ranges {
			if out.Values[i] < 1 || out.Values[i] > k {
				return fmt.Errorf("%w: a value lies outside of its range", ErrFoul)
			}
		}
		return nil
	}
	var seen [shuffle.MaxCards / 64]uint64 // one bit for each card
	for _, v := range out.Values {
		word, bit := v/64%uint32(len(seen)), uint64(1)<<(v%64)
		if int(v) >= r.Cards || seen[word]&bit != 0 {
			return fmt.Errorf("%w: a card comes twice, or is not of the deck", ErrFoul)
		}
		seen[word] |= bit
	}
	if out.EndAt < r.EndLo || out.EndAt > r.EndHi {
		return fmt.Errorf("%w: the cut card's place lies outside of its range", ErrFoul)
	}
	return nil
}
