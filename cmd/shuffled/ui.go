package main

import (
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"
)

// painter colours text when it goes to a terminal and NO_COLOR is not set.
type painter struct{ on bool }

func newPainter(w io.Writer) painter {
	f, ok := w.(*os.File)
	return painter{ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

func (p painter) paint(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) good(s string) string { return p.paint("32", s) }
func (p painter) bad(s string) string  { return p.paint("1;31", s) }
func (p painter) warn(s string) string { return p.paint("33", s) }
func (p painter) dim(s string) string  { return p.paint("2", s) }
func (p painter) bold(s string) string { return p.paint("1", s) }

// printJSON writes v as indented JSON, for --json.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
