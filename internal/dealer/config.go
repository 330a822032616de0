package dealer

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// Config is what a dealer works with. All of it is required except Round, Watch and Rotation.
type Config struct {
	Ledger  *sequencer.Ledger
	Store   ledger.Store // the ledger's
	Entropy *entropy.Source
	Keys    *seal.Keyring
	Log     *slog.Logger
	// Now is the time in UTC milliseconds. It decides which shuffles are overdue, which round of the
	// beacon a plan gets, how long an order must stay open, and when a disclosure key is too old.
	// The ledger gives entries their times.
	Now func() int64

	// Round fetches the signature of a round of quicknet; nil: callers bring it.
	Round func(ctx context.Context, round uint64) ([48]byte, error)

	// Watch gets every outcome, after its tape is drawn and before its commit is written. So what
	// becomes of the commit does not choose what Watch gets. It keeps no outcome, and does not make
	// a commit wait. nil: outcomes are not watched.
	Watch func(shuffle.Recipe, shuffle.Outcome)

	// CoDealer reaches the co-dealers of the ledger; nil: none.
	CoDealer CoDealer
	// Houses are the ledgers that this one deals orders for, by origin; nil: none.
	Houses map[string]House

	// Decks are those that the ledger may commit, as in package config.
	Decks []string

	// Rotation is the age at which a commit makes a new disclosure key; 0 for a day.
	Rotation time.Duration
}

// CoDealer reaches the co-dealers of a ledger, each named by the origin of its own ledger. It
// returns only what is proved to be in that ledger, under a checkpoint that a quorum of the pinned
// policy cosigned and that extends what was seen of that ledger before.
type CoDealer interface {
	// Order returns the receipt of an order that no commit names yet. It is of all positions of
	// like, or of its ranges, and open until closeBy at least, in UTC milliseconds.
	Order(ctx context.Context, origin string, like *audit.Context, closeBy int64) (receipt string, err error)
	// Unused takes back an order that no commit names.
	Unused(origin string, receipt string)
	// Ask has the co-dealer deal the next places of an order. The same request gets the same answer.
	Ask(ctx context.Context, n Next, runs []audit.Run, a Asking) (Given, error)
	// Asked returns the deal of an order from this place on, nil if there is none.
	Asked(ctx context.Context, n Next) (*Given, error)
	// Ended closes an order in the background, and hands over the close of the order. receipt proves the close of the
	// shuffle that the order was for; "": nothing was dealt from the order.
	Ended(n Next, receipt func(context.Context) (string, error), keep func(context.Context, Given) error)
}

// House is a ledger that this one deals orders for: its signing keys, and the policy under which its checkpoints count.
type House struct {
	Keys   []note.Verifier
	Policy *audit.Policy
}
