package httpapi

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"shuffled/internal/dealer"
	"shuffled/internal/wire"
)

// Hash is 32 bytes in padded base64.
type Hash = string

func encodeHash(h [32]byte) Hash { return base64.StdEncoding.EncodeToString(h[:]) }

// decodeHash reads a hash in its one spelling.
func decodeHash(field string, text Hash) (h [32]byte, err error) {
	if err := decodeOctets(h[:], text); err != nil {
		return [32]byte{}, refuseValue(field, err.Error())
	}
	return h, nil
}

// decodeOctets fills an array with the bytes of a text in its one spelling. The error is a rule.
func decodeOctets(array []byte, text string) error {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != len(array) || base64.StdEncoding.EncodeToString(b) != text {
		return rule(fmt.Sprintf("must be %d bytes in padded base64", len(array)))
	}
	copy(array, b)
	return nil
}

// The values that JSON writes in more than one way, and the error of one that is wrong.
type (
	rule             = wire.Rule
	Timestamp        = dealer.Time
	OperationShuffle = wire.OperationShuffle
)

const (
	errNull      rule = "must not be null: leave the member out"
	errWrongType rule = "must be of another type"
)

// parseIndex reads an index or id in its one spelling.
func parseIndex(s string) (Index, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > maxInteger || strconv.FormatUint(n, 10) != s {
		return 0, rule("must be a number without leading zeros, at most 9,007,199,254,740,991")
	}
	return n, nil
}

// value is what p points to, or zero.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
