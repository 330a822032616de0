package client

import (
	"crypto/rand"
	"strconv"

	"shuffled/internal/audit"
)

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
