package terms

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// SecretLen is the length of the secret that the salts of a list come from. A secret is
// of one list only.
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

// blockLevel says how many lines are hashed together, by one core: 2^blockLevel.
const blockLevel = 12

// Walk reads a list in one pass, on all cores. Its memory does not depend on the length of the
// list. It returns the list's count and root, and the proofs of the tickets that are wanted, in
// order of number.
func Walk(lines io.Reader, secret []byte, wanted Wanted) (List, []*Ticket, error) {
	return walkBlocks(lines, secret, wanted, blockLevel)
}

func walkBlocks(lines io.Reader, secret []byte, wanted Wanted, level int) (List, []*Ticket, error) {
	if len(secret) != SecretLen {
		return List{}, nil, fmt.Errorf("the secret of a list has %d bytes, not %d", SecretLen, len(secret))
	}
	w := walk{salts: saltCipher(secret), wanted: wanted}
	in := reader{in: bufio.NewReaderSize(lines, 1<<16), size: 1 << level}
	for !in.end {
		var hashing sync.WaitGroup
		blocks := make([]*block, 16*runtime.GOMAXPROCS(0))
		for i := range blocks {
			b := in.next()
			blocks[i] = b
			hashing.Go(func() { b.hash(&w) })
		}
		hashing.Wait()
		for _, b := range blocks {
			if err := w.take(b); err != nil {
				return List{}, nil, err
			}
		}
	}
	return w.finish()
}

// walk is a pass over a list. The salts and what is wanted are for all cores.
type walk struct {
	salts  cipher.Block
	wanted Wanted
	count  uint64 // lines taken
	newest edge
	found  []*found
}

// edge is the newest left hash of each level of the tree. Adding a node and hashing the whole take no other.
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

// take joins a block to those before it.
func (w *walk) take(b *block) error {
	if b.err != nil {
		return b.err
	}
	for _, f := range b.found {
		maps.Copy(f.nodes, w.whole())
	}
	w.found = append(w.found, b.found...)
	for _, t := range b.tops {
		w.add(t)
	}
	w.count += uint64(len(b.lines))
	return nil
}

// add joins a node to the edge: a right one completes the node above it.
func (w *walk) add(t node) {
	for w.see(t); t.n%2 == 1; w.see(t) {
		t = node{t.level + 1, t.n / 2, tlog.NodeHash(w.newest[t.level], t.hash)}
	}
	for len(w.newest) <= t.level {
		w.newest = append(w.newest, tlog.Hash{})
	}
	w.newest[t.level] = t.hash
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
func (w *walk) see(t node) {
	for _, f := range w.found {
		f.see(t)
	}
}

// finish returns the root, and the proofs of what was found.
func (w *walk) finish() (list List, tickets []*Ticket, err error) {
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

// see keeps a node that is a sibling of one above the ticket.
func (f *found) see(t node) {
	if (f.Number-1)>>t.level^1 == t.n {
		f.nodes[tlog.StoredHashIndex(t.level, int64(t.n))] = t.hash
	}
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

// missing names the first ticket that is wanted and was not found. If all were found, one was asked
// for twice.
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

// saltCipher makes the keystream whose bytes 16i … 16i+15 are the salt of line i: it encrypts i.
func saltCipher(secret []byte) cipher.Block {
	key, err := hkdf.Key(sha256.New, secret, nil, saltLabel, 32)
	if err != nil {
		panic("terms: HKDF-SHA-256 refused a 32-byte output: " + err.Error())
	}
	defer clear(key)
	b, err := aes.NewCipher(key)
	if err != nil {
		panic("terms: AES-256 refused a 32-byte key: " + err.Error())
	}
	return b
}
