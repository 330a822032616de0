package host

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/cli/serving"
	"shuffled/internal/entropy"
	"shuffled/internal/keys"
	"shuffled/internal/process"
	"shuffled/internal/term"
)

// host checks what every daemon needs: random bytes, and memory that stays out of swap.
func (d *doctor) host() {
	_, err := entropy.New(entropy.Config{})
	if !d.failed("entropy", "take this host out of service: its generator or its memory is at fault", err) {
		d.ok("entropy", "the platform's generator passed the start-up test; kernel %s", process.Platform().Kernel)
	}
	locked := process.Lock()
	switch {
	case locked.All:
		d.ok("memory", "all memory is locked: %s", locked.Note)
	case !process.HasSwap():
		d.ok("memory", "the host has no swap")
	default:
		d.warn("memory", "let the host have no swap, or start the daemon with LimitMEMLOCK=infinity, as the unit does",
			"keys and tapes may reach swap: %s", locked.Note)
	}
}

// limits checks what the configuration needs of the host.
func (d *doctor) limits() {
	switch files, err := process.OpenFiles(); {
	case err != nil:
		d.warn("open files", "", "%s", err)
	case files < serving.FilesFor(d.cfg):
		d.warn("open files", "set LimitNOFILE in the unit, or lower limits.connections",
			"%d files may be open, too few for limits.connections of %d, the database and the witnesses", files, d.cfg.Limits.Connections)
	default:
		d.ok("open files", "%d files may be open, enough for limits.connections of %d, the database and the witnesses", files, d.cfg.Limits.Connections)
	}
	const cure = "make room: a daemon that cannot write its high-water mark stops"
	switch free, err := process.FreeSpace(d.cfg.Data); {
	case errors.Is(err, fs.ErrNotExist):
		d.warn("free space", "shuffled ledger create makes the directory; if the path is mistyped, correct it in the configuration", "there is no data directory %s", d.cfg.Data)
	case err != nil:
		d.warn("free space", "", "%s", err)
	case free < serving.NoSpace:
		d.fail("free space", cure, "%d MiB are free below %s", free>>20, d.cfg.Data)
	case free < serving.LittleSpace:
		d.warn("free space", cure, "%d MiB are free below %s", free>>20, d.cfg.Data)
	default:
		d.ok("free space", "%d MiB are free below %s", free>>20, d.cfg.Data)
	}
}

// files checks who may write the configuration, and who may use the directories of the marks and of the keys.
// Package keys checks the permissions of the key files.
func (d *doctor) files(configuration string) {
	if configuration != "" {
		d.mode("configuration", configuration, 0o022)
	}
	d.mode("data directory", d.cfg.Data, 0o077)
	seen := map[string]bool{d.cfg.Data: true}
	secrets := append([]string{d.cfg.DatabasePasswordFile}, d.cfg.SealingKeys...)
	for _, l := range d.cfg.Ledgers {
		secrets = append(secrets, l.SigningKey, l.DatabasePasswordFile)
	}
	for _, path := range secrets {
		if dir := filepath.Dir(path); path != "" && !seen[dir] {
			seen[dir] = true
			d.mode("key directory", dir, 0o022)
		}
	}
}

// mode checks that a path has none of the permissions in not.
func (d *doctor) mode(check, path string, not fs.FileMode) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == d.cfg.Data:
		return // limits reports it
	case d.failed(check, "check the path in the configuration", err):
	case info.Mode().Perm()&not != 0:
		d.fail(check, fmt.Sprintf("chmod %04o %s", info.Mode().Perm()&^not, path),
			"%s has mode %04o: others than its owner may use it", path, info.Mode().Perm())
	default:
		d.ok(check, "%s has mode %04o", path, info.Mode().Perm())
	}
}

// keys reads the files that a daemon reads at its start. It returns the ledgers whose keys could be read.
func (d *doctor) keys() (houses []openedKeys) {
	const cure = "restore the file from the place where it is kept safe, with mode 0600, or correct its path"
	passphrase, err := keys.ReadPassphrase(d.cfg.PassphraseFile)
	if d.failed("passphrase", cure, err) {
		return nil
	}
	passwords := []string{d.cfg.DatabasePasswordFile}
	for _, l := range d.cfg.Ledgers {
		passwords = append(passwords, l.DatabasePasswordFile)
	}
	for _, path := range passwords {
		if path == "" {
			continue
		}
		if _, err := keys.ReadSecret(path); !d.failed("database password", cure, err) {
			d.ok("database password", "%s can be read by its owner alone", path)
		}
	}
	if _, err := place.ReadKeyring(d.cfg.SealingKeys, passphrase); !d.failed("sealing keys", cure, err) {
		d.ok("sealing keys", "%d can be read", len(d.cfg.SealingKeys))
	}
	for _, l := range d.cfg.Ledgers {
		origin, signers, err := place.ReadSigners(l, passphrase)
		if d.failed("signing key of "+l.Name, cure, err) {
			continue
		}
		d.ok("signing key of "+l.Name, "%s, %d can be read", origin, len(signers))
		houses = append(houses, openedKeys{l, origin, signers})
	}
	return houses
}

// renewBefore is how long before the end of a certificate doctor warns.
const renewBefore = 21 * 24 * time.Hour

// certificate checks the TLS of the listener.
func (d *doctor) certificate() {
	const cure = "renew the certificate, and write chain and key to the files of [tls]: a running daemon reads the files within 10 s, or on SIGHUP"
	t, err := serving.LoadTLS(d.cfg.TLS)
	if d.failed("certificate", "correct the files of [tls]", err) {
		return
	}
	if t == nil {
		if host, _, err := net.SplitHostPort(d.cfg.Listen); err == nil && host != "localhost" &&
			!net.ParseIP(host).IsLoopback() {
			d.warn("certificate", "set [tls], or listen on 127.0.0.1 behind a proxy that ends TLS",
				"tokens and cards go to %s in the clear, unless a proxy in front of the daemon ends TLS", d.cfg.Listen)
		} else {
			d.ok("certificate", "there is no certificate, and only this host reaches %s", d.cfg.Listen)
		}
		return
	}
	leaf := t.Certificates[0].Leaf
	left := time.Until(leaf.NotAfter)
	chain := x509.NewCertPool()
	for _, der := range t.Certificates[0].Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			chain.AddCert(c)
		}
	}
	_, err = leaf.Verify(x509.VerifyOptions{Intermediates: chain})
	switch {
	case left < 0:
		d.fail("certificate", cure, "the certificate ended %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case time.Until(leaf.NotBefore) > 0:
		d.fail("certificate", "correct the clock, or wait", "the certificate begins %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	case len(leaf.DNSNames)+len(leaf.IPAddresses) == 0:
		d.fail("certificate", cure, "the certificate names no host, so clients refuse it")
	case left < renewBefore:
		d.warn("certificate", cure, "the certificate ends in %d days", int(left.Hours()/24))
	case err != nil:
		d.warn("certificate", "append the intermediate certificates to tls.cert; if the authority is your own, give its certificate to the clients",
			"no authority that this host trusts vouches for the certificate: %s", err)
	default:
		d.ok("certificate", "for %v %v, %d days left", leaf.DNSNames, leaf.IPAddresses, int(left.Hours()/24))
	}
}

// listeners checks that each address is free, or that the daemon of this configuration answers there.
func (d *doctor) listeners(ctx context.Context, houses []openedKeys) {
	running := d.running(ctx)
	for _, at := range []struct {
		address string
		own     bool
	}{{d.cfg.Listen, d.serves(ctx, running, houses)}, {d.cfg.OperatorListen, running}} {
		if at.address == "" {
			continue
		}
		l, err := net.Listen("tcp", at.address)
		switch {
		case err == nil:
			l.Close()
			d.ok("listener", "%s is free", at.address)
		case errors.Is(err, syscall.EADDRINUSE) && at.own:
			d.ok("listener", "%s: the daemon answers", at.address)
		default:
			d.failed("listener", "stop the program that has the address, or set listen and operator_listen to others", err)
		}
	}
}

// serves reports whether the daemon of this configuration answers at the API's address. It asks for the
// checkpoint of a ledger, and takes a refusal of the daemon for an answer, too. With TLS, or if no key could be
// read, it does not ask: the names in a certificate are for clients to check. It then returns what the
// operator's listener said, or true if there is none.
func (d *doctor) serves(ctx context.Context, running bool, houses []openedKeys) bool {
	if d.cfg.TLS.Cert != "" || len(houses) == 0 {
		return running || d.cfg.OperatorListen == ""
	}
	resp, err := get(ctx, "http://"+d.cfg.Listen+"/log/"+houses[0].config.Name+"/checkpoint")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, audit.MaxCheckpoint))
	return err == nil && (strings.HasPrefix(string(text), houses[0].origin+"\n") ||
		resp.Header.Get("Content-Type") == "application/problem+json")
}

// get sends a request to a listener of this host.
func get(ctx context.Context, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Timeout: 5 * time.Second}).Do(req)
}

// running reports whether a daemon with the ledgers of this configuration answers at the operator's address.
func (d *doctor) running(ctx context.Context) bool {
	resp, err := get(ctx, "http://"+d.cfg.OperatorListen+"/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var answer struct {
		Ready   bool
		Reason  string
		Ledgers []struct{ Name string }
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer) != nil {
		return false
	}
	served := map[string]bool{}
	for _, l := range answer.Ledgers {
		served[l.Name] = true
	}
	for _, l := range d.cfg.Ledgers {
		if !served[l.Name] && answer.Ready {
			return false
		}
	}
	if answer.Ready {
		d.ok("daemon", "the daemon serves, and is ready")
	} else {
		d.fail("daemon", "docs/operations/alerts.md says what to do", "the daemon is not ready: %s", term.Visible(answer.Reason))
	}
	return true
}
