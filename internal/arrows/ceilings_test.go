package arrows

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// ceilingFile has the ceilings, and stays where it is: its history is by its name.
const ceilingFile = "ceilings.txt"

// A ceiling is the most that there may be of something, and the goal to which it goes down.
type ceiling struct{ most, goal int }

type ceilings map[string]ceiling // by name

func ceilingsNow(t *testing.T) ceilings {
	t.Helper()
	text, err := os.ReadFile(ceilingFile)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseCeilings(string(text))
	if err != nil {
		t.Fatalf("%s: %v", ceilingFile, err)
	}
	return all
}

// hold fails if there are more than the ceiling allows.
func (all ceilings) hold(t *testing.T, name, of string, n int) {
	t.Helper()
	c, ok := all[name]
	distance := "reached"
	if n > c.goal {
		distance = fmt.Sprintf("%d too many", n-c.goal)
	}
	t.Logf("%-32s %6d %s, ceiling %6d, goal %6d: %s", name, n, of, c.most, c.goal, distance)
	switch {
	case !ok:
		t.Errorf("%s has no ceiling for %s", ceilingFile, name)
	case n == 0 && c.most > 0:
		t.Errorf("%s: no %s: has the table lost a package?", name, of)
	case n > c.most:
		t.Errorf("%s has %d %s, and its ceiling is %d: take out elsewhere what this change needs", name, n, of, c.most)
	}
}

// parseCeilings reads lines of a name, a ceiling and a goal, and comments.
func parseCeilings(text string) (ceilings, error) {
	all := ceilings{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("%q has no name, ceiling and goal", line)
		}
		name := strings.Join(f[:len(f)-2], " ")
		most, err := strconv.Atoi(f[len(f)-2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		goal, err := strconv.Atoi(f[len(f)-1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, twice := all[name]; twice || goal > most {
			return nil, fmt.Errorf("%s stands there twice, or its goal is above its ceiling", name)
		}
		all[name] = ceiling{most, goal}
	}
	return all, nil
}

// raised returns where ceilings are higher than earlier ones, or gone. That of a package may go, because mostLines is
// its ceiling then, from which it does not rise.
func (all ceilings) raised(earlier ceilings) (faults []string) {
	for name, before := range earlier {
		if _, ok := all[name]; !ok && strings.HasPrefix(name, "lines of ") {
			all[name] = ceiling{mostLines, mostLines}
		}
		if now, ok := all[name]; !ok {
			faults = append(faults, fmt.Sprintf("the ceiling of %s, which was %d, is gone", name, before.most))
		} else if now.most > before.most {
			faults = append(faults, fmt.Sprintf("the ceiling of %s was raised from %d to %d", name, before.most, now.most))
		}
	}
	return faults
}

// TestCeilings reads every version of the file in the history, and fails if a ceiling was ever raised.
func TestCeilings(t *testing.T) {
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			t.Fatalf("git %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	if _, err := os.Stat(root + "/.git"); err != nil {
		t.Skip("the tree is no clone, and has no history")
	}
	if git("rev-parse", "--is-shallow-repository") == "true" {
		t.Fatal("the clone has no history to read: git fetch --unshallow")
	}
	commits := strings.Fields(git("log", "--format=%H", "--diff-filter=AM", "--reverse", "--", ceilingFile))
	var earlier ceilings
	hold := func(commit string, now ceilings) {
		for _, fault := range now.raised(earlier) {
			t.Errorf("%s: %s", commit, fault)
		}
		earlier = now
	}
	for _, commit := range commits {
		now, err := parseCeilings(git("show", commit+":./"+ceilingFile))
		if err != nil {
			t.Fatalf("%s: %v", commit, err)
		}
		hold(commit, now)
	}
	hold("the working tree", ceilingsNow(t))
}

// TestRaised: a ceiling that is raised, or gone, is a fault, and one that is lowered or new is none.
func TestRaised(t *testing.T) {
	earlier := "the client  10 5\nlab 20 20\nlines of big 4000 3000"
	for now, faults := range map[string]int{
		"the client 10 5\nlab 20 20": 0, "the client 9 5\nlab 20 20\nnew 3 3": 0, "the client 11 5\nlab 20 20": 1,
		"# none\n\nlab 20 20": 1, "lab 21 20": 2,
		"the client 10 5\nlab 20 20\nlines of big 4001 3000": 1,
	} {
		before, err := parseCeilings(earlier)
		if err != nil {
			t.Fatal(err)
		}
		after, err := parseCeilings(now)
		if err != nil {
			t.Fatal(err)
		}
		if got := after.raised(before); len(got) != faults {
			t.Errorf("%q: %q", now, got)
		}
	}
	for _, text := range []string{"lab", "lab 20", "lab x 20", "lab 20 x", "lab 20 21", "lab 20 20\nlab 20 20"} {
		if all, err := parseCeilings(text); err == nil {
			t.Errorf("%q: %v", text, all)
		}
	}
}
