package gateway

import "shuffled/internal/audit/trust"

// NewRound is a round of which nothing has come.
func NewRound() *Round { return &Round{At: make(map[string]uint64)} }

// Add takes an answer with the first of the lines.
func (r *Round) Add(a Answer, lines ...string) {
	if len(lines) > 0 {
		a.line = lines[0]
	}
	r.add(a)
}

// Sign is sign.
func (r *Round) Sign(head Head, quorums []*trust.Policy) { r.sign(head, quorums) }

// Lines counts the cosignatures.
func (r *Round) Lines() int { return len(r.lines) }
