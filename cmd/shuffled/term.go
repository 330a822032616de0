package main

import (
	"io"

	"shuffled/internal/term"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// sheet writes for people: w columns, colour where p allows it.
type sheet struct {
	p term.Painter
	w int
}

// sheet writes for people, in the width and colours of standard output.
func (s streams) sheet() sheet { return sheet{p: newPainter(s.out), w: columns(s.out)} }

// The names under which the commands of this package use internal/term.
const (
	exitOK     = term.ExitOK
	exitFails  = term.ExitFails
	exitUsage  = term.ExitUsage
	exitCannot = term.ExitCannot
)

type usageError = term.UsageError

var (
	errFails = term.ErrFails
	usage    = term.Usage
	withHint = term.WithHint

	newPainter    = term.NewPainter
	newProgress   = term.NewProgress
	columns       = term.Columns
	visible       = term.Visible
	cells         = term.Cells
	fit           = term.Fit
	pad           = term.Pad
	hanging       = term.Hanging
	table         = term.Table
	counted       = term.Counted
	printJSON     = term.PrintJSON
	printSafeJSON = term.PrintSafeJSON
)

func report(s streams, err error) int { return term.Report(s.err, err) }
