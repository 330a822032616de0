package main

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"shuffled/internal/outcome"
	"shuffled/internal/shuffle"
)

// csvLines reads outcomes from lines of card names, or of drawn values. It is a lab.Maker.
type csvLines struct {
	r      *csv.Reader
	next   uint64 // the number of the outcome
	recipe shuffle.Recipe
	values []uint32

	cards  map[string][]uint32 // of a deck: the indices of each name
	left   map[string]int      // how many copies of it have not come in this outcome
	copies cipher.Stream       // which copy a card is, if the file cannot say
}

// lines begins at the first line of the file. For a shoe the file does not say which of equal cards is at which place,
// but tests of the order of all cards need this. It is drawn from a sequence that depends only on the bytes of the
// file. A fair order of faces then becomes a fair order of cards, and each run gives the same figures.
func (d *dump) lines() (*csvLines, error) {
	if _, err := d.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	c := &csvLines{r: csv.NewReader(d.f), recipe: d.subject.Recipe, values: make([]uint32, d.manifest.Positions)}
	c.r.FieldsPerRecord, c.r.ReuseRecord = d.manifest.Positions, true
	if d.manifest.Deck == nil {
		return c, nil
	}
	c.cards, c.left = make(map[string][]uint32), make(map[string]int)
	for i, name := range d.manifest.Deck.Names {
		c.cards[name] = append(c.cards[name], uint32(i))
	}
	key, err := hex.DecodeString(d.manifest.SHA256)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	c.copies = cipher.NewCTR(block, make([]byte, aes.BlockSize))
	return c, nil
}

func (c *csvLines) Next() ([]uint32, error) {
	fields, err := c.r.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%w: outcome %d: %w", errEvidence, c.next, err)
	}
	for name, copies := range c.cards {
		c.left[name] = len(copies)
	}
	for i, field := range fields {
		if c.values[i], err = c.value(field); err != nil {
			return nil, fmt.Errorf("%w: outcome %d: %w", errEvidence, c.next, err)
		}
	}
	if err := outcome.Check(c.recipe, shuffle.Outcome{Values: c.values}); err != nil {
		return nil, fmt.Errorf("outcome %d: %w", c.next, err)
	}
	c.next++
	return c.values, nil
}

func (c *csvLines) value(field string) (uint32, error) {
	if c.cards == nil {
		v, err := strconv.ParseUint(field, 10, 32)
		return uint32(v), err
	}
	copies, left := c.cards[field], c.left[field]
	switch {
	case left < 1:
		return 0, fmt.Errorf("card %q is not in the deck, or comes more often than the deck has it", field)
	case len(copies) == 1:
		c.left[field] = 0
		return copies[0], nil
	}
	var b [8]byte
	c.copies.XORKeyStream(b[:], b[:])
	at := binary.BigEndian.Uint64(b[:]) % uint64(left)
	copies[at], copies[left-1] = copies[left-1], copies[at]
	c.left[field]--
	return copies[left-1], nil
}
