package host

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/seal"
	"shuffled/internal/term"
)

// KeyCmd is shuffled key.
type KeyCmd struct {
	Generate keyGenerateCmd `cmd:"" help:"Make a signing key for a ledger, a sealing key, or the key of a witness, auditor or administrator." example:"shuffled key generate signing --origin cards.example.com/ledger-1 --out ledger-1.key\n  shuffled key generate sealing --out sealing.key\n  shuffled key generate witness --name witness.example.org/w1 --out witness.key\n  shuffled key generate auditor --out auditor.key"`
	Show     keyShowCmd     `cmd:"" help:"Show the public part of a key file." example:"shuffled key show shuffled-data/main.key"`
	List     keyListCmd     `cmd:"" help:"List the keys of a running daemon's ledger, with their history." example:"shuffled key list --url https://cards.example.com --ledger main"`
}

type keyGenerateCmd struct {
	Kind       string `arg:"" optional:"" default:"" enum:",signing,sealing,witness,auditor,administrator,ml-dsa" help:"signing, sealing, witness, auditor, administrator or ml-dsa."`
	Out        string `required:"" placeholder:"FILE" help:"New file for the private key, mode 0600. The verifier key of a signing or witness key is written next to it as .vkey, and the public key of an auditor as .pub."`
	Origin     string `help:"For a signing key: the ledger's origin, such as cards.example.com/ledger-1."`
	Name       string `help:"For a witness key: the witness's name, such as witness.example.org/w1. For an ML-DSA-44 key: the witness's name, or the ledger's origin. For an administrator's key: the administrator's name, such as alice."`
	Agent      string `type:"path" placeholder:"SOCKET" help:"For a signing key that an ssh-agent holds: the socket of the agent. The file then only names the key, and is not secret. For a sealing key: the socket of shuffled-agent, which seals the file under its -wrap key."`
	SSH        string `name:"ssh-public" placeholder:"FILE" help:"With --agent: the public half, ssh-ed25519, as ssh-keygen or ssh-add -L writes it."`
	Passphrase string `name:"passphrase-file" placeholder:"FILE" help:"Encrypt the file under the passphrase in FILE (age)."`
}

func (c keyGenerateCmd) Run(s term.Streams) error {
	kind := c.Kind
	switch {
	case kind == "":
		return term.Usage("one kind of key must be given: signing, sealing, witness, auditor, administrator or ml-dsa")
	case c.Name != "" && kind != "witness" && kind != "administrator" && kind != "ml-dsa":
		return term.Usage("--name is only for a key of the kind witness, administrator or ml-dsa")
	case c.Origin != "" && kind != "signing":
		return term.Usage("--origin is only for a key of the kind signing")
	case c.SSH != "" && kind != "signing" || c.Agent != "" && kind != "signing" && kind != "sealing" ||
		kind == "signing" && (c.Agent == "") != (c.SSH == ""):
		return term.Usage("--agent is for a key of the kind sealing, and --agent with --ssh-public is for a key of the kind signing")
	}
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return err
	}
	switch kind {
	case "sealing":
		return c.sealing(s, passphrase)
	case "auditor":
		k, err := writeAuditor(c.Out, passphrase)
		if err == nil {
			_, err = fmt.Fprintln(s.Out, k)
		}
		return err
	}
	k, err := c.named(kind)
	if err == nil {
		err = writeBoth(k, c.Out, passphrase)
	}
	if err == nil {
		_, err = fmt.Fprintln(s.Out, k.VKey())
	}
	return err
}

// named makes a key that has a name, or takes the signing key that an ssh-agent holds.
func (c keyGenerateCmd) named(kind string) (namedKey, error) {
	name, flag := c.Name, "--name"
	switch kind {
	case "signing":
		name, flag = c.Origin, "--origin, or the --name of an administrator,"
	case "administrator":
		flag = "--origin, or the --name of an administrator,"
	}
	if err := audit.CheckOrigin(name); err != nil {
		return nil, term.Usage("%s %s", flag, err)
	}
	switch {
	case kind == "witness":
		return keys.GenerateWitness(name)
	case kind == "ml-dsa":
		return keys.GenerateMLDSA(name)
	case c.Agent == "":
		return keys.GenerateSigning(name) // an administrator's key is a signing key of that name
	}
	vkey, err := keys.ReadSSHPublic(c.SSH, name)
	if err != nil {
		return nil, err
	}
	return keys.AgentSigning(c.Agent, vkey)
}

// sealing makes a sealing key. If an agent is given, it wraps the key.
func (c keyGenerateCmd) sealing(s term.Streams, passphrase keys.Secret) (err error) {
	if c.Agent != "" && !passphrase.Empty() {
		return term.Usage("--passphrase-file must be left out with --agent: the agent wraps the key, and no passphrase does")
	}
	secret := keys.GenerateSealing()
	if c.Agent != "" {
		err = keys.WriteWrappedSealing(c.Out, c.Agent, secret)
	} else {
		err = keys.WriteSealing(c.Out, secret, passphrase)
	}
	if err != nil {
		return fmt.Errorf("writing the sealing key: %w", err)
	}
	return keyShowCmd{File: c.Out, Passphrase: c.Passphrase}.Run(s)
}

// writeAuditor makes the key of an auditor and writes both its files. The public one is for houses, and is next
// to the private one as .pub.
func writeAuditor(path string, passphrase keys.Secret) (*keys.AuditorKey, error) {
	k, err := keys.GenerateAuditor()
	if err != nil {
		return nil, err
	}
	if err := k.WriteFile(path, passphrase); err != nil {
		return nil, fmt.Errorf("writing the auditor key: %w", err)
	}
	if err := keys.WriteAuditorPublic(strings.TrimSuffix(path, filepath.Ext(path))+".pub", k.Public()); err != nil {
		return nil, fmt.Errorf("writing the public auditor key: %w", err)
	}
	return k, nil
}

// namedKey is a key with a name and two files.
type namedKey interface {
	WriteFile(path string, passphrase keys.Secret) error
	WriteVKey(path string) error
	VKey() string
}

// writeBoth writes the key, and its verifier key next to it as .vkey.
func writeBoth(k namedKey, path string, passphrase keys.Secret) error {
	if err := k.WriteFile(path, passphrase); err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	if err := k.WriteVKey(strings.TrimSuffix(path, filepath.Ext(path)) + ".vkey"); err != nil {
		return fmt.Errorf("writing the verifier key: %w", err)
	}
	return nil
}

type keyShowCmd struct {
	File       string `arg:"" type:"existingfile" help:"Key file, private, .vkey or .pub."`
	Passphrase string `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of an encrypted file."`
	JSON       bool   `name:"json" help:"Print JSON."`
}

// shownKey is what `key show` says.
type shownKey struct {
	Kind   string `json:"kind"`
	VKey   string `json:"vkey,omitempty"`
	Public string `json:"public,omitempty"` // an auditor's, as in its .pub file
	Type   string `json:"type,omitempty"`   // of an auditor's
	KeyID  string `json:"key_id,omitempty"`
}

func (c keyShowCmd) Run(s term.Streams) error {
	k, err := c.read()
	if err != nil {
		return err
	}
	auditor := ""
	if k.Public != "" {
		auditor = k.Type + "\n" + k.Public + "\n"
	}
	return s.Answer(c.JSON, k, "%s key %s%s\n%s", k.Kind, k.VKey, k.KeyID, auditor)
}

func (c keyShowCmd) read() (shownKey, error) {
	if vkey, err := keys.ReadVKey(c.File); err == nil {
		return shownKey{Kind: "verifier", VKey: vkey}, nil
	}
	if vkey, err := keys.ReadWitnessVKey(c.File); err == nil {
		return shownKey{Kind: "witness verifier", VKey: vkey}, nil
	}
	if public, err := keys.ReadAuditorPublic(c.File); err == nil {
		return shownAuditor("public auditor", public), nil
	}
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return shownKey{}, err
	}
	signing, err := keys.ReadSigning(c.File, passphrase)
	if err == nil {
		return shownKey{Kind: "signing", VKey: signing.VKey()}, nil
	}
	if k, err := keys.ReadWitness(c.File, passphrase); err == nil {
		return shownKey{Kind: "witness", VKey: k.VKey()}, nil
	}
	if k, err := keys.ReadAuditor(c.File, passphrase); err == nil {
		return shownAuditor("auditor", k.Public()), nil
	}
	secret, sealingErr := keys.ReadSealing(c.File, passphrase)
	if sealingErr != nil {
		return shownKey{}, fmt.Errorf("no signing, witness, auditor or sealing key: %w; %w", err, sealingErr)
	}
	k, err := seal.NewKey(secret.Bytes())
	if err != nil {
		return shownKey{}, err
	}
	return shownKey{Kind: "sealing", KeyID: k.ID().String()}, nil
}

// shownAuditor shows the public half of an auditor's key. The id is the one in entries and in GET /v1/{ledger}/keys.
func shownAuditor(kind string, public []byte) shownKey {
	id := audit.KeyID(public)
	kem, _ := audit.KEMOf(public) // cannot fail for a key that was read
	return shownKey{Kind: kind, Public: keys.AuditorLine(public), Type: kem.Name,
		KeyID: base64.StdEncoding.EncodeToString(id[:])}
}
