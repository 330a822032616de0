package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/cli/host"
	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/internal/testdb"
	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
)

// growing is a log in memory that a test lets grow.
type growing struct {
	t   *testing.T
	key *keys.SigningKey
	stored
}

func newGrowing(t *testing.T) *growing {
	t.Helper()
	key, err := keys.GenerateSigning("example.org/grows")
	if err != nil {
		t.Fatal(err)
	}
	return &growing{t: t, key: key}
}

// head returns the signed checkpoint of a size and a proof from an older one.
func (g *growing) head(old, size int64) (signed []byte, proof []tlog.Hash) {
	g.t.Helper()
	for g.size < size {
		g.add(g.t, fmt.Appendf(nil, "entry %d", g.size))
	}
	text := audit.Checkpoint{Origin: g.key.Origin(), Size: uint64(size), Root: g.root(g.t, size)}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, g.key.Signer())
	if err == nil && old > 0 && old < size {
		proof, err = tlog.ProveTree(size, old, g)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return signed, proof
}

// stored is the tree of a log with its hashes, as tlog stores them.
type stored struct {
	size   int64
	hashes []tlog.Hash
}

// ReadHashes makes the tree one that tlog reads.
func (s *stored) ReadHashes(indexes []int64) (out []tlog.Hash, err error) {
	for _, i := range indexes {
		out = append(out, s.hashes[i])
	}
	return out, nil
}

func (s *stored) add(t testing.TB, entries ...[]byte) {
	t.Helper()
	for _, e := range entries {
		more, err := tlog.StoredHashes(s.size, e, s)
		if err != nil {
			t.Fatal(err)
		}
		s.size, s.hashes = s.size+1, append(s.hashes, more...)
	}
}

func (s *stored) root(t testing.TB, size int64) tlog.Hash {
	t.Helper()
	root, err := tlog.TreeHash(size, s)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// runningWitness is a running `shuffled witness serve`.
type runningWitness struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  bytes.Buffer
	told host.ServedWitness
}

// runWitness runs the command and waits for what it says once it listens.
func runWitness(t *testing.T, args ...string) *runningWitness {
	t.Helper()
	p := &runningWitness{t: t, cmd: exec.Command(builtBinary(t),
		append([]string{"witness", "serve", "--json", "--listen", "127.0.0.1:0"}, args...)...)}
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	if err := json.NewDecoder(out).Decode(&p.told); err != nil {
		p.cmd.Wait()
		t.Fatalf("the witness did not start: %v\n%s", err, p.log.Bytes())
	}
	return p
}

func (p *runningWitness) client() *witness.Client {
	p.t.Helper()
	key, err := audit.ParseWitnessVKey(p.told.VKey)
	if err != nil {
		p.t.Fatal(err)
	}
	return &witness.Client{URL: p.told.URL, Keys: []note.Verifier{key}}
}

// end sends a signal and returns the exit code.
func (p *runningWitness) end(s os.Signal) int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// witnessKey makes a key file and returns its path.
func witnessKey(t *testing.T, dir string) string {
	t.Helper()
	k, err := keys.GenerateWitness("witness.example.org/w1")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "witness.key")
	if err := k.WriteFile(path, keys.Secret{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWitnessServe runs the witness as a regulator does, with a policy.
func TestWitnessServe(t *testing.T) {
	t.Parallel()
	g, dir := newGrowing(t), t.TempDir()
	key, state, policy := witnessKey(t, dir), filepath.Join(dir, "state"), filepath.Join(dir, "policy")
	if err := os.WriteFile(policy, []byte("# the casino\nlog "+g.key.VKey()+"\nquorum none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	operator := testdb.FreeAddress(t)
	p := runWitness(t, "--key", key, "--state", state, "--policy", policy, "--operator-listen", operator)
	wantLine := "witness witness.example.org/w1 " + p.told.VKey + " " + p.told.URL
	if p.told.PolicyLine != wantLine || fmt.Sprint(p.told.Logs) != "[example.org/grows]" {
		t.Errorf("%+v", p.told)
	}
	ours, err := trust.ParsePolicy([]byte(p.told.PolicyLine + "\nquorum witness.example.org/w1\n"))
	if err != nil {
		t.Fatal(err)
	}
	signed, _ := g.head(0, 5)
	lines, err := p.client().AddCheckpoint(t.Context(), 0, nil, signed)
	if err != nil || !ours.Satisfied(append(signed, lines...)) {
		t.Errorf("%q, %v", lines, err)
	}
	if _, figures := fetch(t, "http://"+operator+"/metrics"); !strings.Contains(figures,
		`shuffled_witness_size{origin="example.org/grows"} 5`) ||
		!strings.Contains(figures, `shuffled_witness_requests_total{route="add-checkpoint",status="200"} 1`) {
		t.Errorf("metrics:\n%s", figures)
	}
	if _, said := fetch(t, p.told.URL+"/healthz"); said != "ok\n" {
		t.Error("not healthy")
	}
	// A second process on the same state does not start.
	path := builtBinary(t)
	out, err := exec.Command(path, "witness", "serve", "--listen", "127.0.0.1:0", "--key", key, "--state", state,
		"--policy", policy).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != term.ExitCannot ||
		!strings.Contains(string(out), "another witness") {
		t.Errorf("a second one: %v\n%s", err, out)
	}
	if code := p.end(os.Interrupt); code != term.ExitOK {
		t.Errorf("stopped with %d:\n%s", code, p.log.Bytes())
	}
	p = runWitness(t, "--key", key, "--state", state, "--log", g.key.VKey(), "--url", "https://witness.example.org/w1/")
	if p.told.URL != "https://witness.example.org/w1" ||
		!strings.HasSuffix(p.told.PolicyLine, " https://witness.example.org/w1") {
		t.Errorf("%+v", p.told)
	}
	if code := p.end(syscall.SIGTERM); code != term.ExitOK {
		t.Errorf("stopped with %d:\n%s", code, p.log.Bytes())
	}
	private := contents(t, key)
	if secret := private[len(private)-30 : len(private)-2]; bytes.Contains(p.log.Bytes(), secret) {
		t.Error("the log shows the key")
	}
}

var witnessKills = flag.Int("witness-kills", 25, "how often the witness is killed")

// TestWitnessKill kills the witness with SIGKILL at random moments while its log grows. After each start it shows the
// newest checkpoint that it acknowledged, or the one whose answer was cut off: it never went back, and forgot nothing.
func TestWitnessKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills witnesses for some seconds")
	}
	g, dir := newGrowing(t), t.TempDir()
	args := []string{"--key", witnessKey(t, dir), "--state", filepath.Join(dir, "state"), "--log", g.key.VKey()}
	ctx := t.Context()
	var acknowledged, pending int64 // sizes
	cuts := 0
	for range *witnessKills {
		p := runWitness(t, args...)
		c := p.client()
		if at := kept(t, c, g); at != acknowledged && at != pending {
			t.Fatalf("it keeps size %d; acknowledged is %d, under way was %d", at, acknowledged, pending)
		} else {
			acknowledged, pending = at, at
		}
		killed := make(chan struct{})
		// A random moment: time is the experiment here, no condition is waited for.
		timer := time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() {
			p.cmd.Process.Kill()
			close(killed)
		})
		for {
			pending = acknowledged + 1 + rand.Int64N(3)
			signed, proof := g.head(acknowledged, pending)
			if _, err := c.AddCheckpoint(ctx, uint64(acknowledged), proof, signed); err != nil {
				if errors.Is(err, gateway.ErrRefused) || errors.As(err, new(*gateway.Conflict)) {
					t.Fatalf("%d to %d: %v", acknowledged, pending, err)
				}
				break // cut off
			}
			acknowledged = pending
		}
		cuts++
		<-killed
		timer.Stop()
		p.cmd.Wait()
	}
	p := runWitness(t, args...)
	if at := kept(t, p.client(), g); at != acknowledged && at != pending {
		t.Fatalf("it keeps size %d; acknowledged is %d, under way was %d", at, acknowledged, pending)
	}
	if acknowledged < int64(*witnessKills) || cuts == 0 {
		t.Fatalf("void: it grew to %d over %d kills", acknowledged, cuts)
	}
	t.Logf("grew to %d over %d kills", acknowledged, cuts)
}

// kept returns the size that a witness keeps, and sees that it is of our history
// and that the witness goes on from there.
func kept(t *testing.T, c *witness.Client, g *growing) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	signed, err := c.Latest(ctx, g.key.Origin())
	if errors.Is(err, gateway.ErrNone) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	v, err := audit.ParseVKey(g.key.VKey())
	if err != nil {
		t.Fatal(err)
	}
	cp, err := audit.OpenCheckpoint(signed, v)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(cp.Size)
	again, _ := g.head(0, size)
	if !bytes.HasPrefix(signed, again) {
		t.Fatalf("it keeps another history: %q", signed)
	}
	if _, err := c.AddCheckpoint(ctx, cp.Size, nil, again); err != nil {
		t.Fatalf("it does not cosign again what it keeps: %v", err)
	}
	return size
}
