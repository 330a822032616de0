package host

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/cli/remote"
	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/entropy"
	"shuffled/internal/httpapi"
	"shuffled/internal/keys"
	"shuffled/internal/process"
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

// limits says what of the host needs attention, as a running daemon says it on /readyz.
func (d *doctor) limits() {
	available, _, _ := serving.AvailableMemory() // 0 if it is unknown
	concerns := serving.HostConcerns(d.cfg, available)
	for _, c := range concerns {
		d.warn("host", c.Cure, "%s", c.What)
	}
	if len(concerns) == 0 {
		d.ok("host", "descriptors, free space, memory and clock are as a daemon needs them")
	}
	if !place.Exists(d.cfg.Data) {
		d.warn("data directory", "shuffled ledger create makes the directory; if the path is mistyped, correct it in the configuration",
			"there is no data directory %s", d.cfg.Data)
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

// keys reads the files that a daemon reads at its start, except what it keeps of co-dealers. It returns the origins of
// the ledgers whose keys could be read, by name.
func (d *doctor) keys() map[string]string {
	origins := make(map[string]string)
	const cure = "restore the file from the place where it is kept safe, with mode 0600, or correct its path"
	if _, err := keys.ReadPassphrase(d.cfg.PassphraseFile); d.failed("passphrase", cure, err) {
		return origins
	}
	secret := func(check, path string) {
		if path == "" {
			return
		}
		if _, err := keys.ReadSecret(path); !d.failed(check, cure, err) {
			d.ok(check, "%s can be read by its owner alone", path)
		}
	}
	secret("database password", d.cfg.DatabasePasswordFile)
	if _, err := place.ReadKeyring(d.cfg.SealingKeys, d.cfg.PassphraseFile); !d.failed("sealing keys", cure, err) {
		d.ok("sealing keys", "%d can be read", len(d.cfg.SealingKeys))
	}
	for _, l := range d.cfg.Ledgers {
		secret("database password", l.DatabasePasswordFile)
		for _, text := range l.CoDealers {
			one, _ := config.ParseCoDealer(text) // Validate has read it
			secret("token for "+one.Origin, one.TokenFile)
		}
		for _, path := range l.Houses {
			check := "house of " + l.Name
			if _, err := place.ReadHouse(path); !d.failed(check, "restore the file, or correct its path", err) {
				d.ok(check, "%s can be read", path)
			}
		}
		origin, signers, err := place.ReadSigners(l, d.cfg.PassphraseFile)
		if d.failed("signing key of "+l.Name, cure, err) {
			continue
		}
		d.ok("signing key of "+l.Name, "%s, %d can be read", origin, len(signers))
		origins[l.Name] = origin
	}
	return origins
}

// certificate checks the TLS of the listener: what a daemon checks, and what its clients do.
func (d *doctor) certificate() {
	const cure = "renew the certificate, and write chain and key to the files of [tls]: a running daemon reads the files within 10 s, or on SIGHUP"
	c, err := serving.OpenCertificates(d.cfg.TLS, slog.New(slog.DiscardHandler))
	if d.failed("certificate", cure, err) {
		return
	}
	served := c.TLS()
	if served == nil {
		if host, _, err := net.SplitHostPort(d.cfg.Listen); err == nil && host != "localhost" &&
			!net.ParseIP(host).IsLoopback() {
			d.warn("certificate", "set [tls], or listen on 127.0.0.1 behind a proxy that ends TLS",
				"tokens and cards go to %s in the clear, unless a proxy in front of the daemon ends TLS", d.cfg.Listen)
		} else {
			d.ok("certificate", "there is no certificate, and only this host reaches %s", d.cfg.Listen)
		}
		return
	}
	leaf, chain := served.Certificates[0].Leaf, x509.NewCertPool()
	for _, der := range served.Certificates[0].Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			chain.AddCert(c)
		}
	}
	_, err = leaf.Verify(x509.VerifyOptions{Intermediates: chain})
	what, _ := c.Concern(time.Now())
	switch {
	case len(leaf.DNSNames)+len(leaf.IPAddresses) == 0:
		d.fail("certificate", cure, "the certificate names no host, so clients refuse it")
	case what != "":
		d.warn("certificate", cure, "%s", what)
	case err != nil:
		d.warn("certificate", "append the intermediate certificates to tls.cert; if the authority is your own, give its certificate to the clients",
			"no authority that this host trusts vouches for the certificate: %s", err)
	default:
		d.ok("certificate", "for %v %v, until %s", leaf.DNSNames, leaf.IPAddresses,
			leaf.NotAfter.UTC().Format(time.RFC3339))
	}
}

// listeners checks that each address is free, or that the daemon of this configuration answers there.
func (d *doctor) listeners(ctx context.Context, origins map[string]string) {
	running := d.running(ctx)
	for _, at := range []struct {
		address string
		own     bool
	}{{d.cfg.Listen, d.serves(ctx, running, origins)}, {d.cfg.OperatorListen, running}} {
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
func (d *doctor) serves(ctx context.Context, running bool, origins map[string]string) bool {
	if d.cfg.TLS.Cert != "" || len(origins) == 0 {
		return running || d.cfg.OperatorListen == ""
	}
	ledger := slices.Min(slices.Collect(maps.Keys(origins)))
	resp, err := get(ctx, "http://"+d.cfg.Listen+"/log/"+ledger+"/checkpoint")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, audit.MaxCheckpoint))
	return err == nil && (strings.HasPrefix(string(text), origins[ledger]+"\n") ||
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

// running reports whether a daemon with the ledgers of this configuration answers at the operator's address. It prints
// what that daemon says of itself, which doctor does not judge again.
func (d *doctor) running(ctx context.Context) bool {
	resp, err := get(ctx, "http://"+d.cfg.OperatorListen+"/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var said httpapi.Readiness
	if json.UnmarshalRead(io.LimitReader(resp.Body, 1<<20), &said) != nil {
		return false
	}
	for _, l := range d.cfg.Ledgers {
		its := func(s httpapi.LedgerReadiness) bool { return s.Name == l.Name }
		if said.Ready && !slices.ContainsFunc(said.Ledgers, its) {
			return false
		}
	}
	switch {
	case said.Reason != nil:
		d.fail("daemon", "docs/operations/alerts.md says what to do", "the daemon is not ready: %s", *said.Reason)
	case !said.Ready:
		d.fail("daemon", "see its ledgers", "the daemon is not ready")
	default:
		d.ok("daemon", "the daemon serves, and is ready")
	}
	for _, warning := range said.Warnings {
		d.warn("daemon", "the warning says what to do", "%s", warning)
	}
	for _, l := range said.Ledgers {
		d.serving(l)
	}
	return true
}

// serving prints what a daemon says of one of its ledgers.
func (d *doctor) serving(l httpapi.LedgerReadiness) {
	well := true
	for _, one := range []struct {
		what string
		can  httpapi.Ability
	}{{"read", l.Read}, {"commit", l.Commit}, {"deal", l.Deal}} {
		if well = well && one.can.Ok; one.can.Ok {
			continue
		}
		say := d.fail
		if l.Ready { // an order of an administrator, and no fault
			say = d.warn
		}
		say("ledger "+l.Name, remote.Value(one.can.Cure), "it cannot %s: %s", one.what, remote.Value(one.can.Reason))
	}
	if well {
		d.ok("ledger "+l.Name, "it reads, commits and deals; %d entries", l.Size)
	}
	for _, w := range l.Witnesses {
		if w.Ok {
			d.ok("witness "+w.Name, "it cosigned %d entries", w.Size)
		} else {
			d.warn("witness "+w.Name, "docs/operations/witnesses.md says what to do", "%s", remote.Value(w.Reason))
		}
	}
}
