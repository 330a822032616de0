package dealer

import (
	"context"
	"time"

	"shuffled/internal/audit"
)

// witnessWait is how long a deal waits for the witnesses at most: a few times as long as they may
// take, and shorter than the time limit of a request.
const witnessWait = 6 * time.Second

// AwaitWitnesses waits until a quorum of witnesses has cosigned a checkpoint that covers the entry
// id, if the genesis asks for witnesses. So no card is shown before outsiders have the commitment
// to its order. It returns ledger.ErrNotWitnessed if they take too long.
func (d *Dealer) AwaitWitnesses(ctx context.Context, id uint64) error {
	if d.cfg.Ledger.Genesis().Deals != audit.DealsCosigned {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, witnessWait)
	defer cancel()
	return d.cfg.Ledger.AwaitCosigned(ctx, id)
}
