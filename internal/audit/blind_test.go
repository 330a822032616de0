package audit_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// TestHistory: the example of docs/SPEC-BLIND.md section 3, and texts that are no history.
func TestHistory(t *testing.T) {
	text := "seat-a post 1 00112233445566778899aabbccddeeff\nflop\n"
	state := audit.StateHash([]byte(text))
	if got := hex.EncodeToString(state[:]); got != "ad4c5701947db51d60b098c007e4c188431e3e04d2e23e4c0f954ef87c087457" {
		t.Errorf("the state is %s", got)
	}
	for history, want := range map[string]int{text: 2, text + "turn\n": 2, "": -1, text[:len(text)-5]: -1} {
		if got, ok := audit.BehindLine([]byte(history), state); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: behind line %d, %t", history, got, ok)
		}
	}
	if n, ok := audit.BehindLine([]byte(text), audit.StateHash(nil)); n != 0 || !ok {
		t.Errorf("before the first line: %d, %t", n, ok)
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"nothing": {"", true}, "two lines": {text, true},
		"no newline": {"flop", false}, "an empty line": {"a\n\n", false},
		"a tab": {"a\tb\n", false}, "a carriage return": {"a\r\n", false}, "a C1 character": {"a\u0085\n", false},
		"no UTF-8": {"\xff\n", false}, "1,024 bytes": {strings.Repeat("a", 1024) + "\n", true},
		"1,025 bytes":  {strings.Repeat("a", 1025) + "\n", false},
		"1,024 lines":  {strings.Repeat("a\n", 1024), true},
		"1,025 lines":  {strings.Repeat("a\n", 1025), false},
		"65,537 bytes": {strings.Repeat(strings.Repeat("a", 1023)+"\n", 64) + "\n", false},
		"umlauts":      {"Gräfin passt\n", true},
	} {
		if err := audit.CheckHistory([]byte(c.text)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMayGive: a co-dealer whose deck is none proves its openings still, and no house takes a
// value that it may not write.
func TestMayGive(t *testing.T) {
	deck := &audit.Context{Recipe: shuffle.Recipe{Cards: 52, Take: 52}}
	wheel := &audit.Context{Recipe: shuffle.Recipe{Ranges: []uint32{37, 6}}}
	for _, x := range []struct {
		c      *audit.Context
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
		if err := audit.MayGive(x.c, x.place, x.value, given, x.before); (err == nil) != x.may {
			t.Errorf("place %d, value %d behind %v and %v: %v", x.place, x.value, given, x.before, err)
		}
	}
}
