// Package audit has the commands of those who check a house: the verdict on one shuffle, the verdict on a whole
// ledger, and evidence as text for people.
package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"shuffled/internal/bundle"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store"
	"shuffled/internal/term"
)

// AuditCmd is shuffled audit.
type AuditCmd struct {
	Export auditExportCmd `cmd:"" help:"Write a ledger with its proofs to a directory, a bundle, which is also a mirror of the log."`
	Verify auditVerifyCmd `cmd:"" help:"Check a bundle, offline: every entry, every rule, every disclosed shuffle."`
	Attest auditAttestCmd `cmd:"" help:"Check a bundle, and sign a statement for each shuffle whose tape an auditor's key opens: its order is right."`
	Fsck   auditFsckCmd   `cmd:"" help:"Check the rows of a database, alongside a running daemon: every column of every table of evidence."`
}

type auditExportCmd struct {
	place.Flags
	Ledger string `default:"main" help:"Ledger to export."`
	Out    string `required:"" placeholder:"DIR" help:"Directory of the bundle. If it has a bundle of the ledger, what is new is added."`
	From   string `placeholder:"TIME" help:"Beginning of the period that the report is about: a month, a day (UTC) or RFC 3339. The export itself always begins at entry 0."`
	To     string `placeholder:"TIME" help:"End of the period. A month or day given here is part of it."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

func (auditExportCmd) Help() string {
	return "Example:\n  shuffled audit export --database postgres://shuffled_reader@db/shuffled --ledger main --from 2026-11 --to 2026-11 --out ./main-bundle"
}

func (c auditExportCmd) Run(ctx context.Context, s term.Streams) error {
	from, to, err := parsePeriod(c.From, c.To)
	if err != nil {
		return err
	}
	cfg, err := c.LoadOf(c.Ledger)
	if err != nil {
		return err
	}
	evidence, err := place.OpenEvidence(ctx, cfg)
	if err != nil {
		return err
	}
	defer evidence.Close()
	infos, err := evidence.Names(ctx)
	if err != nil {
		return err
	}
	info, err := findLedger(cfg, infos, c.Ledger)
	if err != nil {
		return err
	}
	p := term.NewProgress(s.Err, "entries")
	src := store.Export{Evidence: evidence, ID: ledger.IDOf(info.Origin)}
	result, err := bundle.Export(ctx, src, c.Out, bundle.Options{
		Origin: info.Origin, From: from, To: to, Progress: p.At,
	})
	p.End()
	if err != nil {
		return c.refused(s, err)
	}
	if err := c.print(s, info, result); err != nil {
		return err
	}
	if n := result.MissingDecks; n > 0 {
		return failed(s,
			term.WithHint(fmt.Errorf("the store does not have %s that commits name: the bundle has everything else", term.Plural(n, "deck")),
				"shuffled audit fsck finds what is wrong with the store; a later export asks for the missing decks again"))
	}
	return nil
}

// findLedger returns the ledger of that name, or an error that lists the ledgers there are.
func findLedger(cfg *config.Config, infos []ledger.Info, name string) (ledger.Info, error) {
	var names []string
	for _, info := range infos {
		if info.Name == name {
			return info, nil
		}
		names = append(names, info.Name)
	}
	err := fmt.Errorf("%w %s in %s", stops.NoLedger, name, place.Database(cfg))
	if len(names) == 0 {
		return ledger.Info{}, term.WithHint(err, "this database has no ledger: shuffled ledger create makes one")
	}
	return ledger.Info{}, term.WithHint(err, "this database has %s: choose a ledger with --ledger", strings.Join(names, ", "))
}

// refused adds what to do to an error of an export. Evidence that contradicts itself is a failure of the
// evidence. After any other error the export could not run.
func (c auditExportCmd) refused(s term.Streams, err error) error {
	const unchanged = "the export changed nothing in %s. "
	switch {
	case errors.Is(err, bundle.ErrContradiction):
		return failed(s, term.WithHint(err, unchanged+"shuffled audit fsck finds what is wrong with the store", c.Out))
	case errors.Is(err, bundle.ErrDiverged):
		return failed(s, term.WithHint(err,
			unchanged+"If this is the right ledger, it was rolled back or rewritten after the last export, or this database is a standby that lags: keep the directory, it is evidence", c.Out))
	case errors.Is(err, bundle.ErrDamaged):
		return failed(s, term.WithHint(err,
			"shuffled audit verify %s finds the damage; an export to another directory starts at entry 0", c.Out))
	}
	return err
}

// failed prints an error, and returns the error of evidence that fails.
func failed(s term.Streams, err error) error {
	term.Report(s.Err, err)
	return term.ErrFails
}

// Exported is what `audit export --json` prints.
type Exported struct {
	Directory string `json:"directory"`
	Ledger    string `json:"ledger"`
	Origin    string `json:"origin"`
	*bundle.Result
}

func (c auditExportCmd) print(s term.Streams, of ledger.Info, r *bundle.Result) error {
	if c.JSON {
		return term.PrintJSON(s.Out, Exported{c.Out, of.Name, of.Origin, r})
	}
	more := "nothing new"
	if r.Added > 0 {
		more = term.Counted(r.Added) + " new"
	}
	_, err := fmt.Fprintf(s.Out, "%s: ledger %s, %s entries (%s), %s cosigned checkpoints\n",
		term.Visible(c.Out), of.Name, term.Counted(r.Size), more, term.Counted(r.Cosigned))
	return err
}

// parsePeriod reads --from and --to, as UTC milliseconds. A time that is not given is 0.
func parsePeriod(from, to string) (begin, end int64, err error) {
	if from != "" {
		if begin, _, err = parseSpan(from); err != nil {
			return begin, end, term.Usage("--from %s", err)
		}
	}
	if to != "" {
		if _, end, err = parseSpan(to); err != nil {
			return begin, end, term.Usage("--to %s", err)
		}
	}
	if begin != 0 && end != 0 && begin >= end {
		return begin, end, term.Usage("--from must be before --to")
	}
	return begin, end, nil
}

// parseSpan reads a month, a day or an instant. It returns where the span begins and ends. An instant begins
// and ends at itself.
func parseSpan(s string) (begin, end int64, err error) {
	for _, form := range []struct {
		layout       string
		months, days int
	}{{"2006-01", 1, 0}, {time.DateOnly, 0, 1}, {time.RFC3339Nano, 0, 0}} {
		if at, err := time.Parse(form.layout, s); err == nil && at.UnixMilli() >= 0 {
			return at.UnixMilli(), at.AddDate(0, form.months, form.days).UnixMilli(), nil
		}
	}
	return 0, 0, fmt.Errorf("must be a month, a day or a time like 2026-11, 2026-11-07 or 2026-11-07T12:00:00Z, not %q", s)
}
