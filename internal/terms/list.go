package terms

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// SecretLen is the length of the secret that the salts of a list come from. A secret is
// of one list only.
const SecretLen = 32

const saltLabel = "shuffled/v1/ticket-salt\x00"

// List is what a context holds of a list of tickets.
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

// Walk reads a list in one pass, whose memory does not depend on the length of the list, and
// returns its root with the proofs of those that are wanted, in order of number. progress
// may be nil; it is told now and then how many lines were read.
func Walk(lines io.Reader, secret []byte, wanted Wanted, progress func(lines uint64)) (List, []*Ticket, error) {
	if len(secret) != SecretLen {
		return List{}, nil, fmt.Errorf("the secret of a list has %d bytes, not %d", SecretLen, len(secret))
	}
	w := walk{salts: saltStream(secret), wanted: wanted}
	in := bufio.NewReaderSize(lines, 1<<16)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return List{}, nil, fmt.Errorf("reading line %d: %w", w.count+1, err)
		}
		if err := w.take(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return List{}, nil, err
		}
		if progress != nil && w.count%(1<<18) == 0 {
			progress(w.count)
		}
	}
	return w.end()
}

// walk is a pass over a list.
type walk struct {
	salts  cipher.Stream
	count  uint64 // lines taken
	last   []byte // line
	newest edge
	wanted Wanted
	found  []*found
}

// edge is the newest hash of each level of the tree. Adding a leaf and hashing the whole
// take no other.
type edge []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (e edge) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, _ := tlog.SplitStoredHashIndex(index)
		hashes[i] = e[level]
	}
	return hashes, nil
}

// found is a ticket that is wanted, and the nodes that its path may need, by their stored
// indexes.
type found struct {
	Ticket
	nodes map[int64]tlog.Hash
}

func (w *walk) take(line []byte) error {
	i := w.count
	if i == MaxTickets {
		return fmt.Errorf("the list has more than %d lines, and there are no more numbers", MaxTickets)
	}
	text := string(line)
	if err := audit.CheckName(text); err != nil {
		return fmt.Errorf("line %d is no ticket number or reference: it %w", i+1, err)
	}
	if i > 0 && bytes.Compare(w.last, line) >= 0 {
		return fmt.Errorf("line %d, %s, is not above the line before: lines ascend by their bytes, each once "+
			"(sort them with LC_ALL=C sort -u)", i+1, text)
	}
	w.last = append(w.last[:0], line...)
	var salt [16]byte
	w.salts.XORKeyStream(salt[:], salt[:])
	if slices.Contains(w.wanted.Numbers, i+1) || slices.Contains(w.wanted.Lines, text) {
		w.found = append(w.found, &found{Ticket{Number: i + 1, Line: text, Salt: salt}, w.whole()})
	}
	stored, err := tlog.StoredHashesForRecordHash(int64(i), ticketLeaf(i, salt[:], text), w.newest)
	if err != nil {
		return fmt.Errorf("hashing line %d: %w", i+1, err)
	}
	for level, hash := range stored {
		if level == len(w.newest) {
			w.newest = append(w.newest, hash)
		}
		w.newest[level] = hash
		w.see(level, i>>level, hash)
	}
	w.count++
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

// see keeps a node for the tickets whose paths have it on their right.
func (w *walk) see(level int, n uint64, hash tlog.Hash) {
	for _, f := range w.found {
		if (f.Number-1)>>level^1 == n {
			f.nodes[tlog.StoredHashIndex(level, int64(n))] = hash
		}
	}
}

func (w *walk) end() (list List, tickets []*Ticket, err error) {
	list.Count = w.count
	if list.Count < MinTickets {
		return List{}, nil, fmt.Errorf("the list has %d lines, and at least %d are needed", list.Count, MinTickets)
	}
	if list.Root, err = tlog.TreeHash(int64(w.count), w.newest); err != nil {
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

// missing names the first ticket that is wanted and was not found, or was asked for twice.
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

// saltStream is the keystream whose bytes 16i … 16i+15 are the salt of line i.
func saltStream(secret []byte) cipher.Stream {
	key, err := hkdf.Key(sha256.New, secret, nil, saltLabel, 32)
	if err != nil {
		panic("terms: HKDF-SHA-256 refused a 32-byte output: " + err.Error())
	}
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("terms: AES-256 refused a 32-byte key: " + err.Error())
	}
	return cipher.NewCTR(block, make([]byte, aes.BlockSize))
}
