package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/internal/testdb"
)

// installation is a house as docs/operations/install.md sets it up, typed block by block.
type installation struct {
	*daemon
	*typist
	dir, data, operator, at string // at is the witness's address
	superuser, password     string
	printed                 string // by init
}

// newInstallation has an empty server, and a witness's address.
func newInstallation(t *testing.T) *installation {
	t.Helper()
	psql, err := testdb.Bin("psql")
	if err != nil {
		t.Fatal(err)
	}
	super, err := url.Parse(testdb.Start(t).Database(t)) // roles are the cluster's: it cannot be shared
	if err != nil {
		t.Fatal(err)
	}
	i := &installation{daemon: newDaemon(t, ""), typist: newTypist(t, filepath.Dir(psql)),
		dir:  filepath.Join(t.TempDir(), "etc"),
		data: filepath.Join(t.TempDir(), "state"), operator: testdb.FreeAddress(t), at: testdb.FreeAddress(t),
		superuser: super.User.Username()}
	i.password, _ = super.User.Password()
	i.env = append(i.env, "PGPASSWORD="+i.password)
	server := func(role, database string) string {
		u := url.URL{Scheme: "postgres", Host: super.Host, Path: "/" + database, RawQuery: super.RawQuery}
		if role != "" {
			u.User = url.User(role)
		}
		return "'" + u.String() + "'"
	}
	i.replaces(
		"init /etc/shuffled", "init "+i.dir+" --data "+i.data+" --listen "+i.addr+" --operator-listen "+i.operator+
			" --superuser "+i.superuser,
		"/var/lib/shuffled-witness", filepath.Join(i.work, "witness-state"),
		"--url https://w1.regulator.example.org", "--listen "+i.at+" --url http://"+i.at,
		"https://w1.regulator.example.org", "http://"+i.at, "/etc/shuffled", i.dir, "http://127.0.0.1:8080", i.url,
		"alice=alice.vkey", "alice="+filepath.Join(i.work, "alice.vkey"),
		"bob=bob.vkey", "bob="+filepath.Join(i.work, "bob.vkey"),
		"postgres://postgres@db.example.com/postgres", server(i.superuser, "postgres"),
		"postgres://postgres@db.example.com/shuffled", server(i.superuser, "shuffled"),
		"postgres://postgres@db.example.com/drill", server(i.superuser, "drill"),
		"postgres://db.example.com/shuffled", server("", "shuffled"))
	return i
}

// until types the blocks from the next one on, up to the one that begins with a word.
func (i *installation) until(blocks []string, word string) {
	i.t.Helper()
	for _, block := range blocks {
		block = i.replace.Replace(block)
		switch {
		case strings.HasPrefix(block, "shuffled witness serve"):
			witness := &daemon{t: i.t, log: filepath.Join(i.t.TempDir(), "log")}
			witness.launchIn(i.work, "http://"+i.at+"/healthz", i.arguments(block))
		case strings.HasPrefix(block, "shuffled serve"):
			i.launch("http://"+i.operator, i.arguments(i.unit()))
		default:
			out, err := i.try(block)
			if err != nil {
				i.t.Fatalf("%s%v\n%s", block, err, out)
			}
			if strings.HasPrefix(block, "shuffled init") {
				i.printed = out
			}
			i.judge(block, out)
		}
		if word != "" && strings.HasPrefix(block, word) {
			return
		}
	}
}

// unit is what the unit runs, where systemd would have copied the secrets.
func (i *installation) unit() string {
	i.t.Helper()
	unit := contents(i.t, filepath.Join(i.dir, "shuffled.service"))
	credentials := i.t.TempDir()
	for _, m := range regexp.MustCompile(`(?m)^LoadCredential=(.*):(.*)$`).FindAllStringSubmatch(string(unit), -1) {
		if err := os.WriteFile(filepath.Join(credentials, m[1]), contents(i.t, m[2]), 0o400); err != nil {
			i.t.Fatal(err)
		}
	}
	m := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/(.*)$`).FindStringSubmatch(string(unit))
	if m == nil {
		i.t.Fatalf("the unit starts nothing:\n%s", unit)
	}
	return strings.ReplaceAll(m[1], "%d", credentials)
}

// judge holds what a block said against what it is for.
func (i *installation) judge(block, out string) {
	i.t.Helper()
	if strings.HasPrefix(block, "shuffled doctor") {
		for line := range strings.Lines(out) {
			// The machine of the test may have little space, or swap and a low limit.
			if strings.HasPrefix(line, "fail") || strings.HasPrefix(line, "warn") &&
				!regexp.MustCompile(`^warn +(memory|host|daemon) `).MatchString(line) {
				i.t.Errorf("doctor: %s", line)
			}
		}
	}
	if strings.Contains(block, "audit fsck") && !strings.Contains(out, "PROVED") {
		i.t.Errorf("%s\n%s", block, out)
	}
	if strings.Contains(block, "shuffled verify") && !strings.Contains(out, "witnessed") ||
		strings.Contains(block, "shuffled audit verify") && !strings.Contains(out, "PROVED") {
		i.t.Errorf("%s\n%s", block, out)
	}
}

// TestInstall types what docs/operations/install.md says, from the keys to an audit of the
// first hand. What init prints is what stands there.
func TestInstall(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	blocks := blocksOf(t, "install.md")
	i.until(blocks, "")
	i.until(blocksOf(t, "backup.md")[:1], "") // the drill
	document := i.replace.Replace(strings.Join(blocks, ""))
	commands := 0
	for line := range strings.Lines(i.printed) {
		if command, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(command, "shuffled witness") {
			commands++
			if !strings.Contains(document, command) {
				t.Errorf("init prints a command that docs/operations/install.md has not:\n%s", command)
			}
		}
	}
	if commands < 12 {
		t.Errorf("init printed %d commands:\n%s", commands, i.printed)
	}
	for name, want := range map[string]os.FileMode{"credentials": 0o700, "owner": 0o700, "passwords.sql": 0o600,
		"credentials/main.key": 0o600, "credentials/sealing.key": 0o600, "credentials/database_password": 0o600,
		"owner/database_password": 0o600, "owner/owner.toml": 0o600, "dealer.token": 0o600, "shuffled.toml": 0o644} {
		if info, err := os.Stat(filepath.Join(i.dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, mode %v, want %04o", name, err, info.Mode(), want)
		}
	}
	before := i.tree()
	out, err := i.try("shuffled init " + i.dir + " --origin cards.example.com/other --house poker")
	if err == nil || !strings.Contains(out, "there is  "+filepath.Join(i.dir, "credentials", "main.key")) {
		t.Errorf("init again: %v\n%s", err, out)
	}
	if after := i.tree(); after != before {
		t.Errorf("init again changed something:\n%s\n%s", before, after)
	}
	i.afterwards()
}

// tree lists the house's files with their times and sizes.
func (i *installation) tree() string {
	i.t.Helper()
	out, err := exec.Command("find", i.dir, "-printf", "%p %s %T@ %m\n").Output()
	if err != nil {
		i.t.Fatal(err)
	}
	return string(out)
}
