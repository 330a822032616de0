package term

import (
	"io"
	"os"
)

// Painter colours text for a terminal, unless NO_COLOR is set.
type Painter struct{ on bool }

// NewPainter returns the painter for w.
func NewPainter(w io.Writer) Painter {
	return Painter{os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(w)}
}

// Paint returns s within an escape code of a terminal, such as 31.
func (p Painter) Paint(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Good, Bad, Warn, Dim and Bold return s in the colour of that meaning.
func (p Painter) Good(s string) string { return p.Paint("32", s) }
func (p Painter) Bad(s string) string  { return p.Paint("1;31", s) }
func (p Painter) Warn(s string) string { return p.Paint("33", s) }
func (p Painter) Dim(s string) string  { return p.Paint("2", s) }
func (p Painter) Bold(s string) string { return p.Paint("1", s) }
