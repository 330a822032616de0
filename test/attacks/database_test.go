package attacks

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// bothStores runs the attack on two installations: one on SQLite, whose file the attacker
// can write, and one on PostgreSQL, where the attacker has the daemon's own role.
func bothStores(t *testing.T, of terms, try func(t *testing.T, h *house)) {
	t.Helper()
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) {
			of.postgres = postgres
			try(t, open(t, of))
		})
	}
}

// database opens the PostgreSQL database with the daemon's role, or the SQLite file with
// write access.
func (h *house) database() *sql.DB {
	h.t.Helper()
	driver, address := "sqlite", "file:"+h.path("shuffled.db")+"?_pragma=busy_timeout(10000)"
	if h.super != "" {
		u, err := url.Parse(h.super)
		h.check(err)
		u.User = url.UserPassword("shuffled_writer", password)
		driver, address = "pgx", u.String()
	}
	db, err := sql.Open(driver, address)
	h.check(err)
	h.t.Cleanup(func() { db.Close() })
	return db
}

// row reads one row, and returns its values by column name: a build may have other columns
// than this one.
func row(t *testing.T, db *sql.DB, query string) map[string]any {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		t.Fatalf("no row: %s", query)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]any)
	for i, name := range names {
		found[name] = values[i]
	}
	return found
}

// insert adds a row to a table.
func insert(db *sql.DB, table string, values map[string]any) error {
	var marks []string
	var args []any
	names := slices.Sorted(maps.Keys(values))
	for i, name := range names {
		marks, args = append(marks, fmt.Sprintf("$%d", i+1)), append(args, values[name])
	}
	columns, places := strings.Join(names, ", "), strings.Join(marks, ", ")
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, columns, places)
	_, err := db.Exec(statement, args...)
	return err
}

// minted returns a token that no command created, its id, and the hash of its secret.
func minted() (id, token string, hash []byte) {
	secret := rand.Text()
	id = "tok_" + strings.ToLower(rand.Text()[:12])
	sum := sha256.Sum256([]byte(secret))
	return id, id + "." + secret, sum[:]
}

// opensNothing checks the defence against a forged row: its credential is refused, a line of
// the log raises an alarm that names the row, and audit fsck names it.
func (h *house) opensNothing(what, id, token, path, body string) {
	h.t.Helper()
	if got := h.post(path, token, body); got.status != http.StatusUnauthorized {
		h.t.Errorf("%s: %s; the defence is a 401", what, got)
	}
	alarmed := false
	for line := range strings.Lines(h.daemon.printed()) {
		loud := strings.Contains(line, "ERROR") || strings.Contains(strings.ToLower(line), "alarm")
		alarmed = alarmed || loud && strings.Contains(line, id)
	}
	if !alarmed {
		h.t.Errorf("%s: no line of the log raises an alarm that names %s", what, id)
	}
	h.fsckNames(what, id)
}

// fsckNames checks that audit fsck ends with a fault that names the row.
func (h *house) fsckNames(what, row string) {
	h.t.Helper()
	code, out := h.run("audit", "fsck", "--config", h.path("shuffled.toml"), "--json")
	if code != 1 || !strings.Contains(out, row) {
		h.t.Errorf("%s: audit fsck ends with %d and does not name %s:\n%.100s", what, code, row, out)
	}
}

// TestInsertedDealer: the attacker inserts a row into tokens for a dealer's token, and with
// it asks for undealt cards of the house. A row gives only the rights that its entry gives.
func TestInsertedDealer(t *testing.T) {
	attack(t)
	bothStores(t, terms{}, func(t *testing.T, h *house) {
		hand := h.hand("k1", "t1")
		id, token, hash := minted()
		if h.mint(id, hash, public(h.house)) {
			h.opensNothing("a dealer by INSERT", id, token, hand+"/deal", holeCards)
		}
	})
}

// TestInsertedAdmin: the attacker inserts a row into tokens for an administrator's token.
func TestInsertedAdmin(t *testing.T) {
	attack(t)
	bothStores(t, terms{}, func(t *testing.T, h *house) {
		id, token, hash := minted()
		if h.mint(id, hash, public(h.admin)) {
			body := `{"scope":"ledger","reason":"an attack"}`
			h.opensNothing("an administrator by INSERT", id, token, "/v1/main/switches", body)
		}
	})
}

// keepsRows reports whether the database has a table of tokens. In a build whose tokens are
// entries of the ledger it has none, so no SQL statement can make or change a token.
func (h *house) keepsRows() bool {
	h.t.Helper()
	catalog := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if h.super != "" {
		catalog = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')"
	}
	rows, err := h.database().Query(catalog)
	h.check(err)
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		h.check(rows.Scan(&name))
		names = append(names, name)
	}
	h.check(rows.Err())
	if !slices.Contains(names, "entries") {
		h.t.Fatalf("the tables are %v", names)
	}
	if slices.Contains(names, "tokens") {
		return true
	}
	for _, name := range names {
		for _, kind := range []string{"token", "credential", "certificate", "identit"} {
			if strings.Contains(name, kind) {
				h.t.Fatalf("the suite does not know the table %s", name)
			}
		}
	}
	h.t.Logf("no table holds tokens: %v", names)
	return false
}

// mint inserts a copy of a token's row under another id and hash, and reports whether
// the database took it.
func (h *house) mint(id string, hash []byte, like string) bool {
	h.t.Helper()
	if !h.keepsRows() {
		return false
	}
	db := h.database()
	copied := row(h.t, db, "SELECT * FROM tokens WHERE id = '"+like+"'")
	if copied["hash"] == nil {
		h.t.Fatalf("the suite does not know this form of the table tokens: %v", slices.Sorted(maps.Keys(copied)))
	}
	copied["id"], copied["hash"] = id, hash
	return h.taken(insert(db, "tokens", copied))
}

// taken reports whether the database took a statement. A refusal is a defence. An unknown
// column or table is a fault of the suite, and ends the test.
func (h *house) taken(err error) bool {
	h.t.Helper()
	if err == nil {
		return true
	}
	for _, unknown := range []string{"no such column", "has no column", "no such table", "does not exist"} {
		if strings.Contains(err.Error(), unknown) {
			h.t.Fatalf("the suite does not know the tables of this build: %v", err)
		}
	}
	h.t.Logf("the database refuses the statement: %v", err)
	return false
}

// TestSwappedHash: the attacker exchanges the hash of the house's token, so that another
// secret would act under the house's name.
func TestSwappedHash(t *testing.T) {
	attack(t)
	bothStores(t, terms{}, func(t *testing.T, h *house) {
		hand := h.hand("k1", "t1")
		id := public(h.house)
		_, token, hash := minted()
		_, secret, _ := strings.Cut(token, ".")
		if h.keepsRows() && h.altered("UPDATE tokens SET hash = $1 WHERE id = $2", hash, id) {
			h.opensNothing("a swapped hash", id, id+"."+secret, hand+"/deal", holeCards)
		}
	})
}

// TestRevivedToken: the attacker removes the revocation from the row of a token. The daemon
// reads revocations from the ledger, never from the row.
func TestRevivedToken(t *testing.T) {
	attack(t)
	bothStores(t, terms{}, func(t *testing.T, h *house) {
		hand := h.hand("k1", "t1")
		id := public(h.thief)
		h.daemon.stop() // so that the next daemon has nothing of the row in memory
		h.must("token", "revoke", "--config", h.path("shuffled.toml"), id)
		revived := h.keepsRows() && h.altered("UPDATE tokens SET revoked = NULL WHERE id = $1", id)
		h.serve()
		if revived {
			h.opensNothing("a revived token", id, h.thief, hand+"/deal", holeCards)
		} else if got := h.post(hand+"/deal", h.thief, holeCards); got.status != http.StatusUnauthorized {
			t.Errorf("a revoked token: %s", got)
		}
	})
}

// altered runs a statement, and reports whether the database took it and changed a row.
func (h *house) altered(statement string, args ...any) bool {
	h.t.Helper()
	result, err := h.database().Exec(statement, args...)
	if !h.taken(err) {
		return false
	}
	n, err := result.RowsAffected()
	h.check(err)
	return n > 0
}

// TestInsertedEntry: the daemon's role inserts a row after the newest entry, which would
// stop the ledger for good. The database refuses it, or the ledger still takes entries, or
// the daemon and audit fsck name the row.
func TestInsertedEntry(t *testing.T) {
	attack(t)
	h := open(t, terms{postgres: true})
	h.ok(h.commit(h.house, "k1", "t1"))
	db := h.database()
	last := row(t, db, "SELECT * FROM entries ORDER BY idx DESC LIMIT 1")
	index := last["idx"].(int64) + 1
	last["idx"], last["key_tag"] = index, make([]byte, 32)
	if serial, ok := last["serial"].(int64); ok {
		last["serial"] = serial + 1
	}
	if !h.taken(insert(db, "entries", last)) {
		return
	}
	got := h.commit(h.house, "k2", "t1")
	if got.status == http.StatusOK {
		return // the ledger goes on
	}
	if said := h.readiness() + string(got.body); !strings.Contains(said, fmt.Sprintf("entry %d", index)) {
		t.Errorf("neither /readyz nor the answer names entry %d: %s", index, said)
	}
	h.fsckNames("a row behind the newest entry", fmt.Sprint(index))
}

// TestDeletedAccessRecords: the daemon's role deletes the records of a regulator's
// requests. The database refuses it, or audit fsck finds it.
func TestDeletedAccessRecords(t *testing.T) {
	attack(t)
	h := open(t, terms{postgres: true})
	hand := h.hand("k1", "t1")
	for range 3 {
		h.ok(h.get(hand, h.regulator))
	}
	if !h.altered("DELETE FROM access_records") {
		return
	}
	h.daemon.stop() // the daemon writes the head of the records into the ledger
	h.serve()
	h.fsckNames("the records of a regulator are gone", "access")
}

// TestDecksOfRefusedCommits: a kill switch refuses commits that each bring a new deck. A
// refused request leaves no deck in the database.
func TestDecksOfRefusedCommits(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	h.ok(h.post("/v1/main/switches", h.admin, `{"scope":"ledger","reason":"a drill"}`))
	db := h.database()
	before := row(t, db, "SELECT count(*) AS n FROM decks")["n"]
	for i := range 5 {
		body := fmt.Sprintf(`{"table":"t1","cards":["a-%d","b-%d","c-%d"]}`, i, i, i)
		got := h.do(http.MethodPost, "/v1/main/shuffles", h.house, fmt.Sprint("k", i), body)
		h.refused("a commit under a kill switch", got, "kill")
	}
	if after := row(t, db, "SELECT count(*) AS n FROM decks")["n"]; after != before {
		t.Errorf("refused commits left decks behind: %v, and %v before", after, before)
	}
}
