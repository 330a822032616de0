package place

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/build"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/outbound"
	"shuffled/internal/process"
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
func Describe(cfg *config.Config) (audit.Event, error) {
	below := process.Platform()
	e := audit.Event{FIPS: below.FIPS, Name: build.This().Name(), Config: cfg.Digest(),
		Kernel: recordedKernel(below.Kernel), VDSO: recordedVDSO[below.VDSO]}
	var err error
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
func ReadSigners(l config.Ledger, passphrase keys.Secret) (origin string, signers []note.Signer, err error) {
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
