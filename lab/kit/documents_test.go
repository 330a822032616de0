package kit

import (
	"strings"
	"testing"
)

// TestDescription: it covers what a lab asks about, names every call, and has the
// figures of the code.
func TestDescription(t *testing.T) {
	b, err := Description()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"## Algorithm", "## What else has an influence on an outcome", "## State", "## Seeding", "## Reseeding", "## Scaling", "## Background activity",
		"## Health tests", "## Every use of randomness", "| slot |", "| beacon |", "| cut |", "| co-dealer |",
		"| chooses the order |", "| moves the order |", "| none |",
		"| standard-52 | 129 |", "| shoe-8 | 1255 |", "(cutoff 9)", "cutoff 26)", "2^-60",
	}
	for _, c := range Calls() {
		want = append(want, "| "+c.Package+" | ", c.Purpose)
	}
	for _, l := range Libraries() {
		want = append(want, l.Package)
	}
	for _, w := range want {
		if !strings.Contains(string(b), w) {
			t.Errorf("the description lacks %q", w)
		}
	}
}

func TestDocuments(t *testing.T) {
	m := &Manifest{Files: []File{{Name: "battery.json", About: "the battery", ExitCode: 1}}}
	for _, c := range []struct {
		name string
		text func() ([]byte, error)
		want string
	}{
		{"differences", Differences, "outcome.Make"},
		{"build", func() ([]byte, error) {
			return BuildInstructions(Build{Commit: "c0ffee", Go: "go1.26.8", Module: "off", FIPS: "off",
				Reproducible: true})
		}, "GOTOOLCHAIN=go1.26.8 GOFIPS140=off VERSION= COMMIT=c0ffee sh scripts/build.sh"},
		{"readme", func() ([]byte, error) { return Readme(m) }, "| battery.json | the battery — **exit code 1** |"},
	} {
		b, err := c.text()
		if err != nil || !strings.Contains(string(b), c.want) || strings.Contains(string(b), "<no value>") {
			t.Errorf("%s: %v\n%s", c.name, err, b)
		}
	}
}
