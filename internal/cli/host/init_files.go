package host

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"shuffled/configs"
	"shuffled/deploy"
	"shuffled/internal/keys"
	"shuffled/internal/process"
	"shuffled/internal/term"
)

// initFile is a file that init makes. It must not exist.
type initFile struct {
	path  string
	write func(path string) error
}

// files are the files of a house, in the order in which they are written. To call write of a file, all
// arguments must be those of an init that writes.
func (c *InitCmd) files(key *keys.SigningKey, policy string, server *url.URL) []initFile {
	var statements strings.Builder
	password := func(role string) func(string) error {
		return func(path string) error {
			secret, verifier, err := keys.NewPassword()
			if err != nil {
				return err
			}
			fmt.Fprintf(&statements, "ALTER ROLE %s PASSWORD '%s';\n", role, verifier)
			return keys.WriteSecret(path, secret)
		}
	}
	text := func(mode os.FileMode, content func() string) func(string) error {
		return func(path string) error { return process.CreateFile(path, []byte(content()), mode) }
	}
	files := []initFile{
		{c.credential(c.Name + ".key"), func(path string) error { return key.WriteFile(path, keys.Secret{}) }},
		{c.at(c.Name + ".vkey"), func(path string) error { return key.WriteVKey(path) }},
		{c.credential("sealing.key"), func(path string) error {
			return keys.WriteSealing(path, keys.GenerateSealing(), keys.Secret{})
		}},
		{c.credential("database_password"), password("shuffled_writer")},
		{c.at("owner/database_password"), password("shuffled_owner")},
		{c.at("roles.sql"), text(0o644, func() string { return deploy.Roles })},
		{c.at("passwords.sql"), text(0o600, func() string {
			return "-- Run once, after roles.sql. The server gets what checks a password, and no password.\n" + statements.String()
		})},
		{c.at("shuffled.toml"), text(0o644, func() string { return c.configuration(server) })},
		{c.at("owner/owner.toml"), text(0o600, func() string { return c.ownerConfiguration(server) })},
		{c.at("shuffled.service"), text(0o644, c.unit)},
	}
	if !c.NoWitness {
		files = append(files, initFile{c.at("witnesses.policy"), text(0o644, func() string { return policy })})
	}
	return files
}

func (c *InitCmd) credential(name string) string { return filepath.Join(c.Dir, "credentials", name) }

// as returns the address of the database for a role.
func as(server *url.URL, role string) string {
	u := *server
	u.User = url.User(role)
	return u.String()
}

// configuration is the example with the values that were chosen. It shows every setting with its default and
// its danger.
func (c *InitCmd) configuration(server *url.URL) string {
	text := configs.Example
	for key, value := range map[string]string{
		"listen": strconv.Quote(c.Listen), "operator_listen": strconv.Quote(c.Operator), "data": strconv.Quote(c.Data),
		"database":               strconv.Quote(as(server, "shuffled_writer")),
		"database_password_file": strconv.Quote(c.credential("database_password")),
		"sealing_keys":           "[" + strconv.Quote(c.credential("sealing.key")) + "]",
		"name":                   strconv.Quote(c.Name), "signing_key": strconv.Quote(c.credential(c.Name + ".key")),
	} {
		before, rest, found := strings.Cut(text, "\n"+key+" = ")
		_, after, ended := strings.Cut(rest, "\n")
		if !found || !ended {
			panic("init: the example configuration has no line of " + key)
		}
		text = before + "\n" + key + " = " + value + "\n" + after
	}
	return text
}

func (c *InitCmd) ownerConfiguration(server *url.URL) string {
	return fmt.Sprintf(`# The owner of the tables: migrate, ledger create, retention run. Keep this directory off
# the daemon's host once the ledger is there: the daemon must not own its tables.
data = %q
database = %q
database_password_file = %q

# How long retention run keeps the requests of regulators and administrators; 1h to 876000h, or 0s for ever.
# Danger: dropped records are gone. Ask your regulator how long they must be kept.
access_retention = "0s"

[[ledger]]
name = %q
signing_key = %q
`, c.Data, as(server, "shuffled_owner"), c.at("owner/database_password"), c.Name, c.credential(c.Name+".key"))
}

// unit is the unit of deploy/ with the paths of this house. If this program is /usr/bin/shuffled, a package has
// installed it, and the unit starts it there.
func (c *InitCmd) unit() string {
	text := strings.NewReplacer("/etc/shuffled/", c.Dir+"/", "=main.key:", "="+c.Name+".key:",
		"/main.key\n", "/"+c.Name+".key\n").Replace(deploy.Unit)
	if c.Data != "/var/lib/shuffled" {
		text = strings.NewReplacer("StateDirectory=shuffled\nStateDirectoryMode=0700\n", "ReadWritePaths="+c.Data+"\n",
			"/var/lib/shuffled", c.Data).Replace(text)
	}
	if self, err := os.Executable(); err == nil && self == "/usr/bin/shuffled" {
		text = strings.ReplaceAll(text, "/usr/local/bin/", "/usr/bin/")
	}
	return text
}

// quoted quotes a word for a shell, if it needs quotes.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// steps prints the commands that follow, in order.
func (c *InitCmd) steps(s term.Streams, vkey string, server *url.URL, create *ledgerCreateCmd) error {
	super, maintenance := *server, *server
	super.User, maintenance.User = url.User(c.Superuser), url.User(c.Superuser)
	maintenance.Path = "/postgres"
	psql := "psql " + quoted(super.String()) + " -q -v ON_ERROR_STOP=1"
	making := []string{"shuffled ledger create --production --config " + quoted(c.at("owner/owner.toml")),
		"--name " + c.Name, "--origin " + quoted(c.Origin), "--house " + c.House}
	flag := func(name string, values ...string) {
		for _, value := range values {
			making = append(making, name+" "+quoted(value))
		}
	}
	flag("--administrator", create.Admins...)
	flag("--auditor", create.Auditor...)
	flag("--mix", create.Mix...)
	if c.NoWitness {
		flag("--deals", "signed")
	} else {
		flag("--policy", create.Policy)
	}
	config, token := quoted(c.at("shuffled.toml")), quoted(c.at("dealer.token"))
	steps := []struct{ why, do string }{
		{"Make the database and its roles, as its administrator.",
			"createdb --maintenance-db=" + quoted(maintenance.String()) + " " + quoted(strings.Trim(server.Path, "/")) +
				"\n" + psql + " -f " + quoted(c.at("roles.sql")) + " -f " + quoted(c.at("passwords.sql"))},
		{"Make the tables, and grant what the roles need.", "shuffled migrate up --config " +
			quoted(c.at("owner/owner.toml")) + "\n" + psql + " -f " + quoted(c.at("roles.sql"))},
		{"Check the host and the database, before the ledger is created.", "shuffled doctor --config " + config},
		{"Create the ledger.", strings.Join(making, " ")},
		{"Make a dealer's token; its identity is the service that owns what it commits. With --table NAME, once for each of its tables, it cannot hold up others.",
			"(umask 077; shuffled token create --config " + config + " --ledger " + c.Name +
				" --role dealer --identity back-end > " + token + ")"},
		{"Make the token of an admin. Two administrators sign the act, each where the key is.", c.adminToken(config)},
		{"Start the daemon. With systemd: install the unit " + c.at("shuffled.service") + ", and systemctl enable --now shuffled.",
			"shuffled serve --config " + config},
		{"Check everything again, the running daemon included.", "shuffled doctor --config " + config},
		{"Play the first hand, and prove it.", c.firstHand(create.Policy)},
	}
	fmt.Fprintf(s.Out, "written to %s\nverifier key %s\n", c.Dir, vkey)
	if !c.NoWitness {
		fmt.Fprintf(s.Out, "\nThe operator of each witness starts the witness with this, before the ledger is created:\n\n"+
			"  shuffled witness serve --key witness.key --state /var/lib/shuffled-witness --log %s --url URL\n", vkey)
	}
	for i, step := range steps {
		fmt.Fprintf(s.Out, "\n%d. %s\n\n  %s\n", i+1, step.why, strings.ReplaceAll(step.do, "\n", "\n  "))
	}
	_, err := fmt.Fprintf(s.Out, "\nThen move %s to the owner of the tables, and keep a copy of %s as safe as this host.\n",
		c.at("owner"), c.at("credentials"))
	return err
}

// adminToken is the act of the first two administrators, whose keys are not here.
func (c *InitCmd) adminToken(config string) string {
	first, _, _ := strings.Cut(c.Admins[0], "=")
	second, _, _ := strings.Cut(c.Admins[1], "=")
	return "shuffled act do admin_credential --config " + config + " --new-token-file " + quoted(c.at("admin.token")) +
		" --sign " + first + ".key --out admin.act" +
		"\nshuffled act sign admin.act --sign " + second + ".key" +
		"\nshuffled act submit admin.act --config " + config
}

func (c *InitCmd) firstHand(policy string) string {
	trust := " --key " + quoted(c.at(c.Name+".vkey"))
	if policy != "" {
		trust = " --policy " + quoted(policy)
	}
	to := " --url http://" + c.Listen + " --ledger " + c.Name + " --key " + quoted(c.at(c.Name+".vkey")) +
		" --token-file " + quoted(c.at("dealer.token"))
	return "shuffled shuffle --table table-1 --deck standard-52" + to +
		"\nshuffled deal @table-1 --first 0 --run 2:seat:seat-1 --run 3:board::public" + to +
		"\nshuffled close @table-1 --outcome completed" + to +
		"\nshuffled show @table-1 --transcript first-hand.json" + to +
		"\nshuffled verify first-hand.json" + trust
}
