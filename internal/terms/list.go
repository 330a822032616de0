package terms

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// SecretLen is the length of the secret that the salts of a list come from. A secret is of one list only.
const SecretLen = 32

const saltLabel = "shuffled/v1/ticket-salt\x00"

// List is what a context says of a list of tickets.
type List struct {
	Count uint64
	Root  tlog.Hash
}

// Wanted names the tickets to prove: by their lines, or by their numbers, from 1.
type Wanted struct {
	Lines   []string
	Numbers []uint64
}

// ErrNoTicket reports a ticket that is not in the list.
var ErrNoTicket = errors.New("the list has no such ticket")

// Walk reads a list in one pass. Its memory does not depend on the length of the list. It returns the list's
// count and root, and the proofs of the tickets that are wanted, in order of number.
func Walk(lines io.Reader, secret []byte, wanted Wanted) (List, []*Ticket, error) {
	if len(secret) != SecretLen {
		return List{}, nil, fmt.Errorf("the secret of a list must have %d bytes, not %d", SecretLen, len(secret))
	}
	w := walk{salts: saltCipher(secret), wanted: wanted}
	in := bufio.NewReaderSize(lines, 1<<16)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return w.finish()
		case errors.Is(err, bufio.ErrBufferFull): // take refuses so long a line
		case err != nil && !errors.Is(err, io.EOF):
			return List{}, nil, fmt.Errorf("reading line %d: %w", w.count+1, err)
		}
		if err := w.take(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return List{}, nil, err
		}
	}
}

// walk is a pass over a list.
type walk struct {
	salts  cipher.Block
	wanted Wanted
	count  uint64      // lines taken
	last   []byte      // the newest of them
	newest []tlog.Hash // of each level of the tree
	found  []*found

	salt [aes.BlockSize]byte // of the newest line
	read []tlog.Hash         // the newest answer of ReadHashes
}

// ReadHashes implements tlog.HashReader. Adding a leaf and hashing the whole tree read the newest hashes only.
func (w *walk) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	w.read = w.read[:0]
	for _, index := range indexes {
		level, _ := tlog.SplitStoredHashIndex(index)
		w.read = append(w.read, w.newest[level])
	}
	return w.read, nil
}

// found is a ticket that is wanted, and the nodes that its path may need, by their stored indexes.
type found struct {
	Ticket
	nodes map[int64]tlog.Hash
}

// take adds a line, if the rules of a list allow it (docs/SPEC.md section 16.2).
func (w *walk) take(line []byte) error {
	n := w.count
	if n == MaxTickets {
		return fmt.Errorf("the list has more than %d lines, and a list can have no more", MaxTickets)
	}
	if err := audit.CheckName(string(line)); err != nil {
		return fmt.Errorf("line %d is no ticket number or reference: it %w", n+1, err)
	}
	if n > 0 && bytes.Compare(w.last, line) >= 0 {
		return fmt.Errorf("line %d, %s, is not above the line before: lines ascend by their bytes, each once "+
			"(sort them with LC_ALL=C sort -u)", n+1, line)
	}
	w.salt = [aes.BlockSize]byte{}
	binary.BigEndian.PutUint64(w.salt[8:], n)
	w.salts.Encrypt(w.salt[:], w.salt[:])
	if slices.Contains(w.wanted.Numbers, n+1) || slices.Contains(w.wanted.Lines, string(line)) {
		w.found = append(w.found, &found{Ticket{Number: n + 1, Line: string(line), Salt: w.salt}, w.whole()})
	}
	// tlog.StoredHashesForRecordHash gives the same hashes, and makes a line take half as long again.
	hash := ticketLeaf(n, w.salt[:], string(line))
	for level := 0; ; level++ {
		for _, f := range w.found {
			if (f.Number-1)>>level^1 == n>>level { // the sibling of a node above the ticket
				f.nodes[tlog.StoredHashIndex(level, int64(n>>level))] = hash
			}
		}
		if level == len(w.newest) {
			w.newest = append(w.newest, hash)
		}
		left := w.newest[level]
		if w.newest[level] = hash; n>>level&1 == 0 {
			break
		}
		hash = tlog.NodeHash(left, hash)
	}
	w.count, w.last = n+1, append(w.last[:0], line...)
	return nil
}

// whole is the nodes that the tree so far consists of.
func (w *walk) whole() map[int64]tlog.Hash {
	nodes := make(map[int64]tlog.Hash)
	for level, hash := range w.newest {
		if w.count>>level&1 == 1 {
			nodes[tlog.StoredHashIndex(level, int64(w.count>>level-1))] = hash
		}
	}
	return nodes
}

// finish returns the root, and the proofs of what was found.
func (w *walk) finish() (list List, tickets []*Ticket, err error) {
	list.Count = w.count
	if list.Count < MinTickets {
		return List{}, nil, fmt.Errorf("the list has %d lines, and must have at least %d", list.Count, MinTickets)
	}
	if list.Root, err = tlog.TreeHash(int64(w.count), w); err != nil {
		return List{}, nil, fmt.Errorf("hashing the list: %w", err)
	}
	if len(w.found) < len(w.wanted.Lines)+len(w.wanted.Numbers) {
		return list, nil, w.missing()
	}
	for _, f := range w.found {
		maps.Copy(f.nodes, w.whole())
		f.Count, f.Root = list.Count, list.Root
		f.Path, err = tlog.ProveRecord(int64(f.Count), int64(f.Number-1), tlog.HashReaderFunc(f.read))
		if err != nil {
			return list, nil, fmt.Errorf("proving ticket %d: %w", f.Number, err)
		}
		if err := f.Check(); err != nil {
			return list, nil, err
		}
		tickets = append(tickets, &f.Ticket)
	}
	return list, tickets, nil
}

// read is a tlog.HashReader for the path of f.
func (f *found) read(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, index := range indexes {
		hash, ok := f.nodes[index]
		if !ok {
			return nil, fmt.Errorf("the node %d was not kept", index)
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

// missing names the first ticket that is wanted and was not found. If all were found, one was asked for twice.
func (w *walk) missing() error {
	has := func(match func(*found) bool) bool { return slices.ContainsFunc(w.found, match) }
	for _, line := range w.wanted.Lines {
		if !has(func(f *found) bool { return f.Line == line }) {
			return fmt.Errorf("%w: line %s", ErrNoTicket, line)
		}
	}
	for _, n := range w.wanted.Numbers {
		if !has(func(f *found) bool { return f.Number == n }) {
			return fmt.Errorf("%w: number %d of %d", ErrNoTicket, n, w.count)
		}
	}
	return errors.New("a ticket is asked for twice: name each once")
}

// saltCipher makes the cipher that encrypts i, as 16 bytes, to the salt of line i.
func saltCipher(secret []byte) cipher.Block {
	key, err := hkdf.Key(sha256.New, secret, nil, saltLabel, 32)
	if err != nil {
		panic("terms: HKDF-SHA-256 refused a 32-byte output: " + err.Error())
	}
	defer clear(key)
	b, _ := aes.NewCipher(key) // no error: the key has 32 bytes
	return b
}
