// Package host has the commands of those who run a daemon: keys, ledgers, tokens, acts of
// administrators, tables of the database, a witness, and the sandbox of serve --dev.
package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/outbound"
	"shuffled/internal/recall"
	"shuffled/internal/term"
	"shuffled/migrations"
)

// LedgerCmd is shuffled ledger.
type LedgerCmd struct {
	Create ledgerCreateCmd `cmd:"" help:"Create a ledger: its keys, its first entry and its high-water mark." example:"shuffled ledger create --name main --origin cards.example.com/ledger-1 --house casino --production --policy witnesses.policy --mix slots,beacon,cut"`
	List   ledgerListCmd   `cmd:"" help:"List the ledgers of every database of a configuration." example:"shuffled ledger list --data ./shuffled-data"`
}

type ledgerListCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

// listedLedger is a line of `ledger list`.
type listedLedger struct {
	Name       string `json:"name"`
	Origin     string `json:"origin"`
	Production bool   `json:"production"`
	Size       uint64 `json:"size"`
}

func (c ledgerListCmd) Run(ctx context.Context, s term.Streams) error {
	list := []listedLedger{}
	err := c.EachLedger(ctx, func(store ledger.Store, info ledger.Info) error {
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
		e, err2 := audit.ParseEntry(row.Entry)
		if err := cmp.Or(err, err2); err != nil {
			return one, fmt.Errorf("reading the genesis: %w", err)
		}
		if g, ok := e.Body.(*audit.Genesis); ok {
			one.Production = g.Production
		}
	}
	return one, nil
}

// MigrateCmd is shuffled migrate.
type MigrateCmd struct {
	Up migrateUpCmd `cmd:"" help:"Create the tables, or bring them to the newest version." example:"shuffled migrate up --database postgres://owner@db/shuffled"`
}

type migrateUpCmd struct {
	place.Flags
	NoGuards bool `help:"Make the tables without the triggers that guard them, for a database engine that has no such triggers."`
}

func (c migrateUpCmd) Run(ctx context.Context, s term.Streams) error {
	all, err := c.LoadEach()
	if err != nil {
		return err
	}
	return place.Each(all, func(cfg *config.Config) error {
		if err := place.MigrateUp(ctx, cfg, c.NoGuards); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.Out, "%s: schema %d of %d, up to date\n", place.Where(cfg), migrations.Latest,
			migrations.Latest)
		return err
	})
}

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
	err = c.EachLedger(ctx, func(store ledger.Store, l ledger.Info) error {
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
	kept := fmt.Sprint("for ", keep)
	if keep == 0 {
		kept = "without limit, because access_retention is 0s"
	}
	fmt.Fprintf(s.Out, "the requests of regulators and administrators are kept %s\n\n", kept)
	rows := [][]any{{did, "REQUESTS"}}
	for _, l := range list {
		rows = append(rows, []any{l.Ledger, l.Accesses})
	}
	return errors.Join(err, s.List(rows))
}

// policy reads the policy of the flag. The daemon asks the witnesses, so each needs an address. Log
// lines may be there for other readers of the policy.
func (c ledgerCreateCmd) policy(vkey string) ([]byte, error) {
	if c.Policy == "" {
		return nil, nil
	}
	text, err := term.ReadBounded(c.Policy, audit.MaxPolicy)
	if err != nil {
		return nil, err
	}
	return text, c.checkPolicy(text, vkey)
}

// checkPolicy checks whether the first entry of a ledger with this key may have the policy.
func (c ledgerCreateCmd) checkPolicy(text []byte, vkey string) error {
	p, err := trust.ParsePolicy(text)
	if err != nil {
		return term.Usage("--policy %s: %s", c.Policy, err)
	}
	if !p.Asks() {
		return term.Usage("--policy %s: the quorum must ask for a witness", c.Policy)
	}
	if weak := p.CheckOverlap(); weak != nil && c.Production {
		return term.Usage("--policy %s: %s. In a production ledger any two quorums must share a witness: make the quorum more than half of each group", c.Policy, weak)
	}
	for _, w := range p.Witnesses {
		if _, err := outbound.ParseURL(w.URL); err != nil {
			return term.Usage("--policy %s: the address of witness %s %s", c.Policy, w.Name, err)
		}
	}
	key, err := audit.ParseVKey(vkey)
	if err != nil {
		return err
	}
	own, err := audit.SigningKey(vkey)
	if err != nil {
		return err
	}
	if err := p.CheckWitnesses(key.Name(), func(k []byte) bool { return bytes.Equal(k, own) }); err != nil {
		return term.Usage("--policy %s: %s", c.Policy, err)
	}
	for _, l := range p.Logs {
		if l.Name() != key.Name() || l.KeyHash() != key.KeyHash() {
			return term.Usage("--policy %s: the log line of %s does not have this ledger's key %s", c.Policy, l.Name(), vkey)
		}
	}
	return nil
}
