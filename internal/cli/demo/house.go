package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"shuffled/internal/cli/host"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/process"
	"shuffled/internal/seal"
	"shuffled/internal/term"
)

// The names of the demonstration.
const (
	demoLedger = host.SandboxLedger
	demoOrigin = "demo.example"
	demoTable  = "poker-1"
)

// demoHouse is the operator of the demonstration: the parts of a daemon without HTTP, on the embedded store.
type demoHouse struct {
	cfg    *config.Config
	key    *keys.SigningKey
	ring   *seal.Keyring
	store  ledger.Store
	ledger *sequencer.Ledger
	dealer *dealer.Dealer
}

// openDemoHouse makes keys and a sandbox ledger in dir, and opens it. The caller must close the house.
func openDemoHouse(ctx context.Context, dir string) (*demoHouse, error) {
	h := &demoHouse{cfg: config.Default()}
	h.cfg.Data = dir
	h.cfg.Resolve()
	err := place.MigrateUp(ctx, h.cfg, false)
	if err == nil {
		err = h.openStore(ctx)
	}
	if err == nil {
		err = host.SetUpSandbox(ctx, h.cfg, h.store, demoOrigin)
	}
	if err == nil {
		h.key, err = keys.ReadSigning(place.FilesOf(dir, demoLedger).Key, keys.Secret{})
	}
	if err == nil {
		h.ring, err = place.ReadKeyring(h.cfg.SealingKeys, "")
	}
	if err == nil {
		err = h.openLedger(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *demoHouse) openStore(ctx context.Context) error {
	opened, err := place.OpenStore(ctx, h.cfg, true)
	if err == nil {
		h.store = opened // without one it stays nil
	}
	return err
}

// openLedger opens the ledger with every check of a daemon's start, and makes its dealer.
func (h *demoHouse) openLedger(ctx context.Context) error {
	source, err := entropy.New(entropy.Config{})
	if err != nil {
		return err
	}
	if h.ledger, err = place.OpenLedger(ctx, h.cfg, h.store, demoLedger, "", nil); err != nil {
		return err
	}
	h.dealer = dealer.New(dealer.Config{
		Ledger: h.ledger, Store: h.store, Entropy: source, Keys: h.ring,
		Log: slog.New(slog.DiscardHandler), Now: func() int64 { return time.Now().UnixMilli() },
	})
	return nil
}

// close stops the ledger and closes the database. It may be called again.
func (h *demoHouse) close() (err error) {
	if h.ledger != nil {
		err = h.ledger.Close()
		h.ledger = nil
	}
	if h.store != nil {
		err = errors.Join(err, h.store.Close())
		h.store = nil
	}
	return err
}

// keepFiles writes files into dir, which may exist. The files must not exist.
func keepFiles(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		err := process.CreateFile(filepath.Join(dir, name), content, 0o644)
		if errors.Is(err, os.ErrExist) {
			return term.WithHint(fmt.Errorf("keeping the files: %w", err), "name a new directory")
		}
		if err != nil {
			return fmt.Errorf("keeping the files: %w", err)
		}
	}
	return nil
}
