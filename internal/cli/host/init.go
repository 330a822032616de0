package host

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/keys"
	"shuffled/internal/outbound"
	"shuffled/internal/term"
)

// InitCmd is shuffled init.
type InitCmd struct {
	Dir       string   `arg:"" optional:"" default:"/etc/shuffled" help:"Directory for configuration and keys (default ${default})."`
	Name      string   `default:"main" help:"The ledger's name in addresses: /v1/NAME/… (default ${default})."`
	Origin    string   `help:"Name of the ledger and of its keys, for ever: cards.example.com/main."`
	House     string   `enum:",poker,casino,lottery" default:"" help:"The kind of house: poker (tapes go to auditors), casino or lottery (tapes are public)."`
	Database  string   `placeholder:"URL" help:"postgres://HOST/DATABASE, without role and password."`
	Admins    []string `name:"administrator" placeholder:"NAME=FILE.vkey" sep:"none" help:"An administrator and the verifier key of that administrator. Repeat it for each administrator; two are needed."`
	Auditor   []string `placeholder:"FILE.pub" sep:"none" help:"Public key of an auditor. A poker house needs one. Repeat it for each auditor."`
	Witness   []string `placeholder:"LINE" sep:"none" help:"A witness: the policy line that shuffled witness serve prints, or its name, key and address. Repeat it for each witness. More than half of them make the quorum."`
	NoWitness bool     `name:"without-witnesses" help:"Use no witnesses: a deal needs only the ledger's own signature."`
	Mix       []string `placeholder:"SOURCE" enum:"slots,beacon,cut" help:"Outside randomness that commits may plan: slots, beacon, cut. Default: nothing."`
	Data      string   `default:"/var/lib/shuffled" help:"Directory of the high-water mark (default ${default})."`
	Listen    string   `default:"127.0.0.1:8080" help:"Address of the API (default ${default})."`
	Operator  string   `name:"operator-listen" default:"127.0.0.1:9090" help:"Address of /healthz, /readyz and /metrics (default ${default})."`
	Superuser string   `default:"postgres" help:"Role of the administrator of the database, for the printed commands (default ${default})."`
}

func (InitCmd) Help() string {
	return `Writes the configuration, keys, roles with passwords, witness policy and systemd unit of a production ledger, and
prints the commands that follow. It overwrites nothing.

Example:

    shuffled init /etc/shuffled --origin cards.example.com/main --house casino --database postgres://db/shuffled --administrator alice=alice.vkey --administrator bob=bob.vkey --witness "$(cat w1.line)"`
}

// Run writes everything or, if an argument is wrong, nothing.
func (c *InitCmd) Run(s term.Streams) error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	c.Dir, c.Data = dir, absolute(c.Data)
	if there := c.there(); len(there) > 0 {
		for _, file := range there {
			fmt.Fprintf(s.Out, "there is  %s\n", file)
		}
		return term.WithHint(fmt.Errorf("%s has files of an earlier shuffled init: nothing was written", c.Dir),
			"shuffled doctor --config %s checks that house; set up another house in another directory", c.at("shuffled.toml"))
	}
	if err := c.settle(); err != nil {
		return err
	}
	server, err := c.server()
	if err != nil {
		return err
	}
	key, err := keys.GenerateSigning(c.Origin)
	if err != nil {
		return fmt.Errorf("making a signing key: %w", err)
	}
	create, policy, err := c.ledger(key.VKey())
	if err != nil {
		return err
	}
	if err := c.write(key, policy, server); err != nil {
		return err
	}
	return c.steps(s, key.VKey(), server, create)
}

// there lists the files of an earlier init, also of one that did not finish.
func (c *InitCmd) there() (files []string) {
	for _, f := range c.files(nil, "", nil) {
		if place.Exists(f.path) {
			files = append(files, f.path)
		}
	}
	return files
}

func (c *InitCmd) at(name string) string { return filepath.Join(c.Dir, name) }

// settle says everything that is missing at once. What lasts for ever, and what others must trust, has no default.
func (c *InitCmd) settle() error {
	var missing []string
	for _, choice := range []struct {
		missing bool
		flag    string
	}{
		{c.Origin == "", "--origin"}, {c.House == "", "--house"}, {c.Database == "", "--database"},
		{len(c.Admins) == 0, "--administrator"},
		{len(c.Witness) == 0 && !c.NoWitness, "--witness or --without-witnesses"},
	} {
		if choice.missing {
			missing = append(missing, choice.flag)
		}
	}
	switch {
	case len(missing) > 0:
		return term.Usage("%s must be given: a choice that cannot be changed later has no default",
			strings.Join(missing, ", "))
	case c.NoWitness && len(c.Witness) > 0:
		return term.Usage("--witness and --without-witnesses must not be given together")
	}
	for i, given := range c.Admins {
		if name, path, ok := strings.Cut(given, "="); ok {
			c.Admins[i] = name + "=" + absolute(path)
		}
	}
	for i, path := range c.Auditor {
		c.Auditor[i] = absolute(path)
	}
	return nil
}

// absolute makes a path independent of the directory in which a printed command is typed.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// server returns the address of the database.
func (c *InitCmd) server() (*url.URL, error) {
	u, err := url.Parse(c.Database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "" ||
		strings.Trim(u.Path, "/") == "" {
		return nil, term.Usage("--database must be postgres://HOST/DATABASE, such as postgres://db.example.com/shuffled; shuffled serve --dev needs no server")
	}
	if u.User != nil {
		return nil, term.Usage("--database must have no role and no password: shuffled init makes the roles, each with a password in a file")
	}
	return u, nil
}

// ledger returns the arguments of ledger create, and the policy. Both pass the checks of that command.
func (c *InitCmd) ledger(vkey string) (*ledgerCreateCmd, []byte, error) {
	create := &ledgerCreateCmd{Name: c.Name, Origin: c.Origin, Production: true, Deals: "default", House: c.House,
		Auditor: c.Auditor, Mix: c.Mix, Admins: c.Admins, Policy: c.at("witnesses.policy"),
		CloseBy: defaultCloseBy * time.Second, MaxCloseBy: maxCloseBy * time.Second}
	policy, err := c.policy(vkey)
	if err != nil {
		return nil, nil, err
	}
	if c.NoWitness {
		create.Policy, create.Deals = "", "signed"
	} else if err := create.checkPolicy(policy, vkey); err != nil {
		return nil, nil, err
	}
	if err := create.settleDisclosure(); err != nil {
		return nil, nil, err
	}
	_, err = create.chosen()
	return create, policy, err
}

// policy writes a policy in which more than half of the witnesses make the quorum, so that any two quorums
// share a witness.
func (c *InitCmd) policy(vkey string) ([]byte, error) {
	if c.NoWitness {
		return nil, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Witnesses of %s (C2SP tlog-policy). It goes into the ledger's first entry.\nlog %s\n", c.Origin, vkey)
	var names []string
	for _, line := range c.Witness {
		fields := strings.Fields(line)
		if len(fields) == 4 && fields[0] == "witness" {
			fields = fields[1:]
		}
		if len(fields) != 3 {
			return nil, term.Usage("--witness must have a name, a verifier key and an address, as shuffled witness serve prints after \"policy line\", not %q", term.Visible(line))
		}
		if _, err := audit.ParseWitnessVKey(fields[1]); err != nil {
			return nil, term.Usage("--witness %s: %s", term.Visible(fields[0]), err)
		}
		if _, err := outbound.ParseURL(fields[2]); err != nil {
			return nil, term.Usage("--witness %s: its address %s", term.Visible(fields[0]), err)
		}
		names = append(names, fields[0])
		fmt.Fprintf(&b, "witness %s\n", strings.Join(fields, " "))
	}
	fmt.Fprintf(&b, "group witnesses %d %s\nquorum witnesses\n", len(names)/2+1, strings.Join(names, " "))
	return []byte(b.String()), nil
}

// write writes the files. After an error it removes those that it wrote.
func (c *InitCmd) write(key *keys.SigningKey, policy []byte, server *url.URL) (err error) {
	files := c.files(key, string(policy), server)
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	if err := place.MakeData(c.Data); err != nil {
		return err
	}
	for _, dir := range []string{c.Dir, c.at("credentials"), c.at("owner")} {
		mode := os.FileMode(0o700)
		if dir == c.Dir {
			mode = 0o755 // the daemon's user reads the configuration
		}
		if err := os.MkdirAll(dir, mode); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
	}
	for _, f := range files {
		if err := f.write(f.path); err != nil {
			return fmt.Errorf("writing the house's files: %w", err)
		}
		made = append(made, f.path)
	}
	return nil
}
