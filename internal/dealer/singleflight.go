package dealer

import (
	"context"
	"fmt"
	"sync"

	"shuffled/internal/ledger"
)

// singleflight lets one request under a key go at a time. A copy that comes in that time
// waits, and then finds the answer in the ledger instead of drawing a tape of its own. It
// shares no result, as the package of x/sync of that name does: a copy may be another
// request under the same key, its caller may leave, and its answer says that it is a
// repeat. Copies at another daemon do not wait; the ledger keeps them apart.
type singleflight struct {
	mu  sync.Mutex
	all map[[32]byte]chan struct{} // by key tag; closed and gone when the request is answered
}

// begin waits for its turn under the tag, until the queue deadline of ctx. The caller
// must call end.
func (f *singleflight) begin(ctx context.Context, tag [32]byte) (end func(), err error) {
	turn, cancel := ctx, func() {} // most find nobody ahead, and need no deadline
	defer func() { cancel() }()
	for {
		f.mu.Lock()
		ahead := f.all[tag]
		if ahead == nil {
			done := make(chan struct{})
			if f.all == nil {
				f.all = make(map[[32]byte]chan struct{})
			}
			f.all[tag] = done
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				delete(f.all, tag)
				f.mu.Unlock()
				close(done)
			}, nil
		}
		f.mu.Unlock()
		if turn == ctx {
			turn, cancel = ledger.Patience(ctx)
		}
		select {
		case <-ahead:
		case <-turn.Done():
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%w: the same request is under way", ledger.ErrOverloaded)
		}
	}
}
