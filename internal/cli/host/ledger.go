// Package host has the commands of those who run a daemon: keys, ledgers, tokens, acts of
// administrators, tables of the database, a witness, and the sandbox of serve --dev.
package host

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/term"
)

// LedgerCmd is shuffled ledger.
type LedgerCmd struct {
	Create ledgerCreateCmd `cmd:"" help:"Create a ledger: its keys, its first entry and its high-water mark."`
	List   ledgerListCmd   `cmd:"" help:"List the ledgers of every database of a configuration."`
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
	list := []listedLedger{}
	err := c.EachLedger(ctx, func(store store.Database, info ledger.Info) error {
		one, err := listLedger(ctx, store, info)
		list = append(list, one)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return term.PrintJSON(s.Out, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(s.Out, "no ledgers")
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
		return listedLedger{}, fmt.Errorf("reading the head: %w", err)
	}
	one := listedLedger{Name: info.Name, Origin: info.Origin, Size: head.Size}
	for row, err := range store.Rows(ctx, id, 0, 1) {
		if err != nil {
			return one, fmt.Errorf("reading the genesis: %w", err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return one, fmt.Errorf("reading the genesis: %w", err)
		}
		if g, ok := e.Body.(*audit.Genesis); ok {
			one.Production = g.Production
		}
	}
	return one, nil
}
