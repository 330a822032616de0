package client

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"shuffled/internal/audit"
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
	b, err := audit.ParseHash(string(text))
	if err == nil {
		*h = Hash(b)
	}
	return err
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
func (t *Timestamp) UnmarshalJSON(b []byte) error { return t.parse(`"`+timestampLayout+`"`, b) }

// MarshalText returns t as RFC 3339 in UTC with milliseconds.
func (t Timestamp) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(nil, timestampLayout), nil
}

// UnmarshalText reads what MarshalText writes.
func (t *Timestamp) UnmarshalText(text []byte) error { return t.parse(timestampLayout, text) }

func (t *Timestamp) parse(layout string, text []byte) error {
	at, err := time.Parse(layout, string(text))
	if err != nil {
		return errors.New("not a time in UTC with milliseconds")
	}
	t.Time = at
	return nil
}

// EndAt is the place of the cut card.
type EndAt = wire.EndAt

// Slot is a player's part in a mix. The player gives Hash before the commit, and shows Value to nobody before the
// commit is there.
type Slot struct {
	Value Hash // 32 secret random bytes
	Hash  Hash // of the value, for one ledger and table
}

// NewSlot makes a slot for a shuffle at a table of the ledger with this origin. It is for the player's program: a slot
// that the house made is worth nothing to a player.
func NewSlot(origin, table string) Slot {
	var s Slot
	rand.Read(s.Value[:]) // never fails (crypto/rand)
	s.Hash = audit.SlotHash(origin, table, s.Value)
	return s
}

// Reference returns a name for an entry to have in place of a value that could identify a person, as a recipient or a
// game reference. It is a hash of the value under the operator's secret salt of 16 to 255 bytes. The same salt and
// value give the same reference.
func Reference(salt []byte, value string) (string, error) { return audit.Reference(salt, value) }

// Roulette returns the stops of a roulette wheel for DrawsRequest.Wheel, all equally likely: the zeros, such as "0" or
// "0" and "00", and "1" to "36". A spin shows one of these labels. A draw from Ranges of 37 is 1 to 37 and never 0.
func Roulette(zeros ...string) []Stop {
	stops := make([]Stop, 0, len(zeros)+36)
	for _, zero := range zeros {
		stops = append(stops, Stop{Label: zero, Weight: 1})
	}
	for pocket := 1; pocket <= 36; pocket++ {
		stops = append(stops, Stop{Label: strconv.Itoa(pocket), Weight: 1})
	}
	return stops
}
