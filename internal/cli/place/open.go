package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/build"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/outbound"
	"shuffled/internal/process"
	"shuffled/internal/seal"
	"shuffled/internal/stops"
	"shuffled/internal/term"
	"shuffled/internal/witness"
)

// LedgerConfig is the configuration with which a daemon, and a command that writes an entry, open a ledger. The
// caller adds the store, the start event and the log.
func LedgerConfig(cfg *config.Config, mark string, info ledger.Info, signers []note.Signer) ledger.Config {
	return ledger.Config{
		Info: info, Signers: signers, Mark: mark,
		Witness: witness.Reach, Intervals: cfg.Witness.Every(),
		MayAsk: func(g *audit.Genesis, w trust.Witness) error { return mayAsk(cfg.Witness.Hosts, g, w) },
		Queue:  cfg.Limits.Queue, ClockStep: cfg.ClockStep.Duration(), MarkSync: cfg.MarkSync.Duration(),
	}
}

// ExplainOpen adds what to do to an error of opening a ledger, if that is known.
func ExplainOpen(ctx context.Context, store ledger.Store, err error, info ledger.Info) error {
	if !errors.Is(err, ledger.ErrNotFound) {
		return err
	}
	if taken := Taken(ctx, store, info); taken != nil {
		return term.WithHint(fmt.Errorf("the database has no ledger %s of %s: %w", info.Name, info.Origin, taken),
			"give the configuration the name and the signing key of that ledger, or another database")
	}
	return fmt.Errorf("%w %s of %s in the database", stops.NoLedger, info.Name, info.Origin)
}

// Taken returns an error that names the ledger of the database which has this name or origin, nil if there is none.
func Taken(ctx context.Context, store ledger.Store, info ledger.Info) error {
	infos, err := store.Ledgers(ctx)
	if err != nil {
		return fmt.Errorf("listing ledgers: %w", err)
	}
	for _, there := range infos {
		if there.Name == info.Name || there.Origin == info.Origin {
			return fmt.Errorf("there is a ledger %s, with the origin %s", there.Name, there.Origin)
		}
	}
	return nil
}

// Describe describes this daemon for its instance_start events: digests of the executable and of the
// configuration, FIPS state, version and platform.
func Describe(cfg *config.Config) (e audit.Event, err error) {
	below := process.Platform()
	e = audit.Event{FIPS: below.FIPS, Name: build.This().Name(), Config: cfg.Digest(),
		Kernel: recordedKernel(below.Kernel), VDSO: recordedVDSO[below.VDSO]}
	e.Build, err = build.Digest()
	return e, err
}

// recordedVDSO are the codes for what the platform says (docs/SPEC.md section 5.8).
var recordedVDSO = map[process.VDSO]audit.VDSO{process.VDSOUnknown: audit.VDSONotKnown, process.VDSONo: audit.VDSONo,
	process.VDSOYes: audit.VDSOYes}

// recordedKernel is the release as an entry may have it (docs/SPEC.md section 5.8). It is "" for a release that
// no entry may have, so that a daemon starts on such a kernel, too.
func recordedKernel(release string) string {
	strange := func(r rune) bool { return r <= 0x20 || r > 0x7e }
	if len(release) > audit.MaxName || strings.ContainsFunc(release, strange) {
		return ""
	}
	return release
}

// ReadSigners reads the signing keys of a ledger. The first one is that of signing_key. Its name is the origin
// of the ledger, and all others must have the same.
func ReadSigners(l config.Ledger, passphraseFile string) (origin string, signers []note.Signer, err error) {
	passphrase, err := keys.ReadPassphrase(passphraseFile)
	if err != nil {
		return "", nil, err
	}
	for _, path := range append([]string{l.SigningKey}, l.SigningKeys...) {
		s, err := keys.ReadSigner(path, passphrase)
		if err != nil {
			return "", nil, agentHint(err)
		}
		signers = append(signers, s)
		if origin = signers[0].Name(); s.Name() != origin {
			return "", nil, fmt.Errorf("%s is a key of %s, and %s is a key of %s: all signing keys of a ledger must have one origin", l.SigningKey, origin, path, s.Name())
		}
	}
	return origin, signers, nil
}

// ReadHouse reads the policy of a house for which a ledger deals orders.
func ReadHouse(path string) (of trust.Trusted, err error) {
	text, err := term.ReadBounded(path, audit.MaxPolicyFile)
	if err == nil {
		of, err = trust.ParseTrust("", text)
	}
	if err == nil && len(of.Keys) == 0 {
		err = errors.New("it has no log line with the key of its ledger")
	}
	if err != nil {
		err = fmt.Errorf("reading the policy of a house: %s: %w", path, err)
	}
	return of, err
}

// mayAsk returns an error unless an operator named the host of the witness: in the policy with which the ledger was
// created, or in the configuration. An administrator writes later policies over the API, and those do not count.
func mayAsk(hosts []string, g *audit.Genesis, w trust.Witness) error {
	u, err := outbound.ParseURL(w.URL)
	if err != nil {
		return fmt.Errorf("its address %w", err)
	}
	at := outbound.Authority(u)
	if slices.ContainsFunc(hosts, func(host string) bool { return names(host, u) }) {
		return nil
	}
	if first, err := trust.ParsePolicy(g.Policy); err == nil {
		for _, named := range first.Witnesses {
			if of, err := outbound.ParseURL(named.URL); err == nil && outbound.Authority(of) == at {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is neither in the policy of the ledger's first entry nor among witness.hosts of this daemon's configuration: "+
		"an operator adds it there and restarts the daemon", at)
}

// names reports whether host or host:port is that of the address. A host without a port has the port of the scheme.
func names(host string, u *url.URL) bool {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return strings.EqualFold(host, outbound.Authority(u))
	}
	bare := url.URL{Scheme: u.Scheme, Host: host}
	return outbound.Authority(&bare) == outbound.Authority(u)
}

// WithLedger opens one ledger as its writer, and calls do with it. It fails while a daemon of this data
// directory serves the ledger.
func (p Flags) WithLedger(ctx context.Context, name string, do func(*sequencer.Ledger) error) error {
	return p.Adopting(ctx, name, "", nil, do)
}

// Adopting is WithLedger for a ledger whose head administrators adopt by an act, with this reason.
func (p Flags) Adopting(ctx context.Context, name, reason string, act *audit.ActEntry,
	do func(*sequencer.Ledger) error) error {
	cfg, err := p.LoadOf(name)
	if err != nil {
		return err
	}
	return withStore(ctx, cfg, func(store ledger.Store) error {
		l, err := OpenLedger(ctx, cfg, store, name, reason, act)
		if err != nil {
			return err
		}
		return errors.Join(do(l), l.Close())
	})
}

// OpenLedger opens the ledger of this name as its writer. With a reason and an act, its head is adopted. The caller
// must close the ledger.
func OpenLedger(ctx context.Context, cfg *config.Config, store ledger.Store, name, reason string,
	act *audit.ActEntry) (*sequencer.Ledger, error) {
	c := LedgerOf(cfg, name)
	origin, signers, err := ReadSigners(c, cfg.PassphraseFile)
	if err != nil {
		return nil, err
	}
	opening := LedgerConfig(cfg, c.Mark, ledger.Info{Name: c.Name, Origin: origin}, signers)
	opening.Store, opening.Log = store, slog.New(slog.DiscardHandler)
	opening.AdoptHead, opening.AdoptAct = reason, act
	if opening.Start, err = Describe(cfg); err != nil {
		return nil, err
	}
	l, err := sequencer.Open(ctx, opening)
	if err != nil {
		return nil, ExplainOpen(ctx, store, err, opening.Info)
	}
	if err := l.Ready(); err != nil {
		return nil, term.WithHint(errors.Join(fmt.Errorf("ledger %s cannot be written: %w", name, err), l.Close()),
			"bring the newest database back, or start the witnesses: docs/operations/backup.md, Rollback and split brain")
	}
	return l, nil
}

// LedgerOf returns a ledger as it is configured, or else with the default files in the data directory.
func LedgerOf(cfg *config.Config, name string) config.Ledger {
	for _, l := range cfg.Ledgers {
		if l.Name == name {
			return l
		}
	}
	f := FilesOf(cfg.Data, name)
	return config.Ledger{Name: name, SigningKey: f.Key, Mark: f.Mark}
}

// Append writes an act and the entry that it approves, as an operator. One of them may be nil.
func Append(ctx context.Context, l *sequencer.Ledger, act *audit.ActEntry, body audit.Body) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if k, ok := body.(*audit.Key); ok {
		_, err := l.AddKey(ctx, audit.Operator, k, act)
		return err
	}
	var bodies []audit.Body
	if act != nil {
		bodies = append(bodies, act)
	}
	if body != nil {
		bodies = append(bodies, body)
	}
	_, err := l.Append(ctx, ledger.Proposal{Actor: audit.Operator, Bodies: bodies})
	return err
}

// Files are the paths of the files of one ledger.
type Files struct {
	Key, VKey, Mark string
}

// FilesOf returns the paths of a ledger's files in the data directory.
func FilesOf(data, ledger string) Files {
	at := func(suffix string) string { return filepath.Join(data, ledger+suffix) }
	return Files{Key: at(".key"), VKey: at(".vkey"), Mark: at(".mark")}
}

// MakeData makes the data directory, with mode 0700, unless it exists.
func MakeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return nil
}

// Exists reports whether something is at the path. It also returns true if that cannot be found out.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadKeyring reads the sealing keys. The first one seals.
func ReadKeyring(paths []string, passphraseFile string) (*seal.Keyring, error) {
	passphrase, err := keys.ReadPassphrase(passphraseFile)
	if err != nil {
		return nil, err
	}
	var ring []*seal.Key
	for _, path := range paths {
		secret, err := keys.ReadSealing(path, passphrase)
		if err != nil {
			return nil, agentHint(err)
		}
		k, err := seal.NewKey(secret.Bytes())
		if err != nil {
			return nil, fmt.Errorf("reading a sealing key: %s: %w", path, err)
		}
		ring = append(ring, k)
	}
	if len(ring) == 0 {
		return nil, errors.New("no sealing key is configured")
	}
	return seal.NewKeyring(ring[0], ring[1:]...)
}

// agentHint adds what to do if a key is held by an agent that does not answer.
func agentHint(err error) error {
	if errors.Is(err, keys.ErrAgent) {
		return term.WithHint(err, "start the agent that the key file names, give it the key, and let this user reach its socket")
	}
	return err
}
