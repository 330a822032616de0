package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Columns of a terminal whose size is unknown, and bounds for the others: below
// the first nothing lines up, above the second lines are hard to read.
const (
	defaultColumns = 80
	MinColumns     = 60
	MaxColumns     = 100
)

// IsTerminal reports whether somebody may look at what is written to w.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns how wide text for w may be.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if c, _, err := term.GetSize(int(f.Fd())); err == nil && c > 0 {
			return min(max(c, MinColumns), MaxColumns)
		}
	}
	return defaultColumns
}

// Visible makes text from outside safe for a terminal: whatever is not a
// printable character (escape sequences, line ends, marks that change the
// direction of writing, bytes that are not UTF-8) is spelled out.
func Visible(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0])>>4, 16) + strconv.FormatUint(uint64(s[0])&15, 16))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// Cells returns how many columns of a terminal s takes. s is visible text.
func Cells(s string) (n int) {
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		case width.LookupRune(r).Kind() == width.EastAsianWide ||
			width.LookupRune(r).Kind() == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// Cut returns as much of s as takes at most n columns, at least one character.
func Cut(s string, n int) string {
	used := 0
	for i, r := range s {
		if used += Cells(string(r)); used > n && i > 0 {
			return s[:i]
		}
	}
	return s
}

// Fit shortens s to at most n columns, visibly.
func Fit(s string, n int) string {
	if Cells(s) <= n {
		return s
	}
	return Cut(s, n-1) + "…"
}

// Pad fills s up to n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-Cells(s))) }

// Wrap breaks text into lines of at most n columns, between words; a word that
// is longer is broken where the line ends.
func Wrap(text string, n int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		for {
			if line != "" && Cells(line)+1+Cells(word) <= n {
				line += " " + word
				break
			}
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			if Cells(word) <= n {
				line = word
				break
			}
			head := Cut(word, n)
			lines, word = append(lines, head), word[len(head):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Hanging puts label in front of text and wraps text to w columns, its further
// lines aligned under its first.
func Hanging(label, text string, w int) string {
	var b strings.Builder
	indent := strings.Repeat(" ", Cells(label))
	for i, line := range Wrap(text, max(w-Cells(label), 20)) {
		if i == 0 {
			b.WriteString(label)
		} else {
			b.WriteString(indent)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Table aligns rows of cells: all to the right but the last.
func Table(rows [][]string) string {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			wide[i] = max(wide[i], Cells(c))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := "  "
		for i, c := range row {
			if i == len(row)-1 {
				line += c
				break
			}
			line += strings.Repeat(" ", wide[i]-Cells(c)) + c + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// PrintJSON writes v as indented JSON, for --json. What is not printable is escaped, so that
// text from outside brings no control character to a terminal.
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
		for _, unit := range utf16.Encode([]rune{r}) { // outside strings JSON has no such characters
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
