package client

import (
	"encoding/base64"
	"errors"
	"time"

	"shuffled/internal/wire"
)

// Hash is 32 bytes: a commitment, a root, a salt, a node of a proof.
type Hash [32]byte

// String returns h in padded base64.
func (h Hash) String() string { return base64.StdEncoding.EncodeToString(h[:]) }

// MarshalText returns h in padded base64.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 32 bytes of padded base64, in their one spelling.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(b) != len(h) || len(text) != 44 {
		return errors.New("not 32 bytes of padded base64")
	}
	*h = Hash(b)
	return nil
}

// Timestamp is a time that is written in UTC with milliseconds. A finer part is cut off.
type Timestamp struct{ time.Time }

func timestamp(ms int64) Timestamp { return Timestamp{time.UnixMilli(ms).UTC()} }

const timestampLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes what MarshalText writes, in quotes. It hides the method of time.Time, which would write
// nanoseconds and the local offset.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+timestampLayout+`"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return errors.New("not a time in UTC with milliseconds")
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// MarshalText returns t as RFC 3339 in UTC with milliseconds.
func (t Timestamp) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(nil, timestampLayout), nil
}

// UnmarshalText reads what MarshalText writes.
func (t *Timestamp) UnmarshalText(text []byte) error {
	at, err := time.Parse(timestampLayout, string(text))
	if err != nil {
		return errors.New("not a time in UTC with milliseconds")
	}
	t.Time = at
	return nil
}

// EndAt is the place of the cut card.
type EndAt = wire.EndAt
