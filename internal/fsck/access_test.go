package fsck_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/store"
)

// TestAccessChain alters the chain of access records as the owner of the tables can,
// and sees it by the heads of the chain that are entries.
func TestAccessChain(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		path, s := openSQLite(t)
		accessChain(t, s, evidenceOfSQLite(t, path), "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn, s := openPostgres(t)
		accessChain(t, s, evidenceOfPostgres(t, dsn), "pgx", dsn)
	})
}

func accessChain(t *testing.T, s ledger.Store, e *store.Evidence, driver, address string) {
	l, vkey, _ := liveLedger(t, s)
	db, err := sql.Open(driver, address)
	must(t, err)
	defer db.Close()
	if driver == "sqlite" { // an owner takes away what forbids an UPDATE
		if _, err := db.Exec("DROP TRIGGER access_records_no_update"); err != nil {
			t.Fatal(err)
		}
	} else if _, err := db.Exec("ALTER TABLE access_records DISABLE TRIGGER ALL"); err != nil {
		t.Fatal(err)
	}
	put := func(from, to int) {
		for i := from; i <= to; i++ {
			a := ledger.Access{Time: int64(i), Request: fmt.Sprint("r", i), Token: "tok_1", Method: "GET",
				Path: "/v1/main/keys"}
			must(t, s.PutAccess(t.Context(), l.ID(), a))
		}
	}
	tell := func() {
		head, err := s.AccessHead(t.Context(), l.ID())
		must(t, err)
		if _, err := l.Append(t.Context(), ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{
			&audit.Event{Kind: audit.EventAccessHead, Records: head.Count, Digest: head.Hash}}}); err != nil {
			t.Fatal(err)
		}
	}
	look := func(what, where string) {
		t.Helper()
		r := check(t, e, fsck.Options{Ledger: name, Options: inspect.Options{VKey: vkey}})
		if where == "" {
			if r.FaultCount > 0 {
				t.Errorf("%s: %+v", what, r.Faults)
			}
			return
		}
		for _, f := range r.Faults {
			if f.Code == fsck.CodeAccessChain && f.Where == where {
				return
			}
		}
		t.Errorf("%s: no fault at %s: %+v", what, where, r.Faults)
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	look("no record", "")
	put(1, 4)
	tell()
	put(5, 6)
	look("records that no entry tells of yet", "")
	tell()
	put(7, 8)
	look("a whole chain", "")

	exec("UPDATE access_records SET path = '/' WHERE seq = 3")
	look("an altered record", "access_records[seq=4]")
	exec("UPDATE access_records SET path = '/v1/main/keys' WHERE seq = 3")
	look("the record put back", "")
	exec("UPDATE access_records SET seq = seq + 100 WHERE seq > 4")
	look("records that were taken from the middle", "access_records[seq=5]")
	exec("UPDATE access_records SET seq = seq - 100 WHERE seq > 4")

	if n, err := s.DropAccess(t.Context(), l.ID(), 5, 100); n != 4 || err != nil {
		t.Fatalf("dropped %d, %v", n, err)
	}
	look("a chain from the first that is kept", "")
	exec("UPDATE access_records SET prev = (SELECT prev FROM access_records WHERE seq = 7) WHERE seq = 5")
	look("another hash in front of the first that is kept", "access_records[seq=4]")
	if n, err := s.DropAccess(t.Context(), l.ID(), 8, 100); n != 3 || err != nil {
		t.Fatalf("dropped %d, %v", n, err)
	}
	look("a chain whose heads were all dropped", "")

	tell()
	put(9, 9)
	tell()
	exec("DELETE FROM access_records WHERE seq = 9")
	look("the newest record deleted", "access_records[seq=9]")
	put(10, 10) // another one at its number, which is vouched for
	tell()
	look("the end written anew", "access_records[seq=9]")
	exec("DELETE FROM access_records")
	look("all of them deleted", "access_records[seq=9]")
}

// liveLedger makes a ledger and opens it.
func liveLedger(t *testing.T, s ledger.Store) (l *sequencer.Ledger, vkey, mark string) {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, liveOrigin)
	must(t, err)
	signer, err := note.NewSigner(skey)
	must(t, err)
	public, err := audit.SigningKey(vkey)
	must(t, err)
	info := ledger.Info{Name: name, Origin: liveOrigin}
	mark = filepath.Join(t.TempDir(), "main.mark")
	g := &audit.Genesis{Revision: audit.Revision, Origin: liveOrigin, SigningKey: public, Deals: audit.DealsSigned,
		Disclosure:     audit.DisclosurePublic,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic}
	must(t, sequencer.Create(t.Context(), s, info, g, signer, mark, time.Now()))
	l, err = sequencer.Open(t.Context(), ledger.Config{Store: s, Info: info, Signers: []note.Signer{signer}, Mark: mark,
		Start: audit.Event{Name: "live"}, Queue: 64})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l, vkey, mark
}
