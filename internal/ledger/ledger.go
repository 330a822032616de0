// Package ledger keeps one append-only log: the sequencer, which alone writes it, C2SP checkpoints and tiles, receipts,
// and the checks that keep a ledger from contradicting itself. It declares the store that it needs.
//
// Entries, tiles, checkpoint and head are written in one transaction, whose update of the
// head is a compare-and-swap. Then the high-water mark is written. Then callers get their
// receipts. Nothing signed leaves the process before its commit is known.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Ledger is one open ledger. It is safe for concurrent use. Each part says which goroutine owns it.
type Ledger struct {
	core
	mark       *mark    // the high-water mark, written by the sequencer's goroutine
	*witnesses          // asks the witnesses, if there are any
	cache      *caching // writes the cache of the state
	appends    appends  // counters
}

// Create makes a ledger. Entry 0 is the genesis, its checkpoint is signed with the genesis's signing key, and then the
// high-water mark is written. The signer's name is the origin. It returns ErrExists if the name or origin is taken.
func Create(ctx context.Context, store Store, info Info, g *audit.Genesis, signer note.Signer, markPath string,
	now time.Time) error {
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
	if err := audit.NewState().Apply(entry); err != nil {
		return fmt.Errorf("creating ledger %s: %w", info.Name, err)
	}
	leaf := tlog.RecordHash(encoded)
	head, err := SignHead(signer, 1, leaf) // the root of one leaf is the leaf
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
	row := Row{Index: 0, Entry: encoded}
	row.Columns(entry)
	if err := store.Create(ctx, info, Batch{Rows: []Row{row}, Head: head}); err != nil {
		return fmt.Errorf("creating ledger %s: %w", info.Name, err)
	}
	m, err := openMark(markPath)
	if err != nil {
		return err
	}
	return errors.Join(m.write(head.Checkpoint), m.close())
}
