package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// Columns of a terminal of unknown size, and bounds for others. Columns do not fit below the lower bound, and
// lines are hard to read above the upper one.
const (
	defaultColumns = 80
	MinColumns     = 60
	MaxColumns     = 100
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width for text that goes to w.
func Columns(w io.Writer) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if c, _, err := term.GetSize(int(f.Fd())); err == nil && c > 0 {
			return min(max(c, MinColumns), MaxColumns)
		}
	}
	return defaultColumns
}

// Painter colours text for a terminal, unless NO_COLOR is set.
type Painter struct{ on bool }

// NewPainter returns the painter for w.
func NewPainter(w io.Writer) Painter {
	return Painter{os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(w)}
}

// paint returns s within an escape code of a terminal, such as 31.
func (p Painter) paint(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Good, Bad, Warn, Dim and Bold return s in the colour of that meaning.
func (p Painter) Good(s string) string { return p.paint("32", s) }
func (p Painter) Bad(s string) string  { return p.paint("1;31", s) }
func (p Painter) Warn(s string) string { return p.paint("33", s) }
func (p Painter) Dim(s string) string  { return p.paint("2", s) }
func (p Painter) Bold(s string) string { return p.paint("1", s) }

// asTyped takes back what strconv.Quote does to characters that are printable.
var asTyped = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// Visible makes text that is not trusted safe for a terminal. It spells out what is not a printable character:
// escape sequences, line ends, marks that change the direction of writing, bytes that are not UTF-8.
func Visible(s string) string {
	quoted := strconv.Quote(s)
	return asTyped.Replace(quoted[1 : len(quoted)-1])
}

// Spelt is Visible, and behind it the code points that are not ASCII: letters of two scripts can look alike.
func Spelt(s string) string {
	var beyond []string
	for _, r := range s {
		if r > unicode.MaxASCII {
			beyond = append(beyond, fmt.Sprintf("%U", r))
		}
	}
	if beyond == nil {
		return Visible(s)
	}
	return Visible(s) + " (" + strings.Join(beyond, " ") + ")"
}

// cells counts columns alike in every locale.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// Cells returns how many columns of a terminal s takes. s must be visible text.
func Cells(s string) int { return cells.StringWidth(s) }

// Cut returns the beginning of s that takes at most n columns, but at least one character.
func Cut(s string, n int) string {
	_, first := utf8.DecodeRuneInString(s)
	return s[:max(first, len(cells.Truncate(s, n, "")))]
}

// Fit shortens s to n columns, with a mark at the end, if it is longer.
func Fit(s string, n int) string { return cells.Truncate(s, n, "…") }

// Pad adds spaces to s up to n columns.
func Pad(s string, n int) string { return cells.FillRight(s, n) }

// Wrap breaks text between words into lines of at most n columns. A longer word is broken at the end of its line.
func Wrap(text string, n int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && Cells(line)+1+Cells(word) <= n {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for Cells(word) > n {
			head := Cut(word, n)
			lines, word = append(lines, head), word[len(head):]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Hanging writes label and text in w columns. Further lines of the text are aligned with its first.
func Hanging(label, text string, w int) string {
	lines := Wrap(text, max(w-Cells(label), 20))
	if lines == nil {
		return ""
	}
	return label + strings.Join(lines, "\n"+strings.Repeat(" ", Cells(label))) + "\n"
}

// Table aligns rows of cells: the last column to the left, the others to the right.
func Table(rows [][]string) string { return Aligned("  ", rows, len(rows[0])-1) }

// Aligned aligns rows of cells: the columns with these numbers to the left, the others to the right.
func Aligned(indent string, rows [][]string, left ...int) string {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			wide[i] = max(wide[i], Cells(c))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := indent
		for i, c := range row {
			gap := strings.Repeat(" ", wide[i]-Cells(c))
			if slices.Contains(left, i) {
				line += c + gap + "  "
			} else {
				line += gap + c + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// PrintJSON writes v as indented JSON. It escapes what is not printable, so that text that is not trusted
// brings no control character to a terminal.
func PrintJSON(w io.Writer, v any) error {
	var plain, b strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	for _, r := range plain.String() {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) { // such a character is in a string
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Progress is one line on a terminal with the progress of long work: how much is done, how fast, and how long
// it will take. It writes nothing if the output is no terminal.
type Progress struct {
	w     io.Writer // nil if it is no terminal
	what  string
	start time.Time
	shown time.Time
}

// NewProgress returns the progress of work on things, which what names in the plural.
func NewProgress(w io.Writer, what string) *Progress {
	if !IsTerminal(w) {
		w = nil
	}
	return &Progress{w: w, what: what, start: time.Now()}
}

// At shows that done of total things are done. It writes a few times a second at most.
func (p *Progress) At(done, total uint64) {
	now := time.Now()
	if p.w == nil || now.Sub(p.shown) < 200*time.Millisecond {
		return
	}
	p.shown = now
	fmt.Fprintf(p.w, "\r\x1b[K%s", progressLine(p.what, done, total, now.Sub(p.start)))
}

// End removes the line from the terminal.
func (p *Progress) End() {
	if p.w != nil && !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func progressLine(what string, done, total uint64, elapsed time.Duration) string {
	line := fmt.Sprintf("%s of %s %s", Counted(done), Counted(total), what)
	if elapsed < time.Second || done == 0 {
		return line
	}
	rate := float64(done) / elapsed.Seconds()
	left := time.Duration(float64(total-min(done, total)) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, %s/s, %s left", line, Counted(uint64(rate)), left)
}

// Counted writes a number with commas between thousands.
func Counted(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes a number of things. what is the singular, and its plural ends in s.
func Plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Counted(n) + " " + what + "s"
}
