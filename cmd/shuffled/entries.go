package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/monitor"
	"shuffled/internal/process"
)

// countLeast is the shortest time of a window by count; 0 is monitor.CountLeast. Only tests set it, before
// anything runs.
var countLeast time.Duration

// onLatch notes for every ledger that the latch is set. The entry stops the commits of all daemons of the
// ledger, also after a restart.
func (h *house) onLatch(c entropy.Cause) {
	h.log.Error("the entropy latch is set: no more tapes are drawn", "cause", c.Reason.String(), "detail", c.Detail)
	h.note(audit.Event{Kind: audit.EventLatchSet, Latch: audit.Latch(c.Reason)})
}

// onFinding notes a finding for every ledger. If the finding is a halt, it stops the generator first.
func (h *house) onFinding(f monitor.Finding) {
	if f.Halt {
		h.entropy.Trip(entropy.ReasonStatistics)
		h.log.Error("statistics over outcomes: no more tapes are drawn", "finding", f.String())
	} else {
		h.log.Warn("statistics over outcomes are unlikely", "finding", f.String())
	}
	h.note(audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmStatistics, Reason: f.String()})
}

// maxFindings is how many events may wait for a ledger. Further findings are only logged.
const maxFindings = 16

// unwritten is an event that is not in a ledger yet.
type unwritten struct {
	audit.Event
	seen bool // noted by this daemon: if its latch is not set any more, an act cleared it
}

// unwrittenFile is the file of the events that are not in a ledger yet, so that a stop loses none.
func (h *house) unwrittenFile(ledger string) string {
	return filepath.Join(h.cfg.Data, ledger+".unwritten")
}

// note notes an event for every ledger of the configuration, because one generator serves all. It waits for
// files and not for stores.
func (h *house) note(e audit.Event) {
	h.noting.Lock()
	defer h.noting.Unlock()
	for _, l := range h.cfg.Ledgers {
		list, err := h.noted(l.Name)
		latched := slices.ContainsFunc(list, func(u *unwritten) bool { return u.Kind == audit.EventLatchSet })
		switch {
		case err == nil && e.Kind == audit.EventLatchSet && latched:
			continue
		case err == nil && e.Kind != audit.EventLatchSet && len(list) >= maxFindings:
			err = errors.New("earlier events wait to be written")
		}
		if err != nil {
			h.log.Error("an event is only in this log: the ledger will not have it", "ledger", l.Name, "event", e.Kind.String(), "reason", e.Reason,
				"error", err)
			continue
		}
		h.keep(l.Name, append(list, &unwritten{e, true}))
	}
	for _, s := range h.open() {
		select {
		case s.noted <- struct{}{}:
		default:
		}
	}
}

// noted returns the events that wait for a ledger, also those that an earlier daemon noted. h.noting is held.
func (h *house) noted(ledger string) ([]*unwritten, error) {
	list, known := h.unwritten[ledger]
	if known {
		return list, nil
	}
	b, err := os.ReadFile(h.unwrittenFile(ledger))
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err == nil && slices.ContainsFunc(list, func(u *unwritten) bool {
		return u == nil || u.Kind != audit.EventLatchSet && u.Kind != audit.EventAlarm
	}) {
		err = errors.New("the file holds an event that is neither a latch nor an alarm")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s, the events that ledger %s does not have yet: %w: bring the file back, "+
			"or move it away if the daemon's log shows what it held", h.unwrittenFile(ledger), ledger, err)
	}
	h.unwritten[ledger] = list
	return list, nil
}

// keep replaces the events that wait for a ledger, in memory and on disk. If the disk fails, next tries again.
// h.noting is held.
func (h *house) keep(ledger string, list []*unwritten) {
	h.unwritten[ledger] = list
	path := h.unwrittenFile(ledger)
	var err error
	if len(list) == 0 {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) { // it was never written
			err = nil
		}
	} else {
		err = process.ReplaceFile(path, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(list) })
	}
	err = errors.Join(err, process.SyncDir(h.cfg.Data))
	if h.behind[ledger] = err != nil; err != nil {
		h.log.Error("a stop of the daemon would lose or repeat events that the ledger does not have yet", "ledger", ledger,
			"events", len(list), "error", err)
	}
}

// next drops latches that operators cleared after this daemon noted them. It returns the first event that waits
// for the ledger, nil for none.
func (h *house) next(ledger string) (*unwritten, error) {
	h.noting.Lock()
	defer h.noting.Unlock()
	if _, latched := h.entropy.Latched(); !latched {
		cleared := func(u *unwritten) bool { return u.seen && u.Kind == audit.EventLatchSet }
		for name, list := range h.unwritten {
			if slices.ContainsFunc(list, cleared) {
				h.keep(name, slices.DeleteFunc(list, cleared))
			}
		}
	}
	list, err := h.noted(ledger)
	if h.behind[ledger] {
		h.keep(ledger, list)
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// write writes the events that wait for the ledger into it.
func (h *house) write(ctx context.Context, l *sequencer.Ledger) error {
	name := l.Info().Name
	for {
		u, err := h.next(name)
		if err != nil || u == nil {
			return err
		}
		if _, err := l.Append(ctx, ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{&u.Event}}); err != nil {
			return fmt.Errorf("writing the event %s: %w", u.Kind, err)
		}
		h.noting.Lock()
		h.keep(name, slices.DeleteFunc(h.unwritten[name], func(o *unwritten) bool { return o == u }))
		h.noting.Unlock()
	}
}

// writeRetry is the interval at which an event is tried again.
const writeRetry = time.Second

// keepWriting writes the events that wait for a ledger, and tries again after an error. Every hour it writes the head
// of the access records. A daemon that stops does both once more.
func (h *house) keepWriting(s *openedLedger) {
	retry, hour := time.NewTicker(writeRetry), time.NewTicker(accessHeadEvery)
	defer retry.Stop()
	defer hour.Stop()
	for stopping := false; !stopping; {
		due := false
		select {
		case <-h.last:
			stopping, due = true, true
		case <-hour.C:
			due = true
		case <-s.noted:
		case <-retry.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := h.write(ctx, s.ledger()); err != nil {
			h.log.Error("the ledger does not have an entry that it must have", "ledger", s.ledger().Info().Name, "error", err)
		}
		if due {
			h.keepAccessHead(ctx, s)
		}
		cancel()
	}
}

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
