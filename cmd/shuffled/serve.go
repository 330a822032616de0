package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/build"
	"shuffled/internal/cli/host"
	"shuffled/internal/cli/place"
	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/httpapi"
	"shuffled/internal/recall"
	"shuffled/internal/selftest"
	"shuffled/internal/term"
)

type serveCmd struct {
	place.Flags
	Dev       bool   `help:"Run a sandbox on this machine, with one listener and no rate limit. The first run makes keys, a ledger named main and tokens. The database is migrated at each start."`
	CoDealer  bool   `name:"co-dealer" help:"With --dev: a second ledger, named co-dealer, with which main deals blind hands. This is only for trying it: one daemon has both ledgers, so it hides no card."`
	Listen    string `placeholder:"ADDR" help:"Address of the API (default 127.0.0.1:8080)."`
	Operator  string `name:"operator-listen" placeholder:"ADDR" help:"Address of /healthz, /readyz and /metrics (default 127.0.0.1:9090; with --dev, that of the API)."`
	LogLevel  string `enum:"debug,info,warn,error,default" default:"default" help:"debug, info, warn or error."`
	Secrets   string `name:"credentials" placeholder:"DIR" help:"Take every secret file of the configuration from this directory, by its name. systemd puts copies for the daemon into such a directory (%d in a unit)."`
	ClearFork string `name:"clear-co-dealer" placeholder:"REASON" help:"Clear the latch of a co-dealer that showed two histories. The reason is logged. The files with what was seen of the co-dealer are kept under other names."`
}

func (c serveCmd) Run(ctx context.Context, s term.Streams, passed selftest.Passed) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	cfg.Listen = cmp.Or(c.Listen, cfg.Listen)
	cfg.OperatorListen = cmp.Or(c.Operator, cfg.OperatorListen)
	if c.LogLevel != "default" {
		cfg.Log.Level = c.LogLevel
	}
	if c.Secrets != "" {
		if err := cfg.Credentials(c.Secrets); err != nil {
			return term.Usage("--credentials: %s", err)
		}
	}
	log := serving.NewLog(s.Err, cfg.Log)
	log.Info("known-answer tests passed", "tests", passed.Tests, "answers", passed.Answers)
	serving.StartProcess(log)
	available := limitMemory(cfg, log)
	go paceCollector(ctx) // ends with ctx
	// If the address is taken, the command fails before anything is written.
	listener, err := serving.Listen(cfg.Listen, "--listen, or listen in the configuration,")
	if err != nil {
		return err
	}
	defer listener.Close()
	c.Listen = listener.Addr().String()
	if c.CoDealer && (!c.Dev || cfg.TLS.Cert != "") {
		return term.Usage("--co-dealer needs --dev, and [tls] must have no certificate")
	}
	if err := cfg.Validate(); err != nil {
		return term.Usage("%s", err)
	}
	certificates, err := serving.OpenCertificates(cfg.TLS, log)
	if err != nil {
		return err
	}
	m := newMachine(cfg, certificates, available, log)
	return c.serve(ctx, s, cfg, listener, m, passed, log)
}

// prepare makes what a sandbox needs and does not have yet: tables, keys and its ledgers.
func (c serveCmd) prepare(ctx context.Context, cfg *config.Config, step *step) error {
	step.next("the database, whose tables are made or brought to the newest form, or another daemon that does so")
	if err := place.MigrateUp(ctx, cfg, false); err != nil {
		return err
	}
	step.next("the database")
	store, err := place.OpenStore(ctx, cfg, true)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := place.MakeData(cfg.Data); err != nil {
		return err
	}
	step.next("the database, in which the ledger of the sandbox is made")
	if err := host.SetUpSandbox(ctx, cfg, store, host.SandboxOrigin); err != nil {
		return err
	}
	if c.CoDealer {
		if err := host.SetUpSandboxCoDealer(ctx, cfg, store, c.Listen); err != nil {
			return err
		}
	}
	cfg.Resolve() // for the ledgers that were added
	if err := cfg.Validate(); err != nil {
		return term.Usage("%s", err)
	}
	return nil
}

// serve starts the listeners, opens the ledgers and serves until ctx ends. Until a ledger is open its requests
// are answered with not_ready. The end has this order: readiness, after the delay new requests, then listeners,
// ledgers, stores.
func (c serveCmd) serve(ctx context.Context, s term.Streams, cfg *config.Config, listener net.Listener,
	m *machine, passed selftest.Passed, log *slog.Logger) error {
	shown := newFigures(m, passed)
	w := words{clearCoDealer: c.ClearFork, dev: c.Dev, appended: shown.appended}
	limits := cfg.Limits
	if c.Dev {
		limits = limits.Sandbox()
	}
	api, err := httpapi.New(httpapi.Config{Limits: limits, Version: build.This().Name(), Log: log,
		Collectors: []prometheus.Collector{shown, shown.seconds, shown.entries},
		Health:     m.Health, OperatorHosts: cfg.OperatorHosts})
	if err != nil {
		return err
	}
	tlsConfig := m.TLS()
	go m.Watch(ctx) // ends with ctx
	run, stop := serving.Outlive(ctx, cfg.ShutdownDelay.Duration(), func() {
		log.Info("stopping: requests are served until the delay ends", "delay", cfg.ShutdownDelay.Duration())
		api.Leave()
	})
	defer stop()
	group, run := errgroup.WithContext(run)
	public, scheme := http.Handler(api), "http"
	switch {
	case c.Dev && c.Operator == "":
		public = api.Combined()
	case cfg.OperatorListen == "":
	default:
		if err := c.listenOperator(run, group, cfg, api, log); err != nil {
			return err
		}
	}
	if tlsConfig != nil {
		scheme = "https"
	}
	server := httpapi.NewHTTPServer(public, limits, log)
	server.TLSConfig = tlsConfig
	serving.ServeUntil(run, group, api.Limit(listener), server, api.Drain)

	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(run, cancel)() // a listener that fails also ends the start
	h, err := c.start(opening, cfg, api, w, log, shown.house.Store)
	url := scheme + "://" + listener.Addr().String()
	switch {
	case err == nil:
		api.Ready()
		log.Info("serving", "address", url, "database", place.Database(cfg), "ledgers", len(h.open()))
		if c.Dev {
			greet(s, url, cfg)
		}
	case ctx.Err() != nil && isEnded(err) && h != nil && len(h.open()) > 0:
		log.Info("stopping: not every database has answered", "error", err)
		err = nil
	default:
		stop()
	}
	err = errors.Join(err, group.Wait())
	if h != nil {
		err = errors.Join(err, h.close())
	}
	log.Info("stopped")
	return err
}

// start opens the house and its ledgers, which are served as soon as they are open. It may return a house
// together with an error. The caller must close the house.
func (c serveCmd) start(ctx context.Context, cfg *config.Config, api *httpapi.Server, w words, log *slog.Logger,
	opened func(*house)) (*house, error) {
	start := &waiting{log: log, tell: api.Waiting}
	if c.Dev {
		_, err := insist(ctx, start, "", "the database",
			func(s *step) (struct{}, error) { return struct{}{}, c.prepare(ctx, cfg, s) })
		if err != nil {
			return nil, err
		}
	}
	h, err := openHouse(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	opened(h)
	var names []string
	for _, l := range cfg.Ledgers {
		names = append(names, l.Name)
	}
	api.Await(names)
	return h, h.openLedgers(ctx, w, start, func(s *openedLedger) error { return c.serveBy(ctx, api, h, s) })
}

// serveBy adds a ledger to the API. For a sandbox it makes the tokens first.
func (c serveCmd) serveBy(ctx context.Context, api *httpapi.Server, h *house, s *openedLedger) error {
	l := s.ledger()
	name := l.Info().Name
	if c.Dev && name == host.SandboxLedger && l.Ready() == nil {
		if err := host.MakeSandboxTokens(ctx, h.cfg, l); err != nil {
			return err
		}
	}
	if c.CoDealer && name == host.SandboxCoDealer && l.Ready() == nil {
		if err := host.IntroduceSandbox(ctx, h.cfg, h.open()[0].ledger(), l); err != nil {
			return err
		}
	}
	return api.Add(httpapi.Ledger{Dealer: s.dealer, Log: l, Access: s.store, Events: s.feed,
		Recall: recall.New(l, s.store, h.cfg.Retention.Duration(), time.Now)})
}

func (c serveCmd) listenOperator(ctx context.Context, group *errgroup.Group, cfg *config.Config, api *httpapi.Server,
	log *slog.Logger) error {
	l, err := serving.Listen(cfg.OperatorListen, "--operator-listen, or operator_listen in the configuration,")
	if err != nil {
		return err
	}
	log.Info("serving operators", "address", l.Addr().String())
	serving.ServeUntil(ctx, group, l, httpapi.NewHTTPServer(api.Operator(), cfg.Limits, log), api.Drain)
	return nil
}

// greet tells a developer where everything is, with a line to try.
func greet(s term.Streams, url string, cfg *config.Config) {
	token := filepath.Join(cfg.Data, "dealer.token")
	fmt.Fprintf(s.Out, `
shuffled serves the sandbox ledger %q at %s
  tokens        %s, auditor.token, regulator.token, admin.token
  verifier key  %s
  auditor key   %s
  acts          signed with %s, which is there only because this is a sandbox
  tapes         public at the close, folded hands included, unless a commit chooses: a poker room's ledger
                discloses to auditors (shuffled ledger create --house poker)
  stop          Ctrl-C

Try it:
  curl -s %s/v1/%s/shuffles -H "Authorization: Bearer $(cat %s)" -H "Idempotency-Key: $(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)" -H 'Content-Type: application/json' -d '{"table":"table-1","deck":"standard-52"}'
`, host.SandboxLedger, url, token, place.FilesOf(cfg.Data, host.SandboxLedger).VKey, host.SandboxAuditorKey(cfg),
		host.SandboxAdminKey(cfg), url, host.SandboxLedger, token)
}
