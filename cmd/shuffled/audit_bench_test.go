package main

import (
	"flag"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

var exportEntries = flag.Uint64("export-entries", 50_000, "entries of the ledger that BenchmarkExport exports")

// BenchmarkExport measures the real binary on a generated ledger: a whole export,
// and one that finds 300 entries more.
func BenchmarkExport(b *testing.B) {
	for _, store := range []string{"sqlite", "postgres"} {
		b.Run(store, func(b *testing.B) {
			dir := b.TempDir()
			d := &daemon{data: filepath.Join(dir, "data")}
			if store == "postgres" {
				d.database = testdb.DSN(b)
			}
			g := newGenerated(b, d)
			g.grow(*exportEntries)
			var whole, more time.Duration
			var peak int64
			for b.Loop() {
				took, rss := exportOnce(b, d, g.dir)
				whole, peak = took, max(peak, rss)
				g.grow(g.head.Size + 300)
				more, _ = exportOnce(b, d, g.dir)
				g.dir = filepath.Join(b.TempDir(), "bundle")
			}
			b.ReportMetric(float64(g.head.Size)/whole.Seconds(), "entries/s")
			b.ReportMetric(float64(peak)/1024, "MiB")
			b.ReportMetric(more.Seconds(), "s/more")
		})
	}
}

// exportOnce returns how long an export took and its largest resident set in KiB.
func exportOnce(b *testing.B, d *daemon, dir string) (time.Duration, int64) {
	b.Helper()
	path, err := builtBinary()
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(path, append([]string{"audit", "export", "--out", dir}, d.place()...)...)
	begin := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return time.Since(begin), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}
