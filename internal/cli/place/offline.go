package place

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/store"
	"shuffled/internal/term"
)

// WithLedger opens one ledger as its writer, and calls do with it. It fails while a daemon of this data
// directory serves the ledger.
func (p Flags) WithLedger(ctx context.Context, name string, do func(*sequencer.Ledger) error) error {
	return p.Adopting(ctx, name, "", nil, do)
}

// Adopting is WithLedger for a ledger whose head administrators adopt by an act, with this reason.
func (p Flags) Adopting(ctx context.Context, name, reason string, act *audit.ActEntry,
	do func(*sequencer.Ledger) error) error {
	cfg, err := p.LoadOf(name)
	if err != nil {
		return err
	}
	return withStore(ctx, cfg, func(store store.Database) error {
		l, err := OpenLedger(ctx, cfg, store, name, func(c *ledger.Config) { c.AdoptHead, c.AdoptAct = reason, act })
		if err != nil {
			return err
		}
		return errors.Join(do(l), l.Close())
	})
}

// OpenLedger opens the ledger of this name as its writer. adopt, if it is not nil, says which head is adopted. The
// caller must close the ledger.
func OpenLedger(ctx context.Context, cfg *config.Config, store store.Database, name string,
	adopt func(*ledger.Config)) (*sequencer.Ledger, error) {
	c := LedgerOf(cfg, name)
	passphrase, err := keys.ReadPassphrase(cfg.PassphraseFile)
	if err != nil {
		return nil, err
	}
	origin, signers, err := ReadSigners(c, passphrase)
	if err != nil {
		return nil, err
	}
	opening := LedgerConfig(cfg, c.Mark, ledger.Info{Name: c.Name, Origin: origin}, signers)
	opening.Store, opening.Log = store, slog.New(slog.DiscardHandler)
	if opening.Start, err = Describe(cfg); err != nil {
		return nil, err
	}
	if adopt != nil {
		adopt(&opening)
	}
	l, err := sequencer.Open(ctx, opening)
	if err != nil {
		return nil, ExplainOpen(ctx, store, err, opening.Info)
	}
	if err := l.Ready(); err != nil {
		return nil, term.WithHint(errors.Join(fmt.Errorf("ledger %s cannot be written: %w", name, err), l.Close()),
			"bring the newest database back, or start the witnesses: docs/operations/backup.md, Rollback and split brain")
	}
	return l, nil
}

// LedgerOf returns a ledger as it is configured, or else with the default files in the data directory.
func LedgerOf(cfg *config.Config, name string) config.Ledger {
	for _, l := range cfg.Ledgers {
		if l.Name == name {
			return l
		}
	}
	f := FilesOf(cfg.Data, name)
	return config.Ledger{Name: name, SigningKey: f.Key, Mark: f.Mark}
}

// Append writes an act and the entry that it approves, as an operator. One of them may be nil.
func Append(ctx context.Context, l *sequencer.Ledger, act *audit.ActEntry, body audit.Body) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if k, ok := body.(*audit.Key); ok {
		_, err := l.AddKey(ctx, audit.Operator, k, act)
		return err
	}
	var bodies []audit.Body
	if act != nil {
		bodies = append(bodies, act)
	}
	if body != nil {
		bodies = append(bodies, body)
	}
	_, err := l.Append(ctx, ledger.Proposal{Actor: audit.Operator, Bodies: bodies})
	return err
}
