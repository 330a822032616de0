package host

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"shuffled/client"
	"shuffled/internal/cli/place"
	"shuffled/internal/cli/remote"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

type keyRotateCmd struct {
	Signing keyRotateSigningCmd `cmd:"" help:"Hand a ledger on to a new signing key. The first call makes the key, and the second announces it."`
	Sealing keyRotateSealingCmd `cmd:"" help:"Make a new sealing key, for tapes that are not disclosed yet, and say how it comes into use."`
}

type keyRotateSigningCmd struct {
	remote.Flags
	New        string `required:"" placeholder:"FILE" help:"File of the new key. If it does not exist, it is made, and nothing else is done."`
	Passphrase string `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of the new key's file (age)."`
	DryRun     bool   `help:"Say what would be done, and do nothing."`
}

// Help says what the two calls do.
func (keyRotateSigningCmd) Help() string {
	return `Call it twice. The first call makes the key and says what to do with it: tell the witnesses, and start
every daemon of the ledger with the key. The second call writes the key to the ledger. The daemon
refuses this if it does not have the key, or if its witnesses do not know it. From then on, a daemon
without the key does not sign until it is started with the key.

Example:
  shuffled key rotate signing --new main-2.key --token-file admin.token`
}

func (c *keyRotateSigningCmd) Run(ctx context.Context, s term.Streams) error {
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return err
	}
	answer, err := remote.Call(ctx, &c.Flags, s,
		func(d *client.Client) (*client.Keys, error) { return d.Keys(ctx) })
	if err != nil {
		return err
	}
	if !place.Exists(c.New) {
		return c.make(s, answer.Origin, passphrase)
	}
	k, err := keys.ReadSigning(c.New, passphrase)
	if err != nil {
		return err
	}
	if k.Origin() != answer.Origin {
		return term.Usage("%s is a key of %s, and ledger %s has the origin %s", c.New, k.Origin(), c.Ledger,
			term.Visible(answer.Origin))
	}
	if i := slices.IndexFunc(answer.Keys,
		func(one client.Key) bool { return one.Vkey != nil && *one.Vkey == k.VKey() }); i >= 0 {
		_, err := fmt.Fprintf(s.Out, "The key is in the ledger since entry %d: there is nothing to do.\n%s\n",
			answer.Keys[i].Entry, k.VKey())
		return err
	}
	if c.DryRun {
		_, err := fmt.Fprintf(s.Out, "Would write to ledger %s that it is signed from there on with\n%s\nNothing was written.\n", c.Ledger, k.VKey())
		return err
	}
	vkey := k.VKey()
	if err := addKey(ctx, &c.Flags, s, client.KeyRequest{Subject: client.KeyRequestSubjectSigning, Vkey: &vkey},
		"The ledger is signed with the new key from here on"); err != nil || c.JSON {
		return err
	}
	_, err = fmt.Fprintf(s.Out, `
Now:
  1. See on /readyz that every daemon of the ledger is ready.
  2. Publish the new verifier key where the old one was. Readers who pin a key may pin both in a policy:
       log OLD-VKEY
       log %s
       quorum none
  3. Retire the old key: shuffled key retire signing OLD.vkey
  4. Have the witnesses drop the old key, and take its file off the hosts.
`, vkey)
	return err
}

// make makes the key, and says what to do next.
func (c *keyRotateSigningCmd) make(s term.Streams, origin string, passphrase keys.Secret) error {
	if c.DryRun {
		_, err := fmt.Fprintf(s.Out, "Would make a signing key of %s in %s. Nothing was written.\n",
			term.Visible(origin), c.New)
		return err
	}
	k, err := writeSigning(c.New, vkeyPath(c.New), origin, passphrase)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(c.New)
	if err != nil {
		return err
	}
	if c.JSON {
		return term.PrintJSON(s.Out, shownKey{Kind: "signing", VKey: k.VKey()})
	}
	_, err = fmt.Fprintf(s.Out, `%s

The key is made; the ledger does not know it yet. Now:
  1. Tell every witness of the ledger its verifier key: --log in addition to the old one.
  2. Put the file on every host of the ledger, and into each configuration:
       [[ledger]]
       name = %q
       signing_keys = [%q]
  3. Start each daemon again. They sign with the old key until the new one is announced.
  4. Announce it, with the same command: shuffled key rotate signing --new %s
`, k.VKey(), c.Ledger, path, c.New)
	return err
}

type keyRotateSealingCmd struct {
	New        string `required:"" placeholder:"FILE" help:"File of the new key, which must not exist."`
	Agent      string `type:"path" placeholder:"SOCKET" help:"Seal the file under the -wrap key of the shuffled-agent at SOCKET."`
	Passphrase string `name:"passphrase-file" placeholder:"FILE" help:"Encrypt the file under the passphrase in FILE (age)."`
	DryRun     bool   `help:"Say what would be done, and do nothing."`
}

func (keyRotateSealingCmd) Help() string {
	return `The first key of sealing_keys seals, and all of them open. A new key comes into use with two restarts, so that
no daemon gets a tape that it cannot open.

Example:
  shuffled key rotate sealing --new /var/lib/shuffled/sealing-2.key`
}

func (c keyRotateSealingCmd) Run(s term.Streams) error {
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return err
	}
	if place.Exists(c.New) {
		return term.Usage("%s exists: a key is made once", c.New)
	}
	if c.DryRun {
		_, err := fmt.Fprintf(s.Out, "Would make a sealing key in %s. Nothing was written.\n", c.New)
		return err
	}
	k, err := writeSealing(c.New, c.Agent, passphrase)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(c.New)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, `sealing key %s

Now, with OLD the path that is first in sealing_keys today:
  1. On every host: sealing_keys = [OLD, %[2]q], and start the daemons again. All can open what any seals.
  2. On every host: sealing_keys = [%[2]q, OLD], and start them again. New tapes are sealed under the new key.
  3. Keep OLD as long as a shuffle is open that was sealed under it: until the longest close-by has passed.
     A stopped daemon of a ledger counts: it must not come back with OLD first.
`, k.ID(), path)
	return err
}
