package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"shuffled/internal/ledger"
)

// What one transaction takes at most: as many ledgers, and more than as many bytes only of one ledger.
const (
	jointLedgers = 64
	jointBytes   = 8 << 20
)

// Appending is an append that waits for its transaction.
type Appending struct {
	ID    ledger.ID
	Old   ledger.Head
	Batch ledger.Batch

	alone bool // others keep out of its transaction
	done  chan error
}

// Joint makes appends of several ledgers share a transaction. An append that comes while transactions are under way
// waits, and goes into the next one with all that wait. What does not land in a shared transaction goes alone, and
// only that answer counts: so no ledger sees the fault or the stale head of another.
type Joint struct {
	runs int // transactions at a time
	send Send

	mu      sync.Mutex
	running int
	waiting []*Appending // the oldest first
}

// Send runs one transaction, which no caller's context ends, and returns the ledgers whose append landed in it. Without
// an error the heads of the others were not the expected ones. With ledger.ErrUnknownOutcome any may have landed, and
// with another error none has.
type Send func(all []*Appending) (landed []ledger.ID, err error)

// NewJoint returns a Joint that has so many transactions under way at a time at most.
func NewJoint(runs int, send Send) *Joint { return &Joint{runs: runs, send: send} }

// Append implements [ledger.Store]. While it waits, the end of ctx withdraws it.
func (j *Joint) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if err := errors.Join(ctx.Err(), CheckBatch(old.Size, b)); err != nil {
		return err
	}
	a := &Appending{ID: id, Old: old, Batch: b, done: make(chan error, 1)}
	j.mu.Lock()
	j.waiting = append(j.waiting, a)
	j.start()
	j.mu.Unlock()
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
	}
	j.mu.Lock()
	at := slices.Index(j.waiting, a)
	if at >= 0 {
		j.waiting = slices.Delete(j.waiting, at, at+1)
	}
	j.mu.Unlock()
	if at >= 0 {
		return ctx.Err()
	}
	return <-a.done // it was sent
}

// start starts a goroutine for what waits, if one more may run. The caller holds the lock.
func (j *Joint) start() {
	if j.running < j.runs {
		j.running++
		go j.run()
	}
}

// run sends transactions, on a goroutine of its own, until nothing waits.
func (j *Joint) run() {
	for {
		j.mu.Lock()
		all := j.take()
		if len(all) == 0 {
			j.running--
			j.mu.Unlock()
			return
		}
		j.mu.Unlock()
		landed, err := j.send(all)
		var again []*Appending
		for _, a := range all {
			switch {
			case err == nil && slices.Contains(landed, a.ID):
				a.done <- nil
			case len(all) > 1 && !errors.Is(err, ledger.ErrUnknownOutcome):
				a.alone = true
				again = append(again, a)
			case err == nil:
				a.done <- ledger.ErrStale
			default:
				a.done <- err
			}
		}
		j.mu.Lock()
		j.waiting = append(again, j.waiting...)
		for range again {
			j.start() // one that waits for a lock holds up none
		}
		j.mu.Unlock()
	}
}

// take takes the appends of the next transaction. A ledger has one append in it: the head of a second one would be that
// of the first. The caller holds the lock.
func (j *Joint) take() (all []*Appending) {
	bytes := 0
	j.waiting = slices.DeleteFunc(j.waiting, func(a *Appending) bool {
		size, same := a.bytes(), func(b *Appending) bool { return b.ID == a.ID }
		if len(all) > 0 && (a.alone || all[0].alone || len(all) == jointLedgers || bytes+size > jointBytes ||
			slices.ContainsFunc(all, same)) {
			return false
		}
		all, bytes = append(all, a), bytes+size
		return true
	})
	return all
}

// bytes is about how many bytes the append writes.
func (a *Appending) bytes() (n int) {
	for i := range a.Batch.Rows {
		n += len(a.Batch.Rows[i].Entry) + len(a.Batch.Rows[i].Kept)
	}
	for _, t := range a.Batch.Tiles {
		n += len(t.Data)
	}
	return n
}

// CheckBatch returns an error unless the batch continues a ledger of size old: its rows are adjacent, the first has
// index old, and its head covers the last.
func CheckBatch(old uint64, b ledger.Batch) error {
	n := uint64(len(b.Rows))
	switch {
	case n == 0:
		return errors.New("the batch has no rows")
	case old > math.MaxInt64-n:
		return fmt.Errorf("the ledger's size %d is out of range", old)
	case b.Head.Size != old+n:
		return fmt.Errorf("the batch has %d rows between the sizes %d and %d", n, old, b.Head.Size)
	}
	for i := range b.Rows {
		if want := old + uint64(i); b.Rows[i].Index != want {
			return fmt.Errorf("row %d of the batch has index %d, not %d", i, b.Rows[i].Index, want)
		}
	}
	return nil
}

// Slots returns the slots of a batch in order, each with the index of its commit.
func Slots(b ledger.Batch) (slots [][]byte, commits []int64) {
	for i := range b.Rows {
		r := &b.Rows[i]
		for j := range r.Slots {
			slots, commits = append(slots, r.Slots[j][:]), append(commits, int64(r.Index))
		}
	}
	return slots, commits
}

// DecodeDeck reads a list of card names as it is stored: their number as u16, then each name after its length as u8.
func DecodeDeck(b []byte) ([]string, error) {
	bad := errors.New("the stored deck is malformed")
	if len(b) < 2 {
		return nil, bad
	}
	cards := make([]string, binary.BigEndian.Uint16(b))
	b = b[2:]
	for i := range cards {
		if len(b) == 0 || len(b) <= int(b[0]) {
			return nil, bad
		}
		cards[i], b = string(b[1:1+b[0]]), b[1+b[0]:]
	}
	if len(b) > 0 {
		return nil, bad
	}
	return cards, nil
}
