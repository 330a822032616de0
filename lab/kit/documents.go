package kit

import (
	"bytes"
	"embed"
	"fmt"
	"text/template"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

//go:embed text
var texts embed.FS

// Build is what the documents say about the program that made the kit.
type Build struct {
	Commit, Version, Go  string
	System, Arch, Module string // GOOS, GOARCH and GOFIPS140 of the build
	FIPS                 string
	Reproducible         bool
	Rebuilds             bool // Rebuild's script is in the kit
}

// Description returns the description of the generator.
func Description() ([]byte, error) {
	type tape struct {
		Name  string
		Bytes int
	}
	var tapes []tape
	for _, name := range shuffle.Names() {
		deck, _ := shuffle.Named(name)
		tapes = append(tapes, tape{name, shuffle.Recipe{Cards: deck.Len(), Take: deck.Len()}.TapeLen()})
	}
	repetition, proportion := entropy.Cutoffs(entropy.AlphaExp)
	return fill("DESCRIPTION.md", map[string]any{
		"Tapes": tapes, "Calls": Calls(), "Libraries": Libraries(),
		"Alpha": entropy.AlphaExp, "Repetition": repetition, "Proportion": proportion,
	})
}

// Differences returns the statement on how samples differ from play.
func Differences() ([]byte, error) { return fill("DIFFERENCES.md", nil) }

// BuildInstructions returns the instructions to build the program again.
func BuildInstructions(b Build) ([]byte, error) { return fill("BUILD.md", b) }

// Rebuild returns a script that builds the programs from a kit alone, and compares them.
func Rebuild(b Build) ([]byte, error) { return fill("rebuild.sh", b) }

// A Letter is what is known about a submission without the submitter.
type Letter struct {
	Platform
	Version, Commit, Since, Go, FIPS string
	Compiler                         bool // compiler.json is in the kit
}

// Text returns the letter, with lines to fill in.
func (l Letter) Text() ([]byte, error) { return fill("SUBMISSION.md", l) }

// Suite returns the answers for NIST STS, to judge this many bytes of raw.bin as sequences of a million bits.
func Suite(bytes uint64) ([]byte, error) { return fill("sts.txt", max(1, bytes/125_000)) }

// Readme returns the table of contents of a kit.
func Readme(m *Manifest) ([]byte, error) { return fill("README.md", m) }

func fill(name string, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").ParseFS(texts, "text/"+name)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	return b.Bytes(), nil
}
