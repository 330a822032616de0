package httpapi

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Hash is 32 bytes in padded base64, only ever written.
type Hash = string

func encodeHash(h [32]byte) Hash { return base64.StdEncoding.EncodeToString(h[:]) }

// rule is what a value must be, in words for the caller.
type rule string

func (r rule) Error() string { return string(r) }

const (
	errNull      rule = "is not null: leave the member out"
	errWrongType rule = "is of the wrong type"
)

// Timestamp is a time in UTC milliseconds since 1970. It is written with
// milliseconds, always; it is read with or without them.
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
	return rule("is a time in UTC since 1970, such as 2026-03-14T15:09:26.535Z")
}

// EndAt is a cut-card place: a number n, which is n to n, or a range.
type EndAt struct{ Lo, Hi int }

// endAtRange is EndAt where it is an object; 0 stands for absent.
type endAtRange struct {
	Lo int `json:"lo"`
	Hi int `json:"hi"`
}

// UnmarshalJSONFrom reads a number or an object with lo and hi.
func (e *EndAt) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '0':
		var n int
		if err := json.UnmarshalDecode(dec, &n); err != nil {
			return err
		}
		e.Lo, e.Hi = n, n
	case '{':
		var r endAtRange
		if err := json.UnmarshalDecode(dec, &r); err != nil {
			return err
		}
		e.Lo, e.Hi = r.Lo, r.Hi
	default:
		return errWrongType
	}
	if e.Lo < 1 || e.Hi < e.Lo {
		return rule("is a place from 1, or lo and hi with 1 ≤ lo ≤ hi")
	}
	return nil
}

// parseIndex reads an index or id in its one spelling.
func parseIndex(s string) (Index, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > maxInteger || strconv.FormatUint(n, 10) != s {
		return 0, fmt.Errorf("is a number from 0 to %d without leading zeros", uint64(maxInteger))
	}
	return n, nil
}
