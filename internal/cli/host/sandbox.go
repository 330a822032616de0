package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/term"
)

// The sandbox ledger of --dev.
const (
	SandboxLedger = "main"
	SandboxOrigin = sandboxOrigins + SandboxLedger

	sandboxOrigins = "sandbox.localhost/"
)

// sandboxRoles are the roles of which the sandbox has a token each, in a file with the name of the role.
var sandboxRoles = []audit.Role{audit.RoleDealer, audit.RoleAuditor, audit.RoleRegulator, audit.RoleAdmin}

// SetUpSandbox makes what is missing at the first run: the sealing key, and the ledger with its signing key, an
// auditor's and an administrator's. What exists stays as it is. A ledger whose keys are gone is an error, and no others
// are made.
func SetUpSandbox(ctx context.Context, cfg *config.Config, store ledger.Store, origin string) error {
	f := place.FilesOf(cfg.Data, SandboxLedger)
	cfg.SealingKeys = []string{filepath.Join(cfg.Data, "sealing.key")}
	cfg.Ledgers = []config.Ledger{{Name: SandboxLedger, SigningKey: f.Key, Mark: f.Mark,
		SigningKeys: place.LedgerOf(cfg, SandboxLedger).SigningKeys}} // the keys of a rotation stay
	return makeSandbox(ctx, cfg, store, ledger.Info{Name: SandboxLedger, Origin: origin}, f)
}

// makeSandbox makes a ledger of the sandbox, unless it exists.
func makeSandbox(ctx context.Context, cfg *config.Config, store ledger.Store, of ledger.Info, f place.Files) error {
	ledgers, err := store.Ledgers(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("listing ledgers: %w", err)
	case !slices.ContainsFunc(ledgers, func(l ledger.Info) bool { return l.Name == of.Name }):
		return createSandbox(ctx, cfg, store, of, f)
	case !place.Exists(f.Key) || !place.Exists(cfg.SealingKeys[0]):
		return term.WithHint(fmt.Errorf("the database has a ledger %s, but %s does not have its keys", of.Name, cfg.Data),
			"use the data directory with which the ledger was made, or another database")
	}
	return nil
}

// MakeSandboxTokens makes a token for each role whose file has none that is in force: an adopted head revokes
// all. The entry of a token is in the ledger before its file is written.
func MakeSandboxTokens(ctx context.Context, cfg *config.Config, l *sequencer.Ledger) error {
	for _, role := range sandboxRoles {
		if err := makeSandboxToken(ctx, cfg, l, role, filepath.Join(cfg.Data, role.String()+".token")); err != nil {
			return fmt.Errorf("creating the token of the %s: %w", role, err)
		}
	}
	return nil
}

// tokenOpens reports whether the file has a token that is in force. It returns an error for a file that cannot
// be read, so that no other token is made in its place.
func tokenOpens(ctx context.Context, l *sequencer.Ledger, path string) (bool, error) {
	if !place.Exists(path) {
		return false, nil
	}
	bearer, err := keys.ReadSecret(path)
	if err != nil {
		return false, fmt.Errorf("reading the token: %w", err)
	}
	id, secret, ok := keys.SplitToken(string(bearer.Bytes()))
	if !ok {
		return false, term.WithHint(fmt.Errorf("%s holds no token", path),
			"remove the file: shuffled serve --dev makes a new token")
	}
	c, err := l.Credential(ctx, id, true)
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the token of %s: %w", path, err)
	}
	return c.Opens(keys.HashToken(secret)) == c.Digest && (c.Expires == 0 || time.Now().UnixMilli() < c.Expires), nil
}

// makeSandboxToken makes a token, unless the file has one that is in force. It replaces a file whose token is not.
func makeSandboxToken(ctx context.Context, cfg *config.Config, l *sequencer.Ledger, role audit.Role,
	path string) error {
	if good, err := tokenOpens(ctx, l, path); good || err != nil {
		return err
	}
	body := &audit.Credential{Role: role, Identity: role.String()}
	bearer, _, err := newToken(body)
	if err != nil {
		return err
	}
	if role == audit.RoleAdmin {
		err = doInSandbox(ctx, cfg, l, body)
	} else {
		err = place.Append(ctx, l, nil, body)
	}
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing a token that was revoked: %w", err)
	}
	if err := keys.WriteSecret(path, bearer); err != nil {
		return fmt.Errorf("writing the token: %w", err)
	}
	return nil
}

// doInSandbox writes what an act approves, behind the act of the sandbox's administrator.
func doInSandbox(ctx context.Context, cfg *config.Config, l *sequencer.Ledger, body audit.Body) error {
	key, err := keys.ReadSigning(SandboxAdminKey(cfg), keys.Secret{})
	if err != nil {
		return fmt.Errorf("reading the key of the sandbox's administrator: %w", err)
	}
	st := standing{of: l.Genesis()}
	if st.genesis, err = l.GenesisEntry().Encode(); err != nil {
		return err
	}
	if st.Persons, err = l.Persons(ctx); err != nil {
		return err
	}
	a := newAct(st, audit.Operator.Identity, time.Hour, body, [32]byte{})
	if err := a.sign(key); err != nil {
		return err
	}
	return place.Append(ctx, l, a.entry, body)
}

// sandboxAdmin returns the administrator of a sandbox. The private key is next to the house's own keys only because
// this is a sandbox.
func sandboxAdmin(cfg *config.Config, passphrase keys.Secret) ([]audit.Administrator, error) {
	k, err := signingKey(SandboxAdminKey(cfg), audit.RoleAdmin.String(), passphrase)
	if err != nil {
		return nil, err
	}
	return []audit.Administrator{{Name: k.Origin(), Key: k.Public()}}, nil
}

// SandboxAdminKey is the path of the private key of a sandbox's administrator.
func SandboxAdminKey(cfg *config.Config) string { return filepath.Join(cfg.Data, "admin.key") }

// allMixModes lets commits plan every source.
const allMixModes = 1<<(audit.SourceSlot-1) | 1<<(audit.SourceBeacon-1) | 1<<(audit.SourceCut-1) |
	1<<(audit.SourceCoDealer-1)

func createSandbox(ctx context.Context, cfg *config.Config, store ledger.Store, of ledger.Info, f place.Files) error {
	if !place.Exists(cfg.SealingKeys[0]) {
		if err := keys.WriteSealing(cfg.SealingKeys[0], keys.GenerateSealing(), keys.Secret{}); err != nil {
			return fmt.Errorf("writing the sealing key: %w", err)
		}
	}
	key, err := signingKey(f.Key, of.Origin, keys.Secret{})
	if err != nil {
		return err
	}
	auditor, err := sandboxAuditor(cfg)
	if err != nil {
		return err
	}
	administrators, err := sandboxAdmin(cfg, keys.Secret{})
	if err != nil {
		return err
	}
	return sequencer.Create(ctx, store, of, &audit.Genesis{
		Revision: audit.Revision, Origin: of.Origin, SigningKey: key.Public(), AuditorKeys: [][]byte{auditor},
		Administrators: administrators, Deals: audit.DealsSigned, MixModes: allMixModes,
		Disclosure: audit.DisclosurePublic, DefaultCloseBy: defaultCloseBy, MaxCloseBy: maxCloseBy,
		Access: audit.AccessPublic,
	}, key.Signer(), f.Mark, time.Now())
}

// sandboxAuditor returns the public key of the sandbox's auditor. The private key is next to the house's own
// keys only because this is a sandbox.
func sandboxAuditor(cfg *config.Config) ([]byte, error) {
	path := SandboxAuditorKey(cfg)
	k, err := keys.ReadAuditor(path, keys.Secret{})
	if !place.Exists(path) {
		k, err = writeAuditor(path, keys.Secret{})
	}
	if err != nil {
		return nil, err
	}
	return k.Public(), nil
}

// SandboxAuditorKey is the path of the private key of the sandbox's auditor.
func SandboxAuditorKey(cfg *config.Config) string { return filepath.Join(cfg.Data, "auditor.key") }

// SandboxCoDealer is the ledger of the co-dealer of --dev --co-dealer. The same daemon serves it, so that blind
// hands can be tried: it hides no card from anybody.
const SandboxCoDealer = "co-dealer"

// SetUpSandboxCoDealer makes that ledger, and configures each of the two ledgers for the other. address is the
// daemon's.
func SetUpSandboxCoDealer(ctx context.Context, cfg *config.Config, store ledger.Store, address string) error {
	f, of := place.FilesOf(cfg.Data, SandboxCoDealer), place.FilesOf(cfg.Data, SandboxLedger)
	origin := sandboxOrigins + SandboxCoDealer
	cfg.Ledgers[0].CoDealers = []string{fmt.Sprintf("%s http://%s/v1/%s %s", origin, address, SandboxCoDealer,
		sandboxBlindToken(cfg))}
	if err := makeSandbox(ctx, cfg, store, ledger.Info{Name: SandboxCoDealer, Origin: origin}, f); err != nil {
		return err
	}
	key, err := keys.ReadSigning(of.Key, keys.Secret{})
	if err != nil {
		return err
	}
	house := filepath.Join(cfg.Data, SandboxLedger+".policy")
	if err := os.WriteFile(house, []byte("log "+key.VKey()+"\nquorum none\n"), 0o600); err != nil {
		return fmt.Errorf("writing the policy of the sandbox: %w", err)
	}
	cfg.Ledgers = append(cfg.Ledgers, config.Ledger{Name: SandboxCoDealer, SigningKey: f.Key, Mark: f.Mark,
		Houses: []string{house}})
	return nil
}

func sandboxBlindToken(cfg *config.Config) string {
	return filepath.Join(cfg.Data, SandboxCoDealer+".token")
}

// IntroduceSandbox makes the house's token at the co-dealer, and pins the co-dealer in the house's ledger,
// unless that was done before.
func IntroduceSandbox(ctx context.Context, cfg *config.Config, house, coDealer *sequencer.Ledger) error {
	if err := makeSandboxToken(ctx, cfg, coDealer, audit.RoleBlind, sandboxBlindToken(cfg)); err != nil {
		return fmt.Errorf("creating the token of the house at its co-dealer: %w", err)
	}
	g := coDealer.Genesis()
	if pin, ok := house.CoDealer(""); ok && pin.Origin == g.Origin {
		return nil
	}
	return doInSandbox(ctx, cfg, house, &audit.Key{Subject: audit.SubjectCoDealer, Origin: g.Origin,
		Public: g.SigningKey, Policy: []byte("quorum none\n")})
}
