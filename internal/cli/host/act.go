package host

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/cli/remote"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

// ActCmd is shuffled act.
type ActCmd struct {
	Do     actDoCmd     `cmd:"" help:"Show an act, sign it as an administrator, and submit it or write it to a file."`
	Sign   actSignCmd   `cmd:"" help:"Show an act, and sign it as another administrator."`
	Submit actSubmitCmd `cmd:"" help:"Submit a signed act, which then takes effect or waits."`
	List   actListCmd   `cmd:"" help:"List the administrators, the acts that need two of them, and the acts that wait." example:"shuffled act list --ledger main"`
}

// standing is what a ledger says of its administrators, and of the acts that wait and have not expired.
type standing struct {
	ledger.Persons
	genesis []byte // entry
	of      *audit.Genesis
	state   *rules.State // of the stored ledger; nil if a daemon told it
}

// standing asks the daemon or, without an address, reads the stored ledger.
func (t *tokenFlags) standing(ctx context.Context, s term.Streams) (st standing, err error) {
	if t.URL == "" {
		var head ledger.Head
		if st.state, head, st.genesis, err = t.ReadState(ctx, t.Ledger); err != nil {
			return st, err
		}
		st.Persons = ledger.PersonsOf(st.state, head)
	} else {
		told, err := remote.Call(ctx, t.remote(), s, func(d *client.Client) (*client.Acts, error) {
			text, err := d.Receipt(ctx, 0)
			if err != nil {
				return nil, err
			}
			r, err := audit.ParseReceipt(text)
			if err != nil {
				return nil, err
			}
			st.genesis = r.Entry
			return d.Acts(ctx)
		})
		if err != nil {
			return st, err
		}
		if st.Persons, err = personsOf(told); err != nil {
			return st, err
		}
	}
	if st.of, err = genesisOf(st.genesis); err != nil {
		return st, err
	}
	now := time.Now().UnixMilli()
	st.Waiting = slices.DeleteFunc(st.Waiting, func(w rules.WaitingAct) bool { return w.Expires <= now })
	return st, nil
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
		p.Waiting = append(p.Waiting, rules.WaitingAct{Index: w.Entry, Due: w.Due.UnixMilli(),
			Expires: w.Expires.UnixMilli(), Digest: w.Digest})
	}
	return p, nil
}

type actListCmd struct{ tokenFlags }

func (c actListCmd) Run(ctx context.Context, s term.Streams) error {
	p, err := c.standing(ctx, s)
	if err != nil {
		return err
	}
	rows := [][]any{{"ledger", p.of.Origin}}
	for _, a := range p.Administrators {
		rows = append(rows, []any{"administrator", a.Name, base64.StdEncoding.EncodeToString(a.Key)})
	}
	for _, a := range p.TwoPersons {
		rows = append(rows, []any{"two persons", a})
	}
	rows = append(rows, []any{"delay", delayOf(p.Persons)})
	for _, a := range p.Waiting {
		rows = append(rows, []any{"waits", fmt.Sprintf("entry %d", a.Index),
			fmt.Sprintf("in force from %s until %s", listed(a.Due+999), listed(a.Expires)),
			base64.StdEncoding.EncodeToString(a.Digest[:])})
	}
	return s.List(rows)
}

type actSignCmd struct {
	File       string `arg:"" type:"existingfile" help:"The act, as shuffled act do wrote it."`
	Sign       string `required:"" type:"existingfile" placeholder:"FILE" help:"Private key of the administrator who signs."`
	Passphrase string `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of an encrypted key file."`
	Public     string `type:"existingfile" placeholder:"FILE" help:"The .vkey file of the administrator who signed first. It is needed if this administrator or this key came after the genesis of the ledger."`
	Yes        bool   `help:"Sign without a question."`
}

func (actSignCmd) Help() string {
	return "Shows the act from the bytes that are signed, asks, and signs it.\n\nExample:\n  shuffled act sign policy.act --sign bob.key"
}

func (c actSignCmd) Run(s term.Streams) error {
	a, err := loadAct(c.File)
	if err != nil {
		return err
	}
	key, err := readAdministrator(c.Sign, c.Passphrase)
	if err != nil {
		return err
	}
	if err := a.check(c.Public); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if err := a.signed(s, key, c.Yes, "it is written to "+c.File+", and shuffled act submit submits it"); err != nil {
		return err
	}
	return a.save(c.File)
}

func readAdministrator(path, passphraseFile string) (*keys.SigningKey, error) {
	passphrase, err := keys.ReadPassphrase(passphraseFile)
	if err != nil {
		return nil, err
	}
	return keys.ReadSigning(path, passphrase)
}

// signed shows the act, asks unless yes is set, and signs it. then says what becomes of the signed act.
func (a *loadedAct) signed(s term.Streams, key *keys.SigningKey, yes bool, then string) error {
	rows := [][2]string{{"ledger", a.of.Origin}, {"act", a.entry.Act.String()}, {"does", a.says()}}
	if a.body != nil {
		rows = append(rows, [2]string{"submitted", "by " + a.Identity})
	}
	rows = append(rows, [2]string{"expires", listed(a.entry.Expires)}, [2]string{"behind", fmt.Sprintf(
		"the act at entry %d, and a head of %d entries, root %s", a.entry.Previous, a.entry.HeadSize,
		base64.StdEncoding.EncodeToString(a.entry.HeadRoot[:]))})
	for _, sig := range a.entry.Signatures {
		rows = append(rows, [2]string{"signed by", sig.Administrator})
	}
	for _, row := range append(rows, [2]string{"then", then}) {
		fmt.Fprintf(s.Out, "%-11s %s\n", row[0], term.Visible(row[1]))
	}
	if err := agreed(s, yes, "Sign this act as "+key.Origin()+"? (yes or no) "); err != nil {
		return err
	}
	if err := a.sign(key); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "signed by   %s\n", key.Origin())
	return err
}

// agreed asks on a terminal, unless yes is set. Nobody agrees where nobody can be asked.
func agreed(s term.Streams, yes bool, question string) error {
	in, isFile := s.In.(*os.File)
	switch {
	case yes:
		return nil
	case !isFile || !term.IsTerminal(in):
		return term.Usage("--yes must be given if there is no terminal to ask on: read what the act does before you sign it")
	}
	fmt.Fprint(s.Err, term.Visible(question))
	line, err := bufio.NewReader(in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "yes" && answer != "y" {
		return errors.New("the act was not signed")
	}
	return nil
}
