package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/testdb"
)

var exportKills = flag.Int("export-kills", 6, "how often the kill test kills an export, of each kind")

// command runs the real binary and returns what it printed and its exit code.
func command(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.Command(builtBinary(t), args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// export runs audit export and wants it to succeed.
func export(t testing.TB, dir string, args ...string) auditcli.Exported {
	t.Helper()
	stdout, stderr, code := command(t, append([]string{"audit", "export", "--json", "--out", dir}, args...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var e auditcli.Exported
	if err := json.Unmarshal([]byte(stdout), &e); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return e
}

// place is where a daemon's state is, as flags.
func (d *daemon) place() []string {
	if d.database != "" {
		return []string{"--data", d.data, "--database", d.database}
	}
	return []string{"--data", d.data}
}

// stores runs a test on both stores.
func stores(t *testing.T, run func(*testing.T, *daemon)) {
	for store, database := range map[string]func() string{
		"sqlite":   func() string { return "" },
		"postgres": func() string { return testdb.DSN(t) },
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			run(t, newDaemon(t, database()))
		})
	}
}

// TestMirror exports alongside a live daemon, again and again, and reads the
// directory behind a plain file server with software that is not ours.
func TestMirror(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, d *daemon) {
		d.start()
		dir := filepath.Join(t.TempDir(), "bundle")
		done := make(chan struct{})
		go func() {
			defer close(done)
			fill(t, d)
		}()
		sizes := 0
		for live := true; live; {
			select {
			case <-done:
				live = false
			default:
			}
			if export(t, dir, d.place()...).Added > 0 {
				sizes++
			}
			readMirror(t, d, dir)
		}
		if sizes < 2 {
			t.Errorf("void: the bundle grew %d times", sizes)
		}
		server := httptest.NewServer(http.FileServer(http.Dir(dir)))
		defer server.Close()
		log := readMirror(t, d, dir)
		log.root, _ = url.Parse(server.URL + "/")
		if log.size < foreignCommits {
			t.Fatalf("%d entries", log.size)
		}
		t.Run("tessera", log.tessera)
		t.Run("torchwood", log.torchwood)
		sameAsLive(t, d, dir)
		d.stop()
	})
}

// readMirror opens a bundle's checkpoint with the ledger's key.
func readMirror(t *testing.T, d *daemon, dir string) foreignLog {
	t.Helper()
	vkey := contents(t, filepath.Join(d.data, "main.vkey"))
	key, err := note.NewVerifier(strings.TrimSpace(string(vkey)))
	must(t, err)
	r, err := bundle.Open(dir)
	must(t, err)
	defer r.Close()
	c, err := audit.OpenCheckpoint(r.Checkpoint(), key)
	must(t, err)
	return foreignLog{verifier: key, origin: key.Name(), size: int64(c.Size), hash: c.Root}
}

// sameAsLive: what the daemon serves of the log is what the directory has.
func sameAsLive(t *testing.T, d *daemon, dir string) {
	t.Helper()
	n := 0
	for path, content := range tree(t, dir) {
		if !strings.HasPrefix(path, "tile/") && path != "checkpoint" {
			continue
		}
		status, b, err := d.get("/log/main/"+path, "")
		if err != nil || status != http.StatusOK && !strings.Contains(path, ".p/") || status == http.StatusOK &&
			string(b) != content {
			t.Errorf("%s is not what the daemon serves: %d, %v", path, status, err)
		}
		n++
	}
	if n < 6 {
		t.Errorf("void: %d files", n)
	}
}

// tree returns the files of a directory by path.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(b)
		return err
	})
	must(t, err)
	return all
}

// TestExportAllowList plants a secret in every column of every table that an export does not hold, and looks for all of
// them, and for every key and token of the data directory, in each byte of it. A column that is in none of the lists
// fails: anyone who adds one decides.
func TestExportAllowList(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, d *daemon) {
		d.start()
		fill(t, d)
		var s struct{ ID uint64 }
		d.mustPost("/v1/main/shuffles", "the-key-of-a-client",
			map[string]any{"table": "t9", "deck": "standard-52", "game_ref": "g"}, &s)
		d.mustPost(fmt.Sprintf("/v1/main/shuffles/%d/deal", s.ID), "", map[string]any{"first": 0,
			"runs": []any{map[string]any{"count": 2, "purpose": "seat", "recipient": "seat-1"}}}, nil)
		d.stop()
		db := openRaw(t, d)
		for _, text := range rowsBeside {
			db.exec(text)
		}
		secrets := plant(t, db)
		dir := filepath.Join(t.TempDir(), "bundle")
		export(t, dir, d.place()...)
		for path, content := range tree(t, d.data) {
			if strings.HasSuffix(path, ".vkey") || strings.HasSuffix(path, ".mark") ||
				strings.Contains(path, "shuffled.db") {
				continue // public, or the database itself
			}
			for line := range strings.Lines(content) {
				if line = strings.TrimSpace(line); len(line) >= 16 {
					secrets = append(secrets, secret{"file " + path, []byte(line)})
				}
			}
		}
		secrets = append(secrets, secret{"a client's key", []byte("the-key-of-a-client")})
		if len(secrets) < 18 {
			t.Fatalf("void: %d secrets", len(secrets))
		}
		all := tree(t, dir)
		for path, content := range all {
			if !bundle.Known(path) {
				t.Errorf("%s is in the export", path)
			}
			for _, s := range secrets {
				for _, form := range []string{string(s.value), hex.EncodeToString(s.value), strings.ToUpper(hex.EncodeToString(s.value)),
					base64.RawStdEncoding.EncodeToString(s.value), base64.RawURLEncoding.EncodeToString(s.value)} {
					if strings.Contains(content, form) {
						t.Errorf("%s holds %s", path, s.what)
					}
				}
			}
		}
		// The search finds what is there.
		if !strings.Contains(all["tile/entries/001.p/"+strconv.FormatInt(readMirror(t, d, dir).size-256, 10)], "t9") {
			t.Error("void: a table's name is not found")
		}
	})
}

// secret is a value that an export must not hold, in any usual spelling.
type secret struct {
	what  string
	value []byte
}

// The columns that an export holds, and those that have no room for a secret or without which nothing can be read.
var (
	exportedColumns = []string{"entries.entry", "checkpoints.checkpoint", "cosigned.checkpoint", "decks.cards",
		"terms.bytes", "ledgers.name", "ledgers.origin"}
	plainColumns = []string{
		"entries.ledger", "entries.idx", "entries.type", "checkpoints.ledger", "checkpoints.size", "cosigned.ledger",
		"cosigned.size",
		"decks.ledger", "decks.hash", "heads.ledger", "heads.size", "ledgers.ledger", "tiles.ledger", "tiles.level",
		"tiles.idx",
		"terms.ledger", "terms.hash", "terms.kind", "slots.ledger", "access_records.ledger",
		"statements.ledger", "statements.n", "late.ledger", "late.size",
	}
	plantedColumns = map[string]string{ // and their kinds
		"entries.time": "number", "entries.serial": "number", "entries.shuffle": "number", "entries.tbl": "text",
		"entries.key_tag": "hash", "entries.kept": "bytes", "entries.game_ref": "text", "checkpoints.root": "hash",
		"cosigned.root": "hash",
		"heads.root":    "hash", "heads.checkpoint": "bytes", "tiles.data": "tile",
		"slots.slot": "hash", "slots.idx": "number",
		"late.root": "hash", "late.checkpoint": "bytes", "statements.shuffle": "number", "statements.note": "bytes",
		"access_records.time": "number", "access_records.request": "text", "access_records.token": "text",
		"access_records.method": "text", "access_records.path": "text",
		"access_records.seq": "number", "access_records.prev": "hash",
	}
	// One row, with a value in every column, for each table alongside the evidence.
	rowsBeside = []string{
		"INSERT INTO slots (ledger, slot, idx) SELECT ledger, root, 1 FROM heads",
		"INSERT INTO late (ledger, size, root, checkpoint) SELECT ledger, 1, root, root FROM heads",
		"INSERT INTO statements (ledger, shuffle, n, note) SELECT ledger, 1, 0, root FROM heads",
		"INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev) SELECT ledger, 1, 'r', 't', 'm', 'p', 1, root FROM heads",
	}
)

// plant puts a value of its own into every planted column.
func plant(t *testing.T, db rawDB) (secrets []secret) {
	t.Helper()
	found := 0
	for _, column := range db.columns() {
		if slices.Contains(exportedColumns, column) || slices.Contains(plainColumns, column) {
			continue
		}
		kind, ok := plantedColumns[column]
		if !ok {
			t.Fatalf("column %s is in none of the lists: may an export hold it?", column)
		}
		found++
		table, name, _ := strings.Cut(column, ".")
		text := "secret-in-" + table + "-" + name
		hash := []byte(text + strings.Repeat("*", 32))[:32]
		number := int64(7_000_000_000_000_000) + int64(found)
		s := secret{what: "the secret in " + column}
		// A row each: keys stay unique.
		switch kind {
		case "text":
			s.value = []byte(text)
			db.update(table, name, text)
		case "hash":
			s.value = hash
			db.update(table, name, hash)
		case "bytes":
			s.value = hash
			db.update(table, name, append([]byte("...."), hash...))
		case "tile":
			s.value = hash
			db.update(table, name, bytes.Repeat(hash, 256))
		case "number":
			db.update(table, name, number)
			s.value = binary.BigEndian.AppendUint64(nil, uint64(number))
			secrets = append(secrets, secret{s.what, fmt.Append(nil, number)})
		}
		secrets = append(secrets, s)
	}
	if found != len(plantedColumns) {
		t.Fatalf("%d of %d columns found", found, len(plantedColumns))
	}
	return secrets
}

// TestExportKilled kills exports with SIGKILL at random moments. The next one ends with the same bytes as one that
// nobody disturbed, and a bundle that was there before stays whole all the time.
func TestExportKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes tens of thousands of entries")
	}
	stores(t, func(t *testing.T, d *daemon) {
		l := newGenerated(t, d)
		for _, size := range []uint64{5_000, 12_000} {
			l.grow(size)
			whole := filepath.Join(t.TempDir(), "whole")
			export(t, whole, d.place()...)
			killExports(t, d, l.dir, size)
			same(t, l.dir, whole)
		}
	})
}

func killExports(t *testing.T, d *daemon, dir string, size uint64) {
	t.Helper()
	before, killed := sizeOf(t, dir), 0
	for range *exportKills {
		c := exec.Command(builtBinary(t), append([]string{"audit", "export", "--out", dir}, d.place()...)...)
		must(t, c.Start())
		done := make(chan struct{})
		go func() { c.Wait(); close(done) }()
		// When it has written so many bundles, or all and is publishing.
		untilWritten(dir, before/256+rand.Uint64N(size/256-before/256+2), done)
		c.Process.Kill()
		<-done
		if !c.ProcessState.Success() {
			killed++
		}
		if now := sizeOf(t, dir); now != before && now != size {
			t.Errorf("after a kill the bundle has size %d, not %d or %d", now, before, size)
		}
	}
	if e := export(t, dir, d.place()...); e.Size != size {
		t.Errorf("%+v", e)
	}
	if killed == 0 && *exportKills > 3 {
		t.Error("void: no export was killed")
	}
	t.Logf("killed %d of %d exports of %d entries", killed, *exportKills, size)
}

// untilWritten returns when a directory has so many entry bundles or the export is done.
func untilWritten(dir string, bundles uint64, done <-chan struct{}) {
	for {
		files, _ := os.ReadDir(filepath.Join(dir, "tile", "entries"))
		if uint64(len(files)) >= bundles {
			return
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// sizeOf returns the size of a bundle whose every entry can be read and leads to the root; 0 for none.
func sizeOf(t *testing.T, dir string) uint64 {
	r, err := bundle.Open(dir)
	if err != nil {
		return 0
	}
	defer r.Close()
	c, err := audit.CheckpointText(r.Checkpoint())
	if err != nil {
		return ^uint64(0)
	}
	var log stored
	for i := range (c.Size + bundle.Width - 1) / bundle.Width {
		entries, err := r.Entries(i)
		if err != nil {
			return ^uint64(0)
		}
		log.add(t, entries...)
	}
	if log.root(t, log.size) != c.Root || uint64(log.size) != c.Size {
		return ^uint64(0)
	}
	return c.Size
}

// same holds two bundles of the same state against each other, except the time of the export.
func same(t *testing.T, got, want string) {
	t.Helper()
	a, b := tree(t, got), tree(t, want)
	for path := range a {
		full, _, partial := strings.Cut(path, ".p/")
		if _, done := a[full]; b[path] == "" && (!partial || done) {
			t.Errorf("%s is there", path)
		}
	}
	for path, content := range b {
		if path == "manifest.json" {
			content, a[path] = undated(content), undated(a[path])
		}
		if a[path] != content {
			t.Errorf("%s differs", path)
		}
	}
}

func undated(manifest string) string {
	before, _, _ := strings.Cut(manifest, `"exported_at"`)
	return before
}

// TestExportRoles exports as the role that may only read, and from a standby.
func TestExportRoles(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	d := newDaemon(t, c.Database(t))
	d.start()
	fill(t, d)
	d.stop()
	db := openRaw(t, d)
	want := filepath.Join(t.TempDir(), "owner")
	export(t, want, d.place()...)
	db.exec("CREATE ROLE audit_reader LOGIN PASSWORD 'known'")
	db.exec("GRANT SELECT ON ledgers, entries, checkpoints, cosigned, late, decks, heads TO audit_reader")
	u, err := url.Parse(d.database)
	must(t, err)
	u.User = url.UserPassword("audit_reader", "guess")
	if _, errs, code := command(t, "audit", "fsck", "--data", d.data, "--database", u.String()); code != 3 ||
		!strings.Contains(errs, "hint: run passwords.sql") {
		t.Errorf("a wrong password: %d: %s", code, errs)
	}
	u.User = url.UserPassword("audit_reader", "known")
	got := filepath.Join(t.TempDir(), "reader")
	export(t, got, "--data", d.data, "--database", u.String())
	same(t, got, want)
	db.close()
	c.Standby(t)
	got = filepath.Join(t.TempDir(), "standby")
	export(t, got, "--data", d.data, "--database", u.String())
	same(t, got, want)
	c.Stop(t, testdb.Fast)
}

// TestExportRefusals: what the command says of stores that do not hold.
func TestExportRefusals(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, d *daemon) {
		d.start()
		fill(t, d)
		d.stop()
		dir := filepath.Join(t.TempDir(), "bundle")
		export(t, dir, d.place()...)
		before := tree(t, dir)
		db := openRaw(t, d)
		args := append([]string{"audit", "export", "--out"}, append([]string{dir}, d.place()...)...)
		refused := func(what string, code int, texts ...string) {
			t.Helper()
			stdout, stderr, got := command(t, args...)
			for _, text := range texts {
				if !strings.Contains(stderr, text) {
					t.Errorf("%s: %q is not in %s", what, text, stderr)
				}
			}
			if got != code || code == 1 && stdout != "" && what != "a deck" {
				t.Errorf("%s: exit code %d: %s%s", what, got, stdout, stderr)
			}
		}
		db.exec("UPDATE decks SET cards = " + db.bytes("0001"))
		fresh := filepath.Join(t.TempDir(), "fresh")
		args[3] = fresh
		refused("a deck", 1, "1 deck that commits name", "audit fsck")
		args[3] = dir
		db.exec("DELETE FROM checkpoints WHERE size > 100")
		refused("a rollback", 1, "does not continue the bundle", "rolled back")
		db.exec("UPDATE entries SET entry = " + db.bytes("00") + " WHERE idx = 50")
		args[3] = filepath.Join(t.TempDir(), "other")
		refused("an entry", 1, "contradicts itself", "audit fsck", "the export changed nothing in")
		if got := tree(t, dir); len(got) != len(before) {
			t.Errorf("%d files, %d before", len(got), len(before))
		} else {
			for path, content := range before {
				if got[path] != content {
					t.Errorf("%s changed", path)
				}
			}
		}
	})
}
