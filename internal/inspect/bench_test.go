package inspect

import (
	"os"
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

// BenchmarkInspect checks a ledger of 52-card shuffles, each with a commit, four
// deals and a close: read from files, hashed, held against all rules, recomputed.
// SHUFFLED_INSPECT is the number of shuffles, SHUFFLED_INSPECT_DIR a directory
// that keeps the ledger between runs.
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
				r := inspectDir(b, benchLedger.dir, Options{VKey: inspecttest.VKey(), Workers: workers})
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

// cpu is the time that the process spent on cores, its system calls included: what
// counts where other work shares the machine.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the largest resident size of the process so far, in MiB: VmHWM on
// Linux, 0 elsewhere.
func peak(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kb, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			return kb >> 10
		}
	}
	return 0
}
