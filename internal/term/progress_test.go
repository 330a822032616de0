package term

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 of 1,000 entries":                               progressLine("entries", 0, 1000, time.Hour),
		"999 of 1,000 entries":                             progressLine("entries", 999, 1000, time.Millisecond),
		"250,000 of 1,000,000 entries, 50,000/s, 15s left": progressLine("entries", 250_000, 1_000_000, 5*time.Second),
		"5 of 5 entries, 2/s, 0s left":                     progressLine("entries", 5, 5, 2*time.Second),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var b bytes.Buffer
	p := NewProgress(&b, "entries")
	p.At(1, 2)
	p.End()
	if b.Len() > 0 {
		t.Errorf("%q where nobody looks", b.String())
	}
}
