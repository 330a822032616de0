package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/relay"
	"shuffled/internal/cli/host"
	"shuffled/internal/cli/place"
	"shuffled/internal/codealer"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/follow"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/monitor"
	"shuffled/internal/seal"
	"shuffled/internal/term"
	"shuffled/internal/webhook"
)

// house is a running daemon without its listeners: its stores, one generator, one
// monitor of what comes out, one keyring, and the ledgers that they serve.
type house struct {
	cfg     *config.Config
	log     *slog.Logger
	stores  databases
	entropy *entropy.Source
	ring    *seal.Keyring
	dealers []*dealer.Dealer
	feeds   []*follow.Feed    // of the dealers' ledgers, in their order
	hooks   map[string]string // public keys that sign what is sent to webhooks, by ledger
	senders []*webhook.Sender // to webhooks
	tiles   *ledger.TileCache // of all ledgers

	opening sync.Mutex                     // over ways, while ledgers are opened
	ways    map[string]*codealer.CoDealers // to the co-dealers of ledgers, by the ledger's name

	monitor *monitor.Monitor
	start   *waiting // until the ledgers are open

	latched  chan entropy.Cause   // from the generator to watchLatch, capacity 1
	findings chan monitor.Finding // from the monitor to watchFindings, capacity maxFindings
	stop     context.CancelFunc   // ends the watches; for close
	watches  sync.WaitGroup       // the monitor and expire, ended by stop
	last     chan struct{}        // closed by close when watches are over: nothing more comes
	writers  sync.WaitGroup       // watchLatch, watchFindings and keepAccessHeads, ended by last
}

// words are what an operator may say at start, and who is told what is written.
type words struct {
	adoptHead  string // reason to accept a head without a high-water mark
	clearLatch string // reason to clear an entropy latch

	clearCoDealer string // reason to clear the latches of co-dealers

	adoptAct *host.AdoptedHead // of administrators

	appended func(took time.Duration, entries int) // told of each batch
}

// adopt says with which reason and act the head of the ledger is adopted.
func (w words) adopt(origin string) (reason string, act *audit.ActEntry) {
	if w.adoptAct == nil || w.adoptAct.Origin != origin {
		return w.adoptHead, nil
	}
	return w.adoptAct.Reason, w.adoptAct.Act
}

// openHouse opens the generator, the keys and every configured
// ledger. The caller must close it.
func openHouse(ctx context.Context, cfg *config.Config, stores databases, w words, log *slog.Logger,
	start *waiting) (*house, error) {
	h := &house{cfg: cfg, log: log, stores: stores, start: start, tiles: ledger.NewTileCache(int64(cfg.Limits.TileCache)),
		ways:    make(map[string]*codealer.CoDealers),
		latched: make(chan entropy.Cause, 1), findings: make(chan monitor.Finding, maxFindings),
		last: make(chan struct{})}
	h.monitor = monitor.New(monitor.Config{Report: h.onFinding, Halt: cfg.Statistics == config.StatisticsHalt,
		CountLeast: countLeast}, time.Now())
	passphrase, err := keys.ReadPassphrase(cfg.PassphraseFile)
	if err != nil {
		return nil, err
	}
	if h.ring, err = place.ReadKeyring(cfg.SealingKeys, passphrase); err != nil {
		return nil, err
	}
	h.entropy, err = entropy.New(entropy.Config{OnLatch: h.onLatch})
	if err != nil {
		return nil, fmt.Errorf("starting the generator: %w", err)
	}
	event, err := place.Describe(h.cfg)
	if err != nil {
		return nil, err
	}
	if err := h.openLedgers(ctx, event, w, passphrase); err != nil {
		return nil, errors.Join(err, h.closeLedgers())
	}
	for _, d := range h.dealers {
		h.feeds = append(h.feeds, follow.New(follow.Config{Ledger: d.Ledger(), Dealer: d, Now: time.Now, Log: log}))
	}
	if err := h.openWebhooks(passphrase); err != nil {
		return nil, errors.Join(err, h.closeLedgers())
	}
	h.writers.Go(h.watchLatch)
	h.writers.Go(h.watchFindings)
	h.writers.Go(h.keepAccessHeads)
	run, stop := context.WithCancel(context.WithoutCancel(ctx)) // ctx ends before the requests do that are under way
	h.stop = stop
	h.watches.Go(func() { h.monitor.Run(run) })
	for _, d := range h.dealers {
		h.watches.Go(func() { h.expire(run, d) })
	}
	for _, feed := range h.feeds {
		h.watches.Go(func() { feed.Run(run) })
	}
	for _, s := range h.senders {
		h.watches.Go(func() { s.Run(run) })
	}
	return h, nil
}

// openAtOnce is how many ledgers are opened at a time. Most of it is waiting: for
// witnesses that do not answer it takes seconds.
const openAtOnce = 32

// openLedgers opens all configured ledgers. On an error some of them may be open.
func (h *house) openLedgers(ctx context.Context, start audit.Event, w words, passphrase keys.Secret) error {
	opened := make([]*dealer.Dealer, len(h.cfg.Ledgers))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(openAtOnce)
	named := false // by the act to adopt
	for i, l := range h.cfg.Ledgers {
		origin, signers, err := place.ReadSigners(l, passphrase) // one at a time: a passphrase takes memory
		if err != nil {
			group.Go(func() error { return fmt.Errorf("opening ledger %s: %w", l.Name, err) })
			break
		}
		named = named || w.adoptAct != nil && w.adoptAct.Origin == origin
		group.Go(func() (err error) {
			opened[i], err = h.openLedger(ctx, l, ledger.Info{Name: l.Name, Origin: origin}, signers, start, w)
			return err
		})
	}
	err := group.Wait()
	for _, d := range opened {
		if d != nil {
			h.dealers = append(h.dealers, d)
		}
	}
	if err == nil && w.adoptAct != nil && !named {
		return term.Usage("--adopt-act: it is of the ledger %s, which this daemon does not serve",
			term.Visible(w.adoptAct.Origin))
	}
	return err
}

// openLedger opens one. It may return a dealer with the error.
func (h *house) openLedger(ctx context.Context, c config.Ledger, info ledger.Info, signers []note.Signer,
	start audit.Event, w words) (*dealer.Dealer, error) {
	store := h.stores.of(info.Name)
	l, err := insist(ctx, h.start, info.Name, "the ledger to open", func(s *step) (*ledger.Ledger, error) {
		opening := place.LedgerConfig(h.cfg, c.Mark, info, signers)
		opening.Store, opening.Start, opening.Log, opening.Tiles = store, start, h.log, h.tiles
		opening.AdoptHead, opening.AdoptAct = w.adopt(info.Origin)
		opening.Step, opening.Appended = s.next, w.appended
		return ledger.Open(ctx, opening)
	})
	if err != nil {
		return nil, place.ExplainOpen(ctx, store, err, info)
	}
	houses, err := readHouses(c.Houses)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	way, err := h.openCoDealers(c, l, w)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	var reach dealer.CoDealer
	if way != nil {
		h.opening.Lock()
		h.ways[c.Name], reach = way, way
		h.opening.Unlock()
	}
	d := dealer.New(dealer.Config{
		Houses: houses, CoDealer: reach,
		Ledger: l, Store: store, Entropy: h.entropy, Keys: h.ring, Log: h.log,
		Now:      func() int64 { return time.Now().UnixMilli() },
		Rotation: h.cfg.DisclosureRotation.Duration(),
		Round:    rounds(h.cfg.Beacon.Relays),
		Watch:    h.monitor.Watch,
	})
	if w.clearLatch != "" && l.Live().Latched {
		_, err := l.Append(ctx, ledger.Proposal{Actor: audit.Operator, Bodies: []audit.Body{
			&audit.Event{Kind: audit.EventLatchClear, Reason: w.clearLatch}}})
		if err != nil {
			return d, fmt.Errorf("clearing the entropy latch of ledger %s: %w", info.Name, err)
		}
	}
	return d, nil
}

// rounds returns what fetches the beacon's rounds, or nil for a daemon without
// relays.
func rounds(relays []string) func(context.Context, uint64) ([48]byte, error) {
	if len(relays) == 0 {
		return nil
	}
	return func(ctx context.Context, round uint64) ([48]byte, error) { return relay.Fetch(ctx, relays, round) }
}

// onLatch hands the cause to watchLatch. One is enough: the latch stays set.
func (h *house) onLatch(c entropy.Cause) {
	select {
	case h.latched <- c:
	default:
	}
}

// watchLatch writes a set latch into every ledger, where it stops the commits of
// all daemons, also after a restart.
func (h *house) watchLatch() {
	keepWriting(h, h.latched, func(c entropy.Cause) *audit.Event {
		h.log.Error("the entropy latch is set: no more tapes are drawn", "cause", c.Reason.String(), "detail", c.Detail)
		return &audit.Event{Kind: audit.EventLatchSet, Latch: audit.Latch(c.Reason)}
	})
}

// expireEvery is how soon after its close-by a forgotten shuffle is closed.
const expireEvery = 5 * time.Second

// expire closes overdue shuffles of a ledger, except while it cannot be written: readiness
// says why.
func (h *house) expire(ctx context.Context, d *dealer.Dealer) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if d.Ledger().Ready() == nil {
			h.expireIn(ctx, d)
		}
	}
}

func (h *house) expireIn(ctx context.Context, d *dealer.Dealer) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	closed, err := d.Expire(ctx)
	if err != nil {
		h.log.Error("closing overdue shuffles", "ledger", d.Ledger().Info().Name, "error", err)
	}
	if closed > 0 {
		h.log.Warn("closed overdue shuffles as expired", "ledger", d.Ledger().Info().Name, "shuffles", closed)
	}
}

func (h *house) closeLedgers() error {
	var errs []error
	for _, way := range h.ways {
		way.Close()
	}
	for _, d := range h.dealers {
		errs = append(errs, d.Ledger().Close())
	}
	return errors.Join(errs...)
}

// close stops what may set the latch or find something, then the writers of both and of
// the access heads, then the sequencers. No requests may be under way. The store stays
// open: it is its opener's.
func (h *house) close() error {
	h.stop()
	h.watches.Wait()
	close(h.last)
	h.writers.Wait()
	return h.closeLedgers()
}
