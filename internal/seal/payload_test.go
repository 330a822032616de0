package seal

import (
	"bytes"
	"slices"
	"testing"
)

// TestSplit: what was joined comes apart again, and what has one byte more or less than its recipe asks for does not.
func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		tape   int
		inputs []uint32
	}{
		"no child":     {129, nil},
		"a child":      {129, []uint32{0, 1, 255, 256, 65_535}},
		"the shortest": {1, nil},
		"of two cards": {20, []uint32{7, 3}},
	} {
		tape := bytes.Repeat([]byte{5}, c.tape)
		joined := Join(tape, c.inputs)
		gotTape, gotInputs, err := Split(joined, c.tape, len(c.inputs))
		if err != nil || !bytes.Equal(gotTape, tape) || !slices.Equal(gotInputs, c.inputs) {
			t.Errorf("%s: %x, %v, %v", name, gotTape, gotInputs, err)
		}
		if cap(gotTape) != c.tape {
			t.Errorf("%s: the tape has room for %d bytes, those of the inputs among them", name, cap(gotTape))
		}
		for _, more := range []int{1, 2, 16, len(joined)} {
			longer := append(slices.Clone(joined), make([]byte, more)...)
			if tape, inputs, err := Split(longer, c.tape, len(c.inputs)); err == nil || tape != nil || inputs != nil {
				t.Errorf("%s, and %d bytes more: %d bytes and %v, %v", name, more, len(tape), inputs, err)
			}
		}
		for less := 1; less <= len(joined); less++ {
			if _, _, err := Split(joined[:len(joined)-less], c.tape, len(c.inputs)); err == nil {
				t.Errorf("%s, and %d bytes less: accepted", name, less)
			}
		}
		// One input more is two bytes of the tape less.
		if _, _, err := Split(joined, c.tape, len(c.inputs)+1); err == nil {
			t.Errorf("%s, with one input more: accepted", name)
		}
	}
}
