package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/term"
	"shuffled/lab/kit"
)

// kitCheck is what --check --json prints.
type kitCheck struct {
	Commit string   `json:"commit,omitempty"`
	Files  int      `json:"files"`
	Same   int      `json:"same"` // with --against: reproducible files that are equal
	Faults []string `json:"faults"`
	Failed []string `json:"failed"` // files whose evidence fails, as the manifest says
}

// check compares a kit with its manifest and, if there is one, with another kit. It also fails if the
// manifest says that evidence failed.
func (c *labKitCmd) check(s term.Streams) error {
	m, err := kit.Read(c.Check)
	if err != nil {
		return err
	}
	r := kitCheck{Commit: m.Commit, Files: len(m.Files), Faults: []string{}, Failed: []string{}}
	faults, err := m.Check(c.Check)
	if err != nil {
		return fmt.Errorf("checking the kit: %w", err)
	}
	r.Faults = append(r.Faults, faults...)
	if c.Signer != "" {
		fault, err := c.checkNote()
		if err != nil {
			return err
		}
		if fault != "" {
			r.Faults = append(r.Faults, fault)
		}
	}
	for _, f := range m.Failed() {
		r.Failed = append(r.Failed, f.Name)
	}
	if c.Against != "" {
		if err := c.compare(m, &r); err != nil {
			return err
		}
	}
	if c.JSON {
		if err := term.PrintJSON(s.Out, r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Faults {
			fmt.Fprintln(s.Out, term.Visible(f))
		}
		for _, f := range m.Failed() {
			fmt.Fprintf(s.Out, "%s: the evidence fails: its command ended with exit code %d\n", term.Visible(f.Name),
				f.ExitCode)
		}
		fmt.Fprintf(s.Out, "%d files, %d faults\n", r.Files, len(r.Faults))
		if c.Against != "" {
			fmt.Fprintf(s.Out, "%d reproducible files are the same in both kits\n", r.Same)
		}
	}
	if len(r.Faults)+len(r.Failed) > 0 {
		return term.ErrFails
	}
	return nil
}

// checkNote verifies the signature over the manifest under --signer, a verifier key or a file with one.
func (c *labKitCmd) checkNote() (fault string, err error) {
	text := c.Signer
	if b, err := os.ReadFile(c.Signer); err == nil {
		text = strings.TrimSpace(string(b))
	}
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return "", term.Usage("--signer must be a verifier key or a file with a verifier key: %s", err)
	}
	return kit.CheckNote(c.Check, verifier)
}

// compare adds the differences to the other kit. The other kit is first compared with its own manifest,
// because then the manifests are compared.
func (c *labKitCmd) compare(m *kit.Manifest, r *kitCheck) error {
	other, err := kit.Read(c.Against)
	if err != nil {
		return err
	}
	faults, err := other.Check(c.Against)
	if err != nil {
		return fmt.Errorf("checking the other kit: %w", err)
	}
	for _, f := range faults {
		r.Faults = append(r.Faults, "the other kit: "+f)
	}
	same, faults := m.Differ(other)
	r.Same, r.Faults = same, append(r.Faults, faults...)
	return nil
}
