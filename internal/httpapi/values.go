package httpapi

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"shuffled/internal/wire"
)

// Hash is 32 bytes in padded base64.
type Hash = string

func encodeHash(h [32]byte) Hash { return base64.StdEncoding.EncodeToString(h[:]) }

// decodeHash reads a hash in its one spelling.
func decodeHash(field string, text Hash) (h [32]byte, err error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 32 || base64.StdEncoding.EncodeToString(b) != text {
		return h, refuseValue(field, "must be 32 bytes in padded base64")
	}
	return [32]byte(b), nil
}

func decodeHashes(field string, list []Hash) (hashes [][32]byte, err error) {
	for i, text := range list {
		h, err := decodeHash(fmt.Sprintf("%s[%d]", field, i), text)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, h)
	}
	return hashes, nil
}

// The values that JSON writes in more than one way, and the error of one that is wrong.
type (
	rule             = wire.Rule
	EndAt            = wire.EndAt
	OperationShuffle = wire.OperationShuffle
)

const (
	errNull      rule = "must not be null: leave the member out"
	errWrongType rule = "must be of another type"
	errTime      rule = "must be a time in UTC since 1970, such as 2026-03-14T15:09:26.535Z"
)

// Timestamp is a time in UTC milliseconds since 1970. It is written with milliseconds, and read with or without them.
type Timestamp int64

const (
	millisLayout  = "2006-01-02T15:04:05.000Z"
	secondsLayout = "2006-01-02T15:04:05Z"
)

// MarshalText returns t as RFC 3339 in UTC.
func (t Timestamp) MarshalText() ([]byte, error) {
	return time.UnixMilli(int64(t)).UTC().AppendFormat(nil, millisLayout), nil
}

// UnmarshalText reads a time in one of its two spellings and no other.
func (t *Timestamp) UnmarshalText(text []byte) error {
	s := string(text)
	for _, layout := range []string{millisLayout, secondsLayout} {
		// time.Parse is lenient, so what it read is written again.
		at, err := time.Parse(layout, s)
		if err == nil && at.Format(layout) == s && at.Year() >= 1970 {
			*t = Timestamp(at.UnixMilli())
			return nil
		}
	}
	return errTime
}

// parseIndex reads an index or id in its one spelling.
func parseIndex(s string) (Index, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > maxInteger || strconv.FormatUint(n, 10) != s {
		return 0, rule("must be a number without leading zeros, at most 9,007,199,254,740,991")
	}
	return n, nil
}
