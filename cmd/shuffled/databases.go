package main

import (
	"context"

	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/store"
)

// databases are those that a daemon has open: its own, and those that ledgers of it name.
type databases struct {
	own     store.Database
	ledgers map[string]store.Database // by the ledger's name
	others  map[string]store.Database // each once, by the name of the first ledger in it
}

// openDatabases opens those that ledgers name, each once, alongside the daemon's own, which it
// takes. What it returns must be closed, after an error too.
func openDatabases(ctx context.Context, cfg *config.Config, own store.Database, start *waiting) (databases, error) {
	d := databases{own, make(map[string]store.Database), make(map[string]store.Database)}
	opened := map[string]store.Database{cfg.Database: own}
	for _, l := range cfg.Ledgers {
		of := cfg.Of(l)
		s, ok := opened[of.Database]
		if !ok {
			var err error
			s, err = insist(ctx, start, l.Name, "the database of the ledger "+l.Name,
				func(*step) (store.Database, error) { return place.OpenStore(ctx, of, false) })
			if err != nil {
				return d, err
			}
			opened[of.Database], d.others[l.Name] = s, s
		}
		d.ledgers[l.Name] = s
	}
	return d, nil
}

// of returns the database of a ledger.
func (d databases) of(ledger string) store.Database { return d.ledgers[ledger] }

// each calls f for each database: the daemon's own has no name, another that of its first ledger.
func (d databases) each(f func(name string, s store.Database)) {
	f("", d.own)
	for name, s := range d.others {
		f(name, s)
	}
}

func (d databases) close() {
	d.each(func(_ string, s store.Database) { s.Close() })
}
