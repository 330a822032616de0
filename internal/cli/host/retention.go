package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/internal/cli/place"
	"shuffled/internal/ledger"
	"shuffled/internal/recall"
	"shuffled/internal/store"
	"shuffled/internal/term"
)

// RetentionCmd is shuffled retention.
type RetentionCmd struct {
	Run retentionRunCmd `cmd:"" name:"run" help:"Drop the access records that are past their retention, or count them. Evidence stays."`
}

type retentionRunCmd struct {
	place.Flags
	DryRun bool `help:"Count what would be dropped, and drop nothing."`
	JSON   bool `name:"json" help:"Print JSON."`
}

func (retentionRunCmd) Help() string {
	return `Drops access records (the reads and acts of regulators and administrators) that are older than "access_retention"
of the configuration, from the beginning of their chain. The newest record stays, and the chain goes on from it. The
command needs the role that owns the tables, because the daemon can only add to the chain. Run it daily from a timer.

Evidence is never dropped, such as entries, receipts and transcripts. The other setting, "retention", says how long
recall lists a closed shuffle after its commit. It needs no run, because it drops nothing.

Example:
  shuffled retention run --config shuffled.toml --dry-run`
}

// retained is what `retention run` says of a ledger.
type retained struct {
	Ledger   string `json:"ledger"`
	Accesses int    `json:"accesses"`
}

func (c retentionRunCmd) Run(ctx context.Context, s term.Streams) error {
	act, did := recall.Drop, "DROPPED"
	if c.DryRun {
		act, did = recall.Overdue, "TO DROP"
	}
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keep, now, list := cfg.AccessRetention.Duration(), time.Now(), []retained{}
	err = c.EachLedger(ctx, func(store store.Database, l ledger.Info) error {
		n, err := act(ctx, store, ledger.IDOf(l.Origin), keep, now)
		if err == nil {
			list = append(list, retained{l.Name, n})
		}
		return err
	})
	if err != nil && len(list) == 0 {
		return err
	}
	if c.JSON {
		return errors.Join(err, term.PrintJSON(s.Out, list))
	}
	return errors.Join(err, printRetained(s, keep, did, list))
}

func printRetained(s term.Streams, keep time.Duration, did string, list []retained) error {
	kept := fmt.Sprint("for ", keep)
	if keep == 0 {
		kept = "without limit, because access_retention is 0s"
	}
	fmt.Fprintf(s.Out, "the requests of regulators and administrators are kept %s\n\n", kept)
	rows := [][]any{{did, "REQUESTS"}}
	for _, l := range list {
		rows = append(rows, []any{l.Ledger, l.Accesses})
	}
	return s.List(rows)
}
