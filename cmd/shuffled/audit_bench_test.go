package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

var exportEntries = flag.Uint64("export-entries", 50_000, "entries of the ledger that BenchmarkExport exports")

// BenchmarkExport measures the real binary on a generated ledger: a whole export, and one that finds 300 entries more.
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
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() { c.Wait(); close(done) }()
	// The kernel's own figure at the end is of this process if it is the larger.
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	peak := int64(0)
	for {
		select {
		case <-done:
			if !c.ProcessState.Success() {
				b.Fatal(c.ProcessState)
			}
			return time.Since(begin), peak
		case <-tick.C:
			peak = max(peak, highWater(c.Process.Pid))
		}
	}
}

// highWater returns the largest resident set so far of a process that is not this
// one, in KiB; 0 where that cannot be read.
func highWater(pid int) (kib int64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || bytes.HasPrefix(b, []byte("Name:\tshuffled.test")) {
		return 0
	}
	_, line, _ := bytes.Cut(b, []byte("\nVmHWM:"))
	fmt.Sscan(string(line), &kib)
	return kib
}
