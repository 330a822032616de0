package term

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// ReadStart reads at most n+1 bytes of a file, so that the caller sees if there are more than n. The name "-"
// is stdin, unless that is nil.
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

// ReadBounded reads a file of text, and returns an error if it has more than n bytes. It takes off what editors add: a
// byte order mark, and the CR of line ends.
func ReadBounded(name string, n int64) ([]byte, error) {
	b, err := ReadStart(name, nil, n)
	switch b = bytes.TrimPrefix(b, []byte("\ufeff")); {
	case err != nil:
	case bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")):
		err = fmt.Errorf("%s is in UTF-16: save it as UTF-8", name)
	case int64(len(b)) > n:
		err = fmt.Errorf("%s has more than the %d bytes that such a file can have: give the right file, or make this file shorter", name, n)
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), err
}
