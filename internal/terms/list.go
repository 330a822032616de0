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
	"slices"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"shuffled/internal/audit"
)

// SecretLen is the length of the secret that the salts of a list come from. A secret is
// of one list only.
const SecretLen = 32

const saltLabel = "shuffled/v1/ticket-salt\x00"

var factory = &compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}

// List is what a context holds of a list of tickets.
type List struct {
	Count uint64
	Root  [32]byte
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
	w := walk{salts: saltStream(secret), wanted: wanted,
		tree: factory.NewEmptyRange(0)}
	in := bufio.NewReaderSize(lines, 1<<16)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return List{}, nil, fmt.Errorf("reading line %d: %w", w.tree.End()+1, err)
		}
		if err := w.take(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return List{}, nil, err
		}
		if n := w.tree.End(); progress != nil && n%(1<<18) == 0 {
			progress(n)
		}
	}
	return w.end()
}

// walk is a pass over a list.
type walk struct {
	salts  cipher.Stream
	tree   *compact.Range
	last   []byte // line
	wanted Wanted
	found  []*found
}

// found is a ticket that is wanted, and the nodes of the tree that its path may need.
type found struct {
	Ticket
	nodes map[compact.NodeID][]byte
}

func (w *walk) take(line []byte) error {
	i := w.tree.End()
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
	leaf := ticketLeaf(i, salt[:], text)
	w.see(compact.NewNodeID(0, i), leaf)
	if slices.Contains(w.wanted.Numbers, i+1) || slices.Contains(w.wanted.Lines, text) {
		w.found = append(w.found, &found{Ticket{Number: i + 1, Line: text, Salt: salt}, w.edge()})
	}
	return w.tree.Append(leaf, w.see)
}

// edge is the nodes that the whole tree so far consists of.
func (w *walk) edge() map[compact.NodeID][]byte {
	nodes := make(map[compact.NodeID][]byte)
	hashes := w.tree.Hashes()
	for k, id := range compact.RangeNodes(0, w.tree.End(), nil) {
		nodes[id] = hashes[k]
	}
	return nodes
}

// see keeps a node for the tickets whose paths have it on their right.
func (w *walk) see(id compact.NodeID, hash []byte) {
	for _, f := range w.found {
		if (f.Number-1)>>id.Level^1 == id.Index {
			f.nodes[id] = hash
		}
	}
}

func (w *walk) end() (list List, tickets []*Ticket, err error) {
	list.Count = w.tree.End()
	if list.Count < MinTickets {
		return List{}, nil, fmt.Errorf("the list has %d lines, and at least %d are needed", list.Count, MinTickets)
	}
	root, err := w.tree.GetRootHash(nil)
	if err != nil {
		return List{}, nil, fmt.Errorf("hashing the list: %w", err)
	}
	list.Root = [32]byte(root)
	if len(w.found) < len(w.wanted.Lines)+len(w.wanted.Numbers) {
		return list, nil, w.missing()
	}
	edge := w.edge()
	for _, f := range w.found {
		f.Count, f.Root = list.Count, list.Root
		ids, err := proof.Inclusion(f.Number-1, f.Count)
		if err != nil {
			return list, nil, fmt.Errorf("proving ticket %d: %w", f.Number, err)
		}
		for _, id := range ids.IDs {
			hash, ok := f.nodes[id]
			if !ok {
				hash = edge[id]
			}
			f.Path = append(f.Path, hash)
		}
		if f.Path, err = ids.Rehash(f.Path, rfc6962.DefaultHasher.HashChildren); err != nil {
			return list, nil, fmt.Errorf("proving ticket %d: %w", f.Number, err)
		}
		if err := f.Check(); err != nil {
			return list, nil, err
		}
		tickets = append(tickets, &f.Ticket)
	}
	return list, tickets, nil
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
			return fmt.Errorf("%w: number %d of %d", ErrNoTicket, n, w.tree.End())
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
