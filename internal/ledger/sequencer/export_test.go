package sequencer

import (
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
)

// BreakMark makes every further write of the high-water mark fail.
func (l *Ledger) BreakMark() { l.mark.file.Close() }

// MarkIsSynced reports whether all that was written to the high-water mark is synced.
func (l *Ledger) MarkIsSynced() bool {
	l.mark.mu.Lock()
	defer l.mark.mu.Unlock()
	return !l.mark.dirty
}

// MarkSize returns the size that a mark file has.
func MarkSize(path string, keys ...note.Verifier) (uint64, error) {
	c, _, err := ReadMark(path, keys...)
	return c.Size, err
}

// Send proposes without waiting. answered reports whether the answer is there, and wait takes it.
func (l *Ledger) Send(p ledger.Proposal) (answered func() bool, wait func() error) {
	r := ledger.NewRequest(p)
	l.life.Queue <- []*ledger.Request{r}
	return func() bool { return len(r.Reply) > 0 }, func() error { return (<-r.Reply).Err }
}

// MostTries is how often a request is prepared.
const MostTries = mostTries

// MaxUnheld is how many stored checkpoints that do not hold are checked in one look.
const MaxUnheld = cosign.MaxUnheld
