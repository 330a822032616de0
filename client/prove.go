package client

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// anyIndex is for an entry whose index only its receipt tells.
const anyIndex = ^uint64(0)

// proved is an entry that a receipt proves.
type proved struct {
	audit.Entry
	index  uint64
	leaf   tlog.Hash
	size   uint64 // of the checkpoint that it is proved under
	signed []byte // that checkpoint
}

// prove returns the entry that a receipt proves: signed by the pinned key,
// included, at the index, in a ledger that is the one known so far.
func (c *Client) prove(ctx context.Context, receipt string, index uint64, when asked, answer []byte) (proved, error) {
	fault := func(what string, err error) (proved, error) {
		return proved{}, &Fault{What: what, Answer: answer, Err: err}
	}
	// What is accepted here, `shuffled verify` accepts.
	if v := verify.Receipt([]byte(receipt), c.signed); v.Verdict != verify.Proved {
		return fault("the receipt is "+v.Verdict+" at "+v.Failed+v.Unknown, nil)
	}
	r, err := audit.ParseReceipt(receipt)
	if err != nil {
		return fault("the receipt", err)
	}
	checkpoint, err := audit.CheckpointText(r.Checkpoint)
	if err != nil {
		return fault("the receipt", err)
	}
	if index != anyIndex && r.Index != index {
		return fault(fmt.Sprintf("the receipt is of entry %d, not %d", r.Index, index), nil)
	}
	e, err := audit.ParseEntry(r.Entry)
	if err != nil {
		return fault("the entry", err)
	}
	past := when.before(r.Index, checkpoint.Size)
	if err := c.hold(ctx, head{checkpoint, r.Checkpoint}, past, answer); err != nil {
		return proved{}, err
	}
	return proved{e, r.Index, tlog.RecordHash(r.Entry), checkpoint.Size, r.Checkpoint}, nil
}
