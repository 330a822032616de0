package fsck_test

import (
	"testing"

	"shuffled/internal/store"
)

// BenchmarkSmall is a check of a few hundred entries: what it costs to begin.
func BenchmarkSmall(b *testing.B) {
	m := made(b)
	path, s := openSQLite(b)
	m.load(b, s, len(m.heads))
	bench(b, m, evidenceOfSQLite(b, path))
}

// BenchmarkSQLite and BenchmarkPostgres check 12,000 entries, all sealed tapes
// opened and all closed shuffles recomputed.
func BenchmarkSQLite(b *testing.B) {
	m := madeBusy(b, 2000)
	path, s := openSQLite(b)
	m.load(b, s, len(m.heads))
	bench(b, m, evidenceOfSQLite(b, path))
}

func BenchmarkPostgres(b *testing.B) {
	m := madeBusy(b, 2000)
	dsn, s := openPostgres(b)
	m.load(b, s, len(m.heads))
	bench(b, m, evidenceOfPostgres(b, dsn))
}

func madeBusy(t testing.TB, n int) *material {
	t.Helper()
	m, err := busy(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func bench(b *testing.B, m *material, e *store.Evidence) {
	for b.Loop() {
		if r := check(b, e, m.options()); r.FaultCount > 0 {
			b.Fatal(r.Faults)
		}
	}
	b.ReportMetric(float64(len(m.entries))*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
