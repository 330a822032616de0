package inspect

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/inspect/inspecttest"
)

var benchLedger struct {
	sync.Once
	dir string
	n   int
}

// BenchmarkInspect checks a ledger of 52-card shuffles, each with a commit, four deals and a close: read from files,
// hashed, held against all rules, recomputed. SHUFFLED_INSPECT is the number of shuffles, SHUFFLED_INSPECT_DIR a
// directory that keeps the ledger between runs.
//
//	SHUFFLED_INSPECT=1000000 go test ./internal/inspect -run '^$' -bench Inspect -benchtime 1x
func BenchmarkInspect(b *testing.B) {
	benchLedger.Do(func() {
		benchLedger.n = 20_000
		if n, err := strconv.Atoi(os.Getenv("SHUFFLED_INSPECT")); err == nil {
			benchLedger.n = n
		}
		benchLedger.dir = os.Getenv("SHUFFLED_INSPECT_DIR")
		if benchLedger.dir == "" {
			benchLedger.dir = b.TempDir()
		}
		if _, err := os.Stat(benchLedger.dir + "/manifest.json"); err != nil {
			inspecttest.Fast(benchLedger.dir, benchLedger.n)
		}
	})
	for _, workers := range []int{1, runtime.NumCPU()} {
		b.Run("cores="+strconv.Itoa(workers), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			defer debug.SetGCPercent(debug.SetGCPercent(800)) // as the command does
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				r := inspectDir(b, benchLedger.dir, Options{VKey: inspecttest.VKey()})
				if r.Verdict != Proved || r.Totals.Tapes[TapeRecomputed] != uint64(benchLedger.n) {
					b.Fatalf("%s: %d recomputed: %+v", r.Verdict, r.Totals.Tapes[TapeRecomputed], r.Faults)
				}
			}
			rate := float64(b.N*benchLedger.n) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "shuffles/s")
			b.ReportMetric(float64(b.N*benchLedger.n)/(cpu(b)-began).Seconds(), "shuffles/cpu-s")
			b.ReportMetric(float64(peak(b)), "peak-MiB")
		})
	}
}

// BenchmarkPair checks the ledgers of a house and of its co-dealer, with four blind deals a
// hand. SHUFFLED_INSPECT is the number of hands.
//
//	SHUFFLED_INSPECT=100000 go test ./internal/inspect -run '^$' -bench Pair -benchtime 1x
func BenchmarkPair(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("SHUFFLED_INSPECT"))
	if err != nil {
		n = 2_000
	}
	temp := b.TempDir()
	b.Setenv("TMPDIR", temp)
	house, lab := b.TempDir(), b.TempDir()
	inspecttest.FastPair(house, lab, n)
	runtime.GC()
	before := peak(b)
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as the command does
	began, files := cpu(b), int64(0)
	for b.Loop() {
		r, err := inspectPair(b, house, lab, func(o *PairOptions) {
			o.CoDealer.Progress = func(uint64, uint64) { files = max(files, size(b, temp)) }
		})
		if err != nil || r.Verdict != Proved || r.Totals.Blind != uint64(n) {
			b.Fatalf("%v: %s, %+v", err, r.Verdict, r.Totals)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "hands/s")
	b.ReportMetric(float64(b.N*n)/(cpu(b)-began).Seconds(), "hands/cpu-s")
	b.ReportMetric(float64(peak(b)), "peak-MiB")
	b.ReportMetric(float64(before), "before-MiB")
	b.ReportMetric(float64(files)/float64(n), "file-bytes/hand")
}

// size is how many bytes the files below a directory have.
func size(b *testing.B, dir string) (n int64) {
	err := filepath.Walk(dir, func(_ string, f os.FileInfo, err error) error {
		if err == nil && !f.IsDir() {
			n += f.Size()
		}
		return nil
	})
	must(b, err)
	return n
}

// cpu is the time that the process spent on cores, its system calls included: what
// counts where other work shares the machine.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the largest resident size of the process so far, in MiB: VmHWM on Linux, 0 elsewhere.
func peak(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kb, err := strconv.Atoi(f[1])
			must(b, err)
			return kb >> 10
		}
	}
	return 0
}
