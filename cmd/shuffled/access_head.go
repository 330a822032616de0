package main

import (
	"context"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// accessHeadEvery is how often the end of each chain of access records is written into its ledger.
const accessHeadEvery = time.Hour

// accessHeadBack is how many of the newest entries a daemon searches, once, for the head that an earlier daemon
// wrote. If that head lies further back, the same head is written again.
const accessHeadBack = 256

// keepAccessHead writes the end of a ledger's chain of access records into the ledger (docs/SPEC.md section 5.8,
// access_head), unless this daemon wrote the same head before or found it there. The chain up to that end can then not
// be cut or rewritten unseen, not even by the owner of the database. After an error it is written at the next time.
func (h *house) keepAccessHead(ctx context.Context, s *openedLedger) {
	l := s.ledger()
	if l.Ready() != nil {
		return
	}
	head, err := s.store.AccessHead(ctx, l.ID())
	if err == nil && s.head == nil {
		s.head, err = writtenAccessHead(ctx, s)
	}
	if err == nil && head != *s.head { // an empty chain has the zero head
		_, err = l.Append(ctx, ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{
			&audit.Event{Kind: audit.EventAccessHead, Records: head.Count, Digest: head.Hash}}})
	}
	if err != nil {
		h.log.Error("the head of the access records could not be written into the ledger", "ledger", l.Info().Name, "error", err)
		return
	}
	s.head = &head
}

// writtenAccessHead returns the newest access_head among the newest accessHeadBack entries, or a zero one.
func writtenAccessHead(ctx context.Context, s *openedLedger) (*ledger.AccessHead, error) {
	l, newest := s.ledger(), new(ledger.AccessHead)
	size := l.Live().Size
	for row, err := range s.store.Rows(ctx, l.ID(), size-min(size, accessHeadBack), size) {
		if err != nil {
			return nil, err
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return nil, err
		}
		if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventAccessHead {
			newest = &ledger.AccessHead{Count: b.Records, Hash: b.Digest}
		}
	}
	return newest, nil
}
