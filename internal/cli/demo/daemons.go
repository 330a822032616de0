package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// daemon is one organisation of the blind demonstration: a directory with keys, database and log, and the
// daemon that serves its production ledger.
type daemon struct {
	dir, origin, url, operator string
	vkey, policy               string // for readers, as text
	process                    *exec.Cmd
}

func (d *daemon) path(name string) string { return filepath.Join(d.dir, name) }

func (d *daemon) write(name, text string) error {
	return os.WriteFile(d.path(name), []byte(text), 0o600)
}

// command runs this program in the daemon's directory, and returns its output.
func (d *daemon) command(ctx context.Context, args ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir, cmd.Env = d.dir, environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("shuffled %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// environment is the environment of this process without the settings of shuffled: a demonstration must not use
// a database that they name.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "SHUFFLED_") })
}

// commands runs commands, one after the other, until one fails.
func (d *daemon) commands(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if _, err := d.command(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// token makes a token of the role.
func (d *daemon) token(ctx context.Context, role, identity string) (string, error) {
	out, err := d.command(ctx, "token", "create", "--config", "shuffled.toml", "--role", role, "--identity", identity)
	return out[strings.LastIndexAny(out, "\n ")+1:], err
}

// start starts this program as a daemon with its output in a file, and waits until ready returns true.
func (d *daemon) start(ctx context.Context, log string, ready func() bool, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Create(d.path(log))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, environment(), f, f
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			said, _ := os.ReadFile(f.Name())
			return nil, errors.Join(fmt.Errorf("shuffled %s is not ready: %w: %s", args[0], ctx.Err(), said), end(cmd))
		}
	}
	return cmd, nil
}

// end stops a process. cmd may be nil.
func end(cmd *exec.Cmd) error {
	if cmd == nil {
		return nil
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return errors.Join(cmd.Process.Kill(), cmd.Wait())
	}
	return cmd.Wait()
}

// serve starts the daemon.
func (d *daemon) serve(ctx context.Context) (err error) {
	d.process, err = d.start(ctx, "daemon.log", func() bool {
		answer, err := http.Get(d.operator + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, "serve", "--config", "shuffled.toml")
	return err
}

// freeAddress returns an address on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// pair is a house and its co-dealer, each with keys, a database and a daemon of its own, and a witness of both.
type pair struct {
	casino, lab *daemon
	witness     *exec.Cmd
	game, way   string // tokens: of the game at the house, and of the house at the co-dealer
}

// openPair sets both up with the commands of docs/operations/blind.md. The caller must close the pair.
func openPair(ctx context.Context, dir string) (p *pair, err error) {
	p = &pair{casino: &daemon{dir: filepath.Join(dir, "house"), origin: "cards.example.com/main"},
		lab: &daemon{dir: filepath.Join(dir, "lab"), origin: "lab.example.org/orders"}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	for _, d := range []*daemon{p.casino, p.lab} {
		if err := d.keys(ctx); err != nil {
			return p, err
		}
	}
	witnesses, err := p.serveWitness(ctx)
	if err != nil {
		return p, err
	}
	for _, d := range []*daemon{p.casino, p.lab} {
		d.policy = "log " + d.vkey + "\n" + witnesses
		err := errors.Join(d.write("ledger.policy", witnesses), d.write("player.policy", d.policy))
		if err == nil {
			err = d.commands(ctx, "migrate up --data .", "ledger create --house casino --name main --mix co_dealer --data . "+
				"--production --policy ledger.policy --administrator alice=alice.vkey --administrator bob=bob.vkey "+
				"--origin "+d.origin)
		}
		if err != nil {
			return p, err
		}
	}
	return p, p.introduce(ctx)
}

// keys makes the keys and the configuration.
func (d *daemon) keys(ctx context.Context) error {
	api, err := freeAddress()
	if err != nil {
		return err
	}
	operator, err := freeAddress()
	if err != nil {
		return err
	}
	d.url, d.operator = "http://"+api, "http://"+operator
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return err
	}
	if err := d.write("shuffled.toml", fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\nlog.level = \"debug\"\n"+
		"[[ledger]]\nname = \"main\"\n", api, operator, d.dir)); err != nil {
		return err
	}
	if err := d.commands(ctx, "key generate signing --out main.key --origin "+d.origin,
		"key generate sealing --out sealing.key", "key generate administrator --name alice --out alice.key",
		"key generate administrator --name bob --out bob.key"); err != nil {
		return err
	}
	vkey, err := os.ReadFile(d.path("main.vkey"))
	d.vkey = strings.TrimSpace(string(vkey))
	return err
}

// serveWitness starts the witness, and returns the lines of a policy that asks for its cosignature.
func (p *pair) serveWitness(ctx context.Context) (string, error) {
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	if err := p.lab.commands(ctx, "key generate witness --name w.example.net/w --out ../witness.key"); err != nil {
		return "", err
	}
	vkey, err := os.ReadFile(p.lab.path("../witness.vkey"))
	if err != nil {
		return "", err
	}
	p.witness, err = p.lab.start(ctx, "../witness.log", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, "witness", "serve", "--key", "../witness.key", "--state", "../witness", "--log", p.casino.vkey, "--log",
		p.lab.vkey, "--listen", address)
	return fmt.Sprintf("witness w %s http://%s/\nquorum w\n", strings.TrimSpace(string(vkey)), address), err
}

// introduce configures each of the two for the other, and starts both.
func (p *pair) introduce(ctx context.Context) (err error) {
	configure := func(d *daemon, line string) error {
		b, err := os.ReadFile(d.path("shuffled.toml"))
		if err == nil {
			err = d.write("shuffled.toml", string(b)+line)
		}
		return err
	}
	if p.way, err = p.lab.token(ctx, "blind", "casino"); err != nil {
		return err
	}
	if p.game, err = p.casino.token(ctx, "dealer", "game"); err != nil {
		return err
	}
	if err := errors.Join(configure(p.lab, fmt.Sprintf("houses = [%q]\n", p.casino.path("player.policy"))),
		p.casino.write("lab.token", p.way), configure(p.casino, fmt.Sprintf("co_dealers = [%q]\n",
			p.lab.origin+" "+p.lab.url+"/v1/main "+p.casino.path("lab.token")))); err != nil {
		return err
	}
	if err := p.casino.commands(ctx, "act do co_dealer --config shuffled.toml --yes --public ../lab/main.vkey --policy "+
		"../lab/player.policy --every --sign alice.key --out pin.act", "act sign pin.act --sign bob.key --yes",
		"act submit pin.act --config shuffled.toml"); err != nil {
		return err
	}
	if err := p.lab.serve(ctx); err != nil {
		return err
	}
	return p.casino.serve(ctx)
}

func (p *pair) close() error {
	return errors.Join(end(p.casino.process), end(p.lab.process), end(p.witness))
}
