package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

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
