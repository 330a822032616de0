package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fault is one that doctor must find, and whose cure it must name.
type fault struct {
	name        string
	plant, mend string      // commands
	swap        [][2]string // in a copy of the configuration, which doctor then gets
	flags       string
	result      string // fail, if empty
	check       string
	found, cure string // expressions
}

// TestDoctor plants one fault after the other into a house that is well.
func TestDoctor(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.until(blocksOf(t, "install.md"), "shuffled serve")
	i.writeFile(filepath.Join(i.dir, "super"), i.password+"\n")
	host := regexp.MustCompile(`postgres://shuffled_writer@([^/]+)/`).FindStringSubmatch(i.read("etc/shuffled.toml"))[1]
	psql := func(sql string) string {
		return "psql " + i.replace.Replace("postgres://postgres@db.example.com/shuffled") + ` -q -c "` + sql + `"`
	}
	data := func(path string) string { return filepath.Join(i.dir, path) }
	local := net.IPv4(127, 0, 0, 1)
	for _, f := range []fault{
		{name: "signing key mode", plant: "chmod 0644 " + data("credentials/main.key"),
			mend: "chmod 0600 " + data("credentials/main.key"), check: "signing key of main", found: "mode 0644",
			cure: "give the file the mode"},
		{name: "sealing key gone", plant: "mv " + data("credentials/sealing.key") + " kept",
			mend: "mv kept " + data("credentials/sealing.key"), check: "sealing keys", found: "no such file",
			cure: "restore the file"},
		{name: "password mode", plant: "chmod 0640 " + data("credentials/database_password"),
			mend:  "chmod 0600 " + data("credentials/database_password"),
			check: "database password", found: "mode 0640.*make it 0600", cure: "give the file the mode"},
		{name: "configuration mode",
			plant: "chmod 0666 " + data("shuffled.toml"), mend: "chmod 0644 " + data("shuffled.toml"),
			check: "configuration", found: "mode 0666", cure: "chmod 0644 "},
		{name: "data mode", plant: "chmod 0755 " + i.data, mend: "chmod 0700 " + i.data,
			check: "data directory", found: "mode 0755", cure: "chmod 0700 "},
		{name: "key directory mode",
			plant: "chmod 0777 " + data("credentials"), mend: "chmod 0700 " + data("credentials"),
			check: "key directory", found: "mode 0777", cure: "chmod 0755 "},
		{name: "unknown setting", swap: [][2]string{{"\nlisten = ", "\nlisetn = "}},
			check: "configuration", found: "lisetn", cure: "shuffled.example.toml"},
		{name: "superuser",
			swap:  [][2]string{{"shuffled_writer@", i.superuser + "@"}, {"credentials/database_password", "super"}},
			check: "database", found: "superuser", cure: "use the writer of deploy/roles.sql"},
		{name: "owner", swap: [][2]string{{"shuffled_writer@", "shuffled_owner@"},
			{"credentials/database_password", "owner/database_password"}},
			check: "database", found: "the role owns .*entries", cure: "connect as shuffled_writer"},
		{name: "too many rights", plant: psql("GRANT DELETE ON entries TO shuffled_writer"),
			mend:  psql("REVOKE DELETE ON entries FROM shuffled_writer"),
			check: "database", found: "remove rows of entries$", cure: "run roles.sql"},
		{name: "too few rights", plant: psql("REVOKE INSERT ON tiles FROM shuffled_writer"),
			mend:  psql("GRANT INSERT ON tiles TO shuffled_writer"),
			check: "database", found: "cannot use tiles$", cure: "run roles.sql"},
		{name: "guard", plant: psql("ALTER TABLE entries DISABLE TRIGGER insert_only"),
			mend:  psql("ALTER TABLE entries ENABLE ALWAYS TRIGGER insert_only"),
			check: "database", found: "not in force: insert_only of entries$", cure: "audit fsck"},
		{name: "durability", plant: psql("ALTER ROLE shuffled_writer SET synchronous_commit = off"),
			mend:  psql("ALTER ROLE shuffled_writer RESET synchronous_commit"),
			check: "database", found: "synchronous_commit is off", cure: "set fsync, full_page_writes and"},
		{name: "clock", plant: psql("CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT " +
			"now() + interval ''1 hour'''; ALTER ROLE shuffled_writer SET search_path = public, pg_catalog"),
			mend:  psql("ALTER ROLE shuffled_writer RESET search_path"),
			check: "clock of the database", found: "differ by -(1h0m|59m)", cure: "from one time service"},
		{name: "old schema", plant: psql("COMMENT ON TABLE heads IS 'shuffled schema 1'"),
			mend:  psql("COMMENT ON TABLE heads IS '" + i.schema() + "'"),
			check: "database", found: `has schema 1 of shuffled 1.0.0-rc.1 or older.*make a new database`},
		{name: "wrong password", swap: [][2]string{{"credentials/database_password", "super"}},
			check: "database", found: "refuses the role", cure: "passwords.sql"},
		{name: "no server", swap: [][2]string{{host, "127.0.0.1:1"}},
			check: "database", found: "cannot be reached", cure: "start the server"},
		{name: "expired certificate", swap: i.tls(-time.Minute, local),
			check: "certificate", found: "ended ", cure: "renew the certificate"},
		{name: "certificate without a name", swap: i.tls(90 * 24 * time.Hour),
			check: "certificate", found: "the certificate names no host", cure: "renew the certificate"},
		{name: "open address without TLS",
			swap: [][2]string{{`listen = "` + i.addr, `listen = "0.0.0.0:0`}}, result: "warn",
			check: "certificate", found: "in the clear", cure: `set \[tls\]`},
		{name: "port in use", swap: [][2]string{{`listen = "` + i.addr, `listen = "` + i.at}},
			check: "listener", found: "address already in use|another program", cure: "stop the program"},
		{name: "policy of a house gone", swap: [][2]string{{"\nhouses = []", "\nhouses = [\"gone.policy\"]"}},
			check: "house of main", found: "gone.policy.*no such file", cure: "restore the file"},
		{name: "token for a co-dealer gone", swap: [][2]string{{"\nco_dealers = []",
			"\nco_dealers = [\"lab.example.org/o https://lab.example.org/v1/o gone.token\"]"}},
			check: "token for lab.example.org/o", found: "gone.token.*no such file", cure: "restore the file"},
		{name: "few files", plant: "ulimit -n 100", result: "warn",
			check: "host", found: "100 files may be open", cure: "LimitNOFILE"},
	} {
		t.Run(f.name, func(t *testing.T) { i.finds(t, f) })
	}
	if out, err := i.try("shuffled doctor --config " + data("shuffled.toml")); err != nil {
		t.Errorf("after all was mended: %v\n%s", err, out)
	}
}

// finds plants a fault, and wants doctor to find it.
func (i *installation) finds(t *testing.T, f fault) {
	config := filepath.Join(i.dir, "shuffled.toml")
	if f.swap != nil {
		text := i.read("etc/shuffled.toml")
		for _, s := range f.swap {
			if !strings.Contains(text, s[0]) {
				t.Fatalf("the configuration has no %q", s[0])
			}
			text = strings.ReplaceAll(text, s[0], s[1])
		}
		config = filepath.Join(i.dir, "variant.toml")
		i.writeFile(config, text)
	}
	if f.plant == "" {
		f.plant = ":"
	}
	out, err := i.try(fmt.Sprintf("{ %s; } >&2; shuffled doctor --json --config %s %s 2>err", f.plant, config, f.flags))
	if f.mend != "" {
		if out, err := i.try(f.mend); err != nil {
			t.Fatalf("mending: %v\n%s", err, out)
		}
	}
	if f.result == "" {
		f.result = "fail"
	}
	if (err != nil) != (f.result == "fail") {
		t.Errorf("it ended with %v, and found is to be a %s", err, f.result)
	}
	var findings []struct{ Check, Result, Found, Cure string }
	if err := json.Unmarshal([]byte(out), &findings); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, got := range findings {
		if got.Check == f.check && got.Result == f.result && regexp.MustCompile(f.found).MatchString(got.Found) &&
			regexp.MustCompile(f.cure).MatchString(got.Cure) && (got.Cure != "") == (f.cure != "") {
			return
		}
	}
	t.Errorf("no %s of %s with %q and %q:\n%s", f.result, f.check, f.found, f.cure, out)
}

// tls writes a certificate, and returns what puts it into the configuration.
func (i *installation) tls(life time.Duration, of ...net.IP) [][2]string {
	i.t.Helper()
	c := newCertificates(i.t)
	c.life, c.of = life, of
	c.issue("server", c.key("server"), false)
	return [][2]string{{`cert = ""`, fmt.Sprintf("cert = %q", c.path("server.pem"))},
		{"\nkey = \"\"\n\n# Authorities", fmt.Sprintf("\nkey = %q\n\n# Authorities", c.path("server.key"))}}
}

// schema is what the tables say of themselves.
func (i *installation) schema() string {
	i.t.Helper()
	out, err := i.try("psql " + i.replace.Replace("postgres://postgres@db.example.com/shuffled") +
		` -qtA -c "SELECT obj_description('heads'::regclass)"`)
	if err != nil {
		i.t.Fatal(out)
	}
	return strings.TrimSpace(out)
}

// read reads a file of the house, etc/NAME, or of the directory where commands are typed.
func (i *installation) read(name string) string {
	i.t.Helper()
	path := filepath.Join(i.work, name)
	if of, ok := strings.CutPrefix(name, "etc/"); ok {
		path = filepath.Join(i.dir, of)
	}
	return strings.TrimSuffix(string(contents(i.t, path)), "\n")
}

func (i *installation) writeFile(path, text string) {
	i.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		i.t.Fatal(err)
	}
}
