package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/store"
)

// SandboxCoDealer is the ledger of the co-dealer of --dev --co-dealer. The same daemon serves it, so that blind
// hands can be tried: it hides no card from anybody.
const SandboxCoDealer = "co-dealer"

// SetUpSandboxCoDealer makes that ledger, and configures each of the two ledgers for the other. address is the
// daemon's.
func SetUpSandboxCoDealer(ctx context.Context, cfg *config.Config, store store.Database, address string) error {
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
	path := sandboxBlindToken(cfg)
	good, err := tokenOpens(ctx, coDealer, path)
	if err != nil {
		return err
	}
	if !good {
		if err := makeSandboxToken(ctx, cfg, coDealer, audit.RoleBlind, path); err != nil {
			return fmt.Errorf("creating the token of the house at its co-dealer: %w", err)
		}
	}
	g := coDealer.Genesis()
	if pin, ok := house.CoDealer(""); ok && pin.Origin == g.Origin {
		return nil
	}
	return doInSandbox(ctx, cfg, house, &audit.Key{Subject: audit.SubjectCoDealer, Origin: g.Origin,
		Public: g.SigningKey, Policy: []byte("quorum none\n")})
}
