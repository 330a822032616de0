package ha

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

// patience is the longest wait for something that must happen. It is no measure of speed.
const patience = 3 * time.Minute

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits until come is true, and fails the test if that takes longer than patience.
func until(t testing.TB, what string, come func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !come(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// ports returns n different free ports of the loopback address, which no outgoing connection takes.
func ports(t testing.TB, n int) (free []int) {
	t.Helper()
	for len(free) < n {
		port, err := testdb.FreePort()
		must(t, err)
		if !slices.Contains(free, port) {
			free = append(free, port)
		}
	}
	return free
}

// serverUser returns the user that PostgreSQL runs as. It is nil, for the caller's own user, unless
// the caller is root, as which PostgreSQL refuses to run.
func serverUser(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	must(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	must(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// spawned is a process of the cluster.
type spawned struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// kill ends the process with SIGKILL, and waits for its end.
func (p *spawned) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// spawn starts a program as the server's user. Its output goes to DIR/NAME.log.
func (c *cluster) spawn(name, path string, args ...string) *spawned {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(c.t, err)
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "PATH="+os.Getenv("PATH")+":/usr/sbin", "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	must(c.t, cmd.Start())
	p := &spawned{cmd: cmd, ended: make(chan struct{})}
	go func() { cmd.Wait(); close(p.ended) }()
	return p
}

// watch starts a shell that outlasts the test process, also if that crashes. The shell then ends every process that
// works in the directory or below it, and removes the directory. The cluster's programs are started there, and
// PostgreSQL, which Patroni detaches, works in its data directory with all its children. One that is stopped ends, too.
func watch(t testing.TB, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir) // as /proc names it
	must(t, err)
	cmd := exec.Command("sh", "-c", `cat
for round in 1 2; do
	for p in /proc/[0-9]*; do
		case $(readlink "$p/cwd") in "$0" | "$0"/*) kill -9 "${p#/proc/}" ;; esac
	done
	sleep 0.2
done
rm -rf "$0"`, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
}

// server returns the processes of the node's PostgreSQL server: first the postmaster, then its
// children.
func (n *node) server() (pids []int) {
	text, err := os.ReadFile(filepath.Join(n.data, "postmaster.pid"))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		return nil
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", postmaster))
	if err != nil || !strings.Contains(string(command), n.data) {
		return nil // the number now belongs to another process
	}
	pids = append(pids, postmaster)
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == first {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// receiver returns the process that receives the write-ahead log from the leader, 0 if there is none.
func (n *node) receiver() int {
	for _, pid := range n.server() {
		if title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(title), "walreceiver") {
			return pid
		}
	}
	return 0
}

// signalServer sends a signal to all processes of the node's server.
func (n *node) signalServer(s syscall.Signal) {
	for _, pid := range n.server() {
		syscall.Kill(pid, s)
	}
}

// relay forwards connections to an address, except while it is cut.
type relay struct {
	to    string
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// relayTo listens on a free port, and forwards its connections to the port to.
func relayTo(t testing.TB, to int) (r *relay, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r = &relay{to: fmt.Sprintf("127.0.0.1:%d", to), conns: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); r.set(true) })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go r.pass(in)
		}
	}()
	return r, l.Addr().(*net.TCPAddr).Port
}

func (r *relay) pass(in net.Conn) {
	defer in.Close()
	r.mu.Lock()
	if r.cut {
		r.mu.Unlock()
		return
	}
	r.conns[in] = true
	r.mu.Unlock()
	out, err := net.DialTimeout("tcp", r.to, 5*time.Second)
	if err == nil {
		go func() { io.Copy(out, in); out.Close() }()
		io.Copy(in, out)
		out.Close()
	}
	r.mu.Lock()
	delete(r.conns, in)
	r.mu.Unlock()
}

// set cuts the relay and closes its connections, or lets it forward again.
func (r *relay) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	if cut {
		for c := range r.conns {
			c.Close()
		}
	}
}

func required() bool { return os.Getenv("SHUFFLED_REQUIRE_HA") == "1" }
