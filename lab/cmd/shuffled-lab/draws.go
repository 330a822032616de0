package main

import (
	"context"

	"shuffled/internal/term"
	"shuffled/lab"
)

type labDrawsCmd struct {
	K      uint64 `name:"k" required:"" placeholder:"K" help:"Each value is 1 to K; K is 1 to 2^30."`
	Values int    `default:"1" placeholder:"V" help:"So many values in each outcome, of one tape."`
	Count  uint64 `required:"" placeholder:"N" help:"So many outcomes, 1 to 10^12."`
	Format string `default:"csv" enum:"csv,bin,jsonl" help:"csv, bin or jsonl."`
	labOutput
}

func (labDrawsCmd) Help() string {
	return `Drawn values after scaling, made by the function that the daemon draws with. Each outcome is of a tape of its own. docs/LAB.md says how the formats are read.

Examples:

    shuffled lab draws --k 37 --count 1000000 --out roulette.csv
    shuffled lab draws --k 6 --values 2 --count 1000000 --format bin --out dice.bin`
}

func (c *labDrawsCmd) Run(ctx context.Context, s term.Streams) error {
	sample, err := lab.Draws(c.K, c.Values, c.Count, lab.Format(c.Format))
	if err != nil {
		return wrongField(err)
	}
	return c.run(ctx, s, outcomesOf("draws", sample, map[string]any{
		"k": c.K, "values": c.Values, "count": c.Count, "format": c.Format,
	}))
}
