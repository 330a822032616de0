package terms

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// block is a stretch of lines that one core hashes. Its first line begins a subtree.
type block struct {
	first uint64   // index of the first line, from 0
	last  string   // line in front of it
	lines []string // of one text
	tops  []node   // that the lines make, from the left
	found []*found
	err   error // of the first line that cannot stand, or of the reading
}

// node is the hash of a whole subtree: of 2^level leaves, the n-th of its level.
type node struct {
	level int
	n     uint64
	hash  tlog.Hash
}

// reader cuts a list into blocks.
type reader struct {
	in    *bufio.Reader
	size  int
	count uint64
	last  string
	end   bool
}

// next reads a block; an empty one after the end.
func (r *reader) next() *block {
	b := &block{first: r.count, last: r.last}
	var text strings.Builder
	var ends []int
	for len(ends) < r.size && !r.end {
		line, err := r.in.ReadSlice('\n')
		if r.end = err != nil && !errors.Is(err, bufio.ErrBufferFull); r.end && !errors.Is(err, io.EOF) {
			b.err = fmt.Errorf("reading line %d: %w", r.count+1, err)
		}
		if r.end && len(line) == 0 || b.err != nil {
			break
		}
		text.Write(bytes.TrimSuffix(line, []byte("\n")))
		ends = append(ends, text.Len())
		r.count++
	}
	b.lines = make([]string, len(ends))
	for i, from := 0, 0; i < len(ends); i++ {
		b.lines[i] = text.String()[from:ends[i]]
		from, r.last = ends[i], b.lines[i]
	}
	return b
}

// hash makes the nodes of a block.
func (b *block) hash(w *walk) {
	if err := b.check(); err != nil {
		b.err = err
		return
	}
	salts := make([]byte, 16*len(b.lines))
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], b.first)
	cipher.NewCTR(w.salts, counter[:]).XORKeyStream(salts, salts)
	hashes := make([]tlog.Hash, len(b.lines))
	for i, line := range b.lines {
		n, salt := b.first+uint64(i), salts[16*i:16*i+16]
		hashes[i] = ticketLeaf(n, salt, line)
		if slices.Contains(w.wanted.Numbers, n+1) || slices.Contains(w.wanted.Lines, line) {
			ticket := Ticket{Number: n + 1, Line: strings.Clone(line), Salt: [16]byte(salt)}
			b.found = append(b.found, &found{ticket, make(map[int64]tlog.Hash)})
		}
	}
	b.climb(hashes)
}

// climb hashes level after level. A node without a sibling is one of the tops.
func (b *block) climb(hashes []tlog.Hash) {
	for level := 0; len(hashes) > 0; level++ {
		first := b.first >> level
		if len(b.found) > 0 {
			for i, h := range hashes {
				for _, f := range b.found {
					f.see(node{level, first + uint64(i), h})
				}
			}
		}
		if last := len(hashes) - 1; last%2 == 0 {
			b.tops = append(b.tops, node{level, first + uint64(last), hashes[last]})
		}
		for i := range len(hashes) / 2 {
			hashes[i] = tlog.NodeHash(hashes[2*i], hashes[2*i+1])
		}
		hashes = hashes[:len(hashes)/2]
	}
	slices.Reverse(b.tops)
}

// check holds the lines against the rules of a list (docs/SPEC.md section 16.2). A fault of a line
// is returned before an error that stopped the reading behind it.
func (b *block) check() error {
	last := b.last
	for i, line := range b.lines {
		n := b.first + uint64(i)
		if n == MaxTickets {
			return fmt.Errorf("the list has more than %d lines, and there are no more numbers", MaxTickets)
		}
		if err := audit.CheckName(line); err != nil {
			return fmt.Errorf("line %d is no ticket number or reference: it %w", n+1, err)
		}
		if n > 0 && last >= line {
			return fmt.Errorf("line %d, %s, is not above the line before: lines ascend by their bytes, each once "+
				"(sort them with LC_ALL=C sort -u)", n+1, line)
		}
		last = line
	}
	return b.err
}
