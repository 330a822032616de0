package ha

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	soak    = flag.Duration("soak", 0, "how long TestSoak runs; 0: not at all")
	between = flag.Duration("between", time.Minute, "TestSoak: the pause between two drills")
)

const looked = 15 * time.Second // the time between two looks at the figures

// soaked are the drills of a soak. In none of them may the database lose a change, and none of them
// ends the first daemon.
const soaked = "leader_killed|postmaster_killed|leader_stopped_and_fenced|switchover|etcd_members_lost|leader_cut_off|" +
	"no_standby|second_daemon_killed"

// figures are the figures of a daemon at one time.
type figures struct {
	at      time.Duration // since the soak began
	memory  int64         // resident memory, in bytes
	files   int           // open descriptors
	p50     time.Duration // of the requests to both daemons since the last figures
	p99     time.Duration
	entries int64 // acknowledged requests to both daemons
	disk    int64 // the size of the database, in bytes
	data    int64 // the size of the daemon's own files, in bytes
}

// TestSoak plays hands for a long time, while strangers read, bundles are exported and audited,
// and drills break the cluster. At the end, the memory and descriptors of the first daemon and the
// disk per request must not have grown (see flat), and every acknowledged request must get the same
// answer.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("takes -soak DURATION")
	}
	pause = 50 * time.Millisecond
	c := newCluster(t)
	h := newHouse(t, c)
	h.ready()
	h.play()
	began := time.Now()
	over := make(chan struct{})
	var others sync.WaitGroup
	var read, audited atomic.Int64
	for _, d := range h.daemons {
		others.Go(func() { d.strangers(over, &read) })
	}
	others.Go(func() { h.audits(over, &audited) })
	series := make([][]figures, len(h.daemons))
	others.Go(func() { h.look(over, began, series) })
	h.drill(began)
	close(over)
	others.Wait()
	h.load.end()
	c.whole()
	h.ready()
	lost := h.load.again()
	t.Logf("%s: %d requests acknowledged, %d lost; %d reads of strangers; %d exports audited", *soak,
		len(h.load.acked), lost, read.Load(), audited.Load())
	if lost > 0 || audited.Load() == 0 {
		t.Errorf("%d acknowledged requests are lost, %d exports were audited", lost, audited.Load())
	}
	for i, all := range series {
		flat(t, h.daemons[i].dir, all, i == 0)
	}
	out := h.run("audit", "fsck", "--database", h.reader(), "--data", h.daemons[0].dir, "--key",
		h.daemons[0].dir+"/main.vkey")
	t.Logf("audit fsck: %.200s", out)
}

// drill runs drill after drill until the time is over.
func (h *house) drill(began time.Time) {
	h.t.Helper()
	for n := 0; time.Since(began) < *soak; n++ {
		time.Sleep(min(*between, *soak-time.Since(began)))
		if d := drills[n%len(drills)]; slices.Contains(strings.Split(soaked, "|"), d.name) {
			h.t.Logf("%s: %s", time.Since(began).Round(time.Second), d.name)
			d.run(h)
			h.load.more()
			h.c.whole()
			h.ready()
		}
		if h.frozen() {
			h.t.Fatal("a daemon signs nothing: the database lost what it had acknowledged")
		}
	}
}

// strangers read what is public, without a token, until the soak is over.
func (d *daemon) strangers(over <-chan struct{}, read *atomic.Int64) {
	get := func(path string, args ...any) {
		resp, err := client.Get(d.url + fmt.Sprintf(path, args...))
		if err != nil {
			return
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		if resp.StatusCode == http.StatusOK {
			read.Add(1)
		}
	}
	for n := 0; ; n++ {
		get("/log/main/checkpoint")
		get("/v1/main/shuffles/%d/transcript", 1+n%1000)
		get("/v1/main/entries/%d/receipt", 1+n%1000)
		select {
		case <-over:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// reader returns the address of the database for exports.
func (h *house) reader() string {
	return strings.Replace(h.c.dsn("shuffled_reader"), "shuffled_reader@", "shuffled_reader:"+password+"@", 1)
}

// audits exports the ledger, each time into the same bundle, and audits the bundle. An export that
// fails, as it may while the cluster is broken, is tried again.
func (h *house) audits(over <-chan struct{}, audited *atomic.Int64) {
	bundle := filepath.Join(h.dir, "bundle")
	key := filepath.Join(h.daemons[0].dir, "main.vkey")
	program := func(args ...string) error {
		out, err := exec.Command(filepath.Join(h.dir, "shuffled"), args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%v: %w\n%.500s", args[:2], err, out)
		}
		return nil
	}
	for {
		err := program("audit", "export", "--database", h.reader(), "--data", h.daemons[0].dir, "--out", bundle)
		if err != nil {
			h.t.Logf("tried again: %v", err)
		} else if err := program("audit", "verify", bundle, "--key", key); err != nil {
			h.t.Errorf("an export does not hold: %v", err)
		} else {
			audited.Add(1)
		}
		select {
		case <-over:
			return
		case <-time.After(*between):
		}
	}
}

// look collects the figures of the daemons until the soak is over.
func (h *house) look(over <-chan struct{}, began time.Time, series [][]figures) {
	for {
		select {
		case <-over:
			return
		case <-time.After(looked):
		}
		h.load.mu.Lock()
		took := h.load.took
		h.load.took = nil
		entries := int64(len(h.load.acked))
		h.load.mu.Unlock()
		slices.Sort(took)
		f := figures{at: time.Since(began), entries: entries, disk: h.c.size()}
		if n := len(took); n > 0 {
			f.p50, f.p99 = took[n/2], took[n*99/100]
		}
		for i, d := range h.daemons {
			if d.figures(&f) {
				series[i] = append(series[i], f)
			}
		}
	}
}

// figures fills in the figures of the process. It returns false if the process does not run.
func (d *daemon) figures(f *figures) bool {
	proc := fmt.Sprintf("/proc/%d", d.pid.Load())
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return false
	}
	_, rss, ok := strings.Cut(string(status), "VmRSS:")
	files, err := os.ReadDir(proc + "/fd")
	if !ok || err != nil {
		return false
	}
	fmt.Sscan(rss, &f.memory)
	f.memory <<= 10
	f.files, f.data = len(files), 0
	filepath.WalkDir(d.dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				f.data += info.Size()
			}
		}
		return nil
	})
	return true
}

// flat prints the figures of a daemon. If judged, the median of memory, of descriptors and of disk
// per request must in the last quarter be at most 1.5 times that of the second quarter. The first
// quarter does not count, because caches fill then. Latencies are printed and not judged.
func flat(t *testing.T, name string, all []figures, judged bool) {
	t.Helper()
	if len(all) < 8 {
		t.Fatalf("%s: %d figures, too few to judge", filepath.Base(name), len(all))
	}
	for i := 0; i < len(all); i += max(1, len(all)/24) {
		f := all[i]
		t.Logf("%s %8s: %6.1f MiB, %4d files, p50 %8s, p99 %8s, %8d requests, database %7.1f MiB, data %.1f MiB",
			filepath.Base(name), f.at.Round(time.Second), mib(f.memory), f.files, f.p50.Round(time.Millisecond/10),
			f.p99.Round(time.Millisecond/10), f.entries, mib(f.disk), mib(f.data))
	}
	if !judged { // drills kill the second daemon again and again
		return
	}
	n := len(all) / 4
	early, late := all[n:2*n], all[3*n:]
	median := func(of []figures, what func(figures) float64) float64 {
		var values []float64
		for _, f := range of {
			values = append(values, what(f))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	for what, of := range map[string]func(figures) float64{
		"memory":         func(f figures) float64 { return float64(f.memory) },
		"files":          func(f figures) float64 { return float64(f.files) },
		"disk a request": func(f figures) float64 { return float64(f.disk) / float64(max(1, f.entries)) },
	} {
		if a, b := median(early, of), median(late, of); b > 1.5*a {
			t.Errorf("%s: %s is not flat: %.0f in the second quarter, %.0f in the last", filepath.Base(name), what, a, b)
		}
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
