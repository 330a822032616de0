package controls

import (
	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/internal/shuffle"
)

// raw returns generator output byte by byte, for shufflers that misuse it. It reads pieces as long as the
// longest tape. One goroutine uses it.
type raw struct {
	src *entropy.Source
	buf []byte // not returned yet
	err error  // why there are no more bytes; those returned after it mean nothing
}

// byte returns the next byte, 0 after a failure.
func (r *raw) byte() byte {
	if len(r.buf) == 0 {
		if r.err == nil {
			r.buf, r.err = outcome.Raw(r.src, shuffle.MaxTape)
		}
		if r.err != nil {
			return 0
		}
	}
	b := r.buf[0]
	r.buf = r.buf[1:]
	return b
}

// word returns the next four bytes as a number.
func (r *raw) word() (x uint32) {
	for range 4 {
		x = x<<8 | uint32(r.byte())
	}
	return x
}
