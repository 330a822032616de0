package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/term"
)

// The sandbox ledger of --dev.
const (
	SandboxLedger = "main"
	SandboxOrigin = sandboxOrigins + SandboxLedger

	sandboxOrigins = "sandbox.localhost/"
)

// sandboxRoles are the roles that the sandbox has a token of each for, in a file
// named after the role.
var sandboxRoles = []audit.Role{audit.RoleDealer, audit.RoleAuditor, audit.RoleRegulator, audit.RoleAdmin}

// SetUpSandbox makes what a first run lacks: the sealing key, the ledger with its
// signing key and an auditor's. What is there stays as it is; an existing ledger whose
// keys are gone is an error, never a reason to make others.
func SetUpSandbox(ctx context.Context, cfg *config.Config, store store.Database) error {
	f := place.FilesOf(cfg.Data, SandboxLedger)
	cfg.SealingKeys = []string{filepath.Join(cfg.Data, "sealing.key")}
	one := config.Ledger{Name: SandboxLedger, SigningKey: f.Key, Mark: f.Mark}
	for _, l := range cfg.Ledgers {
		if l.Name == SandboxLedger {
			one.SigningKeys, one.Webhooks = l.SigningKeys, l.Webhooks // the keys are of a rotation
		}
	}
	cfg.Ledgers = []config.Ledger{one}
	return makeSandbox(ctx, cfg, store, SandboxLedger, f)
}

// makeSandbox makes a ledger of the sandbox that is not there yet.
func makeSandbox(ctx context.Context, cfg *config.Config, store store.Database, name string, f place.Files) error {
	ledgers, err := store.Ledgers(ctx)
	if err != nil {
		return fmt.Errorf("listing ledgers: %w", err)
	}
	fresh := true
	for _, l := range ledgers {
		fresh = fresh && l.Name != name
	}
	if fresh {
		if err := createSandbox(ctx, cfg, store, name, f); err != nil {
			return err
		}
	} else if !place.Exists(f.Key) || !place.Exists(cfg.SealingKeys[0]) {
		return term.WithHint(fmt.Errorf("the database has a ledger %s, but %s has no keys of it", name, cfg.Data),
			"use the data directory it was made with, or another database")
	}
	return nil
}

// MakeSandboxTokens writes a token for each role that the data directory has none of that
// opens anything: an adopted head revokes all. Each is an entry of the sandbox before its
// file is there.
func MakeSandboxTokens(ctx context.Context, cfg *config.Config, l *ledger.Ledger) error {
	for _, role := range sandboxRoles {
		path := filepath.Join(cfg.Data, role.String()+".token")
		good, err := tokenOpens(ctx, l, path)
		if err != nil {
			return err
		}
		if good {
			continue
		}
		if err := makeSandboxToken(ctx, l, role, path); err != nil {
			return fmt.Errorf("creating the token of the %s: %w", role, err)
		}
	}
	return nil
}

// tokenOpens reports whether the file has a token that is in force. A file that cannot
// be read is an error, not a reason to make another.
func tokenOpens(ctx context.Context, l *ledger.Ledger, path string) (bool, error) {
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
			"take the file away: serve --dev makes another")
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

// makeSandboxToken replaces a file with a token that opens nothing.
func makeSandboxToken(ctx context.Context, l *ledger.Ledger, role audit.Role, path string) error {
	body := &audit.Credential{Role: role, Identity: role.String()}
	bearer, _, err := newToken(body)
	if err != nil {
		return err
	}
	if err := place.Append(ctx, l, body, nil); err != nil {
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

// allMixModes are the modes of a mix of which each source may be a part.
const allMixModes = 1<<(audit.SourceSlot-1) | 1<<(audit.SourceBeacon-1) | 1<<(audit.SourceCut-1) |
	1<<(audit.SourceCoDealer-1)

func createSandbox(ctx context.Context, cfg *config.Config, store store.Database, name string, f place.Files) error {
	if !place.Exists(cfg.SealingKeys[0]) {
		if err := keys.WriteSealing(cfg.SealingKeys[0], keys.GenerateSealing(), keys.Secret{}); err != nil {
			return fmt.Errorf("writing the sealing key: %w", err)
		}
	}
	key, err := keys.ReadSigning(f.Key, keys.Secret{})
	if !place.Exists(f.Key) {
		key, err = writeSigning(f.Key, f.VKey, sandboxOrigins+name, keys.Secret{})
	}
	if err != nil {
		return err
	}
	auditor, err := sandboxAuditor(cfg)
	if err != nil {
		return err
	}
	return ledger.Create(ctx, store, ledger.Info{Name: name, Origin: key.Origin()}, &audit.Genesis{
		Revision: audit.Revision, Origin: key.Origin(), SigningKey: key.Public(), AuditorKeys: [][]byte{auditor},
		Deals:    audit.DealsSigned,
		MixModes: allMixModes, Disclosure: audit.DisclosurePublic,
		DefaultCloseBy: defaultCloseBy,
		MaxCloseBy:     maxCloseBy, Access: audit.AccessPublic,
	}, key.Signer(), f.Mark, time.Now())
}

// sandboxAuditor returns the public key of the sandbox's auditor. A private key
// next to the house's own is for trying things out only.
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

// SandboxAuditorKey is where --dev keeps the key of the sandbox's auditor.
func SandboxAuditorKey(cfg *config.Config) string { return filepath.Join(cfg.Data, "auditor.key") }
