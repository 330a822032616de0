package main

import (
	"context"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// accessHeadEvery is how often the end of each chain of access records is written into its ledger.
// accessHeadLast bounds the time in which a daemon that stops writes the ends of all its chains.
const (
	accessHeadEvery = time.Hour
	accessHeadLast  = 10 * time.Second
)

// accessHeadBack is how many of the newest entries a daemon searches, once, for the head that an earlier daemon
// wrote. If that head lies further back, the same head is written again.
const accessHeadBack = 256

// keepAccessHeads writes the end of each ledger's chain of access records into the ledger (docs/SPEC.md section
// 5.8, access_head): every hour in which there was a record, and when the daemon stops. The chain up to that
// end can then not be cut or rewritten unseen, not even by the owner of the database.
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

// writeAccessHeads is keepAccessHeads with the clock of the caller. wait returns when the heads are due, and
// reports whether this is the last time because the daemon stops.
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

// keepAccessHead writes the head of one chain, unless this daemon wrote the same head before or found it in the
// ledger. After an error the head is written at the next time.
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
		h.log.Error("the head of the access records could not be written into the ledger", "ledger", l.Info().Name, "error", err)
		return
	}
	written[l] = head
}

// writtenAccessHead returns the newest access_head among the newest accessHeadBack entries, or a zero one.
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
