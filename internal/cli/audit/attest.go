package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/openings"
	"shuffled/internal/inspect"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

type auditAttestCmd struct {
	Dir        string   `arg:"" help:"The bundle that shuffled audit export wrote."`
	Key        string   `placeholder:"VKEY" xor:"trust" help:"Trust this verifier key of the ledger, or the key in the file of this name."`
	Policy     string   `placeholder:"FILE" xor:"trust" help:"Trust the keys of this C2SP witness policy, and require its quorum."`
	AuditorKey []string `name:"auditor-key" required:"" placeholder:"FILE" help:"Open the tapes that were sealed to this auditor's key."`
	SignKey    string   `name:"sign-key" required:"" placeholder:"FILE" help:"Sign with this key. The statements show its name. shuffled key generate signing --origin NAME makes a key."`
	Passphrase string   `name:"passphrase-file" placeholder:"FILE" help:"File with the passphrase of encrypted key files."`
	Shuffle    []uint64 `placeholder:"ID" xor:"which" help:"Sign only for this shuffle. May be repeated."`
	From       string   `placeholder:"TIME" help:"Sign for shuffles committed at this time or later: a month, a day (UTC) or RFC 3339 (default: all)."`
	To         string   `placeholder:"TIME" help:"End of the period. A month or day given here is part of it."`
	Out        string   `required:"" placeholder:"DIR" help:"Directory for the statements. Each is a file ID.statement."`
	JSON       bool     `name:"json" help:"Print JSON."`
}

func (auditAttestCmd) Help() string {
	return `A statement is about one shuffle, for readers who do not have its tape. It says that the tape has the right length, opens the commitment and leads to the deck root, so that the deck held each card once.

The command checks the whole bundle first, as shuffled audit verify does. It writes a statement only for a shuffle whose order it recomputed in this run. If the ledger itself has a fault, it writes no statement. If a shuffle has a fault, it writes none for that shuffle.

Examples:

    shuffled audit attest ./main-bundle --key main.vkey --auditor-key auditor.key --sign-key lab.key --shuffle 1234 --out ./statements
    shuffled audit attest ./main-bundle --key main.vkey --auditor-key auditor.key --sign-key lab.key --from 2026-11 --to 2026-11 --out ./statements

The house takes a statement at POST /v1/LEDGER/shuffles/ID/statements with an auditor's token, and serves it in the transcript. A player gives the verifier key of --sign-key to shuffled verify --auditor.

Exit codes: 0 every shuffle of --shuffle, or all of the period that have ended, have a statement, 1 a fault, or one has none, 2 usage, 3 could not run or cannot judge.`
}

// attested is the result of the command, as --json prints it.
type attested struct {
	SignedBy   string   `json:"signed_by"` // the verifier key
	Statements []uint64 `json:"statements"`
	KeptBack   []uint64 `json:"kept_back"` // those of --shuffle that have none
	LeftOut    uint64   `json:"left_out"`  // how many have none: of --shuffle, or of those of the period that ended
}

func (c auditAttestCmd) Run(ctx context.Context, s term.Streams) error {
	if c.Key == "" && c.Policy == "" {
		return term.Usage("--key or --policy is missing: a statement names a ledger, so the auditor knows its key")
	}
	if len(c.Shuffle) > 0 && (c.From != "" || c.To != "") {
		return term.Usage("--shuffle names shuffles, and --from and --to name a period: give shuffles or a period, not both")
	}
	opts, err := auditVerifyCmd{Key: c.Key, Policy: c.Policy, AuditorKey: c.AuditorKey, Passphrase: c.Passphrase,
		From: c.From, To: c.To}.options()
	if err != nil {
		return err
	}
	signer, vkey, err := c.signer()
	if err != nil {
		return err
	}
	var found []openings.Statement
	opts.Recomputed = func(of inspect.Recomputed) {
		if len(c.Shuffle) == 0 || slices.Contains(c.Shuffle, of.ID) {
			found = append(found, of.Statement)
		}
	}
	r, err := inspectBundle(ctx, s, c.Dir, opts)
	if err != nil {
		return err
	}
	if r.Origin == signer.Name() {
		return term.Usage("--sign-key has the name %s, which is the ledger's own: an auditor signs statements with a key of another name", term.Visible(r.Origin))
	}
	faulty, sound := faultyShuffles(r)
	if !sound {
		return errors.Join(concludeAudit(s, c.Dir, r, c.JSON), errors.New("no statement was written"))
	}
	done := attested{SignedBy: vkey, Statements: []uint64{}, KeptBack: []uint64{}}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("writing statements: %w", err)
	}
	for _, st := range found {
		if faulty[st.ID] {
			continue
		}
		if err := c.write(st, signer); err != nil {
			return err
		}
		done.Statements = append(done.Statements, st.ID)
	}
	for _, id := range c.Shuffle {
		if !slices.Contains(done.Statements, id) {
			done.KeptBack = append(done.KeptBack, id)
		}
	}
	slices.Sort(done.Statements)
	slices.Sort(done.KeptBack)
	if done.LeftOut = uint64(len(done.KeptBack)); len(c.Shuffle) == 0 {
		done.LeftOut = r.Totals.Closed() - uint64(len(done.Statements))
	}
	return c.conclude(s, done)
}

// signer reads the key that signs. Statements show its name, which must be one that a statement may have.
func (c auditAttestCmd) signer() (note.Signer, string, error) {
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return nil, "", err
	}
	k, err := keys.ReadSigning(c.SignKey, passphrase)
	if err != nil {
		return nil, "", err
	}
	if err := openings.CheckSigner(k.Origin()); err != nil {
		return nil, "", term.Usage("--sign-key: %s", err)
	}
	return k.Signer(), k.VKey(), nil
}

// faultyShuffles returns the shuffles with a fault. sound is false if the ledger cannot be judged, or has a
// fault that belongs to no shuffle or is not listed.
func faultyShuffles(r *inspect.Report) (ids map[uint64]bool, sound bool) {
	ids, sound = make(map[uint64]bool), r.Verdict != inspect.CannotJudge && r.FaultCount == uint64(len(r.Faults))
	for _, f := range r.Faults {
		if f.Shuffle == nil {
			return nil, false
		}
		ids[*f.Shuffle] = true
	}
	return ids, sound && len(r.Unknown) == 0
}

func (c auditAttestCmd) write(st openings.Statement, signer note.Signer) error {
	signed, err := st.Sign(signer)
	if err != nil {
		return fmt.Errorf("signing a statement about shuffle %d: %w", st.ID, err)
	}
	name := filepath.Join(c.Out, fmt.Sprintf("%d.statement", st.ID))
	if err := os.WriteFile(name, signed, 0o644); err != nil {
		return fmt.Errorf("writing a statement: %w", err)
	}
	return nil
}

func (c auditAttestCmd) conclude(s term.Streams, done attested) error {
	text := fmt.Sprintf("%s in %s, signed by %s\n", term.Plural(uint64(len(done.Statements)), "statement"),
		term.Visible(c.Out), done.SignedBy)
	var fails error
	if n := done.LeftOut; n > 0 {
		text += fmt.Sprintf("%s without a statement, because of a fault, a tape that no key opens, or a missing close. shuffled audit verify %s says which.\n",
			term.Plural(n, "shuffle"), term.Visible(c.Dir))
		fails = term.ErrFails
	}
	return cmp.Or(s.Answer(c.JSON, done, "%s", text), fails)
}
