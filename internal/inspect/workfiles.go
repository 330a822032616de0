package inspect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// workFiles hold records in many parts. When a part is large, it continues in a file, so that
// memory does not grow with the ledger. At the end one part at a time is read back.
type workFiles struct {
	dir   string // of the files, which close removes; "": there are none
	err   error  // the first failure to write, which read returns
	parts [workParts]workPart
}

// workPart is one part: the records in its file, and then the tail.
type workPart struct {
	filed int64 // bytes
	tail  []byte
}

// workParts is the number of parts. With the values of 10⁸ commits each part has some 5 MB.
const workParts = 1 << 10

// workTail is how many bytes of a part stay in memory, 4 MiB in all parts. Tests lower it.
var workTail = 1 << 12

// put adds a record to the part of this number modulo workParts.
func (w *workFiles) put(part uint64, record []byte) {
	i := int(part % workParts)
	p := &w.parts[i]
	if w.err != nil {
		return
	}
	p.tail = append(p.tail, record...)
	if len(p.tail) >= workTail {
		w.err = w.file(i)
	}
}

// file moves the tail of a part to its file. The directory of the files is made in the
// system's directory for temporary files, or in TMPDIR.
func (w *workFiles) file(i int) (err error) {
	if w.dir == "" {
		if w.dir, err = os.MkdirTemp("", "shuffled-audit-"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(w.name(i), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := &w.parts[i]
	n, err := f.Write(p.tail)
	p.filed, p.tail = p.filed+int64(n), p.tail[:0]
	return errors.Join(err, f.Close())
}

func (w *workFiles) name(i int) string { return filepath.Join(w.dir, strconv.Itoa(i)) }

func (w *workFiles) close() error {
	if w.dir == "" {
		return nil
	}
	return os.RemoveAll(w.dir)
}

// read returns the records of a part, one after the other, in the order of put.
func (w *workFiles) read(i int) ([]byte, error) {
	if w.err != nil {
		return nil, fmt.Errorf("writing a work file: %w", w.err)
	}
	p := &w.parts[i]
	if p.filed == 0 {
		return p.tail, nil
	}
	filed, err := os.ReadFile(w.name(i))
	if err == nil && int64(len(filed)) != p.filed {
		err = fmt.Errorf("it has %d bytes, and %d were written", len(filed), p.filed)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a work file: %w", err)
	}
	return append(filed, p.tail...), nil
}
