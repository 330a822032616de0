// Package selftest holds everything that the product rests on against known
// answers: the primitives, the shuffle, the formats, the health tests. The
// command runs it before it opens a port, reads a byte for a tape or judges
// evidence, and on demand.
//
// A known-answer test computes with the very functions that the product calls
// and compares with what was published: by a standard, where there is one, else
// by docs/SPEC.md through the data files beside the packages, which their
// references wrote (vectors.json is an excerpt of them). It finds a binary, a
// processor or a library that computes something else. It says nothing of the
// quality of randomness.
//
// No flag and no variable leaves a test out or changes an answer.
package selftest

import (
	"errors"
	"fmt"
	"strings"
)

// A test is one line of the table.
type test struct {
	name   string
	covers string // what rests on it
	rule   string // the sections of docs/SPEC.md, or what says it where they do not
	source string // where the answers are published
	run    func(a *answers, v *vectors)
}

// tests are all of them, from what the others rest on upwards.
var tests = concat(primitives, draws, mixes, evidence, entries, notes, sealing, health)

func concat(groups ...[]test) (all []test) {
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
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

// Run runs every test. It takes some milliseconds, reads nothing from outside
// and leaves nothing behind.
func Run() []Result {
	v, err := load()
	results := make([]Result, len(tests))
	for i, t := range tests {
		results[i] = t.result(v, err)
	}
	return results
}

// result runs one test. It fails closed: a test that panics, compares nothing or
// cannot read its vectors has failed.
func (t test) result(v *vectors, err error) (r Result) {
	a := &answers{test: t.name}
	defer func() {
		if p := recover(); p != nil {
			a.wrong = append(a.wrong, fmt.Sprintf("it panicked: %v", p))
		}
		if len(a.names) == 0 {
			a.wrong = append(a.wrong, "it compared nothing")
		}
		r = Result{t.name, t.covers, t.rule, t.source, a.names, a.wrong}
	}()
	if err != nil {
		a.wrong = append(a.wrong, err.Error())
		return
	}
	t.run(a, v)
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
		return Passed{}, errors.New("no known-answer tests ran")
	}
	if len(failed) > 0 {
		return Passed{}, fmt.Errorf("%d of %d known-answer tests failed: %s", len(failed), p.Tests, strings.Join(failed, ", "))
	}
	return p, nil
}
