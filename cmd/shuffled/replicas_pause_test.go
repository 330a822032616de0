package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

// gate holds the first statement that is asked for.
type gate struct {
	proxy *testdb.Proxy

	mu      sync.Mutex
	wanted  string        // part of the statement to hold; "": none
	held    chan struct{} // closed when it is
	release chan struct{} // closed to let it pass
	free    func()        // closes release, once
}

func newGate(t *testing.T, database string) *gate {
	g := &gate{proxy: testdb.NewProxy(t, database)}
	g.proxy.Fault = g.pass
	t.Cleanup(g.open) // before the proxy ends, which waits for what it holds
	return g
}

func (g *gate) pass(sql string) testdb.Fault {
	g.mu.Lock()
	hold := g.wanted != "" && strings.Contains(sql, g.wanted)
	if hold {
		g.wanted = ""
	}
	held, release := g.held, g.release
	g.mu.Unlock()
	if hold {
		close(held)
		<-release
	}
	return testdb.Pass
}

// hold begins to wait for a statement with this text.
func (g *gate) hold(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted, g.held, g.release = text, make(chan struct{}), make(chan struct{})
	release := g.release
	g.free = sync.OnceFunc(func() { close(release) })
}

// open lets the statement pass, and all that come.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted = ""
	if g.free != nil {
		g.free()
	}
}

// holds reports whether the statement that was asked for has come.
func (g *gate) holds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.wanted == ""
}

// TestReplicaPaused stops a daemon with SIGSTOP between its look at the head and its commit, while others write. When
// it goes on it writes nothing on the old head, and anyone who asked it gets a true answer.
func TestReplicaPaused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs daemons")
	}
	// Where the daemon is when it stops: the head is asked for with the lock of an
	// append (sqlHead), an append updates it (sqlAppend).
	const headLock, headUpdate = "FOR NO KEY UPDATE", "UPDATE heads"
	for name, text := range map[string]string{"reads the head": headLock, "has sent its append": headUpdate} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := testdb.DSN(t)
			g := newGate(t, database)
			r := newReplicas(t, database, g.proxy.DSN)
			paused := r.daemons[1]
			// No request is made again: one that another daemon refused would wait for the paused one.
			c := &crowd{replicas: r, name: "c", attempts: 1}
			at := func(daemon int, name string) *gambler { return &gambler{crowd: c, home: daemon, name: name} }
			mine, other := at(1, "mine"), at(0, "other")
			for range 4 { // the fourth is sent to both, and none of the next eleven is
				mine.hand()
				other.hand()
			}
			c.ok()
			g.hold(text)
			var wg sync.WaitGroup
			failed := make(chan struct{})
			wg.Go(func() {
				for !g.holds() {
					if !mine.hand() {
						close(failed)
						return
					}
				}
			})
			select {
			case <-g.held:
			case <-failed:
				c.ok()
			}
			paused.signal(syscall.SIGSTOP)
			if text == headLock {
				g.open() // so it has read a head that is then old
			}
			for range 10 {
				other.hand()
			}
			if text != headLock {
				g.open()
			}
			before := r.size()
			late := at(1, "late")
			wg.Go(func() { late.hand() })
			paused.signal(syscall.SIGCONT)
			wg.Wait()
			mine.hand()
			c.ok()
			o := r.check(c.journal, true)
			if len(c.journal) == 0 || uint64(len(o.leaves)) <= before {
				t.Errorf("nothing was written after the pause")
			}
			if text == headUpdate && paused.appends("lost") == 0 {
				t.Error("the append that was held was not overtaken")
			}
		})
	}
}

// size returns the size of the ledger as the first daemon knows it.
func (r *replicas) size() uint64 {
	return uint64(r.daemons[0].figures("shuffled_ledger_entries")[`shuffled_ledger_entries{ledger="main"}`])
}

func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// TestReplicasPausedUnderLoad stops daemons at random moments, one at a time, under load, and lets them go on.
func TestReplicasPausedUnderLoad(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs daemons under load")
	}
	r := newReplicas(t, repeat(testdb.DSN(t), 3)...)
	c := &crowd{replicas: r, name: "c", clients: slices.Repeat([]int{8}, 3), attempts: 1}
	done := make(chan struct{})
	go func() { defer close(done); c.run(0) }()
	for i := 0; i < *replicasPauses && !c.stop.Load(); i++ {
		d := r.daemons[i%3]
		d.signal(syscall.SIGSTOP)
		// Random times are the experiment here, no condition is waited for.
		time.Sleep(time.Duration(10+rand.IntN(190)) * time.Millisecond)
		d.signal(syscall.SIGCONT)
		time.Sleep(time.Duration(10+rand.IntN(90)) * time.Millisecond)
	}
	c.stop.Store(true)
	<-done
	c.ok()
	var wg sync.WaitGroup
	for _, d := range r.daemons {
		wg.Go(d.stop)
	}
	wg.Wait()
	if c.entries.Load() < int64(10**replicasPauses) {
		t.Fatalf("void: %d entries in %d pauses", c.entries.Load(), *replicasPauses)
	}
	r.check(c.journal, true)
}

// TestReplicasRestarted restarts each of three daemons in turn under load, as an
// upgrade does: no request fails that is made again once, at another daemon.
func TestReplicasRestarted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs daemons under load")
	}
	r := newReplicas(t, repeat(testdb.DSN(t), 3)...)
	c := &crowd{replicas: r, name: "c", clients: slices.Repeat([]int{8}, 3), attempts: 2}
	done := make(chan struct{})
	go func() { defer close(done); c.run(0) }()
	entries := func(enough int64) {
		for from := c.entries.Load(); c.entries.Load() < from+enough && !c.stop.Load(); {
			time.Sleep(time.Millisecond)
		}
	}
	for _, d := range r.daemons {
		entries(300)
		d.stop()
		entries(300)
		d.start("--log-level", "warn") // returns when it is ready
	}
	entries(300)
	c.stop.Store(true)
	<-done
	c.ok()
	if c.again.Load() == 0 {
		t.Fatal("void: no request met a daemon that was down")
	}
	t.Logf("%d entries; %d requests were made again, none more than once", c.entries.Load(), c.again.Load())
	r.check(c.journal, true)
}
