package main

import (
	"context"

	"shuffled/internal/term"
	"shuffled/lab"
)

type labDrawsCmd struct {
	K        uint64 `name:"k" required:"" placeholder:"K" help:"Each value is from 1 to K. K is from 1 to 2^30."`
	Values   int    `default:"1" placeholder:"V" help:"Number of values in each outcome, which has one tape."`
	Count    uint64 `required:"" placeholder:"N" help:"Number of outcomes, 1 to 10^12."`
	Distinct bool   `help:"No value comes twice in an outcome, as in a lottery."`
	Format   string `default:"csv" enum:"csv,bin,jsonl" help:"csv, bin or jsonl."`
	labOutput
}

func (labDrawsCmd) Help() string {
	return `Writes drawn values after scaling, made by the function that the daemon draws with. Each outcome has a tape of its own. docs/LAB.md says how to read the formats.

Examples:

    shuffled lab draws --k 37 --count 1000000 --out roulette.csv
    shuffled lab draws --k 6 --values 2 --count 1000000 --format bin --out dice.bin
    shuffled lab draws --k 49 --values 6 --distinct --count 1000000 --out lottery.csv`
}

func (c *labDrawsCmd) Run(ctx context.Context, s term.Streams) error {
	draws := lab.Draws
	parameters := map[string]any{"k": c.K, "values": c.Values, "count": c.Count, "format": c.Format}
	if c.Distinct {
		draws, parameters["distinct"] = lab.Numbers, true
	}
	sample, err := draws(c.K, c.Values, c.Count, lab.Format(c.Format))
	if err != nil {
		return wrongField(err)
	}
	return c.run(ctx, s, outcomesOf("draws", sample, parameters))
}
