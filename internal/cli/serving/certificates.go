package serving

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/stops"
)

// LookEvery is the interval at which files and host are looked at.
const LookEvery = 10 * time.Second

// tellEvery is the interval at which a near end of a certificate is logged.
const tellEvery = 24 * time.Hour

// leaveBefore is how long before the end of its certificate a daemon stops being ready, so that load balancers
// have left it when clients begin to refuse it.
const leaveBefore = 10 * time.Minute

// warnAtMost is the longest time before the end of a certificate at which a daemon warns. For short-lived
// certificates it is a third of their life.
const warnAtMost = 21 * 24 * time.Hour

// IgnoreHangups keeps SIGHUP from ending the process. A command that serves calls it first.
func IgnoreHangups() { signal.Ignore(syscall.SIGHUP) }

// Certificates are a listener's certificate and key, and the authorities of clients. They are read again when
// their files change, and on SIGHUP. If the new files do not hold, the listener goes on with what it has. Safe
// for concurrent use.
type Certificates struct {
	files   config.TLS
	log     *slog.Logger
	current atomic.Pointer[loaded]
	refused atomic.Uint64
}

// loaded is what the files held: zero if no certificate is configured.
type loaded struct {
	config *tls.Config
	ends   map[string]time.Time // the earliest end of each file's certificates
	warn   time.Time            // when the earliest end of the listener's chain is near
	files  []fs.FileInfo
}

// OpenCertificates reads the files, if a certificate is configured. A certificate that has ended or has not begun is an
// error.
func OpenCertificates(files config.TLS, log *slog.Logger) (*Certificates, error) {
	c := &Certificates{files: files, log: log}
	if files.Cert == "" {
		c.current.Store(new(loaded))
		return c, nil
	}
	first, err := c.load(time.Now())
	if err != nil {
		return nil, err
	}
	c.current.Store(first)
	return c, nil
}

// TLS returns the configuration of a server, nil without a certificate. A connection gets what was read last
// when it began.
func (c *Certificates) TLS() *tls.Config {
	t := c.current.Load().config.Clone()
	if t == nil {
		return nil
	}
	t.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load().config, nil }
	return t
}

// Ends returns the earliest end of the certificates of each file: "listener" is the listener's chain, without what had
// ended when it was read, "client_ca" the authorities of clients.
func (c *Certificates) Ends() map[string]time.Time { return c.current.Load().ends }

// Refused returns how often files were read that did not hold.
func (c *Certificates) Refused() uint64 { return c.refused.Load() }

// Concern says what is wrong with the certificates at a time, "" for nothing. leave says that the daemon must
// take no more connections.
func (c *Certificates) Concern(now time.Time) (what string, leave bool) {
	l := c.current.Load()
	for _, file := range []string{"listener", "client_ca"} {
		end, ok := l.ends[file]
		switch {
		case !ok || now.Before(l.warn) && file == "listener" || end.Sub(now) > warnAtMost:
		case file == "client_ca":
			return fmt.Sprintf("the certificate of a client authority ends %s: add the next certificate to tls.client_ca",
				end.UTC().Format(time.RFC3339)), false
		default:
			return fmt.Sprintf("the TLS certificate ends %s: write the next certificate to the files of [tls]",
				end.UTC().Format(time.RFC3339)), end.Sub(now) < leaveBefore
		}
	}
	return "", false
}

// Watch reads the files again when they change, and on SIGHUP, until ctx ends.
func (c *Certificates) Watch(ctx context.Context) {
	if c.files.Cert == "" {
		return // IgnoreHangups still holds
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // never undone, because the signal would then end the process
	look := time.NewTicker(LookEvery)
	defer look.Stop()
	var told time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			c.reload(time.Now())
		case now := <-look.C:
			if c.changed() {
				c.reload(now)
			}
			if what, _ := c.Concern(now); what != "" && now.Sub(told) >= tellEvery {
				told = now
				c.log.Warn("a certificate ends soon", "because", what)
			}
		}
	}
}

// changed reports whether a file is not the one that was looked at last.
func (c *Certificates) changed() bool {
	return !slices.EqualFunc(c.current.Load().files, c.stat(), func(was, now fs.FileInfo) bool {
		if was == nil || now == nil {
			return was == now
		}
		return os.SameFile(now, was) && now.ModTime().Equal(was.ModTime()) && now.Size() == was.Size()
	})
}

// stat returns the file information of each file, nil for one that is not there.
func (c *Certificates) stat() []fs.FileInfo {
	all := make([]fs.FileInfo, 3)
	for i, path := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if info, err := os.Stat(path); err == nil {
			all[i] = info
		}
	}
	return all
}

// reload reads the files, and uses them if they hold. If they do not hold it logs that once for each change: of
// two files that belong together one is always written first.
func (c *Certificates) reload(now time.Time) {
	files := c.stat() // before they are read: one that is renamed in that time has changed
	next, err := c.load(now)
	if err != nil {
		c.refused.Add(1)
		c.log.Warn("the TLS files are not taken: the listener goes on with those before", "error", err)
		kept := *c.current.Load()
		kept.files = files
		c.current.Store(&kept)
		return
	}
	c.current.Store(next)
	c.log.Info("the TLS files were read", "until", next.ends["listener"].UTC().Format(time.RFC3339))
}

// load reads the files as they are now. The listener allows TLS 1.3 only. The private key is a secret: a file that
// group or others can use is refused.
func (c *Certificates) load(now time.Time) (*loaded, error) {
	l := &loaded{files: c.stat(), ends: map[string]time.Time{}} // looked at before they are read
	text, err := os.ReadFile(c.files.Cert)
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate: %w", err)
	}
	key, err := keys.ReadSecret(c.files.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the private key of the TLS certificate: %w", err)
	}
	chain, err := tls.X509KeyPair(text, key.Bytes())
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate %s and its private key: %w", c.files.Cert, err)
	}
	leaf := chain.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("the TLS certificate %s ended %s: %w", c.files.Cert,
			leaf.NotAfter.UTC().Format(time.RFC3339), stops.Expired)
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("the TLS certificate %s begins %s: %w", c.files.Cert,
			leaf.NotBefore.UTC().Format(time.RFC3339), stops.Expired)
	}
	l.config = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{chain},
		NextProtos: []string{"h2", "http/1.1"}}
	for _, der := range chain.Certificate {
		// Clients pass over one that has ended already, such as an old cross-signed one.
		if one, err := x509.ParseCertificate(der); err == nil && !now.After(one.NotAfter) {
			l.earliest("listener", one.NotAfter)
		}
	}
	l.warn = l.ends["listener"].Add(-min(warnAtMost, leaf.NotAfter.Sub(leaf.NotBefore)/3))
	return l, l.authorities(c.files.ClientCA)
}

// authorities has clients asked for a certificate, if a file of authorities is named. The handshake fails if none of
// these authorities issued it. A client without a certificate is like one without a token.
func (l *loaded) authorities(path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the client authorities: %w", err)
	}
	l.config.ClientCAs, l.config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if authority, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			l.config.ClientCAs.AddCert(authority)
			l.earliest("client_ca", authority.NotAfter)
		}
	}
	if l.ends["client_ca"].IsZero() {
		return errors.New("the file of client authorities holds no certificate")
	}
	return nil
}

func (l *loaded) earliest(file string, end time.Time) {
	if before, ok := l.ends[file]; !ok || end.Before(before) {
		l.ends[file] = end
	}
}
