// Command shuffled-lab has the commands for a test lab: raw output, final outcomes, statistics, proofs and
// the kit that is submitted. `shuffled lab` runs it.
package main

import (
	"context"

	"shuffled/internal/process"
	"shuffled/internal/selftest"
	"shuffled/internal/term"
)

type labCmd struct {
	Raw      labRawCmd      `cmd:"" help:"Write raw output of the generator, before any scaling."`
	Decks    labDecksCmd    `cmd:"" help:"Write shuffled decks."`
	Draws    labDrawsCmd    `cmd:"" help:"Write drawn values."`
	Prove    labProveCmd    `cmd:"" help:"Prove that draws and orders are exactly uniform."`
	Battery  labBatteryCmd  `cmd:"" help:"Run every test that regulators name on outcomes, and report."`
	Selftest labSelftestCmd `cmd:"" help:"Check that the battery rejects shufflers that are wrong on purpose, and accepts the true one."`
	Kit      labKitCmd      `cmd:"" help:"Make a kit, or check one: everything that is handed in, in one directory, with a manifest."`
	Lesson   labLessonCmd   `cmd:"" help:"Write a page on shuffles and what goes wrong with them, with pictures. Every figure is counted."`
	Health   labHealthCmd   `cmd:"" help:"Count the false alarms of the health tests, and compare them with the exact distribution."`
}

func main() { term.Main(process.NoDumps, run) } // tapes of samples are in memory

// run is the whole command: arguments in, exit code out.
func run(ctx context.Context, args []string, s term.Streams) int {
	program := term.Program{
		Name:        "shuffled lab", // as a user types it
		Description: "What a test lab needs: raw output, outcomes, statistics, controls, proofs, and the kit to hand in.",
		Grammar:     new(labCmd),
		Before: func(string) (any, error) {
			return selftest.Judge(selftest.Run())
		},
	}
	return program.Run(ctx, args, s, s)
}

// sheet writes for people.
type sheet term.Sheet

func sheetOf(s term.Streams) sheet { return sheet(s.Sheet()) }
