package client

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// anyIndex stands for an index that only the receipt tells.
const anyIndex = ^uint64(0)

// proved is an entry that a receipt proves.
type proved struct {
	audit.Entry
	index  uint64
	leaf   tlog.Hash
	size   uint64 // of the checkpoint that it is proved under
	signed []byte // that checkpoint
}

// prove returns the entry of a receipt. It proves that a checkpoint signed by the pinned key includes the entry at the
// index, in the ledger that is known so far.
func (c *Client) prove(ctx context.Context, receipt string, index uint64, re reply) (proved, error) {
	// So the client accepts nothing that shuffled verify refuses.
	if v := verify.Receipt([]byte(receipt), c.signed); v.Verdict != verify.Proved {
		return proved{}, re.fault("the receipt is "+v.Verdict+" at "+v.Failed+v.Unknown, nil)
	}
	r, e, err := audit.ReceiptEntry(receipt)
	if err != nil {
		return proved{}, re.fault("the receipt", err)
	}
	checkpoint, err := audit.CheckpointText(r.Checkpoint)
	if err != nil {
		return proved{}, re.fault("the receipt", err)
	}
	if index != anyIndex && r.Index != index {
		return proved{}, re.fault(fmt.Sprintf("the receipt is of entry %d, not %d", r.Index, index), nil)
	}
	past := re.before(r.Index, checkpoint.Size)
	if err := c.hold(ctx, head{checkpoint, r.Checkpoint}, past, re.body); err != nil {
		return proved{}, err
	}
	return proved{e, r.Index, tlog.RecordHash(r.Entry), checkpoint.Size, r.Checkpoint}, nil
}
