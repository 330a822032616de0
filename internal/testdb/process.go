package testdb

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// A process is a running child.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended
	err  error         // how it ended; read it after done
}

// spawn starts a child. A goroutine waits for the child and ends with it. The goroutine keeps its thread, because the
// kernel's signal on the death of the parent (dieWithParent) is about the thread that started the child, and not about
// the process.
func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(cmd.Path), err)
	}
	return p, nil
}

func (p *process) wait() error {
	<-p.done
	return p.err
}

// A watchdog stops a server and removes its directory when its pipe closes.
type watchdog struct {
	cmd  *exec.Cmd
	pipe io.Closer // write end; this process holds the only copy
}

// watchdogScript gets pg_ctl and the cluster's directory as arguments. read returns at the end of its input. A paused
// server is continued first, since it would not notice that it must stop. The directory is removed again if something
// was still writing to it.
const watchdogScript = `
read -r _
read -r pid <"$2/data/postmaster.pid" && kill -CONT "$pid"
"$1" stop -D "$2/data" -m immediate -t 60
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf -- "$2" && exit 0
	sleep 1
done
exit 1
`

// envLeash is the variable by which processes that tests started are found when the tests have ended.
const envLeash = "SHUFFLED_TESTS"

// leashScript gets a variable with its value. When read returns, it kills the processes that have it, again and again
// until there is none: what is killed last may just have started another.
const leashScript = `
read -r _
while found=$(grep -lsFz -- "$1" /proc/[0-9]*/environ); [ -n "$found" ]; do
	for file in $found; do
		pid=${file#/proc/}
		kill -9 "${pid%/environ}" 2>/dev/null
	done
	sleep 0.1
done
`

// leash puts every process that tests start from here on a leash: when the tests end, also because they were killed,
// what still runs is killed. It works on Linux, for a process that has the environment of its parent.
func leash() (release func(), err error) {
	value := rand.Text()
	cmd := exec.Command("/bin/sh", "-c", leashScript, "leash", envLeash+"="+value)
	cmd.Env, cmd.Dir = os.Environ(), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { pipe.Close(); cmd.Wait() }, os.Setenv(envLeash, value)
}

// newWatchdog starts a watchdog over a cluster's directory, as the cluster's user, so that it can signal and remove
// only what that user owns.
func newWatchdog(bin, dir string, as *syscall.Credential) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "watchdog", filepath.Join(bin, "pg_ctl"), dir)
	cmd.Dir = "/"
	cmd.Env = cleanEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the watchdog's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, pipe: pipe}, nil
}

// release has the watchdog stop the server and remove the directory, and waits until it has.
func (w *watchdog) release() error {
	if err := errors.Join(w.pipe.Close(), w.cmd.Wait()); err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}

// cleanEnv is the environment without the variables that change the server's language or the defaults of PostgreSQL's
// programs, and without the leash: a watchdog outlives the tests, and stops its server.
func cleanEnv() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "PG") && name != "LC_ALL" && name != "TZ" && name != envLeash {
			env = append(env, v)
		}
	}
	return env
}

// serverUser returns the user that the server runs as: nil, for the caller's, unless the caller is root.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("finding a user for the server, which refuses root: %w", err)
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the id of user %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the group of user %s: %w", u.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// makeDir makes a private directory that belongs to the server's user.
func makeDir(as *syscall.Credential) (string, error) {
	base := os.TempDir()
	if as != nil && !openToAll(base) {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "shuffled-testdb-")
	if err != nil {
		return "", fmt.Errorf("making the cluster's directory: %w", err)
	}
	if err := chown(dir, as); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// openToAll reports whether another user can reach dir, and create and remove entries in it.
func openToAll(dir string) bool {
	for need := os.FileMode(0o003); ; need = 0o001 {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&need != need {
			return false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return true
		}
		dir = up
	}
}

// chown gives a file to the server's user, if that is not the caller.
func chown(path string, as *syscall.Credential) error {
	if as == nil {
		return nil
	}
	return os.Chown(path, int(as.Uid), int(as.Gid))
}
