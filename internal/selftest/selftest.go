// Package selftest holds everything that the product rests on against known answers: the primitives, the shuffle, the
// formats, the health tests. The command runs it before it opens a port, reads a byte for a tape or judges evidence,
// and on demand.
//
// A known-answer test computes with the very functions that the product calls and compares with what was published: by
// a standard if there is one, else by docs/SPEC.md through the data files of the packages, which their references
// wrote. Each package has its tests alongside the code and the vectors that they need in the binary (selftest.go,
// selftest.json); here are the primitives, and the list. It finds a binary, a processor or a library that computes
// something else. It says nothing of the quality of randomness.
//
// No flag and no variable leaves a test out or changes an answer.
package selftest

import (
	"fmt"
	"strings"

	"shuffled/internal/known"
	"shuffled/internal/stops"
)

// A test is one line of the list.
type test struct {
	name   string
	covers string // what rests on it
	rule   string // the sections of docs/SPEC.md, or what says it where they do not
	source string // where the answers are published
	run    func(name string, a *known.Answers)
}

// Result is how one test went.
type Result struct {
	Name    string   `json:"name"`
	Covers  string   `json:"covers"`
	Rule    string   `json:"rule"`
	Source  string   `json:"source"`
	Answers []string `json:"answers"`         // each that was compared, in order
	Wrong   []string `json:"wrong,omitempty"` // each that is wrong, and what came instead; empty: the test passed
}

// Run runs every test. It takes some milliseconds, reads nothing from outside and leaves nothing behind.
func Run() []Result {
	results := make([]Result, len(tests))
	for i, t := range tests {
		results[i] = t.result()
	}
	return results
}

// result runs one test. It fails closed: a test that panics, compares nothing or cannot read its vectors has failed.
func (t test) result() (r Result) {
	a := &known.Answers{Test: t.name}
	defer func() {
		if p := recover(); p != nil {
			a.Wrong = append(a.Wrong, fmt.Sprintf("it panicked: %v", p))
		}
		if len(a.Names) == 0 {
			a.Wrong = append(a.Wrong, "it compared nothing")
		}
		r = Result{t.name, t.covers, t.rule, t.source, a.Names, a.Wrong}
	}()
	t.run(t.name, a)
	return
}

// Passed is the outcome of a run without a wrong answer.
type Passed struct {
	Tests, Answers int
}

// Judge returns what passed, or an error that names every test that did not.
func Judge(results []Result) (Passed, error) {
	var p Passed
	var failed []string
	for _, r := range results {
		p.Tests++
		p.Answers += len(r.Answers)
		if len(r.Wrong) > 0 {
			failed = append(failed, r.Name+" ("+strings.Join(r.Wrong, "; ")+")")
		}
	}
	if p.Tests == 0 {
		return Passed{}, fmt.Errorf("%w: none ran", stops.KnownAnswers)
	}
	if len(failed) > 0 {
		return Passed{}, fmt.Errorf("%d of %d %w: %s", len(failed), p.Tests, stops.KnownAnswers,
			strings.Join(failed, ", "))
	}
	return p, nil
}
