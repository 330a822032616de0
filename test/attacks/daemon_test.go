package attacks

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// process is a running command.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
	mu    sync.Mutex
	out   bytes.Buffer // all that it printed; mu guards it
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, exec.Command(path, args...))
}

// launch starts a command. It is stopped at the end of the test.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { cmd.Wait(); close(p.ended) }()
	t.Cleanup(p.stop)
	return p
}

// Write takes what the process prints.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// stop ends the process as an operator would, and waits for its end.
func (p *process) stop() {
	p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// until waits until done is true, and fails if the process ends first or patience runs out.
func (p *process) until(what string, done func() bool) {
	p.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-p.ended:
			p.t.Fatalf("%s ended before it was %s:\n%s", p.cmd, what, p.printed())
		case <-deadline:
			p.t.Fatalf("%s was not %s in time:\n%s", p.cmd, what, p.printed())
		case <-tick.C:
		}
	}
}
