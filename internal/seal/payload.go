package seal

import (
	"encoding/binary"
	"errors"
)

// What is sealed is a tape and, for a child, the cards that it shuffles: no ancestor is needed to open a child.

// Join returns the plaintext to seal: the tape, and two bytes for each input.
// Inputs are card indexes, below 2^16; none for anything but a child.
func Join(tape []byte, inputs []uint32) []byte {
	b := make([]byte, 0, len(tape)+2*len(inputs))
	b = append(b, tape...)
	for _, v := range inputs {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// Split takes a plaintext apart again: a tape of the length, which is a part of b, and
// n inputs. Of another length it is an error.
func Split(b []byte, tapeLen, n int) (tape []byte, inputs []uint32, err error) {
	if len(b) != tapeLen+2*n {
		return nil, nil, errors.New("what was sealed is of another length than the tape and its inputs")
	}
	inputs = make([]uint32, n) // growing would leave copies behind
	for i := range inputs {
		inputs[i] = uint32(binary.BigEndian.Uint16(b[tapeLen+2*i:]))
	}
	return b[:tapeLen:tapeLen], inputs, nil
}
