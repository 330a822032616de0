package main

import (
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/term"
	"shuffled/lab/battery"
	"shuffled/lab/controls"
)

// TestControlsStayInTheLab: of all commands only lab selftest has shufflers that are
// wrong on purpose. internal/arrows has the other packages that may not reach them.
func TestControlsStayInTheLab(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			may := strings.HasPrefix(file, "selftest") || strings.HasSuffix(file, "_test.go")
			if path == "shuffled/lab/controls" && !may {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// TestSelftestFails: a control without the required verdict gives exit code 1, and
// its row says why.
func TestSelftestFails(t *testing.T) {
	var out bytes.Buffer
	s := term.Streams{Out: &out, Err: &out}
	good := controls.Finding{Name: "found", Fault: "f", Finder: "runs", Sample: 1000, Verdict: battery.Reject,
		Passed: true,
		Found:  &controls.Member{Test: "runs", Name: "up", P: 0}}
	missed := controls.Finding{Name: "missed", Fault: "f", Finder: "runs", Sample: 1000, Verdict: battery.Accept,
		Why: "the battery does not see the fault"}
	for _, c := range []struct {
		found []controls.Finding
		code  int
		want  []string
	}{
		{[]controls.Finding{good}, term.ExitOK,
			[]string{"found", "runs: up", "< 1e-300", "rejected", "All 1 came out"}},
		{[]controls.Finding{good, missed}, term.ExitFails,
			[]string{"accepted: the battery does not see the fault", "1 of 2 did not"}},
	} {
		out.Reset()
		table := newControlTable(s, nil)
		for _, f := range c.found {
			table.row(f)
		}
		err := (&labSelftestCmd{}).conclude(s, &controlReport{Controls: c.found})
		if code := term.Report(s.Err, err); code != c.code {
			t.Errorf("exit code %d, want %d", code, c.code)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, &out)
			}
		}
		if err := (&labSelftestCmd{JSON: true}).conclude(s, &controlReport{Controls: c.found}); errors.Is(err,
			term.ErrFails) != (c.code == term.ExitFails) {
			t.Errorf("--json: %v", err)
		}
	}
}

func TestSpan(t *testing.T) {
	for years, want := range map[float64]string{1.24: "1.2 years", 42: "42 years", 204175: "200,000 years",
		1.774e6: "1,800,000 years", 0.000413: "3.6 hours"} {
		if got := span(years); got != want {
			t.Errorf("%v years: %s, want %s", years, got, want)
		}
	}
}

func TestUnseenText(t *testing.T) {
	got := unseenText(sheet{W: 80}, controls.UnseenFaults())
	for _, want := range []string{"6.4e+18 draws", "200,000 years  remainder of 32 bits by 52", "shuffled lab prove"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
