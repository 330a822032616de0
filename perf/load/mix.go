package load

import (
	"fmt"
	"strconv"
	"strings"
)

// A Kind is the kind of a request, or a whole hand.
type Kind int

// Kinds. A hand is six requests: a commit, hole cards for six seats, a flop, a turn, a river, and the close.
const (
	Commit Kind = iota
	Deal
	Close
	Verify
	Hand
	kinds
)

var kindNames = [kinds]string{"commit", "deal", "close", "verify", "hand"}

func (k Kind) String() string { return kindNames[k] }

// A Mix has the weight of each kind.
type Mix [kinds]int

// maxWeight keeps a round of the mix short.
const maxWeight = 1000

// ParseMix reads weights such as "commit=1,deal=4,close=1". Kinds that are not named have weight 0.
func ParseMix(text string) (m Mix, err error) {
	seen := make(map[string]bool)
	total := 0
	for part := range strings.SplitSeq(text, ",") {
		name, weight, _ := strings.Cut(part, "=")
		k := kindOf(name)
		n, err := strconv.Atoi(weight)
		switch {
		case k == kinds:
			return m, fmt.Errorf("a kind must be one of %s, not %q", strings.Join(kindNames[:], ", "), name)
		case err != nil || n < 0 || n > maxWeight:
			return m, fmt.Errorf("%s must have a weight from 0 to %d, as in %s=1", name, maxWeight, name)
		case seen[name]:
			return m, fmt.Errorf("%s must not be given twice", name)
		}
		seen[name] = true
		m[k] = n
		total += n
	}
	if total == 0 {
		return m, fmt.Errorf("at least one kind must have a weight above 0")
	}
	return m, nil
}

func kindOf(name string) Kind {
	for k, n := range kindNames {
		if n == name {
			return Kind(k)
		}
	}
	return kinds
}

// String writes the mix as ParseMix reads it.
func (m Mix) String() string {
	var parts []string
	for k, n := range m {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", kindNames[k], n))
		}
	}
	return strings.Join(parts, ",")
}

// plays reports whether shuffles are used after their commit.
func (m Mix) plays() bool { return m[Deal]+m[Close] > 0 }

// A round returns kinds by their weights, distributed evenly: smooth weighted round-robin.
type round struct {
	mix    Mix
	credit Mix
}

// next returns the kind with the most credit. This is above 0, because the sum of all is. A kind without
// weight has no credit.
func (r *round) next() Kind {
	best, total := kinds, 0
	for k, w := range r.mix {
		total += w
		if r.credit[k] += w; best == kinds || r.credit[k] > r.credit[best] {
			best = Kind(k)
		}
	}
	r.credit[best] -= total
	return best
}
