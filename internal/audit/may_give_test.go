package audit

import (
	"testing"

	"shuffled/internal/shuffle"
)

// TestMayGive: a co-dealer whose deck is none proves its openings still, and no house takes a
// value that it may not write.
func TestMayGive(t *testing.T) {
	deck := &Context{Recipe: shuffle.Recipe{Cards: 52, Take: 52}}
	wheel := &Context{Recipe: shuffle.Recipe{Ranges: []uint32{37, 6}}}
	for _, x := range []struct {
		c      *Context
		place  int
		value  uint32
		before []uint32
		may    bool
	}{
		{deck, 1, 0, nil, true}, {deck, 1, 51, []uint32{50}, true}, {deck, 1, 52, nil, false},
		{deck, 1, 1000, nil, false}, {deck, 1, 7, nil, false}, {deck, 2, 9, []uint32{9}, false},
		{wheel, 0, 37, nil, true}, {wheel, 1, 6, []uint32{6}, true}, {wheel, 1, 0, nil, false},
		{wheel, 1, 7, nil, false},
	} {
		given := []uint32{7}
		if x.c == wheel {
			given = nil
		}
		if err := MayGive(x.c, x.place, x.value, given, x.before); (err == nil) != x.may {
			t.Errorf("place %d, value %d behind %v and %v: %v", x.place, x.value, given, x.before, err)
		}
	}
}
