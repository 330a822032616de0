package fsck_test

import (
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/audit"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
	"shuffled/internal/store"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

const liveOrigin = "live.example/ledger"

// TestLive checks a ledger again and again while a daemon appends to it: there is nothing to find.
func TestLive(t *testing.T) {
	t.Parallel()
	path, s := openSQLite(t)
	alongside(t, s, evidenceOfSQLite(t, path))
	dsn, p := openPostgres(t)
	alongside(t, p, evidenceOfPostgres(t, dsn))
}

func alongside(t *testing.T, s ledger.Store, e *store.Evidence) {
	t.Helper()
	l, vkey, mark := liveLedger(t, s)

	const enough = 1500
	var done atomic.Bool
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := 0; !done.Load(); n++ {
				deck, err := shuffle.NewDeck([]string{"a", fmt.Sprint(w), fmt.Sprint("n", n)})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = l.Append(t.Context(),
					ledger.Proposal{Actor: audit.Daemon, Decks: []ledger.Deck{{Hash: deck.Hash(), List: deck.Bytes()}},
						Bodies: []audit.Body{&audit.Event{Kind: audit.EventTableOpen,
							Name: fmt.Sprintf("table-%d-%d", w, n)}}})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer writers.Wait()
	defer done.Store(true)
	later := uint64(0)
	for checks := 0; l.Head().Size < enough || checks < 10; checks++ {
		r := check(t, e, fsck.Options{Ledger: name, Mark: mark, Options: inspect.Options{VKey: vkey}})
		if r.FaultCount > 0 || r.Verdict != inspect.Proved {
			t.Fatalf("check %d of %d entries: %+v", checks, r.Size, r.Faults)
		}
		later += r.Store.Later
	}
	if later == 0 {
		t.Error("no check saw entries that came in that time")
	}
}

// TestReader checks with the grants of a role that may only read evidence.
func TestReader(t *testing.T) {
	t.Parallel()
	m := made(t)
	dsn := testdb.Start(t).Database(t)
	must(t, postgres.MigrateUp(t.Context(), dsn, postgres.Options{}))
	s, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
	must(t, err)
	defer s.Close()
	m.load(t, s, len(m.heads))
	roles, err := os.ReadFile("../../deploy/roles.sql")
	must(t, err)
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), string(roles)+"; ALTER ROLE shuffled_reader PASSWORD 'known'"); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	must(t, err)
	u.User = url.UserPassword("shuffled_reader", "known")
	wantHonest(t, m, evidenceOfPostgres(t, u.String()))
	// A head whose comment is gone is still looked at.
	if _, err := conn.Exec(t.Context(), "COMMENT ON TABLE heads IS NULL"); err != nil {
		t.Fatal(err)
	}
	wantHonest(t, m, evidenceOfPostgres(t, u.String()))
}
