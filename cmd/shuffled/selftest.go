package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"shuffled/internal/build"
	"shuffled/internal/selftest"
	"shuffled/internal/term"
)

type selftestCmd struct {
	JSON bool `name:"json" help:"Print JSON, with every answer that was compared."`
}

func (selftestCmd) Help() string {
	return "Every other command except version runs the same tests before it does anything. If a test fails, the command stops with code 3.\n" +
		"Example:\n  shuffled selftest --json"
}

// selftestReport is what the command prints as JSON.
type selftestReport struct {
	Build   build.Info        `json:"build"`
	Passed  bool              `json:"passed"`
	Tests   int               `json:"tests"`
	Answers int               `json:"answers"`
	Took    float64           `json:"took_ms"`
	Results []selftest.Result `json:"results"`
}

func (c selftestCmd) Run(s term.Streams) error {
	start := time.Now()
	results := selftest.Run()
	took := time.Since(start)
	passed, failed := selftest.Judge(results)
	r := selftestReport{Build: build.This(), Passed: failed == nil, Tests: len(results), Answers: passed.Answers,
		Took: float64(took.Microseconds()) / 1000, Results: results}
	if c.JSON {
		return errors.Join(term.PrintJSON(s.Out, r), failed)
	}
	rows := [][]any{{"TEST", "RESULT", "ANSWERS", "COVERS", "RULE", "ANSWERS FROM"}}
	for _, t := range results {
		result := "ok"
		if len(t.Wrong) > 0 {
			result = "FAILED"
		}
		rows = append(rows, []any{t.Name, result, len(t.Answers), t.Covers, t.Rule, t.Source})
	}
	s.List(rows)
	if failed == nil {
		fmt.Fprintf(s.Out, "%d known-answer tests passed, %d answers, in %.0f ms\n", passed.Tests, passed.Answers,
			r.Took)
	}
	return failed
}

// untested are the commands that run without the known-answer tests: selftest, lab and bench run them themselves, and
// version says which build this is, which matters most when they fail. Every other command deals, signs, seals or
// judges, or shows what somebody acts on.
var untested = map[string]bool{"selftest": true, "version": true, "lab": true, "bench": true}

// testSelf runs the known-answer tests before a command opens a port or reads a byte for a tape.
func testSelf(command string) (selftest.Passed, error) {
	name, _, _ := strings.Cut(command, " ")
	if untested[name] {
		return selftest.Passed{}, nil
	}
	return selftest.Judge(selftest.Run())
}
