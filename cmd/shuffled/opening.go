package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/codealer"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/follow"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/stops"
	"shuffled/internal/term"
)

// openAtOnce is how many ledgers of a database are opened at a time. Opening is mostly waiting: some seconds
// for a witness that does not answer.
const openAtOnce = 32

// openedLedger is an open ledger with what the house keeps for it.
type openedLedger struct {
	dealer *dealer.Dealer
	store  ledger.Store
	way    *codealer.CoDealers // to its co-dealers; nil without any
	feed   *follow.Feed
	noted  chan struct{} // wakes keepWriting; capacity 1

	head *ledger.AccessHead // the newest that is known to be in the ledger; keepWriting has it
}

func (s *openedLedger) ledger() *sequencer.Ledger { return s.dealer.Ledger() }

// toOpen is a ledger of the configuration with the contents of its files.
type toOpen struct {
	config.Ledger
	origin  string
	signers []note.Signer
	houses  map[string]blind.House
	peers   []codealer.Peer
}

// opener opens the ledgers of a daemon that starts.
type opener struct {
	*house
	words
	event audit.Event
	start *waiting
	serve func(*openedLedger) error // called with each ledger
}

// open returns the open ledgers.
func (h *house) open() []*openedLedger {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ledgers)
}

// openLedgers opens every database of the configuration and the ledgers in it. When all ledgers of one database
// are open, it calls serve with each. A database that does not answer is tried again, and ledgers in other
// databases do not wait for it. An error that does not pass by itself ends the start: it is a doubt about keys,
// evidence or configuration.
func (h *house) openLedgers(ctx context.Context, w words, start *waiting, serve func(*openedLedger) error) error {
	o := opener{house: h, words: w, start: start, serve: serve}
	ledgers, err := o.readFiles()
	if err != nil {
		return err
	}
	if o.event, err = place.Describe(h.cfg); err != nil {
		return err
	}
	all := h.cfg.Databases()
	return together(ctx, len(all), len(all), func(ctx context.Context, i int) error {
		here := slices.DeleteFunc(slices.Clone(ledgers),
			func(l toOpen) bool { return h.cfg.Of(l.Ledger).Database != all[i].Database })
		return o.database(ctx, all[i], here)
	})
}

// ended is an error that says only that the start was ended.
type ended struct{ error }

func isEnded(err error) bool {
	_, is := err.(ended)
	return is
}

// together calls do for each i below things, at most atOnce at a time, until one call fails. It returns every error,
// except those of calls that were ended because another one failed. If there are only such errors it returns the first.
func together(ctx context.Context, things, atOnce int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	errs := make([]error, things)
	for i := range things {
		group.Go(func() error {
			err := do(ctx, i)
			if ctx.Err() != nil && (stops.Of(err).Passes() || errors.Is(err, ctx.Err())) {
				err = ended{err}
			}
			errs[i] = err
			return err
		})
	}
	first := group.Wait()
	return cmp.Or(errors.Join(slices.DeleteFunc(errs, isEnded)...), first)
}

// readFiles reads the files of all ledgers, so that a bad file ends the start before any database is waited
// for. It reads the keys one at a time, because a passphrase takes memory.
func (o *opener) readFiles() (ledgers []toOpen, err error) {
	for _, c := range o.cfg.Ledgers {
		l := toOpen{Ledger: c}
		if l.origin, l.signers, err = place.ReadSigners(c, o.cfg.PassphraseFile); err != nil {
			return nil, fmt.Errorf("opening ledger %s: %w", c.Name, err)
		}
		o.noting.Lock()
		_, err := o.noted(c.Name)
		o.noting.Unlock()
		if err != nil {
			return nil, term.Usage("opening ledger %s: %s", c.Name, err)
		}
		if l.houses, err = readHouses(c.Houses); err == nil {
			l.peers, err = o.readCoDealers(c)
		}
		if err != nil {
			return nil, fmt.Errorf("opening ledger %s: %w", c.Name, err)
		}
		ledgers = append(ledgers, l)
	}
	return ledgers, nil
}

// database opens a database and its ledgers, and serves them.
func (o *opener) database(ctx context.Context, of *config.Config, ledgers []toOpen) error {
	what, first := "the database", place.First(of)
	if first != "" {
		what += " of ledger " + first
	}
	db, err := insist(ctx, o.start, first, what,
		func(*step) (ledger.Store, error) { return place.OpenStore(ctx, of, o.dev) })
	if err != nil {
		return err
	}
	e, err := place.Examine(ctx, of)
	if apart := time.Since(e.Clock); err == nil && !e.Clock.IsZero() && apart.Abs() > of.ClockStep.Duration() {
		o.log.Warn("set this host's clock and the database's from one time service before the first entry: no entry, and "+
			"no daemon, goes back behind the time of the newest", "database", first, "apart", apart)
	}
	o.mu.Lock()
	o.stores[first] = db
	o.mu.Unlock()
	if err := place.MakeData(o.cfg.Data); err != nil {
		return err
	}
	opened := make([]*openedLedger, len(ledgers))
	err = together(ctx, len(ledgers), openAtOnce, func(ctx context.Context, i int) (err error) {
		opened[i], err = o.ledger(ctx, ledgers[i], db)
		return err
	})
	if err != nil {
		opened = slices.DeleteFunc(opened, func(s *openedLedger) bool { return s == nil })
		if closing := closeLedgers(opened); closing != nil {
			return errors.Join(err, closing)
		}
		return err
	}
	o.mu.Lock()
	o.ledgers = append(o.ledgers, opened...)
	o.mu.Unlock()
	for _, s := range opened {
		o.follow(s)
		if err := o.serve(s); err != nil {
			return err
		}
	}
	return nil
}

// ledger opens one ledger. If it returns a ledger together with an error, the caller must close the ledger.
func (o *opener) ledger(ctx context.Context, c toOpen, db ledger.Store) (*openedLedger, error) {
	info := ledger.Info{Name: c.Name, Origin: c.origin}
	l, err := insist(ctx, o.start, info.Name, "ledger "+info.Name+" to open", func(s *step) (*sequencer.Ledger, error) {
		opening := place.LedgerConfig(o.cfg, c.Mark, info, c.signers)
		opening.Store, opening.Start, opening.Log, opening.Tiles = db, o.event, o.log, o.tiles
		opening.Step, opening.Appended = s.next, o.appended
		l, err := sequencer.Open(ctx, opening)
		if err != nil || l.Ready() != nil { // a ledger that cannot be written takes no commits, so its events may wait
			return l, err
		}
		if err := o.write(ctx, l); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		return l, nil
	})
	if err != nil {
		return nil, place.ExplainOpen(ctx, db, err, info)
	}
	s := &openedLedger{store: db, noted: make(chan struct{}, 1)}
	if s.way, err = o.openCoDealers(c.peers, l, o.clearCoDealer); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	var reach blind.CoDealer
	if s.way != nil {
		reach = s.way
	}
	s.dealer = dealer.New(dealer.Config{
		Houses: c.houses, CoDealer: reach, Decks: c.Decks,
		Ledger: l, Store: db, Entropy: o.entropy, Keys: o.ring, Recent: o.recent, Log: o.log,
		Now:      func() int64 { return time.Now().UnixMilli() },
		Rotation: o.cfg.DisclosureRotation.Duration(),
		Round:    rounds(o.cfg.Beacon.Relays),
		Watch:    o.monitor.Watch,
	})
	s.feed = follow.New(follow.Config{Ledger: l, Tables: s.dealer.Shuffles(), Now: time.Now, Log: o.log})
	return s, nil
}

func closeLedgers(ledgers []*openedLedger) error {
	var errs []error
	for _, s := range ledgers {
		if s.way != nil {
			s.way.Close()
		}
		errs = append(errs, s.ledger().Close())
	}
	return errors.Join(errs...)
}
