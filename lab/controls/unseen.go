package controls

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// power is the chance with which Unseen's samples find the fault, at level.
const (
	level = 0.01
	power = 0.99
)

// An Unseen is a fault that no sample of practical size shows, with the sample that would show it. A proof
// can show it, or show that it is absent.
type Unseen struct {
	Name    string  `json:"name"`
	Fault   string  `json:"fault"`
	Sample  float64 `json:"sample"`    // the sample that shows it, in Of
	Of      string  `json:"of"`        // "draws" or "decks"
	Largest float64 `json:"deviation"` // largest relative deviation of a value's chance; 0 where none deviates
	Years   float64 `json:"years"`     // time to make the sample at a million a second
	Proof   string  `json:"proof"`     // the command that has the proof
}

// perSecond is the rate of Years.
const perSecond = 1e6

// UnseenFaults computes the list.
func UnseenFaults() []Unseen {
	prove := "shuffled lab prove"
	list := []Unseen{
		scaled("modulo-15", "remainder of rand()'s 15 bits by 52", 15, 52),
		scaled("modulo-31", "remainder of rand()'s 31 bits by 52", 31, 52),
		scaled("double-53", "(int)(Math.random()*52): 53 bits, scaled", 53, 52),
		scaled("float-24", "a float's 24 bits, scaled to 52 and cut off", 24, 52),
		scaled("modulo-32", "remainder of 32 bits by 52", 32, 52),
		scaled("multiply-32", "32 bits times 52, upper half", 32, 52),
		collided("seed-64", "a seed of 64 bits for 52 cards", 64),
		collided("seed-128", "a seed of 128 bits for 52 cards", 128),
	}
	for i := range list {
		list[i].Proof = prove
		list[i].Years = list[i].Sample / perSecond / (365.25 * 24 * 3600)
	}
	return list
}

// scaled is a fault of 2^bits words that are divided among k values as evenly as possible, by remainder or
// by multiplication: r = 2^bits mod k values get one word more than the others. The test is chi-square of
// the counts of the values, whose non-centrality after n draws is n·r·(k−r)/4^bits.
func scaled(name, fault string, bits, k int) Unseen {
	all := math.Ldexp(1, bits)
	r := math.Mod(all, float64(k))
	effect := r * (float64(k) - r) / (all * all)
	return Unseen{Name: name, Fault: fault, Of: "draws",
		Sample: noncentrality(float64(k-1)) / effect, Largest: max(float64(k)-r, r) / all}
}

// collided is a fault of 2^bits equally likely decks. The test is for a deck that comes twice: among n
// decks none does with probability exp(−n²/2^(bits+1)).
func collided(name, fault string, bits int) Unseen {
	return Unseen{Name: name, Fault: fault, Of: "decks", Sample: math.Sqrt(-math.Log(1-power) * math.Ldexp(2, bits))}
}

// noncentrality returns the non-centrality of chi-square with df degrees of freedom that a test at level
// finds with power.
func noncentrality(df float64) float64 {
	limit := distuv.ChiSquared{K: df}.Quantile(1 - level)
	low, high := 0.0, 1.0
	for missed(df, high, limit) > 1-power {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; missed(df, mid, limit) > 1-power {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// missed is the chance that non-central chi-square stays below the limit. It is a mixture of central ones
// with df + 2j degrees; j is Poisson(lambda/2).
func missed(df, lambda, limit float64) (p float64) {
	j := distuv.Poisson{Lambda: lambda / 2}
	for i := 0.0; i < lambda/2+20*math.Sqrt(lambda)+40; i++ {
		p += j.Prob(i) * distuv.ChiSquared{K: df + 2*i}.CDF(limit)
	}
	return p
}
