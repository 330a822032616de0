package main

import (
	"context"
	"io"

	"shuffled/internal/entropy"
	"shuffled/internal/term"
	"shuffled/lab"
)

type labRawCmd struct {
	Bytes uint64 `required:"" placeholder:"N" help:"Number of bytes, 1 to 10^15."`
	labOutput
}

func (labRawCmd) Help() string {
	return `Writes the generator's output before any scaling. These bytes are read and health-tested as tapes are. Every run gives other bytes, and the manifest identifies them.

Examples:

    shuffled lab raw --bytes 1000000000 --out raw.bin
    shuffled lab raw --bytes 1000000000000 | dieharder -a -g 200`
}

func (c *labRawCmd) Run(ctx context.Context, s term.Streams) error {
	if err := lab.CheckRaw(c.Bytes); err != nil {
		return wrongField(err)
	}
	return c.run(ctx, s, writing{
		binary: true, unit: "bytes", total: c.Bytes,
		parameters: map[string]any{"bytes": c.Bytes},
		write: func(ctx context.Context, src *entropy.Source, workers int, w io.Writer,
			progress func(uint64)) (*lab.Written, error) {
			return lab.Raw(ctx, src, workers, c.Bytes, w, progress)
		},
		manifest: lab.RawManifest,
	})
}
