package fsck

import (
	"context"
	"fmt"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// accesses compares the chain of access records with all heads of it that are entries (docs/SPEC.md section 5.8,
// access_head). If a chain was replaced and its new head became an entry, an older head shows it. Retention drops the
// beginning of a chain, so that it is followed from the first record that is kept.
func (s *source) accesses(ctx context.Context) error {
	c := accessChain{source: s, told: make(map[uint64][]uint64)}
	var newest uint64 // entry whose head has the most records
	for index, head := range s.accessHeads {
		c.told[head.Count] = append(c.told[head.Count], index)
		if n := s.accessHeads[newest].Count; head.Count > n || head.Count == n && index < newest {
			newest = index
		}
	}
	if err := s.rows.EachAccess(ctx, s.id, c.take); err != nil {
		return err
	}
	if n := s.accessHeads[newest].Count; n > c.head.Count {
		c.name(n, &newest, "entry %d names %d access records, and the chain ends with number %d", newest, n,
			c.head.Count)
	}
	return nil
}

// accessChain is the chain up to the record that was taken last.
type accessChain struct {
	*source
	told map[uint64][]uint64 // by number of records: the entries with a head of so many
	head ledger.AccessHead   // of the chain so far
}

// take adds the next record.
func (c *accessChain) take(r store.Raw) error {
	seq, ok := c.integer(r, "seq")
	prev, hashed := r.Bytes("prev")
	if !ok || seq < 1 || !hashed || len(prev) != len(c.head.Hash) {
		c.add(CodeAccessChain, placeOf(r, ""), "the record has no number or no hash of the record before")
		return nil
	}
	before := ledger.AccessHead{Count: uint64(seq) - 1, Hash: [32]byte(prev)}
	switch {
	case c.head == ledger.AccessHead{} && before.Count > 0: // the beginning was dropped
		c.hold(before)
	case before.Count != c.head.Count:
		c.name(min(c.head.Count+1, uint64(seq)), nil, "after number %d comes number %d", c.head.Count, seq)
	case before != c.head:
		c.name(uint64(seq), nil, "its hash of the record before is another: one of the two records was altered")
	}
	a, ok := access(r)
	if !ok {
		c.name(uint64(seq), nil, "a column is not of its type")
	}
	c.head = before.Next(a)
	c.hold(c.head)
	return nil
}

// hold compares a head with the entries that have a head of as many records.
func (c *accessChain) hold(head ledger.AccessHead) {
	for _, index := range c.told[head.Count] {
		if c.accessHeads[index] != head {
			c.name(head.Count, &index, "entry %d has another hash of the chain up to this record", index)
		}
	}
}

// name keeps a fault of a record.
func (c *accessChain) name(seq uint64, entry *uint64, format string, args ...any) {
	f := fault(CodeAccessChain, place(store.AccessRows, "", fmt.Sprintf("seq=%d", seq)), format, args...)
	f.Entry = entry
	c.keep(f)
}

// access reads the columns that the hash of a record covers.
func access(r store.Raw) (a ledger.Access, ok bool) {
	a.Time, ok = r.Int("time")
	for column, to := range map[string]*string{"request": &a.Request, "token": &a.Token, "method": &a.Method,
		"path": &a.Path} {
		text, is := r.Text(column)
		*to, ok = text, ok && is
	}
	return a, ok
}
