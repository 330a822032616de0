package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/term"
)

// The names of the demonstration.
const (
	demoLedger = "main"
	demoOrigin = "demo.example"
	demoTable  = "poker-1"
)

// demoHouse is the operator of the demonstration: the parts of a daemon without HTTP, on the embedded store.
type demoHouse struct {
	dir    string
	key    *keys.SigningKey
	ring   *seal.Keyring
	store  *sqlite.Store
	ledger *ledger.Ledger
	dealer *dealer.Dealer
}

// openDemoHouse makes keys and a sandbox ledger in dir, and opens it. The caller must close the house.
func openDemoHouse(ctx context.Context, dir string) (*demoHouse, error) {
	h := &demoHouse{dir: dir}
	var err error
	if h.key, err = keys.GenerateSigning(demoOrigin); err != nil {
		return nil, err
	}
	sealing, err := seal.NewKey(keys.GenerateSealing().Bytes())
	if err != nil {
		return nil, err
	}
	if h.ring, err = seal.NewKeyring(sealing); err != nil {
		return nil, err
	}
	if err := sqlite.MigrateUp(ctx, h.database(), sqlite.Options{}); err != nil {
		return nil, err
	}
	if err := h.openStore(); err != nil {
		return nil, err
	}
	administrator, err := keys.GenerateSigning("admin") // nobody keeps the key: the demonstration has no act
	if err != nil {
		return nil, err
	}
	genesis := &audit.Genesis{
		Revision: audit.Revision, Origin: demoOrigin,
		SigningKey:     h.key.Public(),
		Administrators: []audit.Administrator{{Name: administrator.Origin(), Key: administrator.Public()}},
		Deals:          audit.DealsSigned,
		MixModes:       1 << (audit.SourceSlot - 1),
		Disclosure:     audit.DisclosurePublic,
		DefaultCloseBy: 3600,
		MaxCloseBy:     3600,
		Access:         audit.AccessPublic,
	}
	err = ledger.Create(ctx, h.store, h.info(), genesis, h.key.Signer(), h.mark(), time.Now())
	if err == nil {
		err = h.openLedger(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *demoHouse) database() string  { return filepath.Join(h.dir, "ledger.sqlite") }
func (h *demoHouse) mark() string      { return filepath.Join(h.dir, "high-water") }
func (h *demoHouse) info() ledger.Info { return ledger.Info{Name: demoLedger, Origin: demoOrigin} }

func (h *demoHouse) openStore() (err error) {
	h.store, err = sqlite.Open(h.database(), sqlite.Options{})
	return err
}

// openLedger opens the ledger with every check of a daemon's start, and makes its dealer.
func (h *demoHouse) openLedger(ctx context.Context) error {
	source, err := entropy.New(entropy.Config{})
	if err != nil {
		return err
	}
	start, err := place.Describe(config.Default())
	if err != nil {
		return err
	}
	opened, err := ledger.Open(ctx, ledger.Config{
		Store: h.store, Info: h.info(), Signers: []note.Signer{h.key.Signer()}, Mark: h.mark(), Start: start,
	})
	if err != nil {
		return err
	}
	h.ledger = opened
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
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			return term.WithHint(fmt.Errorf("keeping the files: %w", err), "name a new directory")
		}
		if err != nil {
			return fmt.Errorf("keeping the files: %w", err)
		}
		_, err = f.Write(content)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("keeping the files: %w", err)
		}
	}
	return nil
}
