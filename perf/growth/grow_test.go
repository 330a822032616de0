package growth

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/store/postgres"
)

var (
	database = flag.String("database", "",
		"address of a database with the sandbox ledger of a daemon that was stopped; empty: measure nothing")
	data    = flag.String("data", "", "data directory of that daemon")
	entries = flag.Uint64("entries", 100_000, "size up to which the ledger is filled")
	keyKind = flag.String("keys", "uuid", "idempotency keys: uuid or random")
	full    = flag.Bool("fold", false, "measure a start without the cache of the state, too")
)

// TestGrow fills the ledger of a sandbox and prints the cost of its size.
func TestGrow(t *testing.T) {
	if *database == "" {
		t.Skip("-database was not given")
	}
	l, s := start(t, "start-up")
	if err := Fill(t.Context(), l, *entries, *keyKind, t.Logf); err != nil {
		t.Fatal(err)
	}
	reads(t, l, s)
	closeAll(l, s)
	closeAll(start(t, "start-up"))
	if *full {
		if err := os.Remove(Mark(*data) + ".cache"); err != nil {
			t.Fatal(err)
		}
		closeAll(start(t, "start-up without the cache"))
	}
	disk(t)
}

func start(t *testing.T, what string) (*sequencer.Ledger, *postgres.Store) {
	t.Helper()
	began := time.Now()
	l, s, err := Open(t.Context(), *database, *data)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s of %d entries: %v", what, l.Head().Size, time.Since(began).Round(time.Millisecond))
	return l, s
}

func closeAll(l *sequencer.Ledger, s *postgres.Store) {
	l.Close()
	s.Close()
}

// reads measures what is read by index, each at random places.
func reads(t *testing.T, l *sequencer.Ledger, s *postgres.Store) {
	t.Helper()
	const rounds = 500
	size := l.Head().Size
	var ids []uint64
	for len(ids) < rounds {
		for row, err := range s.Rows(t.Context(), l.ID(), rand.Uint64N(size), size) {
			if err != nil {
				t.Fatal(err)
			}
			if row.Shuffle != 0 {
				ids = append(ids, row.Shuffle)
				break
			}
			if row.Index%1000 == 999 {
				break
			}
		}
	}
	for _, read := range []struct {
		name string
		read func(index uint64) error
	}{
		{"a tile", func(index uint64) error {
			_, err := l.Tile(t.Context(), tlog.Tile{H: 8, N: int64(index / 256), W: 256})
			return err
		}},
		{"an entry bundle", func(index uint64) error {
			_, err := l.EntryBundle(t.Context(), tlog.Tile{H: 8, L: -1, N: int64(index / 256), W: 256})
			return err
		}},
		{"a receipt", func(index uint64) error {
			_, err := l.Receipt(t.Context(), index)
			return err
		}},
		{"the rows of a shuffle, with proofs", func(index uint64) error {
			found, err := s.ByShuffles(t.Context(), l.ID(), ledger.Durable, ids[index%uint64(len(ids))])
			if err == nil && (len(found) != 1 || len(found[0]) != 3) {
				err = fmt.Errorf("%d shuffles", len(found))
			}
			if err == nil {
				err = l.Authentic(t.Context(), found[0])
			}
			return err
		}},
		{"a key that is not there", func(uint64) error {
			_, err := s.ByKeyTags(t.Context(), l.ID(),
				[32]byte{byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32())})
			return err
		}},
	} {
		times := make([]time.Duration, rounds)
		for i := range times {
			began := time.Now()
			if err := read.read(rand.Uint64N(size - size%256)); err != nil {
				t.Fatal(err)
			}
			times[i] = time.Since(began)
		}
		slices.Sort(times)
		t.Logf("%s: p50 %v, p99 %v", read.name, times[rounds/2].Round(time.Microsecond),
			times[rounds*99/100].Round(time.Microsecond))
	}
}

// disk prints the sizes of tables and indexes.
func disk(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), *database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var n, shuffles float64
	if err := conn.QueryRow(t.Context(), "SELECT count(*), count(key_tag) FROM entries").Scan(&n,
		&shuffles); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `
SELECT coalesce(i.relname || ' (index)', t.relname || ' (table)'), pg_relation_size(coalesce(i.oid, t.oid)) +
       CASE WHEN i.oid IS NULL THEN coalesce(pg_total_relation_size(nullif(t.reltoastrelid, 0)), 0) ELSE 0 END
FROM pg_class t LEFT JOIN LATERAL (
    SELECT c.relname,
	c.oid FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid WHERE x.indrelid = t.oid UNION ALL SELECT NULL, NULL
) i ON true
WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' ORDER BY t.relname, i.relname NULLS FIRST`)
	if err != nil {
		t.Fatal(err)
	}
	var total float64
	text := fmt.Sprintf("%.0f entries, %.0f shuffles\n%-28s %14s %12s\n", n, shuffles, "", "bytes", "per shuffle")
	for rows.Next() {
		var name string
		var bytes int64
		if err := rows.Scan(&name, &bytes); err != nil {
			t.Fatal(err)
		}
		if bytes > 1<<16 {
			text += fmt.Sprintf("%-28s %14d %12.1f\n", name, bytes, float64(bytes)/shuffles)
		}
		total += float64(bytes)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s%-28s %14.0f %12.1f", text, "all", total, total/shuffles)
}
