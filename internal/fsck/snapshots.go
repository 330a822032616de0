package fsck

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/store"
)

// snapshots holds every stored snapshot against the digest of its event. Inspect
// computed the state of the entries below each event, and holds the digest to it
// as a rule, so that one with this digest is that state. One that is missing is no
// fault: old ones are dropped, and a daemon does without.
func (s *source) snapshots(ctx context.Context) error {
	for from := uint64(0); ; { // one at a time: they are large
		rows, err := s.rows.First(ctx, store.TableSnapshots, s.id, from, s.size, 1)
		if err != nil || len(rows) == 0 {
			return err
		}
		index, ok := s.integer(rows[0], "idx")
		if !ok {
			return nil // the rest of what SQLite takes for larger than any number
		}
		s.counts.Snapshots++
		if err := s.snapshot(ctx, rows[0], uint64(index)); err != nil {
			return err
		}
		from = uint64(index) + 1
	}
}

// snapshot holds the rows of one index against their event.
func (s *source) snapshot(ctx context.Context, first store.Raw, index uint64) error {
	rows, err := s.rows.First(ctx, store.TableSnapshots, s.id, index, index+1, 2)
	if err != nil {
		return err
	}
	if len(rows) > 1 {
		s.add(fault(CodeRowTwice, placeOf(first, ""), "the snapshot stands in more than one row"))
	}
	event, err := s.snapshotEvent(ctx, index)
	if err != nil {
		return err
	}
	if event == nil {
		s.add(fault(CodeRowExtra, placeOf(first, ""), "entry %d is no snapshot event", index))
		return nil
	}
	for _, r := range rows {
		state, ok := r.Bytes("state")
		if !ok {
			s.add(fault(CodeColumn, placeOf(r, "state"), "it is %s, not bytes", kind(r.Value("state"))))
		} else if audit.StateDigest(state) != event.Digest {
			s.add(fault(CodeSnapshot, placeOf(r, "state"), "its digest is not that of entry %d", index))
		}
	}
	return nil
}

// snapshotEvent returns the snapshot event at index, nil for another entry.
func (s *source) snapshotEvent(ctx context.Context, index uint64) (*audit.Event, error) {
	rows, err := s.rows.Range(ctx, store.TableEntries, s.id, index, index+1)
	if err != nil {
		return nil, fmt.Errorf("looking for the event of a snapshot: %w", err)
	}
	for _, r := range rows {
		b, _ := r.Bytes("entry")
		e, err := audit.ParseEntry(b)
		if err != nil {
			continue
		}
		if event, ok := e.Body.(*audit.Event); ok && event.Kind == audit.EventSnapshot {
			return event, nil
		}
	}
	return nil, nil
}
