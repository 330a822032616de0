package bundle

import (
	"encoding/binary"
	"fmt"

	"shuffled/internal/audit"
)

// appendFramed appends one entry or checkpoint to a file of them, as C2SP
// tlog-tiles does: a u16 length and the bytes.
func appendFramed(b, item []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(item))), item...)
}

// unframe takes a file of exactly n items apart. They are parts of b.
func unframe(b []byte, n int) ([][]byte, error) {
	items := make([][]byte, 0, n)
	for range n {
		if len(b) < 2 {
			return nil, fmt.Errorf("%w: %d items, not %d", audit.ErrMalformed, len(items), n)
		}
		size := int(binary.BigEndian.Uint16(b))
		if len(b)-2 < size {
			return nil, fmt.Errorf("%w: item %d is cut short", audit.ErrMalformed, len(items))
		}
		items = append(items, b[2:2+size:2+size])
		b = b[2+size:]
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: bytes after item %d", audit.ErrMalformed, n-1)
	}
	return items, nil
}
