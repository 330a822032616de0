// Package place is where a command finds the state of a daemon: the configuration, the files of its data
// directory, its database, and a ledger that no daemon has open.
package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"shuffled/internal/audit/rules"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
	"shuffled/internal/stops"
	"shuffled/internal/store"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/term"
)

// Flags are the flags of every command that opens the state.
type Flags struct {
	Config   string `type:"existingfile" placeholder:"FILE" help:"Configuration file (see configs/shuffled.example.toml)."`
	Data     string `placeholder:"DIR" help:"Directory of keys, marks and the embedded store (default ./shuffled-data)."`
	Database string `placeholder:"URL" env:"SHUFFLED_DATABASE" help:"postgres://… or sqlite:PATH (default sqlite:DATA/shuffled.db). Passwords belong in the configuration's database_password_file."`
}

// Load reads the configuration. The other flags override its settings.
func (p Flags) Load() (*config.Config, error) {
	cfg := config.Default()
	if p.Config != "" {
		c, err := config.Load(p.Config)
		if err != nil {
			return nil, term.Usage("%w", err)
		}
		cfg = c
	}
	if p.Data != "" {
		cfg.Data = p.Data
	}
	if p.Database != "" {
		// A ledger's own database has a password file of its own.
		for _, l := range cfg.Ledgers {
			if l.Database == p.Database {
				cfg = cfg.Of(l)
			}
		}
		cfg.Database = p.Database
	}
	cfg.Resolve()
	return cfg, nil
}

// overrides reports whether --database stands for the database of every ledger, as it does unless its value is that of
// the environment, which does not stand for a ledger's own.
func (p Flags) overrides() bool {
	return p.Database != "" && p.Database != os.Getenv("SHUFFLED_DATABASE")
}

// LoadOf is Load for one ledger. If the ledger has a database of its own, the configuration has that, unless
// --database overrides it.
func (p Flags) LoadOf(ledger string) (*config.Config, error) {
	cfg, err := p.Load()
	if err != nil || p.overrides() {
		return cfg, err
	}
	return cfg.Of(LedgerOf(cfg, ledger)), nil
}

// LoadEach is Load for every database of the configuration, or for the one with which --database overrides them.
func (p Flags) LoadEach() ([]*config.Config, error) {
	cfg, err := p.Load()
	switch {
	case err != nil:
		return nil, err
	case p.overrides():
		return []*config.Config{cfg}, nil
	}
	return cfg.Databases(), nil
}

// OpenStore opens the configured database. Its tables must exist. The caller must close it.
func OpenStore(ctx context.Context, cfg *config.Config, allowSuperuser bool) (ledger.Store, error) {
	if path, ok := cfg.SQLite(); ok {
		db, err := sqlite.Open(path, sqlite.Options{Audience: cfg.Limits.Readers})
		return db, noDatabase(path, err)
	}
	return postgres.Open(ctx, cfg.Database, postgres.Options{
		PasswordFile: cfg.DatabasePasswordFile, AllowSuperuser: allowSuperuser, Pooler: cfg.DatabasePooler,
		Audience: cfg.Limits.Readers,
	})
}

// Examine asks the configured database for rights, guards and clock, and an embedded store for nothing.
func Examine(ctx context.Context, cfg *config.Config) (postgres.Examined, error) {
	if _, ok := cfg.SQLite(); ok {
		return postgres.Examined{}, nil
	}
	return postgres.Examine(ctx, cfg.Database,
		postgres.Options{PasswordFile: cfg.DatabasePasswordFile, Pooler: cfg.DatabasePooler})
}

// OpenEvidence opens the configured database for reading only. A standby, a copy, and a role that may only read
// are enough. The caller must close it.
func OpenEvidence(ctx context.Context, cfg *config.Config) (*store.Evidence, error) {
	if path, ok := cfg.SQLite(); ok {
		e, err := sqlite.OpenEvidence(path, sqlite.Options{})
		return e, noDatabase(path, err)
	}
	return postgres.OpenEvidence(ctx, cfg.Database,
		postgres.Options{PasswordFile: cfg.DatabasePasswordFile, Pooler: cfg.DatabasePooler})
}

// noDatabase adds what to do if no database is at the path. If the directory does not exist its name may be
// mistyped, so the hint does not say how to make one there.
func noDatabase(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, _ := filepath.Abs(filepath.Dir(path))
	if Exists(dir) {
		return term.WithHint(err, "--data DIR names the directory that has the database. Only for a new house, "+
			"\"shuffled migrate up\" makes a database in %s. To try the program: \"shuffled serve --dev\"", dir)
	}
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", filepath.Base(path)))
	for i := range others {
		others[i] = filepath.Base(filepath.Dir(others[i]))
	}
	return term.WithHint(err, "there is no directory %s; --data DIR, or data in the configuration, names the directory that "+
		"has the database.%s act and token ask a daemon with --url. To try the program: \"shuffled serve --dev\"", dir, near.Hint(filepath.Base(dir), others))
}

// withStore opens the store, and calls do with it. A superuser of the database may do so.
func withStore(ctx context.Context, cfg *config.Config, do func(ledger.Store) error) error {
	store, err := OpenStore(ctx, cfg, true)
	if err != nil {
		return err
	}
	defer store.Close()
	return do(store)
}

// Each calls do for one database after the other. If there are several, an error says which one failed and
// which were done before.
func Each(all []*config.Config, do func(*config.Config) error) error {
	done := "no other database was done before"
	for i, cfg := range all {
		switch err := do(cfg); {
		case err != nil && len(all) > 1:
			return fmt.Errorf("%s: %w (%s)", Where(cfg), err, done)
		case err != nil:
			return err
		case i == 0:
			done = "done before: " + Where(cfg)
		default:
			done += ", " + Where(cfg)
		}
	}
	return nil
}

// EachLedger opens one database after the other, and calls do for each ledger in it.
func (p Flags) EachLedger(ctx context.Context, do func(ledger.Store, ledger.Info) error) error {
	all, err := p.LoadEach()
	if err != nil {
		return err
	}
	return Each(all, func(cfg *config.Config) error {
		return withStore(ctx, cfg, func(store ledger.Store) error {
			infos, err := store.Ledgers(ctx)
			if err != nil {
				return fmt.Errorf("listing ledgers: %w", err)
			}
			for _, info := range infos {
				if err := do(store, info); err != nil {
					return fmt.Errorf("ledger %s: %w", info.Name, err)
				}
			}
			return nil
		})
	})
}

// ReadState computes the state of the stored ledger of this name. A daemon may be writing to it.
func (p Flags) ReadState(ctx context.Context, name string) (state *rules.State, head ledger.Head, genesis []byte,
	err error) {
	cfg, err := p.LoadOf(name)
	if err != nil {
		return nil, head, nil, err
	}
	err = withStore(ctx, cfg, func(store ledger.Store) (err error) {
		state, head, genesis, err = ledger.ReadState(ctx, store, name)
		if errors.Is(err, ledger.ErrNotFound) {
			return fmt.Errorf("%w %s in %s", stops.NoLedger, name, Database(cfg))
		}
		return err
	})
	return state, head, genesis, err
}

// Database names the configured database, without its password.
func Database(cfg *config.Config) string {
	if path, ok := cfg.SQLite(); ok {
		return fmt.Sprintf("the embedded store %s", path)
	}
	return "PostgreSQL"
}

// Where names the database, and the first ledger whose own database it is.
func Where(cfg *config.Config) string {
	if first := First(cfg); first != "" {
		return Database(cfg) + " of ledger " + first
	}
	return Database(cfg)
}

// First returns the name of the first ledger whose own database is that of these settings, "" for the daemon's
// database.
func First(cfg *config.Config) string {
	for _, l := range cfg.Ledgers {
		if l.Database != "" && l.Database == cfg.Database {
			return l.Name
		}
	}
	return ""
}

// MigrateUp brings the tables of the configured database, which need not exist, to the newest version. If noGuards is
// set, it makes the tables of PostgreSQL without the triggers that guard them.
func MigrateUp(ctx context.Context, cfg *config.Config, noGuards bool) error {
	path, ok := cfg.SQLite()
	if !ok {
		return postgres.MigrateUp(ctx, cfg.Database,
			postgres.Options{PasswordFile: cfg.DatabasePasswordFile, NoGuards: noGuards})
	}
	if noGuards {
		return errors.New("--no-guards must be left out: SQLite has the triggers that guard the tables")
	}
	if err := MakeData(cfg.Data); err != nil {
		return err
	}
	return sqlite.MigrateUp(ctx, path, sqlite.Options{})
}
