package audit

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/trust"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/fsck"
	"shuffled/internal/seal"
	"shuffled/internal/term"
	"shuffled/internal/witness"
)

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
	return cmp.Or(printed(s, c.JSON, r, text), judgement(r.Verdict, r.Unknown))
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
