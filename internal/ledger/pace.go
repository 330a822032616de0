package ledger

import "sync/atomic"

// Appends counts what became of the batches that this daemon tried to append.
type Appends struct {
	Landed    uint64
	Lost      uint64 // another daemon moved the head first, and they were prepared again
	Duplicate uint64 // a key or slot stood in the ledger
	Failed    uint64 // nothing was written
	Unknown   uint64 // tries whose outcome had to be found out
}

// appends are the counters of Appends, written by the sequencer.
type appends struct {
	landed, lost, duplicate, failed, unknown atomic.Uint64
}

func (a *appends) read() Appends {
	return Appends{Landed: a.landed.Load(), Lost: a.lost.Load(), Duplicate: a.duplicate.Load(),
		Failed: a.failed.Load(), Unknown: a.unknown.Load()}
}
