package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"shuffled/internal/term"
	"shuffled/lab/lesson"
)

type labLessonCmd struct {
	Out string `required:"" placeholder:"DIR" help:"Directory for the page and its pictures. Those of an earlier run are replaced."`
}

func (labLessonCmd) Help() string {
	return `Writes docs/SHUFFLING.md with its pictures: a page for students on shuffles and what goes wrong with them. The code of the proofs and of the negative controls counts each figure. No random byte is read, so every run writes the same.

Example:

    shuffled lab lesson --out lesson`
}

func (c *labLessonCmd) Run(s term.Streams) error {
	files, err := lesson.Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(c.Out, name), files[name], 0o644); err != nil {
			return fmt.Errorf("writing the lesson: %w", err)
		}
	}
	_, err = fmt.Fprintf(s.Out, "%s in %s\n", term.Plural(uint64(len(files)), "file"), term.Visible(c.Out))
	return err
}
