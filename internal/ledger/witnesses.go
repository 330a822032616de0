package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// witnesses gets cosignatures on published heads. The goroutine of run takes the newest head, has the gateway ask the
// witnesses of the policy in force and of the policies that wait, and stores and shows what a quorum cosigned. Only
// published heads are sent, because their commit is known.
type witnesses struct {
	l         *core
	gateway   *gateway.Gateway
	news      chan struct{} // of capacity 1: the published head moved
	askers    sync.WaitGroup
	roll      roll
	confirmed atomic.Bool          // a quorum cosigned a head of this daemon
	cosigned  atomic.Pointer[Head] // the newest cosigned head, nil for none; written by run
	newer     moved                // tells of a newer cosigned head
	missed    atomic.Uint32        // rounds without a quorum since the last with one; written by run
	late      late
	trial     sync.Mutex // held while a policy is tried

	// On the sequencer's goroutine: to have an alarm written, and to stop signing if a witness doubts.
	raise func(audit.Alarm, string)
	stop  func()

	settled chan struct{} // closed after the first round, when every witness has answered, if only with an error
	settle  sync.Once     // closes settled

	// Fields of the goroutine of run.
	policies *policyHistory
	asking   bool        // a round is under way
	rounds   chan *round // rounds that are over
}

// round is one head on its way to a quorum. Its policies are those of the time when it began.
// If another daemon lets a policy take over before it ends, the store refuses its result.
type round struct {
	governing *audit.Policy
	from      uint64 // policyHistory.unseen
	came      gateway.Round
}

// reachWitness returns the way to a witness.
func (l *core) reachWitness(lines []audit.Witness) (Witness, error) {
	if l.cfg.Witness == nil {
		return nil, errors.New("there is no way to reach witnesses")
	}
	asked, err := l.cfg.Witness(lines)
	if err == nil {
		err = l.mayAsk(lines[0])
	}
	if err != nil {
		return nil, fmt.Errorf("reaching witness %s: %w", lines[0].Name, err)
	}
	return asked, nil
}

func (l *core) mayAsk(one audit.Witness) error {
	if l.cfg.MayAsk == nil {
		return nil
	}
	return l.cfg.MayAsk(l.Genesis(), one)
}

// witnessedLog is the ledger as a gateway.Log.
type witnessedLog struct{ l *core }

func (w witnessedLog) Origin() string        { return w.l.cfg.Info.Origin }
func (w witnessedLog) Keys() []note.Verifier { return w.l.witnessedKeys() }

func (w witnessedLog) Prove(ctx context.Context, old uint64, head Head) ([]tlog.Hash, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, w.l.ownTiles(ctx))
	proof, err := tlog.ProveTree(int64(head.Size), int64(old), reader)
	if err != nil {
		return nil, fmt.Errorf("proving that size %d extends size %d: %w", head.Size, old, err)
	}
	return proof, nil
}

func (w witnessedLog) Reach(ctx context.Context, size uint64) (uint64, error) {
	return w.l.reach(ctx, size)
}

func (w witnessedLog) Extends(ctx context.Context, c audit.Checkpoint) (bool, error) {
	return w.l.extends(ctx, w.l.Head(), c)
}
