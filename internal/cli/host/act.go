package host

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

// ActCmd is shuffled act.
type ActCmd struct {
	Propose actProposeCmd `cmd:"" help:"Write an act of an administrator, and sign it."`
	Sign    actSignCmd    `cmd:"" help:"Show an act, and sign it as another administrator."`
	Submit  actSubmitCmd  `cmd:"" help:"Submit a signed act, which then takes effect or waits."`
	List    actListCmd    `cmd:"" help:"List the administrators, the acts that need two of them, and the acts that wait."`
}

// persons returns who approves acts, and which acts wait and have not expired. It asks the daemon or, without
// an address, reads the stored ledger.
func (t *tokenFlags) persons(ctx context.Context, s term.Streams) (p ledger.Persons, origin string, err error) {
	if t.URL == "" {
		state, head, err := t.ReadState(ctx, t.Ledger)
		if err != nil {
			return p, "", err
		}
		p, origin = ledger.PersonsOf(state, head), state.Genesis().Origin
	} else {
		told, err := remote.Call(ctx, t.remote(), s, func(d *client.Client) (*client.Acts, error) {
			origin = d.Origin()
			return d.Acts(ctx)
		})
		if err != nil {
			return p, "", err
		}
		if p, err = personsOf(told); err != nil {
			return p, "", err
		}
	}
	now := time.Now().UnixMilli()
	p.Waiting = slices.DeleteFunc(p.Waiting, func(w audit.WaitingAct) bool { return w.Expires <= now })
	return p, origin, nil
}

func personsOf(told *client.Acts) (p ledger.Persons, err error) {
	p = ledger.Persons{Genesis: told.Genesis, Newest: told.Newest, Delay: uint32(told.Delay),
		Head: ledger.Head{Size: told.Size, Root: [32]byte(told.Root)}}
	for _, a := range told.Administrators {
		key, err := audit.SigningKey(a.Vkey)
		if err != nil {
			return p, fmt.Errorf("the key of administrator %s: %w", term.Visible(a.Name), err)
		}
		p.Administrators = append(p.Administrators, audit.Administrator{Name: a.Name, Key: key})
	}
	for _, word := range told.TwoPersons {
		p.TwoPersons = append(p.TwoPersons, audit.ParseAct(word))
	}
	for _, w := range told.Waiting {
		p.Waiting = append(p.Waiting, audit.WaitingAct{Index: w.Entry, Due: w.Due.UnixMilli(),
			Expires: w.Expires.UnixMilli(), Digest: w.Digest})
	}
	return p, nil
}

type actListCmd struct {
	tokenFlags
}

func (actListCmd) Help() string { return "Example:\n  shuffled act list --ledger main" }

func (c actListCmd) Run(ctx context.Context, s term.Streams) error {
	p, origin, err := c.persons(ctx, s)
	if err != nil {
		return err
	}
	rows := [][]any{{"ledger", origin}}
	for _, a := range p.Administrators {
		rows = append(rows, []any{"administrator", a.Name, base64.StdEncoding.EncodeToString(a.Key)})
	}
	for _, a := range p.TwoPersons {
		rows = append(rows, []any{"two persons", a})
	}
	rows = append(rows, []any{"delay", time.Duration(p.Delay) * time.Second})
	for _, a := range p.Waiting {
		rows = append(rows, []any{"waits", fmt.Sprintf("entry %d", a.Index),
			fmt.Sprintf("in force from %s until %s", listed(a.Due+999), listed(a.Expires)),
			base64.StdEncoding.EncodeToString(a.Digest[:])})
	}
	return s.List(rows)
}

type actSignCmd struct {
	File       string `arg:"" type:"existingfile" help:"The act, as shuffled act propose wrote it."`
	Key        string `required:"" type:"existingfile" placeholder:"FILE" help:"Private key of the administrator who signs."`
	Passphrase string `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of an encrypted key file."`
}

func (actSignCmd) Help() string { return "Example:\n  shuffled act sign policy.act --key bob.key" }

func (c actSignCmd) Run(s term.Streams) error {
	a, err := loadAct(c.File)
	if err != nil {
		return err
	}
	key, err := readAdministrator(c.Key, c.Passphrase)
	if err != nil {
		return err
	}
	return a.finish(s, key, c.File)
}

func readAdministrator(path, passphraseFile string) (*keys.SigningKey, error) {
	passphrase, err := keys.ReadPassphrase(passphraseFile)
	if err != nil {
		return nil, err
	}
	return keys.ReadSigning(path, passphrase)
}

// finish signs the act, writes it to the file and shows it.
func (a *loadedAct) finish(s term.Streams, key *keys.SigningKey, path string) error {
	if err := a.sign(key); err != nil {
		return err
	}
	if err := a.save(path); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "ledger      %s\nact         %s\ndoes        %s\nsubmitted   by %s\nexpires     %s\n", a.Ledger,
		a.Act, term.Visible(a.Says), a.Identity, a.Expires)
	for _, sig := range a.entry.Signatures {
		fmt.Fprintf(s.Out, "signed by   %s\n", sig.Administrator)
	}
	return nil
}
