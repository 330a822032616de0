package main

import (
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
	minColumns     = 60
	maxColumns     = 100
)

// columns returns how wide text for w may be.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if c, _, err := term.GetSize(int(f.Fd())); err == nil && c > 0 {
			return min(max(c, minColumns), maxColumns)
		}
	}
	return defaultColumns
}

// visible makes text from outside safe for a terminal: whatever is not a
// printable character (escape sequences, line ends, marks that change the
// direction of writing, bytes that are not UTF-8) is spelled out.
func visible(s string) string {
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

// cells returns how many columns of a terminal s takes. s is visible text.
func cells(s string) (n int) {
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		case width.LookupRune(r).Kind() == width.EastAsianWide || width.LookupRune(r).Kind() == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// cut returns as much of s as takes at most n columns, at least one character.
func cut(s string, n int) string {
	used := 0
	for i, r := range s {
		if used += cells(string(r)); used > n && i > 0 {
			return s[:i]
		}
	}
	return s
}

// fit shortens s to at most n columns, visibly.
func fit(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	return cut(s, n-1) + "…"
}

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-cells(s))) }

// wrap breaks text into lines of at most n columns, between words; a word that
// is longer is broken where the line ends.
func wrap(text string, n int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		for {
			if line != "" && cells(line)+1+cells(word) <= n {
				line += " " + word
				break
			}
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			if cells(word) <= n {
				line = word
				break
			}
			head := cut(word, n)
			lines, word = append(lines, head), word[len(head):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// hanging puts label in front of text and wraps text to w columns, its further
// lines aligned under its first.
func hanging(label, text string, w int) string {
	var b strings.Builder
	indent := strings.Repeat(" ", cells(label))
	for i, line := range wrap(text, max(w-cells(label), 20)) {
		if i == 0 {
			b.WriteString(label)
		} else {
			b.WriteString(indent)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// printSafeJSON is printJSON for values that hold text from outside: what is not
// printable is escaped, so that no control character reaches a terminal.
func printSafeJSON(w io.Writer, v any) error {
	var plain strings.Builder
	if err := printJSON(&plain, v); err != nil {
		return err
	}
	var b strings.Builder
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
