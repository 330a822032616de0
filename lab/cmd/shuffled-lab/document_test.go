package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shuffled/lab/battery"
	"shuffled/lab/controls"
)

// labDocument is docs/LAB.md.
func labDocument(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/LAB.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentCommands: each section of docs/LAB.md, and each part of one, has a command that shows what it says. Each
// command of the lab in it exists, and each go test names tests that exist.
func TestDocumentCommands(t *testing.T) {
	t.Parallel()
	text := labDocument(t)
	labs, tests := 0, 0
	for _, section := range sections.Split(text, -1)[1:] {
		title, _, _ := strings.Cut(section, "\n")
		found := commandsIn(section)
		if len(found) == 0 {
			t.Errorf("section %s has no command", title)
		}
		for _, words := range found {
			switch {
			case words[0] == "lab":
				labs++
				if err := types(t, words); err != nil {
					t.Errorf("section %s: shuffled %s: %v", title, strings.Join(words, " "), err)
				}
			case words[0] == "go":
				tests++
				if fault := nothingRuns(words); fault != "" {
					t.Errorf("section %s: %s: %s", title, strings.Join(words, " "), fault)
				}
			}
		}
	}
	if labs < 25 || tests < 15 {
		t.Errorf("only %d commands of the lab and %d of go test were found", labs, tests)
	}
}

var (
	sections = regexp.MustCompile(`\n###? `)
	fenced   = regexp.MustCompile("(?s)```([a-z]*)\n(.*?)```")
	spans    = regexp.MustCompile("`([^`]+)`")
	ends     = regexp.MustCompile(`\s(#|>|\\?\||\.\.\.)`)
)

// commandsIn are the words of the commands in a section: of the lab from "lab" on, of go test and
// of make from the first word on, of other programs of ours from "shuffled" on. In the text a
// command of the lab has "shuffled" before it, or a flag; without them, it is a name.
func commandsIn(section string) (commands [][]string) {
	var lines []string
	for _, block := range fenced.FindAllStringSubmatch(section, -1) {
		if block[1] == "sh" {
			lines = append(lines, strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n")...)
		}
	}
	for _, s := range spans.FindAllStringSubmatch(fenced.ReplaceAllString(section, ""), -1) {
		if !strings.HasPrefix(s[1], "lab ") || strings.Contains(s[1], " --") {
			lines = append(lines, s[1])
		}
	}
	for _, line := range lines {
		if at := ends.FindStringIndex(line); at != nil {
			line = line[:at[0]]
		}
		words := strings.Fields(strings.ReplaceAll(line, "'", ""))
		switch {
		case len(words) < 2:
		case words[0] == "shuffled" && words[1] == "lab":
			commands = append(commands, words[1:])
		case slices.Contains([]string{"lab", "shuffled", "make"}, words[0]), words[0] == "go" && words[1] == "test":
			commands = append(commands, words)
		}
	}
	return commands
}

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w*)\(`)

// nothingRuns says what a go test command does not find: its package, or a test for a part of
// its pattern.
func nothingRuns(words []string) string {
	dir, pkg, patterns := "../../..", "", []string{"Test"}
	for i, word := range words {
		switch {
		case i > 0 && words[i-1] == "-C":
			dir = filepath.Join(dir, word)
		case strings.HasPrefix(word, "./"):
			pkg = word
		case i > 0 && (words[i-1] == "-run" || words[i-1] == "-bench") && word != "^$":
			patterns = strings.Split(word, "|")
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, pkg, "*_test.go"))
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	for _, pattern := range patterns {
		if !slices.ContainsFunc(names, regexp.MustCompile(pattern).MatchString) {
			return "no test there is matched by " + pattern
		}
	}
	return ""
}

// TestNothingRuns: commands that TestDocumentCommands must not let through.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"go test -C lab ./cmd/shuffled-lab -run 'TestNothingRuns|TestDocument'": true,
		"go test -C lab ./cmd/shuffled-lab -run 'TestNothingRuns|TestNotHere'":  false,
		"go test -C lab ./nowhere": false, "go test ./internal/monitor -bench Watch": true,
	} {
		found := commandsIn("`" + command + "`")
		if len(found) != 1 || (nothingRuns(found[0]) == "") != want {
			t.Errorf("%s: %q", command, found)
		}
	}
	section := "```json\n{}\n```\n```sh\nshuffled lab kit --out k \\\n    --json  # all\nmake lab\n```\n" +
		"as `lab prove` and `lab\ndecks --deck x > y` and `shuffled selftest`"
	if found := commandsIn(section); len(found) != 4 || strings.Join(found[0], " ") != "lab kit --out k --json" ||
		strings.Join(found[2], " ") != "lab decks --deck x" {
		t.Errorf("%q", found)
	}
}

// rowsOf are the cells of the table of docs/LAB.md whose head begins so.
func rowsOf(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	_, table, found := strings.Cut(labDocument(t), "\n"+head)
	table, _, _ = strings.Cut(table, "\n\n")
	for i, line := range strings.Split(table, "\n") {
		if i > 1 {
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	if !found || len(rows) == 0 {
		t.Fatalf("docs/LAB.md has no table %s", head)
	}
	return rows
}

// TestDocumentControls: the table of controls has each control, with the sample at which the
// battery must find it, and the test that does. shuffled lab selftest therefore tries each
// row.
func TestDocumentControls(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, row := range rowsOf(t, "| control | fault |") {
		samples := strings.Split(row[2], ", ")
		for i, name := range strings.Split(row[0], ", ") {
			finder := ""
			if len(row) > 3 {
				finder = row[3]
			}
			sample := strings.ReplaceAll(samples[min(i, len(samples)-1)], ",", "")
			got = append(got, strings.Join([]string{strings.Trim(name, "`"), sample, finder}, " "))
		}
	}
	for _, c := range controls.All() {
		want = append(want, strings.Join([]string{c.Name, strconv.FormatUint(c.Sample, 10), c.Finder}, " "))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the table has\n%q\nthe controls are\n%q", got, want)
	}
}

// TestDocumentFamilies: the tables of tests have each family of the battery and no other.
func TestDocumentFamilies(t *testing.T) {
	t.Parallel()
	for head, shapes := range map[string][]battery.Shape{
		"| test | in the rules |":     {{Cards: 52, Decks: 1}, {Cards: 5, Decks: 1}},
		"| test | what is compared |": {{K: 6, Values: 2}, {K: 1000, Values: 2}},
	} {
		want, got := map[string]bool{}, map[string]bool{}
		for _, shape := range shapes {
			b, err := battery.New(shape)
			if err != nil {
				t.Fatal(err)
			}
			for w, i := b.Worker(), 0; shape.Cards > 0 && i < 2000; i++ { // cuts of a new deck, which are not fair
				cut := make([]uint32, shape.Cards)
				for j := range cut {
					cut[j] = uint32((i + j) % shape.Cards)
				}
				w.Add(cut)
			}
			r := b.Report()
			for _, untested := range r.Untested {
				family, _, _ := strings.Cut(untested, ":")
				want[family] = true
			}
			for _, result := range r.Results {
				want[result.Test] = true
			}
		}
		for _, row := range rowsOf(t, head) {
			got[strings.TrimSuffix(row[0], " †")] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s has\n%v\nthe battery\n%v", head, got, want)
		}
	}
}
