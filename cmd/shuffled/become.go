package main

import (
	"os"
	"syscall"

	"shuffled/internal/build"
)

// otherCmd is a command that is a program of its own, with its arguments. What
// measures is no part of the program that deals.
type otherCmd struct {
	Args []string `arg:"" optional:"" help:"Arguments of the program."`
}

type labCmd struct{ otherCmd }

// Run becomes shuffled-lab.
func (c *labCmd) Run() error { return c.become("shuffled-lab") }

type benchCmd struct{ otherCmd }

// Run becomes shuffled-bench.
func (c *benchCmd) Run() error { return c.become("shuffled-bench") }

// become runs the program in place of this one: its streams, signals and exit code
// are those of this process.
func (c *otherCmd) become(program string) error {
	path, err := build.Sibling(program)
	if err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{path}, c.Args...), os.Environ())
}
