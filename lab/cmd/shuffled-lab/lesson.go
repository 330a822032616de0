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
	Out string `required:"" placeholder:"DIR" help:"Directory for the page and its pictures; those of an earlier run are replaced."`
}

func (labLessonCmd) Help() string {
	return `Writes docs/SHUFFLING.md, a page for students on shuffles and what goes wrong with them, with its pictures. Each figure is counted by the code of the proofs and of the negative controls; no random byte is read, and every run writes the same.

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
