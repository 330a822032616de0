package lab

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Format is how outcomes are written (docs/LAB.md).
type Format string

// The formats.
const (
	CSV       Format = "csv"   // a line of card names, or drawn values
	Binary    Format = "bin"   // values of 1, 2 or 4 bytes, big-endian, and nothing between
	JSONLines Format = "jsonl" // a line with an object
)

// Formats are all formats.
var Formats = []Format{CSV, Binary, JSONLines}

// valueBytes is the width of a value in Binary: the least of 1, 2 and 4 bytes that holds every value of the sample.
func (s Sample) valueBytes() int {
	largest := uint32(max(s.Recipe.Cards-1, 0))
	if s.Recipe.Ranges != nil {
		largest = s.Recipe.Ranges[0] // all other values are at most as large
	}
	switch {
	case largest < 1<<8:
		return 1
	case largest < 1<<16:
		return 2
	default:
		return 4
	}
}

// RecordBytes is the length of one outcome in Binary, 0 in the other formats, whose lines have no fixed length.
func (s Sample) RecordBytes() int {
	if s.Format != Binary {
		return 0
	}
	return s.valueBytes() * s.Recipe.Positions()
}

// Describe says in words how the format is read.
func (s Sample) Describe() string {
	what, each := "cards", "the name of a card, quoted as RFC 4180 has it where it holds a comma or a quotation mark"
	if s.Recipe.Ranges != nil {
		what, each = "values", s.drawn()
	}
	n := s.Recipe.Positions()
	switch s.Format {
	case CSV:
		return fmt.Sprintf("one line for each outcome, ended by LF, no header; %d fields, position 0 first: %s", n,
			each)
	case JSONLines:
		return fmt.Sprintf(`one JSON object for each outcome, ended by LF: "index", from 0, and %q, %d of them, position 0 first`, what, n)
	}
	value := "an index into deck.names, from 0"
	if s.Recipe.Ranges != nil {
		value = s.drawn()
	}
	return fmt.Sprintf("records of %d bytes and nothing between them; a record has %d unsigned big-endian values of %d bytes, position 0 first: each is %s",
		s.RecordBytes(), n, s.valueBytes(), value)
}

// drawn says in words what a value is.
func (s Sample) drawn() string {
	value := fmt.Sprintf("a drawn value, 1 to %d", s.Recipe.Ranges[0])
	if s.Distinct {
		value += ", of which none comes twice in an outcome"
	}
	return value
}

// An encoder appends one outcome to b; index counts outcomes of the sample from 0.
type encoder func(b []byte, index uint64, values []uint32) []byte

// encoder returns the encoder of the sample, which goroutines may share.
func (s Sample) encoder() encoder {
	switch s.Format {
	case Binary:
		return binaryEncoder(s.valueBytes())
	case JSONLines:
		key := `,"cards":[`
		if s.Recipe.Ranges != nil {
			key = `,"values":[`
		}
		list := s.lister(jsonName, "]}\n")
		return func(b []byte, index uint64, values []uint32) []byte {
			b = strconv.AppendUint(append(b, `{"index":`...), index, 10)
			return list(append(b, key...), values)
		}
	default:
		list := s.lister(csvName, "\n")
		return func(b []byte, _ uint64, values []uint32) []byte { return list(b, values) }
	}
}

func binaryEncoder(width int) encoder {
	return func(b []byte, _ uint64, values []uint32) []byte {
		for _, v := range values {
			switch width {
			case 1:
				b = append(b, byte(v))
			case 2:
				b = append(b, byte(v>>8), byte(v))
			default:
				b = append(b, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
			}
		}
		return b
	}
}

// lister returns a function that appends names, or drawn values as numbers, with
// commas between them and end instead of the last comma.
func (s Sample) lister(name func(string) string, end string) func(b []byte, values []uint32) []byte {
	if s.Recipe.Ranges != nil {
		return func(b []byte, values []uint32) []byte {
			for _, v := range values {
				b = append(strconv.AppendUint(b, uint64(v), 10), ',')
			}
			return append(b[:len(b)-1], end...)
		}
	}
	names := s.Deck.Cards()
	for i := range names {
		names[i] = name(names[i]) + ","
	}
	return func(b []byte, values []uint32) []byte {
		for _, v := range values {
			b = append(b, names[v]...)
		}
		return append(b[:len(b)-1], end...)
	}
}

// csvName quotes a name if RFC 4180 requires it. Names hold no line ends.
func csvName(name string) string {
	if !strings.ContainsAny(name, `,"`) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func jsonName(name string) string {
	b, err := json.Marshal(name)
	if err != nil {
		panic("lab: a string has no JSON: " + err.Error())
	}
	return string(b)
}
