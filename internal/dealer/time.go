package dealer

import (
	"time"

	"shuffled/internal/wire"
)

// NoTime refuses what is no time.
const NoTime wire.Rule = "must be a time in UTC since 1970, such as 2026-03-14T15:09:26.535Z"

// Time is a time in UTC milliseconds since 1970. It is written with milliseconds, and read with or without them.
type Time int64

const (
	millisLayout  = "2006-01-02T15:04:05.000Z"
	secondsLayout = "2006-01-02T15:04:05Z"
)

// MarshalText returns t as RFC 3339 in UTC.
func (t Time) MarshalText() ([]byte, error) {
	return time.UnixMilli(int64(t)).UTC().AppendFormat(nil, millisLayout), nil
}

// UnmarshalText reads a time in one of its two spellings and no other.
func (t *Time) UnmarshalText(text []byte) error {
	s := string(text)
	for _, layout := range []string{millisLayout, secondsLayout} {
		// time.Parse is lenient, so what it read is written again.
		at, err := time.Parse(layout, s)
		if err == nil && at.Format(layout) == s && at.Year() >= 1970 {
			*t = Time(at.UnixMilli())
			return nil
		}
	}
	return NoTime
}
