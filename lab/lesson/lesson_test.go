package lesson

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/lab/controls"
)

// TestPage: the page and the pictures in docs are those that the command writes, and a
// picture is well-formed and named by the page.
func TestPage(t *testing.T) {
	t.Parallel()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what go generate -C lab ./lesson writes: %v", name, err)
		}
		if name == "SHUFFLING.md" {
			continue
		}
		if !bytes.Contains(files["SHUFFLING.md"], []byte("("+name+")")) {
			t.Errorf("the page does not show %s", name)
		}
		for d := xml.NewDecoder(bytes.NewReader(want)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
	for _, shown := range regexp.MustCompile(`\((shuffling-[a-z0-9]+\.svg)\)`).FindAllSubmatch(files["SHUFFLING.md"], -1) {
		if files[string(shown[1])] == nil {
			t.Errorf("no picture %s", shown[1])
		}
	}
}

// TestFigures compares the figures of the page with independent ones.
func TestFigures(t *testing.T) {
	t.Parallel()
	f := figuresOf()
	for i, cards := range controls.SwapAnywhereChances(9) { // by counting ways, not by following means
		mean, end := 0.0, f.Curve[i].After
		for card, chance := range cards {
			mean += float64(card) * chance
		}
		if want, _ := end.Float64(); math.Abs(mean-want) > 1e-12 {
			t.Errorf("place %d: %s, and by counting %v", i, end, mean)
		}
	}
	last := f.Curve[8]
	if last.After.Cmp(big.NewRat(4, 1)) != 0 || f.Curve[0].End() != "3.6695" || f.Curve[5].End() != "4.1514" {
		t.Errorf("%+v", f.Curve)
	}
	for i, want := range []int{0, 2, 3, 3, 5, 5, 7, 7, 7} { // of 2 to 10 cards
		if p := f.Primes[i]; p.N != i+2 || p.Prime != want || (p.Rest.Sign() == 0) != (p.N == 2) {
			t.Errorf("%+v, want prime %d", p, want)
		}
	}
	for i, want := range []twoDecks{{"cut", 5, true, false, false}, {"even", 60, true, true, true},
		{"all", 120, true, true, true}} {
		if f.Two[i] != want {
			t.Errorf("%+v, want %+v", f.Two[i], want)
		}
	}
	if even := evens(controls.Cut(6)); len(even) != 360 || !flat(even, 4) || flat(even, 5) {
		t.Error("even orders of six cards are even to four places, and no further")
	}
	for _, c := range []struct {
		ways controls.Ways
		want string
	}{
		{f.Never, "[0 0 0 1 1 0] of 2"}, {f.Coin, "[1024 512 1024 512 512 512] of 4096"},
		{f.Riffle, "[4 1 1 1 1 0] of 8"},
	} {
		if got := fmt.Sprint(c.ways.Counts, " of ", c.ways.All); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	var far []string
	for _, r := range f.Riffles {
		far = append(far, fmt.Sprintf("%.3f", r.Distance))
	}
	// Bayer and Diaconis, table 1.
	if got := strings.Join(far, " "); got != "1.000 1.000 1.000 1.000 0.924 0.614 0.334 0.167 0.085 0.043" {
		t.Errorf("distances after riffles: %s", got)
	}
	if f.Forty != "159.16" || f.One != "164.52" || f.Reach != "2.3e-47" || f.Reach48 != "3.5e-52" {
		t.Errorf("%s %s %s %s", f.Forty, f.One, f.Reach, f.Reach48)
	}
	for _, l := range f.Largest {
		want := map[int]int{32: 12, 48: 16, 64: 20, 128: 34, 160: 40, 256: 57}[l.Bits]
		if want != 0 && l.Cards != want {
			t.Errorf("%d bits: %d cards, want %d", l.Bits, l.Cards, want)
		}
	}
	if row := f.Steps[4].Row(); strings.ReplaceAll(row, "*", "") != "4 3 1 5 2" {
		t.Errorf("the dry run ends with %s", row)
	}
}
