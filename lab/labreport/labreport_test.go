package labreport

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/internal/shuffle"
	"shuffled/lab/battery"
)

func fixed(stream byte) *rand.Rand {
	return rand.New(rand.NewChaCha8([32]byte{stream, 'r', 'e', 'p', 'o', 'r', 't'}))
}

// shuffled adds count shuffles of n cards.
func shuffled(rng *rand.Rand, n, count int, b *battery.Battery) {
	w := b.Worker()
	deck := make([]uint32, n)
	for range count {
		for i := range deck {
			j := rng.IntN(i + 1)
			deck[i] = deck[j]
			deck[j] = uint32(i)
		}
		w.Add(deck)
	}
}

// dice adds count throws; one in spoiled of those that show 1 shows 6 instead.
func dice(rng *rand.Rand, count, spoiled int, b *battery.Battery) {
	w := b.Worker()
	for range count {
		v := 1 + rng.Uint32N(6)
		if v == 1 && spoiled > 0 && rng.IntN(spoiled) == 0 {
			v = 6
		}
		w.Add([]uint32{v})
	}
}

func sampled(t *testing.T, s Subject, fill func(b *battery.Battery, second bool) error) *Sample {
	t.Helper()
	sample, err := s.Sample(fill)
	if err != nil {
		t.Fatal(err)
	}
	return sample
}

func named(t *testing.T, name string) Subject {
	t.Helper()
	deck, ok := shuffle.Named(name)
	if !ok {
		t.Fatal(name)
	}
	return OfDeck(deck)
}

// hostile is text that would be markup if it were not escaped.
const hostile = `"><script>document.title="taken"</script><img src=x onerror="document.title='taken'">`

// report is on samples of every kind, with hostile text from outside.
func report(t *testing.T) *Report {
	t.Helper()
	r := &Report{Command: "lab battery", Parameters: map[string]any{"from": hostile}, Rule: Rule(),
		CannotShow: CannotShow()}
	made := func(s Subject, count int) {
		rng := fixed(1)
		r.Samples = append(r.Samples, sampled(t, s, func(b *battery.Battery, _ bool) error {
			if s.Shape.K == 0 {
				shuffled(rng, s.Shape.Cards, count, b)
				return nil
			}
			w, values := b.Worker(), make([]uint32, s.Shape.Values)
			for range count {
				for i := range values {
					values[i] = 1 + rng.Uint32N(s.Shape.K)
				}
				w.Add(values)
			}
			return nil
		}))
	}
	made(named(t, "standard-52"), 3000)
	made(named(t, "shoe-2"), 100)
	own, err := shuffle.NewDeck([]string{"<b>one</b>", hostile[:60], "three", "four & five", "six"})
	if err != nil {
		t.Fatal(err)
	}
	made(OfDeck(own), 2000)
	made(OfDraws(37, 1), 20_000)
	made(OfDraws(6, 2), 20_000)
	made(OfDraws(1<<30, 3), 20_000)
	r.Samples = append(r.Samples, sampled(t, OfDraws(6, 1),
		func(b *battery.Battery, _ bool) error { dice(fixed(2), 20_000, 2, b); return nil }))
	r.Samples[0].Files = []File{{hostile, "00ff"}}
	r.Conclude()
	return r
}

// TestPage: every result is on the page, text stays text, and the page loads and runs
// nothing.
func TestPage(t *testing.T) {
	r := report(t)
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	got := page.String()
	results := 0
	for _, s := range r.Samples {
		for _, x := range s.First.Results {
			row := fmt.Sprintf(`<td class="left">%s<td>%s<td>%s<td>%s<td>%s<td>%s<td class="left">%s`,
				escaped(x.Name), Figure(x.Statistic), DF(x.DF), Counted(x.N), escaped(P(x.P)), escaped(P(x.Adjusted)),
				escaped(x.Detects))
			if !strings.Contains(got, row) {
				t.Fatalf("%s has no row %s", s.Title(), row)
			}
			results++
		}
		if strings.Count(got, escaped(s.Title())) < 3 {
			t.Errorf("%s is not on the page", s.Title())
		}
	}
	if results < 1000 {
		t.Errorf("%d results", results)
	}
	if !strings.Contains(got, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page has no policy")
	}
	for _, want := range append(r.CannotShow, r.Rule) {
		if !strings.Contains(got, escaped(want)) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, never := range []string{"<script", "<img", "<b>one", "http:", "https:", "url(", "@import", "NaN", "Inf",
		"ZgotmplZ", "%!"} {
		if strings.Contains(got, never) {
			t.Errorf("%q is on the page", never)
		}
	}
	if r.Decision != string(battery.Reject) || !strings.Contains(got, "<strong>Rejected:</strong>") ||
		!strings.Contains(got, `<tr class="bad">`) {
		t.Errorf("a loaded die: %s", r.Decision)
	}
}

// escaped is text as the page has it.
func escaped(text string) string {
	var b bytes.Buffer
	if err := escaper.Execute(&b, text); err != nil {
		return err.Error()
	}
	return strings.TrimPrefix(b.String(), "<p>")
}

var escaper = template.Must(template.New("text").Parse(`<p>{{.}}`))

// TestPageInBrowser: the page opens from a disk without a network, shows every plot,
// and neither runs nor blocks anything. SHOTS=dir keeps screenshots.
func TestPageInBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		if os.Getenv("SHUFFLED_REQUIRE_BROWSER") == "1" {
			t.Fatal("no chromium, chromium-browser or google-chrome in PATH, and SHUFFLED_REQUIRE_BROWSER=1")
		}
		t.Skip("NO CHROMIUM HERE: the page was not opened. Install chromium (scripts/web.sh)")
	}
	r := report(t)
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.WriteHTML(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--user-data-dir=" +
			filepath.Join(dir, "profile"), "--window-size=1200,6000"}
	last := "--dump-dom"
	if shots := os.Getenv("SHOTS"); shots != "" {
		if err := exec.CommandContext(t.Context(), browser,
			append(flags, "--screenshot="+filepath.Join(shots, "battery.png"),
				"file://"+file.Name())...).Run(); err != nil {
			t.Error(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), browser, append(flags, last, "file://"+file.Name())...)
	var log bytes.Buffer
	cmd.Stderr = &log
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	if regexp.MustCompile(`CONSOLE|Refused|Uncaught`).Match(log.Bytes()) {
		t.Errorf("the browser complains:\n%s", &log)
	}
	text := string(dom)
	title := regexp.MustCompile(`<title>([^<]*)`).FindStringSubmatch(text)
	if title == nil || !strings.HasPrefix(title[1], "Battery: standard-52") || strings.Contains(text, "<script") ||
		strings.Contains(text, "<img") {
		t.Errorf("the page's title is %q", title)
	}
	// A map and a plot each, and a curve where an outcome has several values.
	if n := strings.Count(text, "<svg"); n != 2*len(r.Samples)+5 {
		t.Errorf("%d plots of %d samples", n, len(r.Samples))
	}
	rows := 0
	for _, s := range r.Samples {
		rows += len(s.First.Results)
	}
	if n := strings.Count(text, "<tr"); n < rows {
		t.Errorf("%d rows, %d results", n, rows)
	}
}

// TestTwoStages: a borderline sample is judged with a second one, and not without.
func TestTwoStages(t *testing.T) {
	const count = 20_000
	borderline := 0
	for spoiled := 60; spoiled > 5 && borderline == 0; spoiled-- {
		b, err := battery.New(battery.Shape{K: 6, Values: 1})
		if err != nil {
			t.Fatal(err)
		}
		dice(fixed(3), count, spoiled, b)
		if b.Report().Borderline {
			borderline = spoiled
		}
	}
	if borderline == 0 {
		t.Fatal("no die is borderline")
	}
	for _, c := range []struct {
		name   string
		second func(b *battery.Battery) error
		want   battery.Decision
		again  bool
	}{
		{"no second sample", func(*battery.Battery) error { return ErrNoSecond }, battery.Repeat, false},
		{"a fair one", func(b *battery.Battery) error { dice(fixed(4), count, 0, b); return nil }, battery.Accept,
			true},
		{"the same die", func(b *battery.Battery) error { dice(fixed(3), count, borderline, b); return nil },
			battery.Reject, true},
		{"a smaller one", func(b *battery.Battery) error { dice(fixed(4), count-1, 0, b); return nil }, battery.Repeat,
			true},
	} {
		s := sampled(t, OfDraws(6, 1), func(b *battery.Battery, second bool) error {
			if second {
				return c.second(b)
			}
			dice(fixed(3), count, borderline, b)
			return nil
		})
		r := &Report{Samples: []*Sample{s}}
		r.Conclude()
		if s.Verdict.Decision != c.want || r.Decision != string(c.want) || (s.Second != nil) != c.again {
			t.Errorf("%s: %+v, %s, second %v", c.name, s.Verdict, r.Decision, s.Second != nil)
		}
		var page strings.Builder
		if err := r.WriteHTML(&page); err != nil || c.again && c.want != battery.Repeat &&
			!strings.Contains(page.String(), "Borderline tests, on the second sample") {
			t.Errorf("%s: the page says nothing of the second sample (%v)", c.name, err)
		}
	}
	failed := errors.New("no entropy")
	for _, stage := range []bool{false, true} {
		_, err := OfDraws(6, 1).Sample(func(b *battery.Battery, second bool) error {
			if second == stage {
				return failed
			}
			dice(fixed(3), count, borderline, b)
			return nil
		})
		if !errors.Is(err, failed) {
			t.Errorf("a sample that cannot be made (second %v): %v", stage, err)
		}
	}
}

// TestHeat: a cell's deviation is its count less the expected one, in binomial
// standard deviations, and every cell is in one shade.
func TestHeat(t *testing.T) {
	s := &Sample{Name: "draws", First: &battery.Report{
		Shape: battery.Shape{K: 4, Values: 2}, Outcomes: 1600,
		Positions: [][]uint64{{400, 400, 400, 400}, {400, 450, 300, 450}}, Means: []float64{2.5, 2.5},
	}}
	h := newHeat(s)
	// √(1600 · ¼ · ¾) = 17.32
	if h.Far[0] != (cell{"1", "3", 300, 400, -100 / 17.320508075688775}) || h.Across != "value" {
		t.Errorf("%+v, %s across", h.Far[0], h.Across)
	}
	seen := 0
	for _, shade := range h.Shades {
		seen += shade.Seen
	}
	if seen != 8 || h.Shades[0].Seen != 1 || h.Shades[4].Seen != 5 || h.Shades[6].Seen != 2 {
		t.Errorf("%+v", h.Shades)
	}
}

// TestCurve: the band is of all means together.
func TestCurve(t *testing.T) {
	s := &Sample{First: &battery.Report{Shape: battery.Shape{K: 6, Values: 2}, Outcomes: 10_000,
		Positions: [][]uint64{{0}, {0}}, Means: []float64{3.5, 3.6}}}
	c := newCurve(s)
	// √(35/12/10000) = 0.01708, times 2.807 at 0.5 % each.
	if c.Expected != 3.5 || c.Band < 0.0479 || c.Band > 0.0480 || c.Outside != 1 ||
		!strings.HasPrefix(c.Farthest, "position 1") {
		t.Errorf("%+v", c)
	}
}

func TestAxisLabels(t *testing.T) {
	for _, c := range []struct{ n, every int }{{1, 1}, {52, 1}, {60, 1}, {104, 2}, {208, 5}, {312, 10}, {416, 10},
		{1000, 20}, {4096, 100}} {
		labels := axis{c.n}.labels(0, number)
		if len(labels) != (c.n+c.every-1)/c.every {
			t.Errorf("%d columns have %d labels, want each of %d", c.n, len(labels), c.every)
		}
	}
	if got := short("Ünterhänd"); got != "Ünterhänd" {
		t.Error(got)
	}
	if got := short("a card with a long name"); got != "a card with…" {
		t.Error(got)
	}
	long := func(int) string { return "≥1,000,000,000" }
	if labels := (axis{64}).labels(0, long); len(labels) != 7 { // 85 wide each
		t.Errorf("64 columns have %d long labels", len(labels))
	}
}
