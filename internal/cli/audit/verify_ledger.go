package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/player"
	"shuffled/internal/cli/ticket"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect"
	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/internal/terms"
)

type auditVerifyCmd struct {
	Dir        string        `arg:"" help:"The bundle that shuffled audit export wrote."`
	Second     string        `arg:"" optional:"" name:"co-dealer-dir" help:"The bundle of the co-dealer's ledger. Both are checked, alone and together."`
	Key        string        `placeholder:"VKEY" xor:"trust" help:"Trust this verifier key of the ledger, or the key in the file of this name."`
	Policy     string        `placeholder:"FILE" xor:"trust" help:"Trust the keys of this C2SP witness policy, and require its quorum."`
	CoDealer   string        `name:"co-dealer" placeholder:"FILE" help:"For a pair: trust this C2SP witness policy for the co-dealer's ledger."`
	Limit      time.Duration `default:"1h" help:"For a pair: how long after its close-by a shuffle may be open with places that the co-dealer opened."`
	Since      string        `placeholder:"FILE" help:"An older checkpoint of the ledger. The ledger must extend it."`
	AuditorKey []string      `name:"auditor-key" placeholder:"FILE" help:"Open the tapes that were sealed to this auditor's key."`
	Passphrase string        `name:"passphrase-file" placeholder:"FILE" help:"File with the passphrase of encrypted key files."`
	At         string        `placeholder:"TIME" help:"Time at which a shuffle that is still open counts as overdue (RFC 3339; default: now, by this machine's clock)."`
	From       string        `placeholder:"TIME" help:"Beginning of the period that the figures are about: a month, a day (UTC) or RFC 3339 (default: everything)."`
	To         string        `placeholder:"TIME" help:"End of the period. A month or day given here is part of it."`
	Tickets    []string      `placeholder:"FILE" sep:"none" help:"A list of tickets from which a shuffle of this ledger is drawn, as shuffled tickets root takes it. Its count and root are recomputed. May be repeated."`
	Secrets    []string      `name:"tickets-secret-file" placeholder:"FILE" sep:"none" help:"File with the secret of the list. Give one for each --tickets, in the same order."`
	Shuffles   string        `placeholder:"FILE" help:"Write a line of JSON for each shuffle of the period to FILE, and say how many each service committed."`
	shuffleFilter
	Outcomes string `placeholder:"DIR" help:"Write each disclosed outcome of the period to the new directory DIR, a file for each kind, for shuffled lab battery --from."`
	HTML     string `name:"html" placeholder:"FILE" help:"Write the report to FILE as a page for a browser or printer."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

func (auditVerifyCmd) Help() string {
	return `Hashes every entry again up to the signed root, checks it against every rule, and recomputes every disclosed shuffle. It works offline, on all cores. Take the key from where you trust it, not from the person who gave you the bundle.

Examples:

    shuffled audit verify ./main-bundle --key main.vkey
    shuffled audit verify ./main-bundle --policy policy.txt --since last-year/checkpoint
    shuffled audit verify ./main-bundle --key main.vkey --auditor-key auditor.key --json
    shuffled audit verify ./main-bundle --key main.vkey --from 2026-11-28 --to 2026-11-28 --shuffles void.jsonl --outcome void
    shuffled audit verify ./main-bundle --key main.vkey --auditor-key auditor.key --from 2026-11 --to 2026-11 --outcomes november
    shuffled audit verify ./main-bundle --key main.vkey --tickets tickets.txt --tickets-secret-file tickets.secret
    shuffled audit verify ./main-bundle ./lab-bundle --policy main.policy --co-dealer lab.policy

Outcomes are written only if there is no fault, however the shuffle ended, in the order of the commits: as committed, and of a mixed shuffle also as its places showed them. A child is written as the order of its list of cards. A blind shuffle is written as committed only, because the co-dealer's ledger has the rest.

A list of tickets is in no ledger. Without it, the report says of how many shuffles the list was not seen.

All faults are reported, each once. A check always begins at entry 0. It needs some 32 bytes for each shuffle in the directory of temporary files, and for a pair some 5 kB for each blind shuffle. TMPDIR names another directory.

For a pair, every deal of the co-dealer is compared with the house's ledger. The house dealt it on, or a close names it as not played, or the report says what became of it. All flags except --co-dealer, --at, --auditor-key and --json are about the house's ledger. --html is for one ledger only.

Exit codes: 0 all holds, 1 a fault, 2 usage, 3 could not run or cannot judge. Without --key and --policy a ledger that agrees with itself exits 0, as "key not pinned".`
}

func (c auditVerifyCmd) Run(ctx context.Context, s term.Streams) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	if opts.Tickets, err = c.lists(s); err != nil {
		return err
	}
	if err := c.shuffleFilter.check(c.Shuffles, c.Outcomes, c.HTML); err != nil {
		return err
	}
	owners := make(map[string]uint64)
	opts.Keep = c.among(owners)
	if c.Second != "" {
		return c.runPair(ctx, s, opts)
	}
	if c.CoDealer != "" {
		return term.Usage("--co-dealer is for a pair: give the co-dealer's bundle after the house's")
	}
	disclosed := outcomes{kinds: make(map[string]*kind)}
	if c.Outcomes != "" {
		opts.Recomputed = func(of inspect.Recomputed) {
			if c.Table == "" || of.Context.Table == c.Table {
				disclosed.take(of)
			}
		}
	}
	r, err := inspectBundle(ctx, s, c.Dir, opts)
	if err != nil {
		return err
	}
	if c.Shuffles != "" && !c.JSON {
		defer printOwners(s.Out, c.Shuffles, owners)
	}
	if c.Outcomes != "" && judgement(r.Verdict, r.Unknown) == nil {
		if err := disclosed.write(ctx, c.Dir, c.Outcomes, r); err != nil {
			return fmt.Errorf("writing outcomes: %w", err)
		}
		if !c.JSON {
			defer disclosed.print(s.Out, c.Outcomes)
		}
	}
	if c.HTML != "" {
		if err := writeAuditPage(c.HTML, c.Dir, r); err != nil {
			return err
		}
	}
	return concludeAudit(s, c.Dir, r, c.JSON)
}

// inspectBundle checks a bundle, and shows its progress.
func inspectBundle(ctx context.Context, s term.Streams, dir string, opts inspect.Options) (*inspect.Report, error) {
	b, err := openBundle(dir)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return inspecting(ctx, s, func(progress func(done, total uint64)) (*inspect.Report, error) {
		opts.Progress = progress
		return inspect.Run(ctx, b, opts)
	})
}

func openBundle(dir string) (*inspect.Bundle, error) {
	b, err := inspect.OpenBundle(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, term.WithHint(err, "a bundle is a directory that shuffled audit export wrote")
	}
	if info, failed := os.Stat(dir); err != nil && failed == nil && !info.IsDir() {
		return nil, term.WithHint(err, "a bundle is a directory; shuffled verify judges a transcript or a receipt")
	}
	return b, cannotJudge(err)
}

// inspecting runs a check, with settings of the process that suit it, and shows its progress.
func inspecting[R any](ctx context.Context, s term.Streams,
	check func(progress func(done, total uint64)) (R, error)) (R, error) {
	// Almost nothing of what is read stays in memory. Collecting less often costs some MiB and saves a tenth of
	// the time.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(800))
	}
	p := term.NewProgress(s.Err, "entries")
	defer p.End()
	r, err := check(p.At)
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return r, cannotJudge(err)
}

// concludeAudit prints a report and turns its verdict into the exit code.
func concludeAudit(s term.Streams, name string, r *inspect.Report, asJSON bool) error {
	return cmp.Or(s.Answer(asJSON, r, "%s", Sheet{s.Sheet()}.audit(name, r)), judgement(r.Verdict, r.Unknown))
}

// judgement is the error with which a command ends after a verdict.
func judgement(verdict string, unknown []string) error {
	switch verdict {
	case inspect.Failed:
		return term.ErrFails
	case inspect.CannotJudge:
		return cannotJudge(fmt.Errorf("%s: %w", unknown[0], audit.ErrUnknown))
	}
	return nil
}

// cannotJudge returns player.CannotJudge for an error of something unknown, and any other error as it is.
func cannotJudge(err error) error {
	if errors.Is(err, audit.ErrUnknown) {
		return player.CannotJudge(err.Error())
	}
	return err
}

// options reads what the flags name. A file that cannot be read is a failure to run. A file that is not what
// the flag takes is a mistake in the command line.
func (c auditVerifyCmd) options() (inspect.Options, error) {
	o := inspect.Options{Shuffles: c.Shuffles}
	trust, err := player.ReadTrust(c.Key, c.Policy, nil)
	if err != nil {
		return o, err
	}
	o.VKey, o.Policy = trust.VKey, trust.Policy
	if o.From, o.To, err = parsePeriod(c.From, c.To); err != nil {
		return o, err
	}
	// The manifest's times are the operator's word (docs/SPEC.md section 13.3), so the clock of this machine counts.
	o.At = time.Now().UnixMilli()
	if c.At != "" {
		at, err := time.Parse(time.RFC3339Nano, c.At)
		if err != nil {
			return o, term.Usage("--at must be a time such as 2026-11-21T10:00:00Z, not %q", c.At)
		}
		o.At = at.UnixMilli()
	}
	if c.Since != "" {
		if o.Since, err = readSince(c.Since); err != nil {
			return o, err
		}
	}
	return o, c.auditors(&o)
}

// lists hashes the lists of tickets. A file that is no list is a failure to run, because a list is no part of
// the evidence.
func (c auditVerifyCmd) lists(s term.Streams) (all []inspect.TicketList, err error) {
	if len(c.Tickets) != len(c.Secrets) {
		return nil, term.Usage("--tickets is given %d times and --tickets-secret-file %d times: each list needs its own secret",
			len(c.Tickets), len(c.Secrets))
	}
	for i, file := range c.Tickets {
		found, _, err := (&ticket.List{File: file, Secret: c.Secrets[i]}).Walk(s, terms.Wanted{})
		if err != nil {
			return nil, err
		}
		all = append(all, inspect.TicketList{Name: file, List: found})
	}
	return all, nil
}

func (c auditVerifyCmd) auditors(o *inspect.Options) error {
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return err
	}
	for _, name := range c.AuditorKey {
		k, err := keys.ReadAuditor(name, passphrase)
		if err != nil {
			return err
		}
		a, err := disclosure.NewAuditor(k.Private().Bytes())
		if err != nil {
			return err
		}
		o.Auditors = append(o.Auditors, a)
	}
	return nil
}

// readSince reads an older checkpoint, which must be a signed note.
func readSince(name string) ([]byte, error) {
	b, err := term.ReadStart(name, nil, audit.MaxCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("reading the older checkpoint: %w", err)
	}
	if c, err := audit.CheckpointText(b); err != nil || c.Size == 0 {
		return nil, term.Usage("--since: %s must be a signed checkpoint of a ledger with entries", term.Visible(name))
	}
	return b, nil
}
