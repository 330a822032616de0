package term

import (
	"fmt"
	"io"
	"os"
)

// ReadStart reads at most n bytes of a file and one more, by which the caller knows that
// there is too much. The name "-" is stdin, if there is one.
func ReadStart(name string, stdin io.Reader, n int64) ([]byte, error) {
	if name == "-" && stdin != nil {
		return io.ReadAll(io.LimitReader(stdin, n+1))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n+1))
}

// ReadBounded reads a file of at most n bytes.
func ReadBounded(name string, n int64) ([]byte, error) {
	b, err := ReadStart(name, nil, n)
	if err == nil && int64(len(b)) > n {
		err = fmt.Errorf("%s has more than the %d bytes that such a file can have: is it the right one, or can it be shorter?", name, n)
	}
	return b, err
}
