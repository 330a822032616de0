// Package audit has the commands of those who check a house: the verdict on one shuffle, the verdict on a whole
// ledger, and evidence as text for people.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/fsck"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/stops"
	"shuffled/internal/store"
	"shuffled/internal/term"
	"shuffled/internal/witness"
)

// AuditCmd is shuffled audit.
type AuditCmd struct {
	Export auditExportCmd `cmd:"" help:"Write a ledger with its proofs to a directory, a bundle, which is also a mirror of the log." example:"shuffled audit export --database postgres://shuffled_reader@db/shuffled --ledger main --from 2026-11 --to 2026-11 --out ./main-bundle"`
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
	more := "nothing new"
	if r.Added > 0 {
		more = term.Counted(r.Added) + " new"
	}
	return s.Answer(c.JSON, Exported{c.Out, of.Name, of.Origin, r},
		"%s: ledger %s, %s entries (%s), %s cosigned checkpoints\n",
		term.Visible(c.Out), of.Name, term.Counted(r.Size), more, term.Counted(r.Cosigned))
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

type auditFsckCmd struct {
	place.Flags
	Ledger     string   `default:"main" help:"Ledger to check."`
	Key        string   `placeholder:"VKEY" xor:"trust" help:"Trust this verifier key of the ledger, or the key in the file of this name (default DATA/LEDGER.vkey, if it is there)."`
	Policy     string   `placeholder:"FILE" xor:"trust" help:"Trust the keys of this C2SP witness policy, and require its quorum."`
	Since      string   `placeholder:"FILE" help:"An older checkpoint of the ledger, kept elsewhere. The ledger must extend it."`
	Witnesses  bool     `help:"Ask the ledger's witnesses for the newest checkpoint that they cosigned. The ledger must extend it."`
	SealingKey []string `name:"sealing-key" placeholder:"FILE" help:"Open sealed tapes with this key (default: the keys of the configuration whose files exist)."`
	AuditorKey []string `name:"auditor-key" placeholder:"FILE" help:"Open the tapes that were sealed to this auditor's key."`
	Passphrase string   `name:"passphrase-file" placeholder:"FILE" help:"File with the passphrase of encrypted key files."`
	JSON       bool     `name:"json" help:"Print JSON."`
}

func (auditFsckCmd) Help() string {
	return `Checks every stored row against the evidence. Entries are checked against the tree, signatures, rules and disclosed tapes. All other columns are checked against the entries, and sealed tapes against their commitments. The head is checked against what this host, an older checkpoint or the witnesses have seen. The command only reads, and SELECT is the only privilege that it needs.

Examples:

    shuffled audit fsck --data ./shuffled-data
    shuffled audit fsck --database postgres://shuffled_reader@db/shuffled --ledger main --key main.vkey --since last-year/checkpoint

All faults are reported, each with its table, column and row.

Exit codes: 0 all holds, 1 a fault, 2 usage, 3 could not run or cannot judge.`
}

func (c auditFsckCmd) Run(ctx context.Context, s term.Streams) error {
	cfg, err := c.LoadOf(c.Ledger)
	if err != nil {
		return err
	}
	opts, err := c.options(cfg)
	if err != nil {
		return err
	}
	e, err := place.OpenEvidence(ctx, cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	r, err := inspecting(ctx, s, func(progress func(done, total uint64)) (*fsck.Report, error) {
		opts.Progress = progress
		return fsck.Run(ctx, e, opts)
	})
	if err != nil {
		return err
	}
	n := r.Store
	text := Sheet{s.Sheet()}.audit("ledger "+c.Ledger+" in "+place.Database(cfg), r.Report) + fmt.Sprintf(
		"Rows: %s entries, %s tiles, %s checkpoints, %s cosigned, %s decks; %s of %s sealed tapes opened.\n",
		term.Counted(n.Entries), term.Counted(n.Tiles), term.Counted(n.Checkpoints), term.Counted(n.Cosigned),
		term.Counted(n.Decks), term.Counted(n.TapesOpened), term.Counted(n.Tapes))
	return cmp.Or(s.Answer(c.JSON, r, "%s", text), judgement(r.Verdict, r.Unknown))
}

// options reads the files that the flags name, or else those of the configuration.
func (c auditFsckCmd) options(cfg *config.Config) (o fsck.Options, err error) {
	o.Ledger, o.Mark = c.Ledger, place.LedgerOf(cfg, c.Ledger).Mark
	key, own := c.Key, place.FilesOf(cfg.Data, c.Ledger).VKey
	if key == "" && c.Policy == "" && place.Exists(own) {
		key = own
	}
	verify := auditVerifyCmd{Key: key, Policy: c.Policy, Since: c.Since, AuditorKey: c.AuditorKey,
		Passphrase: c.Passphrase, At: time.Now().UTC().Format(time.RFC3339Nano)}
	verify.Passphrase = cmp.Or(verify.Passphrase, cfg.PassphraseFile)
	if o.Options, err = verify.options(); err != nil {
		return o, err
	}
	if c.Witnesses {
		o.Latest = func(ctx context.Context, w trust.Witness, origin string) ([]byte, error) {
			return (&witness.Client{URL: w.URL, Keys: []note.Verifier{w.Key}}).Latest(ctx, origin)
		}
	}
	o.Keys, err = c.sealing(cfg, verify.Passphrase)
	return o, err
}

// sealing reads the sealing keys that the flags name, or else those of the configuration that are on this host.
func (c auditFsckCmd) sealing(cfg *config.Config, passphraseFile string) (*seal.Keyring, error) {
	paths := c.SealingKey
	if len(paths) == 0 {
		for _, path := range cfg.SealingKeys {
			if place.Exists(path) {
				paths = append(paths, path)
			}
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	return place.ReadKeyring(paths, passphraseFile)
}
