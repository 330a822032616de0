package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"shuffled/internal/beacon/relay"
	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/dealer/record"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/monitor"
	"shuffled/internal/seal"
)

// house is a running daemon without its listeners: one generator, one monitor of the outcomes, one keyring, the
// stores and their ledgers.
type house struct {
	cfg     *config.Config
	log     *slog.Logger
	entropy *entropy.Source
	recent  *record.Cache // of all ledgers
	ring    *seal.Keyring
	tiles   *ledger.TileCache // of all ledgers
	monitor *monitor.Monitor

	mu      sync.Mutex
	stores  map[string]ledger.Store // open ones, by place.First
	ledgers []*openedLedger         // open ones

	noting    sync.Mutex
	unwritten map[string][]*unwritten // events by ledger, as in the files (noted)
	behind    map[string]bool         // ledgers whose file differs from unwritten

	run     context.Context    // of the watches; stop ends it
	stop    context.CancelFunc // called by close
	watches sync.WaitGroup     // the monitor, and what follow starts for a ledger
	last    chan struct{}      // closed by close after the watches ended: nothing more comes
	writers sync.WaitGroup     // keepWriting of each ledger; last ends it
}

// words are what an operator may order for this start, and where the batches of the ledgers are counted.
type words struct {
	clearCoDealer string // reason to clear the latches of co-dealers

	dev bool // a sandbox

	appended func(took time.Duration, entries int) // called for each batch
}

// openHouse starts the generator and reads the keys. It opens no ledger. The caller must close the house.
func openHouse(ctx context.Context, cfg *config.Config, log *slog.Logger) (*house, error) {
	h := &house{cfg: cfg, log: log, tiles: ledger.NewTileCache(int64(cfg.Limits.TileCache)),
		stores: make(map[string]ledger.Store), last: make(chan struct{}),
		unwritten: make(map[string][]*unwritten), behind: make(map[string]bool), recent: record.NewCache()}
	h.monitor = monitor.New(monitor.Config{Report: h.onFinding, Halt: cfg.Statistics == config.StatisticsHalt,
		CountLeast: countLeast}, time.Now())
	var err error
	if h.ring, err = place.ReadKeyring(cfg.SealingKeys, cfg.PassphraseFile); err != nil {
		return nil, err
	}
	h.entropy, err = entropy.New(entropy.Config{OnLatch: h.onLatch})
	if err != nil {
		return nil, fmt.Errorf("starting the generator: %w", err)
	}
	h.run, h.stop = context.WithCancel(context.WithoutCancel(ctx)) // ctx ends before the requests under way do
	h.watches.Go(func() { h.monitor.Run(h.run) })
	return h, nil
}

// rounds returns the function that fetches rounds of the beacon, nil for a daemon without relays.
func rounds(relays []string) func(context.Context, uint64) ([48]byte, error) {
	if len(relays) == 0 {
		return nil
	}
	return func(ctx context.Context, round uint64) ([48]byte, error) { return relay.Fetch(ctx, relays, round) }
}

// follow starts the work for a ledger that goes on until the house is closed.
func (h *house) follow(s *openedLedger) {
	h.writers.Go(func() { h.keepWriting(s) })
	h.watches.Go(func() { s.dealer.Run(h.run) })
	h.watches.Go(func() { s.feed.Run(h.run) })
}

// close ends, in this order: the watches, which may set the latch or find something; the writers of these
// events and of the access heads; the ledgers; the stores. No requests may be under way.
func (h *house) close() error {
	h.stop()
	h.watches.Wait()
	close(h.last)
	h.writers.Wait()
	err := closeLedgers(h.ledgers)
	for _, s := range h.stores {
		s.Close()
	}
	return err
}
