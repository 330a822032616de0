// Package terms reads and makes the terms of a shuffle, which say what its values mean:
// wheels, pay tables and lists of tickets (docs/SPEC.md sections 5.2 and 16).
//
// A context holds the hash of a document, or the root of a list. This package makes
// neither entries nor keys, and asks nobody.
package terms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// MaxDocument bounds a document in bytes.
const MaxDocument = 65_536

// Document is a wheel or a pay table.
type Document struct {
	Kind  audit.TermsKind
	Wheel []Label // audit.TermsWheel: in the order of the values
	Text  string  // audit.TermsPayTable
}

// Label is a part of a wheel, and how many values show it.
type Label struct {
	Label  string `json:"label"`
	Weight uint32 `json:"weight"`
}

// NewWheel returns the wheel with these labels, or what is wrong with them.
func NewWheel(labels []Label) (*Document, error) {
	d := &Document{Kind: audit.TermsWheel, Wheel: labels}
	return d, d.check()
}

// NewPayTable returns the pay table with this text, or what is wrong with it.
func NewPayTable(text string) (*Document, error) {
	d := &Document{Kind: audit.TermsPayTable, Text: text}
	return d, d.check()
}

// Parse reads a document of a kind. It returns an audit.ErrMalformed for bytes that are none.
func Parse(kind audit.TermsKind, b []byte) (*Document, error) {
	d := &Document{Kind: kind}
	var err error
	switch {
	case kind == audit.TermsWheel:
		d.Wheel, err = readWheel(b)
	case kind == audit.TermsPayTable:
		d.Text = string(b)
	default:
		err = fmt.Errorf("the terms %s have no document", kind)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w terms: %w", audit.ErrMalformed, err)
	}
	return d, nil
}

// readWheel takes the fields apart; check judges them.
func readWheel(b []byte) (labels []Label, err error) {
	if len(b) < 2 {
		return nil, errors.New("a wheel begins with the number of its labels")
	}
	count, rest := int(binary.BigEndian.Uint16(b)), b[2:]
	for i := range count {
		if len(rest) == 0 || len(rest) < 1+int(rest[0])+4 {
			return nil, fmt.Errorf("label %d of %d is cut short", i, count)
		}
		n := int(rest[0])
		labels = append(labels, Label{string(rest[1 : 1+n]), binary.BigEndian.Uint32(rest[1+n:])})
		rest = rest[1+n+4:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes stand after the %d labels", len(rest), count)
	}
	return labels, nil
}

// Bytes returns the one form of a document, which is hashed.
func (d *Document) Bytes() []byte {
	if d.Kind == audit.TermsPayTable {
		return []byte(d.Text)
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(len(d.Wheel)))
	for _, l := range d.Wheel {
		b = append(append(b, byte(len(l.Label))), l.Label...)
		b = binary.BigEndian.AppendUint32(b, l.Weight)
	}
	return b
}

// Hash returns the hash by which a context names the document.
func (d *Document) Hash() [32]byte { return audit.TermsHash(d.Kind, d.Bytes()) }

func (d *Document) check() error {
	if n := len(d.Bytes()); n > MaxDocument {
		return fmt.Errorf("the document has %d bytes, and may have %d", n, MaxDocument)
	}
	if d.Kind == audit.TermsPayTable {
		return checkText(d.Text)
	}
	if len(d.Wheel) == 0 {
		return errors.New("a wheel has at least one label")
	}
	seen, total := make(map[string]bool), uint64(0)
	for i, l := range d.Wheel {
		if err := shuffle.CheckCardName(l.Label); err != nil {
			return fmt.Errorf("label %d, %q, is written like the name of a card: %w", i, l.Label, err)
		}
		if seen[l.Label] {
			return fmt.Errorf("label %d, %q, stands twice: give its weights in one", i, l.Label)
		}
		if l.Weight == 0 {
			return fmt.Errorf("label %d, %q, has the weight 0: weights are at least 1", i, l.Label)
		}
		seen[l.Label] = true
		total += uint64(l.Weight)
	}
	if total > shuffle.MaxRange {
		return fmt.Errorf("the weights add up to %d, and a range is at most %d", total, shuffle.MaxRange)
	}
	return nil
}

// checkText: a pay table has no invisible characters, so that two texts that look alike are alike.
func checkText(s string) error {
	switch {
	case s == "":
		return errors.New("a pay table has at least one character")
	case !utf8.ValidString(s):
		return errors.New("a pay table is UTF-8")
	case shuffle.Invisible(strings.ReplaceAll(s, "\n", "")):
		return errors.New("a pay table has newlines, and no other character that shows nothing")
	}
	return nil
}

// Total is the sum of a wheel's weights: the range of each of its draws.
func (d *Document) Total() (total uint32) {
	for _, l := range d.Wheel {
		total += l.Weight
	}
	return total
}

// Label returns the label of a wheel that a drawn value, from 1 to the total, shows.
func (d *Document) Label(value uint32) string {
	for _, l := range d.Wheel {
		if value <= l.Weight {
			return l.Label
		}
		value -= l.Weight
	}
	return ""
}

// Of returns nil if the document is the one that a shuffle's terms name: it has their kind and
// hash, and a wheel has the total that was drawn from.
func (d *Document) Of(c *audit.Context) error {
	switch t := c.Terms; {
	case t == nil:
		return errors.New("the shuffle has no terms")
	case t.Kind != d.Kind:
		return fmt.Errorf("the document is a %s, and the terms are a %s", d.Kind, t.Kind)
	case t.Hash != d.Hash():
		return errors.New("the document's hash is not the one committed to")
	case d.Kind == audit.TermsWheel && len(c.Recipe.Ranges) > 0 && c.Recipe.Ranges[0] != d.Total():
		return fmt.Errorf("the weights of the wheel add up to %d, and the draws are from 1 to %d", d.Total(),
			c.Recipe.Ranges[0])
	}
	return nil
}
