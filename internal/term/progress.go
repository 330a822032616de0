package term

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

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
