package ha

import (
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	chosen = flag.String("drills", "", "regular expression of the drills to run; empty: the first one")
	rounds = flag.Int("rounds", 1, "how often each is run")
	from   = flag.Int("from", 1, "the round to go on with, of a run that was cut off: rounds are counted over all drills")
)

// drill breaks something while hands are played. After it, the cluster must be able to recover
// (see whole).
type drill struct {
	name string
	run  func(*house)
}

var drills = []drill{
	{"leader_killed", func(h *house) {
		l := h.c.leader()
		l.kill()
		h.served("the loss of the leader's node")
		l.start()
	}},
	{"postmaster_killed", func(h *house) {
		l := h.c.leader()
		if pids := l.server(); len(pids) > 0 {
			syscall.Kill(pids[0], syscall.SIGKILL)
		}
		h.served("the death of the leader's postmaster")
	}},
	// The leader's server is stopped while its Patroni runs. Another node becomes the leader, and
	// the old one is fenced before its server can continue.
	{"leader_stopped_and_fenced", func(h *house) {
		l := h.c.leader()
		h.standby(l) // after the drill before; without one Patroni makes no node the leader
		l.signalServer(syscall.SIGSTOP)
		until(h.t, "another leader", func() bool { n := h.c.leader(); return n != nil && n != l })
		h.served("a leader that stands still")
		l.kill()
		l.start()
	}},
	{"switchover", func(h *house) {
		l := h.c.leader()
		to := h.standby(l)
		out := h.c.ctl("switchover", "ha", "--master", l.name, "--candidate", to.name, "--force")
		if !strings.Contains(out, "Successfully switched") {
			h.t.Errorf("patronictl switchover: %s", out)
		}
		h.served("a switchover")
	}},
	// If one of three members is lost, requests are still acknowledged. If two are lost, the
	// leader steps down.
	{"etcd_members_lost", func(h *house) {
		h.c.etcd[0].kill()
		h.served("the loss of a member of etcd")
		h.c.etcd[1].kill()
		until(h.t, "the leader to step down", func() bool { return h.c.leader() == nil })
		h.c.startMember(0)
		h.c.startMember(1)
		h.served("the return of etcd")
	}},
	{"leader_cut_off", func(h *house) {
		l := h.c.leader()
		l.cut(true)
		until(h.t, "another leader", func() bool {
			for _, n := range h.c.others(l) {
				if n.is("primary") {
					return true
				}
			}
			return false
		})
		h.served("a partition")
		l.cut(false)
	}},
	// In strict mode nothing is acknowledged without a synchronous standby.
	{"no_standby", func(h *house) {
		l := h.c.leader()
		for _, n := range h.c.others(l) {
			n.kill()
		}
		at := h.load.settled()
		time.Sleep(3 * time.Second) // no event shows that nothing is acknowledged
		if n := h.load.count.Load(); n > at {
			h.t.Errorf("%d requests were acknowledged without a synchronous standby", n-at)
		}
		for _, n := range h.c.others(l) {
			n.start()
		}
		h.served("the return of the standbys")
	}},
	// The third node has changes that the synchronous standby lacks, and then the standby becomes
	// the leader. After its server starts again, the third node cannot follow until it is
	// reinitialised.
	{"replica_ahead", func(h *house) {
		l := h.c.leader()
		var first, ahead *node
		until(h.t, "a synchronous standby that streams, and another one", func() bool { // Patroni is later than the server
			first, ahead = nil, nil
			for _, n := range h.c.others(l) {
				if n.is("sync") {
					first = n
				} else {
					ahead = n
				}
			}
			return first != nil && ahead != nil && first.receiver() != 0
		})
		receiver := first.receiver()
		syscall.Kill(receiver, syscall.SIGSTOP)
		h.load.settled()
		l.kill()
		syscall.Kill(receiver, syscall.SIGKILL)
		until(h.t, "another leader", func() bool { n := h.c.leader(); return n != nil })
		ahead.signalServer(syscall.SIGKILL)
		h.served("a replica ahead of the one that was promoted")
		l.start()
	}},
	{"daemons_restarted", func(h *house) {
		for _, d := range h.daemons {
			d.stop()
			h.served("the end of a daemon")
			d.start()
			until(h.t, "the daemon", func() bool { status, _ := d.readiness(); return status == http.StatusOK })
		}
	}},
	{"second_daemon_killed", func(h *house) {
		d := h.daemons[1]
		d.kill()
		h.served("the death of a daemon")
		d.start()
		until(h.t, "the daemon", func() bool { status, _ := d.readiness(); return status == http.StatusOK })
	}},
	// As leader_stopped_and_fenced, but the old leader's server continues without fencing. The
	// database may then lose changes; the daemons must notice that, and stop signing.
	{"leader_stopped", func(h *house) {
		l := h.c.leader()
		h.standby(l) // after the drill before; without one Patroni makes no node the leader
		l.signalServer(syscall.SIGSTOP)
		until(h.t, "another leader", func() bool { n := h.c.leader(); return n != nil && n != l })
		h.served("a leader that stands still")
		l.signalServer(syscall.SIGCONT)
		if h.settle() {
			return
		}
		h.t.Logf("the old leader has the key again, and no standby follows it: it is fenced by hand")
		l.kill()
		h.served("the old leader was fenced")
		l.start()
	}},
}

// standby waits for a synchronous standby of a leader, and returns it.
func (h *house) standby(of *node) (found *node) {
	h.t.Helper()
	until(h.t, "a synchronous standby", func() bool {
		for _, n := range h.c.others(of) {
			if n.is("sync") {
				found = n
			}
		}
		return found != nil
	})
	return found
}

// served waits until requests are acknowledged again, and logs how long that took.
func (h *house) served(after string) {
	h.t.Helper()
	h.t.Logf("%.1f s after %s requests were acknowledged again", h.load.serves(after).Seconds(), after)
}

// settled waits until nothing was acknowledged for two seconds, and returns the number of
// acknowledged requests.
func (l *load) settled() (at int64) {
	l.h.t.Helper()
	since := time.Now()
	until(l.h.t, "acknowledgements to end", func() bool {
		if n := l.count.Load(); n != at {
			at, since = n, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
	return at
}

// settle reports whether, within a minute, both daemons are ready for ten seconds without a
// break, or one of them is frozen.
func (h *house) settle() bool {
	h.t.Helper()
	var since time.Time
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if h.frozen() {
			return true
		}
		for _, d := range h.daemons {
			if status, _ := d.readiness(); status != http.StatusOK {
				since = time.Time{}
			} else if since.IsZero() {
				since = time.Now()
			}
		}
		if !since.IsZero() && time.Since(since) > 10*time.Second {
			return true
		}
	}
	return false
}

// frozen reports whether a daemon says that it stopped signing, because the database lacks
// entries.
func (h *house) frozen() bool {
	for _, d := range h.daemons {
		if _, text := d.readiness(); strings.Contains(text, "signing stopped") {
			return true
		}
	}
	return false
}

// TestDrills runs the chosen drills. After each, it waits until the cluster is whole, and sends
// all requests that were acknowledged in the drill again.
func TestDrills(t *testing.T) {
	of := drills[:1]
	if *chosen != "" {
		wanted, err := regexp.Compile(*chosen)
		must(t, err)
		of = nil
		for _, d := range drills {
			if wanted.MatchString(d.name) {
				of = append(of, d)
			}
		}
	}
	if testing.Short() && *chosen == "" && !required() {
		t.Skip("starts a cluster: SHUFFLED_REQUIRE_HA=1, or without -short")
	}
	c := newCluster(t)
	h := newHouse(t, c)
	h.ready()
	total, n := 0, 0
	for range *rounds {
		for _, d := range of {
			if n++; n < *from {
				continue
			}
			t.Run(fmt.Sprintf("%d_%s", n, d.name), func(t *testing.T) {
				c.t, h.t = t, t
				epoch = fmt.Sprintf("%d-%d", time.Now().UnixNano(), n)
				h.play()
				h.load.more()
				d.run(h)
				if !h.frozen() {
					h.load.more()
				}
				h.load.end()
				if h.frozen() {
					t.Logf("the database lost what it had acknowledged; the daemons sign nothing: the runbook is " +
						"docs/operations/availability.md, An asynchronous standby was promoted")
					if d.name != "leader_stopped" {
						t.Error("and it must not have")
					}
					return
				}
				c.whole()
				h.ready()
				lost := h.load.again()
				total += len(h.load.acked)
				t.Logf("%d requests acknowledged, %d lost", len(h.load.acked), lost)
				if lost > 0 {
					t.Errorf("%d of %d requests that were acknowledged are lost", lost, len(h.load.acked))
				}
			})
			if t.Failed() || h.frozen() {
				return
			}
		}
	}
	c.t, h.t = t, t
	out := h.run("audit", "fsck", "--database", fmt.Sprintf("postgres://shuffled_reader:%s@127.0.0.1:%d/shuffled", password,
		c.leader().port), "--data", h.daemons[0].dir, "--key", h.daemons[0].dir+"/main.vkey")
	t.Logf("%d requests acknowledged in all; audit fsck: %.200s", total, out)
}
