package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"shuffled/internal/audit"
)

// appendFramed appends one entry or checkpoint to a file of them, as C2SP tlog-tiles does: a u16 length and the bytes.
func appendFramed(b, item []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(item))), item...)
}

// maxEntry is the longest entry that a file can hold. Valid entries are shorter
// (docs/SPEC.md section 5). A longer one is exported, and a verifier refuses it.
const maxEntry = 1<<16 - 1

// readFramed reads a file of n items. If only the full file is there, it returns the first n items of that.
func readFramed(fsys fs.FS, name string, n int, limit int64) ([][]byte, error) {
	b, err := readFile(fsys, name, limit)
	full, partial := strings.CutSuffix(name, fmt.Sprintf("%s/%d", partialSuffix, n))
	if partial && errors.Is(err, fs.ErrNotExist) {
		items, err := readFramed(fsys, full, Width, limit)
		return items[:min(n, len(items))], err
	}
	if err != nil {
		return nil, err
	}
	items, err := unframe(b, n)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return items, nil
}

// unframe returns the items of a file, which must have exactly n. They are parts of b.
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
