package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxFile is the largest configuration file in bytes.
const maxFile = 1 << 20

// Load reads and checks a configuration file over the defaults. All problems of
// one kind are reported at once: first those of the text, each with its line,
// then those of the values.
func Load(path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("reading the configuration: %s has more than %d bytes", path, maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return Parse(path, text)
}

// Parse is Load for text that was read from a file of the given name.
func Parse(name string, text []byte) (*Config, error) {
	if err := checkKeys(name, text); err != nil {
		return nil, err
	}
	c := Default()
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, located(name, err)
	}
	problems := c.problems()
	if c.Database != withoutPassword(c.Database) {
		problems = append(problems, errors.New("database: a password does not belong in this file; put it in database_password_file"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(problems...))
	}
	return c, nil
}

// located puts file and line before each error of the decoder.
func located(name string, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		var all []error
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			all = append(all, fmt.Errorf("%s:%d: unknown key %s", name, line, strings.Join(e.Key(), ".")))
		}
		return errors.Join(all...)
	}
	message := strings.TrimPrefix(err.Error(), "toml: ")
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return fmt.Errorf("%s:%d: %s", name, line, message)
	}
	return fmt.Errorf("%s: %s", name, message)
}

// checkKeys refuses keys with other characters than those of our own: the
// decoder would take Listen for listen, and both in one file.
func checkKeys(name string, text []byte) error {
	var p unstable.Parser
	p.Reset(text)
	var all []error
	for p.NextExpression() {
		checkNode(&p, p.Expression(), func(n *unstable.Node) {
			all = append(all, fmt.Errorf("%s:%d: unknown key %s: keys are lower-case",
				name, p.Shape(n.Raw).Start.Line, n.Data))
		})
	}
	// Text that does not parse is the decoder's to report.
	return errors.Join(all...)
}

// checkNode calls bad for each such key in an expression, inline tables included.
func checkNode(p *unstable.Parser, n *unstable.Node, bad func(*unstable.Node)) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable, unstable.KeyValue:
		for keys := n.Key(); keys.Next(); {
			if key := keys.Node(); strings.Trim(string(key.Data), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				bad(key)
			}
		}
	}
	switch n.Kind {
	case unstable.KeyValue:
		checkNode(p, n.Value(), bad)
	case unstable.InlineTable, unstable.Array:
		for children := n.Children(); children.Next(); {
			checkNode(p, children.Node(), bad)
		}
	}
}
