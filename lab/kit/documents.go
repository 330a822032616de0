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

// Build is what the documents say of the program that made the kit.
type Build struct {
	Commit, Go, FIPS string
	Reproducible     bool
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

// BuildInstructions returns how the program is built again.
func BuildInstructions(b Build) ([]byte, error) { return fill("BUILD.md", b) }

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
