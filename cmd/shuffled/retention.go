package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/recall"
)

type retentionCmd struct {
	Run retentionRunCmd `cmd:"" name:"run" help:"Drop what is past its retention now, or count it. Evidence stays."`
}

type retentionRunCmd struct {
	placeFlags
	DryRun bool `help:"Count what would be dropped, and drop nothing."`
	JSON   bool `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (retentionRunCmd) Help() string {
	return `Drops from recall the shuffles whose close is older than "retention" of the configuration, and the
requests of regulators that are older than "access_retention". Entries, receipts, transcripts and
whatever else proves something are never dropped. A daemon does the same every hour.

Example:
  shuffled retention run --config shuffled.toml --dry-run`
}

// retained is what `retention run` says of a ledger.
type retained struct {
	Ledger string `json:"ledger"`
	recall.Dropped
}

// retention is what the configuration says of it.
func retention(cfg *config.Config) recall.Retention {
	return recall.Retention{Shuffles: cfg.Retention.Duration(), Accesses: cfg.AccessRetention.Duration()}
}

func (c retentionRunCmd) Run(ctx context.Context, s streams) error {
	return c.withLedgers(ctx, func(cfg *config.Config, store backend, infos []ledger.Info) error {
		keep, now := retention(cfg), time.Now()
		act := recall.Drop
		if c.DryRun {
			act = recall.Overdue
		}
		list := []retained{}
		for _, l := range infos {
			d, err := act(ctx, store, ledger.IDOf(l.Origin), keep, now)
			if err != nil {
				return fmt.Errorf("ledger %s: %w", l.Name, err)
			}
			list = append(list, retained{l.Name, d})
		}
		if c.JSON {
			return printJSON(s.out, list)
		}
		return c.print(s, keep, list)
	})
}

func (c retentionRunCmd) print(s streams, keep recall.Retention, list []retained) error {
	for _, k := range []struct {
		what, key string
		d         time.Duration
	}{{"shuffles in recall", "retention", keep.Shuffles}, {"regulators' requests", "access_retention", keep.Accesses}} {
		if k.d == 0 {
			fmt.Fprintf(s.out, "%s are kept for ever: %s is 0s\n", k.what, k.key)
		} else {
			fmt.Fprintf(s.out, "%s are kept for %s\n", k.what, k.d)
		}
	}
	did := "DROPPED"
	if c.DryRun {
		did = "TO DROP"
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\n%s\tSHUFFLES\tREQUESTS\t\n", did)
	for _, l := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t\n", l.Ledger, l.Shuffles, l.Accesses)
	}
	return w.Flush()
}
