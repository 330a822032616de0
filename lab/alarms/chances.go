package alarms

// chances returns the probability that a window of uniform bytes, tested without history, ends in an alarm of the
// repetition count test at cutoff repetition ≥ 2, and in one of the adaptive proportion test at cutoff proportion ≥ 2.
// A window in which both fail counts for the repetition count test, as in entropy.Health.
//
// The two depend on each other, so this goes through the window byte by byte and keeps the probability of
// each relevant state: how often the first value came, how long the latest run is, and whether that run is
// of the first value. A byte is the first value, another run's value, or neither; nothing else matters. All
// terms are positive, so nothing cancels.
func chances(repetition, proportion int) (ofRepetition, ofProportion float64) {
	states := newStates(repetition, proportion)
	*states.at(1, 1, ofFirst) = 1
	for seen := 1; seen < window; seen++ {
		next := newStates(repetition, proportion)
		for count := 1; count <= min(seen, proportion); count++ {
			for run := 1; run <= min(seen, repetition-1); run++ {
				if p := *states.at(count, run, ofFirst); p > 0 {
					next.add(count+1, run+1, ofFirst, p*perValue)
					next.add(count, 1, ofOther, p*(1-perValue))
				}
				if p := *states.at(count, run, ofOther); p > 0 {
					next.add(count, run+1, ofOther, p*perValue)
					next.add(count+1, 1, ofFirst, p*perValue)
					next.add(count, 1, ofOther, p*(1-2*perValue))
				}
			}
		}
		ofRepetition += next.alarm
		states = next
	}
	for run := 1; run < repetition; run++ {
		ofProportion += *states.at(proportion, run, ofFirst) + *states.at(proportion, run, ofOther)
	}
	return ofRepetition, ofProportion
}

// Which value the latest run has.
const (
	ofFirst = 0 // the window's first
	ofOther = 1
)

// states holds a probability for each count 1..proportion of the first value, of which the last includes
// all larger ones, and each run 1..repetition−1.
type states struct {
	repetition, proportion int
	p                      []float64
	alarm                  float64 // probability of a run that has just become too long
}

func newStates(repetition, proportion int) *states {
	return &states{repetition: repetition, proportion: proportion, p: make([]float64, (proportion+1)*repetition*2)}
}

func (s *states) at(count, run, of int) *float64 {
	return &s.p[(count*s.repetition+run)*2+of]
}

func (s *states) add(count, run, of int, p float64) {
	if run == s.repetition {
		s.alarm += p
		return
	}
	*s.at(min(count, s.proportion), run, of) += p
}
