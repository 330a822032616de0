// Package host has the commands of those who run a daemon: keys, ledgers, tokens, acts of
// administrators, tables of the database, a witness, and the sandbox of serve --dev.
package host

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/term"
)

// LedgerCmd is shuffled ledger.
type LedgerCmd struct {
	Create  ledgerCreateCmd  `cmd:"" help:"Create a ledger: its keys, its first entry and its high-water mark."`
	List    ledgerListCmd    `cmd:"" help:"List the ledgers of a database."`
	Auditor ledgerAuditorCmd `cmd:"" help:"Add, retire and list the auditors of a running daemon's ledger."`
	Policy  ledgerPolicyCmd  `cmd:"" help:"Change or show the witness policy of a running daemon's ledger."`
}

type ledgerListCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

func (ledgerListCmd) Help() string { return "Example:\n  shuffled ledger list --data ./shuffled-data" }

// listedLedger is a line of `ledger list`.
type listedLedger struct {
	Name       string `json:"name"`
	Origin     string `json:"origin"`
	Production bool   `json:"production"`
	Size       uint64 `json:"size"`
}

func (c ledgerListCmd) Run(ctx context.Context, s term.Streams) error {
	return c.WithLedgers(ctx, func(cfg *config.Config, store store.Database, infos []ledger.Info) error {
		return c.print(ctx, s, cfg, store, infos)
	})
}

func (c ledgerListCmd) print(ctx context.Context, s term.Streams, cfg *config.Config, store store.Database,
	infos []ledger.Info) error {
	list := make([]listedLedger, 0, len(infos))
	for _, info := range infos {
		one, err := listLedger(ctx, store, info)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if c.JSON {
		return term.PrintJSON(s.Out, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(s.Out, "no ledgers in %s\n", place.Database(cfg))
		return nil
	}
	rows := [][]any{{"NAME", "KIND", "ENTRIES", "ORIGIN"}}
	for _, l := range list {
		kind := "sandbox"
		if l.Production {
			kind = "production"
		}
		rows = append(rows, []any{l.Name, kind, l.Size, l.Origin})
	}
	return s.List(rows)
}

func listLedger(ctx context.Context, store ledger.Store, info ledger.Info) (listedLedger, error) {
	id := ledger.IDOf(info.Origin)
	head, err := store.Head(ctx, id)
	if err != nil {
		return listedLedger{}, fmt.Errorf("reading the head of %s: %w", info.Name, err)
	}
	one := listedLedger{Name: info.Name, Origin: info.Origin, Size: head.Size}
	for row, err := range store.Rows(ctx, id, 0, 1) {
		if err != nil {
			return one, fmt.Errorf("reading the genesis of %s: %w", info.Name, err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return one, fmt.Errorf("reading the genesis of %s: %w", info.Name, err)
		}
		if g, ok := e.Body.(*audit.Genesis); ok {
			one.Production = g.Production
		}
	}
	return one, nil
}
