package attacks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestLooseTLSKey: somebody who can read the daemon's TLS key can pose as the daemon. The
// daemon refuses a key file that others can read, as it does for every other secret.
func TestLooseTLSKey(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	h.daemon.stop()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	h.check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	h.check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	h.check(err)
	h.write("tls.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	h.write("tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	h.check(os.Chmod(h.path("tls.key"), 0o644))
	h.configure(fmt.Sprintf("[tls]\ncert = %q\nkey = %q\n", h.path("tls.crt"), h.path("tls.key")))
	p := start(t, "serve", "--config", h.path("shuffled.toml"))
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.ended:
			if !strings.Contains(p.printed(), "tls.key") {
				t.Errorf("the refusal does not name the file: %s", p.printed())
			}
			return
		default:
		}
		if listens(h.url[len("http://"):]) {
			t.Fatal("the daemon serves with a TLS key that everybody on the host may read")
		}
	}
	t.Fatalf("the daemon neither serves nor ends:\n%s", p.printed())
}

// TestCoreDump: a core dump would write the tapes and keys in memory to a file. The
// process sets its limit for core dumps to 0, also if it was started without a limit.
func TestCoreDump(t *testing.T) {
	attack(t)
	h := open(t, terms{})
	h.daemon.stop()
	path, err := binary()
	h.check(err)
	script := `ulimit -c unlimited && exec "$0" serve --config "$1"`
	h.daemon = launch(t, exec.Command("sh", "-c", script, path, h.path("shuffled.toml")))
	h.daemon.until("ready", func() bool { return strings.Contains(h.readiness(), `"ready":true`) })
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", h.daemon.cmd.Process.Pid))
	if err != nil {
		t.Skipf("this system has no /proc/PID/limits: %v", err)
	}
	for line := range strings.Lines(string(limits)) {
		if soft, ok := strings.CutPrefix(line, "Max core file size"); ok && strings.Fields(soft)[0] != "0" {
			t.Errorf("the process may dump core: %s", strings.TrimSpace(line))
		}
	}
}
