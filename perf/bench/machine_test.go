package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// machine describes the machine of the measurement.
type machine struct {
	CPU        string  `json:"cpu"`
	Cores      int     `json:"cores"`
	RAM        string  `json:"ram"`
	Kernel     string  `json:"kernel"`
	Go         string  `json:"go"`
	PostgreSQL string  `json:"postgresql"`
	Sync50     float64 `json:"fsync_p50_us"` // of 8 KiB written and synced, on the database's disk
	Sync99     float64 `json:"fsync_p99_us"`
	Load       string  `json:"load_average"` // before the first measurement
	Date       string  `json:"date"`
}

func describe(t *testing.T, s *server) machine {
	m := machine{
		CPU: firstMatch("/proc/cpuinfo", `model name\s*: (.*)`), Cores: runtime.NumCPU(),
		RAM: "unknown", Kernel: runtime.GOOS + "/" + runtime.GOARCH + " " +
			firstMatch("/proc/sys/kernel/osrelease", `(.*)`),
		Go: runtime.Version(), Load: firstMatch("/proc/loadavg", `(\S+)`), Date: time.Now().UTC().Format(time.DateOnly),
	}
	if kb, err := strconv.Atoi(firstMatch("/proc/meminfo", `MemTotal:\s*(\d+) kB`)); err == nil {
		m.RAM = fmt.Sprintf("%d GiB", (kb+1<<19)>>20)
	}
	m.PostgreSQL = strings.TrimSpace(tool(t, "postgres", "--version"))
	m.Sync50, m.Sync99 = syncLatency(t, filepath.Dir(s.DataDir()))
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, %s\n%s (shared_buffers 256 MB, fsync and synchronous_commit on), 8 KiB written and synced in %.0f µs (p50), %.0f µs (p99)\n%s, load average before: %s\n",
		m.CPU, m.Cores, m.RAM, m.Kernel, m.Go, m.PostgreSQL, m.Sync50, m.Sync99, m.Date, m.Load)
}

func firstMatch(path, pattern string) string {
	b, _ := os.ReadFile(path)
	if m := regexp.MustCompile(pattern).FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return "unknown"
}

// syncLatency is the time to write a page and sync it, as a commit does with
// PostgreSQL's log, in microseconds.
func syncLatency(t *testing.T, dir string) (p50, p99 float64) {
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 8192)
	if _, err := f.Write(make([]byte, 128*len(page))); err != nil { // preallocated, like the log's segments
		t.Fatal(err)
	}
	var all []time.Duration
	for i := range 500 {
		began := time.Now()
		if _, err := f.WriteAt(page, int64(i%128*len(page))); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	in := func(q float64) float64 {
		return float64(all[int(q*float64(len(all)))].Nanoseconds()) / 1000
	}
	return in(0.5), in(0.99)
}
