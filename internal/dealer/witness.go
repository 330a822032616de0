package dealer

import (
	"context"
	"time"

	"shuffled/internal/audit"
)

// witnessWait bounds how long a deal waits for the witnesses: a few times what
// they may take, and below the time that a request has.
const witnessWait = 6 * time.Second

// AwaitWitnesses waits, where the genesis asks for it, until a quorum of
// witnesses has cosigned a checkpoint that covers the commit: no card before
// outsiders hold the order that it comes from. It returns
// ledger.ErrNotWitnessed when they take too long.
func (d *Dealer) AwaitWitnesses(ctx context.Context, id uint64) error {
	if d.cfg.Ledger.Genesis().Deals != audit.DealsCosigned {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, witnessWait)
	defer cancel()
	return d.cfg.Ledger.AwaitCosigned(ctx, id)
}
