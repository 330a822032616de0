package main

import (
	"context"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// accessHeadEvery is how long an access record may be the newest without an entry that
// vouches for it, and accessHeadLast how long a daemon that stops takes for the entries
// of all its ledgers.
const (
	accessHeadEvery = time.Hour
	accessHeadLast  = 10 * time.Second
)

// accessHeadBack is how many of the newest entries a daemon looks through, once, for the
// head that one before it wrote. Where it lies further back the same head is written again.
const accessHeadBack = 256

// keepAccessHeads writes the end of each ledger's chain of access records into the
// ledger (SPEC 5.8, access_head), every hour in which there was a record and when the
// daemon stops. Who owns the database can then neither cut the chain nor write it anew.
func (h *house) keepAccessHeads() {
	tick := time.NewTicker(accessHeadEvery)
	defer tick.Stop()
	h.writeAccessHeads(func() (stopping bool) {
		select {
		case <-h.last:
			return true
		case <-tick.C:
			return false
		}
	})
}

// writeAccessHeads is keepAccessHeads by a clock that waits for the next time, the last of
// which is when the daemon stops.
func (h *house) writeAccessHeads(wait func() (stopping bool)) {
	written := make(map[*ledger.Ledger]ledger.AccessHead)
	for stopping := false; !stopping; {
		patience := time.Minute
		if stopping = wait(); stopping {
			patience = accessHeadLast
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		for _, s := range h.open() {
			h.keepAccessHead(ctx, s, written)
		}
		cancel()
	}
}

// keepAccessHead writes the head of one chain unless this daemon wrote the same one, or
// found it in the ledger. What cannot be written is tried again with the next.
func (h *house) keepAccessHead(ctx context.Context, s *openedLedger, written map[*ledger.Ledger]ledger.AccessHead) {
	l := s.ledger()
	if l.Ready() != nil || ctx.Err() != nil {
		return
	}
	head, err := s.store.AccessHead(ctx, l.ID())
	before, known := written[l]
	if err == nil && !known {
		before, err = writtenAccessHead(ctx, s)
	}
	if err == nil && head != before { // an empty chain has the zero head
		_, err = l.Append(ctx, ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{
			&audit.Event{Kind: audit.EventAccessHead, Records: head.Count, Digest: head.Hash}}})
	}
	if err != nil {
		h.log.Error("writing the head of the access records into the ledger", "ledger", l.Info().Name, "error", err)
		return
	}
	written[l] = head
}

// writtenAccessHead returns the newest access_head among the newest entries, zero for none.
func writtenAccessHead(ctx context.Context, s *openedLedger) (newest ledger.AccessHead, err error) {
	l := s.ledger()
	size := l.Live().Size
	for row, err := range s.store.Rows(ctx, l.ID(), size-min(size, accessHeadBack), size) {
		if err != nil {
			return ledger.AccessHead{}, err
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return ledger.AccessHead{}, err
		}
		if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventAccessHead {
			newest = ledger.AccessHead{Count: b.Records, Hash: b.Digest}
		}
	}
	return newest, nil
}
