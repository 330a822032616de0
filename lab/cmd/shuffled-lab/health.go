package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"shuffled/internal/entropy"
	"shuffled/internal/term"
	"shuffled/lab"
	"shuffled/lab/alarms"
)

type labHealthCmd struct {
	Bytes    uint64 `default:"1000000000" placeholder:"N" help:"Number of bytes to test, 1 to 10^15 (default 10^9)."`
	AlphaExp []int  `name:"alpha-exp" default:"12,16,20" placeholder:"A,B" help:"Cutoffs at α = 2^-A. Each A is from 1 to 64 (default 12,16,20)."`
	Workers  int    `placeholder:"N" help:"Work with N goroutines. Default: one for each processor."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

func (labHealthCmd) Help() string {
	return `Counts the false alarms of the health tests on the bytes that tapes are made of, and compares the count with the exact distribution. The daemon's own cutoffs are for α = 2^-60 and give no alarm in a lifetime. So the command uses weaker cutoffs, by the same formula, in the same code. Bytes are tested in windows of 512, each without history.

Examples:

    shuffled lab health
    shuffled lab health --bytes 100000000 --alpha-exp 8,16,24 --json

Exit codes: 0 the number of alarms is as expected, 1 it is not (p below 1e-9), 2 usage, 3 could not run.`
}

// healthReport is what --json prints.
type healthReport struct {
	*alarms.Report
	Seconds float64 `json:"seconds"`
}

func (c *labHealthCmd) Run(ctx context.Context, s term.Streams) error {
	return c.measure(ctx, s, func(alphaExp int) alarms.Health { return entropy.NewHealth(alphaExp) })
}

// measure is Run for any health tests, so that a test can make it fail.
func (c *labHealthCmd) measure(ctx context.Context, s term.Streams, health func(alphaExp int) alarms.Health) error {
	if err := c.check(); err != nil {
		return err
	}
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		return err
	}
	began, p := time.Now(), term.NewProgress(s.Err, "bytes")
	r, err := alarms.Measure(ctx, src, health,
		alarms.Options{Bytes: c.Bytes, AlphaExps: c.AlphaExp, Workers: c.Workers, Progress: p.At})
	p.End()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return err
	}
	out := healthReport{r, time.Since(began).Round(time.Millisecond).Seconds()}
	if c.JSON {
		err = term.PrintJSON(s.Out, out)
	} else {
		_, err = io.WriteString(s.Out, sheetOf(s).falseAlarms(out))
	}
	if err == nil && !r.Passed {
		err = term.ErrFails
	}
	return err
}

func (c *labHealthCmd) check() error {
	if c.Workers != 0 {
		if err := lab.CheckWorkers(c.Workers); err != nil {
			return wrongField(err)
		}
	}
	if err := lab.CheckRaw(c.Bytes); err != nil {
		return wrongField(err)
	}
	if len(c.AlphaExp) == 0 || slices.Min(c.AlphaExp) < 1 || slices.Max(c.AlphaExp) > 64 {
		return term.Usage("--alpha-exp must be a list of numbers from 1 to 64")
	}
	return nil
}

func (s sheet) falseAlarms(r healthReport) string {
	rows := [][]string{{"α", "test", "cutoff", "chance in a window", "expected", "alarms", "p", ""}}
	for _, c := range r.Counts {
		rows = append(rows, []string{
			fmt.Sprintf("2^-%d", c.AlphaExp), c.Test, fmt.Sprint(c.Cutoff), fmt.Sprintf("%.3e", c.Chance),
			fmt.Sprintf("%.1f", c.Expected), term.Counted(c.Alarms), fmt.Sprintf("%.3g", c.P), "",
		})
	}
	says := term.Hanging(s.P.Good("as expected")+"  ",
		"The tests raise as many alarms as the distribution of uniform bytes says.", s.W)
	if !r.Passed {
		says = term.Hanging(s.P.Bad("NOT AS EXPECTED")+"  ",
			fmt.Sprintf("A count is farther out than chance explains: p < %.0e.", alarms.FarOut), s.W)
	}
	h := r.Halt
	return s.P.Bold(fmt.Sprintf("False alarms of the health tests: %s bytes, %s windows", term.Counted(r.Bytes),
		term.Counted(r.Windows))) + "\n" + term.Table(rows) + says +
		term.Hanging("",
			fmt.Sprintf("What halts the daemon cannot be seen this way. Its cutoffs, for α = 2^-%d, are %d in a row and %d in a window: %.1e and %.1e a byte, so at %s tapes of %d bytes a second one false alarm in %s years. They come from the same formula as those above and run in the same code; every cutoff from 2^-1 to 2^-64 is recomputed with integers by the tests of internal/entropy (TestCutoffsExact).",
				h.AlphaExp, h.Repetition, h.Proportion, h.RepetitionPerByte, h.ProportionPerByte,
				term.Counted(uint64(h.TapesPerSecond)), h.TapeBytes, term.Counted(uint64(h.Years)/1000*1000)), s.W) +
		fmt.Sprintf("%.1f s\n", r.Seconds)
}
