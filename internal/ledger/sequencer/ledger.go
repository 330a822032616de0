// Package sequencer keeps one append-only log: it alone orders and signs entries, and checks that a ledger does not
// contradict itself.
//
// Entries, tiles, checkpoint and head are written in one transaction, whose update of the
// head is a compare-and-swap. Then the high-water mark is written. Then callers get their
// receipts. Nothing signed leaves the process before its commit is known.
package sequencer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
	"shuffled/internal/stops"
)

// Ledger is one open ledger. It is safe for concurrent use. Each part says which goroutine owns it.
type Ledger struct {
	*ledger.Core
	cfg    ledger.Config // unchanged after Open
	memory *ledger.Memory
	shown  *ledger.Shown
	life   *ledger.Life

	mark           *mark         // the high-water mark, written by the sequencer's goroutine
	*cosign.Rounds               // asks the witnesses, if there are any
	cacheDue       chan struct{} // has writeCaches write one; capacity 1
	appends        appends       // counters
	live           atomic.Pointer[ledger.Live]
	absent         atomic.Pointer[error] // why a signing key in force did not sign when asked last; a nil error: it did

	// Fields of the sequencer's goroutine.
	standing
	instance      uint64 // index of our instance_start; 0: it is not written
	clock         clock
	cachedSize    uint64 // of the newest cache, or of the one that is being written
	cachedKey     string // the public half of the signing key that it is under
	holderChanges uint64 // of state, when holders was shown
	keyCount      int    // of state, when keys was shown
}

// Create makes a ledger. Entry 0 is the genesis, its checkpoint is signed with the genesis's signing key, and then the
// high-water mark is written. The signer's name is the origin. It returns ErrExists if the name or origin is taken.
func Create(ctx context.Context, store ledger.Store, info ledger.Info, g *audit.Genesis, signer note.Signer,
	markPath string, now time.Time) error {
	entry := audit.Entry{Time: now.UnixMilli(), Actor: audit.Operator, Body: g}
	if g.Origin != info.Origin || signer.Name() != info.Origin {
		return fmt.Errorf("creating ledger %s: the genesis has the origin %q, and the signing key %q", info.Name, g.Origin,
			signer.Name())
	}
	if _, err := os.Stat(markPath); !errors.Is(err, fs.ErrNotExist) {
		// A second genesis under the same key would be a fork.
		return fmt.Errorf("creating ledger %s: %s exists: this host has seen a ledger of this name", info.Name,
			markPath)
	}
	if err := audit.CheckName(info.Name); err != nil {
		return fmt.Errorf("creating a ledger: its name %w", err)
	}
	encoded, err := entry.Encode()
	if err != nil {
		return fmt.Errorf("creating ledger %s: %w", info.Name, err)
	}
	if err := rules.NewState().Apply(entry); err != nil {
		return fmt.Errorf("creating ledger %s: %w", info.Name, err)
	}
	leaf := tlog.RecordHash(encoded)
	head, err := ledger.SignHead(1, leaf, signer) // the root of one leaf is the leaf
	if err != nil {
		return err
	}
	key, err := audit.Verifier(info.Origin, g.SigningKey)
	if err != nil {
		return err
	}
	if _, err := audit.OpenCheckpoint(head.Checkpoint, key); err != nil {
		return fmt.Errorf("creating ledger %s: the genesis names another signing key: %w", info.Name, err)
	}
	row := ledger.Row{Index: 0, Entry: encoded}
	row.Columns(entry)
	if err := store.Create(ctx, info, ledger.Batch{Rows: []ledger.Row{row}, Head: head}); err != nil {
		return fmt.Errorf("creating ledger %s: %w", info.Name, err)
	}
	m, err := openMark(markPath)
	if err != nil {
		return err
	}
	return errors.Join(m.write(head.Checkpoint), m.close())
}

// appends are the counters of Appends, written by the sequencer.
type appends struct {
	landed, lost, duplicate, failed, unknown, most atomic.Uint64
}

// Checkpoint returns the checkpoint to publish: the newest cosigned one, if there is one and
// the policy in force asks for witnesses, and otherwise the newest signed one.
func (l *Ledger) Checkpoint() []byte {
	if h, ok := l.Cosigned(); ok && l.Policies().At(l.Head().Size).Asks() {
		return h.Checkpoint
	}
	return l.shown.Published.Load().Checkpoint
}

// Live returns counts for metrics.
func (l *Ledger) Live() ledger.Live {
	live, a := *l.live.Load(), &l.appends
	live.Cosigned = l.CosignedSize()
	live.Appends = ledger.Appends{Landed: a.landed.Load(), Lost: a.lost.Load(), Duplicate: a.duplicate.Load(),
		Failed: a.failed.Load(), Unknown: a.unknown.Load(), Most: a.most.Load()}
	return live
}

// Abilities say what a ledger can do now. An error is nil if it can, and says why not otherwise.
type Abilities struct {
	Read   error // entries, evidence, events
	Commit error // a new shuffle
	Deal   error // from a shuffle that stands; close it
}

// Ready reports whether everything works. The ledger's kill switch is no fault: a load balancer goes on sending.
func (a Abilities) Ready() bool {
	return a.Read == nil && a.Deal == nil && (a.Commit == nil || errors.Is(a.Commit, ledger.ErrKilled))
}

// Abilities returns what the ledger can do now, as far as that is not a matter of one shuffle. latched says that this
// daemon's own latch is set.
func (l *Ledger) Abilities(latched bool) (a Abilities) {
	a.Commit = l.Ready()
	if cause := stops.Of(a.Commit); cause != "" && !cause.Reads() {
		a.Read = a.Commit
	}
	if a.Deal = a.Commit; a.Deal == nil && l.Genesis().Deals == audit.DealsCosigned {
		a.Deal = l.Rounds.Lacking()
	}
	if live := l.live.Load(); a.Commit == nil && (latched || live.Latched) {
		a.Commit = ledger.ErrLatched
	} else if a.Commit == nil && live.Killed {
		a.Commit = ledger.ErrKilled
	}
	return a
}
