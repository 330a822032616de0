package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"shuffled/internal/near"
	"shuffled/internal/stops"
)

// maxFile is the largest configuration file in bytes.
const maxFile = 1 << 20

// Load reads and checks a configuration file, and fills in the defaults. It reports all problems of the text at once,
// each with its line, or, if there are none, all problems of the values.
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
	if err := checkNames(name, text); err != nil {
		return nil, err
	}
	c := Default()
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, located(name, text, err)
	}
	problems := c.problems()
	addresses := []string{c.Database}
	for _, l := range c.Ledgers {
		addresses = append(addresses, l.Database)
	}
	if slices.ContainsFunc(addresses, func(a string) bool { return a != withoutPassword(a) }) {
		problems = append(problems, errPassword)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(problems...))
	}
	return c, nil
}

// errPassword says nothing of the address, which has the password.
var errPassword = fmt.Errorf("%s", `"database" must have no password: database_password_file names the file for it.`)

// located puts the file and the line before each error of the decoder.
func located(name string, text []byte, err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		var all []error
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			key := strings.Join(e.Key(), ".")
			all = append(all, fmt.Errorf("%s:%d: %w %q.%s", name, line, stops.Setting, key,
				near.Hint(key, names(reflect.TypeFor[Config](), ""))))
		}
		return errors.Join(all...)
	}
	message := strings.TrimSuffix(strings.TrimPrefix(err.Error(), "toml: "), ".") + "."
	message = strings.ToUpper(message[:1]) + message[1:]
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %s", name, message)
	}
	line, _ := wrong.Position()
	if found, ok := strings.CutPrefix(message, "Cannot decode TOML "); ok { // the rest names types of Go
		key, _, _ := strings.Cut(strings.Split(string(text), "\n")[line-1], "=")
		kind := found[strings.LastIndex(found, " ")+1:]
		found, _, _ = strings.Cut(found, " into ")
		message = fmt.Sprintf("%q must be %s, not TOML %s.", strings.TrimSpace(key),
			cmp.Or(typeWords[kind], "a table"), found)
	}
	return fmt.Errorf("%s:%d: %s", name, line, message)
}

// typeWords describes the types of settings by the words that end a message of the decoder.
var typeWords = map[string]string{"string.": "a text in quotes", "int.": "a whole number", "float64.": "a number",
	"bool.": "true or false", "[]string.": "a list of texts in quotes"}

// names returns the names of all settings and tables below t.
func names(t reflect.Type, prefix string) (all []string) {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name := prefix + f.Tag.Get("toml")
		all = append(append(all, name), names(f.Type, name+".")...)
	}
	return all
}

// checkNames refuses names that are not lower-case: the decoder would take Listen for listen, and both in one file. It
// leaves text that does not parse to the decoder.
func checkNames(file string, text []byte) error {
	var tables map[string]any
	if toml.Unmarshal(text, &tables) != nil {
		return nil
	}
	var all []error
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if walk(v[name]); name != strings.ToLower(name) {
					all = append(all, fmt.Errorf("%s: %w %q: %s", file, stops.Setting, name, "names are lower-case."))
				}
			}
		}
	}
	walk(tables)
	return errors.Join(all...)
}

// Duration is a length of time with its unit, as in "5s" or "1m30s".
type Duration time.Duration

// Duration returns d for package time.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

// String returns d in the form of the file.
func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return errors.New(`a duration must have a number and a unit, as in "5s" or "1m30s"`)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Size is a number of bytes with its unit, as in "512B", "64KiB" or "1MiB".
type Size int64

// sizeUnits are in order from large to small. They are powers of 1,024 only, so that no two readers disagree.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String returns s with the largest unit that leaves a whole number.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// UnmarshalText reads a whole number followed by B, KiB, MiB, GiB or TiB.
func (s *Size) UnmarshalText(b []byte) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(string(b), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || n > uint64(math.MaxInt64/u.bytes) {
			break
		}
		*s = Size(int64(n) * u.bytes)
		return nil
	}
	return fmt.Errorf(`a size must be a whole number and B, KiB, MiB, GiB or TiB, as in "64KiB"`)
}

// MarshalText writes what UnmarshalText reads.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
