package main

import (
	"cmp"
	"fmt"

	"shuffled/internal/build"
	"shuffled/internal/term"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c versionCmd) Run(s term.Streams) error {
	b := build.This()
	if c.JSON {
		return term.PrintJSON(s.Out, b)
	}
	fips := "off"
	if b.FIPS {
		fips = "on (module " + b.FIPSBuild + ")"
	}
	fmt.Fprintf(s.Out, "shuffled   %s %s\nalgorithm  %s\ngo         %s\nFIPS 140-3 %s\n", b.Version, b.Revision,
		b.Algorithm, b.Go, fips)
	fmt.Fprintf(s.Out, "platform   %s\nkernel     %s, getrandom in the vDSO: %s\n", b.Platform,
		cmp.Or(b.Kernel, "unknown"), b.VDSO)
	return nil
}
