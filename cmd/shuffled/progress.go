package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"
)

// progress is one line on a terminal that says how far long work is, how fast
// and how long it will take. Where nobody looks it says nothing.
type progress struct {
	w     io.Writer // nil: not a terminal
	what  string
	start time.Time
	shown time.Time
}

// newProgress returns the progress of work on things called what.
func newProgress(w io.Writer, what string) *progress {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		w = nil
	}
	return &progress{w: w, what: what, start: time.Now()}
}

// at shows that done of total things are done, a few times a second.
func (p *progress) at(done, total uint64) {
	now := time.Now()
	if p.w == nil || now.Sub(p.shown) < 200*time.Millisecond {
		return
	}
	p.shown = now
	fmt.Fprintf(p.w, "\r\x1b[K%s", progressLine(p.what, done, total, now.Sub(p.start)))
}

// end takes the line off the terminal.
func (p *progress) end() {
	if p.w != nil && !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func progressLine(what string, done, total uint64, elapsed time.Duration) string {
	line := fmt.Sprintf("%s of %s %s", counted(done), counted(total), what)
	if elapsed < time.Second || done == 0 {
		return line
	}
	rate := float64(done) / elapsed.Seconds()
	left := time.Duration(float64(total-min(done, total)) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, %s/s, %s left", line, counted(uint64(rate)), left)
}

// counted writes a number with commas between thousands.
func counted(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
