package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/internal/witness"
)

// WitnessCmd is shuffled witness.
type WitnessCmd struct {
	Serve witnessServeCmd `cmd:"" help:"Cosign the checkpoints of ledgers that only grow." example:"shuffled key generate witness --name witness.example.org/w1 --out witness.key\n  shuffled witness serve --key witness.key --state ./witness-state --log \"$(cat main.vkey)\""`
}

type witnessServeCmd struct {
	Key        string   `required:"" placeholder:"FILE" help:"Witness key, made by: shuffled key generate witness."`
	Passphrase string   `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of an encrypted key file."`
	Second     string   `name:"ml-dsa-key" placeholder:"FILE" help:"Second key, made by: shuffled key generate ml-dsa. Every cosigned checkpoint gets a line of each key."`
	State      string   `required:"" placeholder:"DIR" help:"Directory that keeps what was cosigned. Never restore it from a backup."`
	Log        []string `placeholder:"VKEY" sep:"none" help:"Verifier key of a log to witness. May be repeated."`
	Policy     string   `placeholder:"FILE" help:"C2SP tlog-policy whose log lines name the logs."`
	Listen     string   `default:"127.0.0.1:7380" placeholder:"ADDR" help:"Address of the witness (default ${default})."`
	Operator   string   `name:"operator-listen" placeholder:"ADDR" help:"Address of /metrics. Without it, /metrics is not served."`
	URL        string   `placeholder:"URL" help:"Address at which logs reach this witness, for the policy line (default: that of --listen)."`
	TLSCert    string   `name:"tls-cert" placeholder:"FILE" help:"Serve TLS with this certificate."`
	TLSKey     string   `name:"tls-key" placeholder:"FILE" help:"Private key of the certificate."`
	JSON       bool     `name:"json" help:"Print JSON, and log JSON lines."`
}

func (c witnessServeCmd) Run(ctx context.Context, s term.Streams) error {
	logs, err := c.logs()
	if err != nil {
		return err
	}
	passphrase, err := keys.ReadPassphrase(c.Passphrase)
	if err != nil {
		return err
	}
	key, err := keys.ReadWitness(c.Key, passphrase)
	if err != nil {
		return err
	}
	if u, err := url.Parse(c.URL); c.URL != "" &&
		(err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(c.URL, " #?")) {
		return term.Usage("--url must be an address such as https://witness.example.org/w1, not %q", term.Visible(c.URL))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return term.Usage("--tls-cert and --tls-key must be given together")
	}
	var lines config.Log
	if c.JSON {
		lines.Format = "json"
	}
	log := serving.NewLog(s.Err, lines)
	certificates, err := serving.OpenCertificates(config.TLS{Cert: c.TLSCert, Key: c.TLSKey}, log)
	if err != nil {
		return err
	}
	serving.StartProcess(log)
	// If the address is taken, the command fails before anything is written.
	listener, err := serving.Listen(c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close()
	cfg := witness.Config{Name: key.Name(), Key: key.Signer(), Dir: c.State, Logs: logs, Now: time.Now, Log: log}
	if c.Second != "" {
		if cfg.Second, err = keys.ReadMLDSA(c.Second, passphrase); err != nil {
			return err
		}
	}
	w, err := witness.Open(cfg)
	if err != nil {
		return err
	}
	server := witnessServer(w, log)
	server.TLSConfig = certificates.TLS()
	go certificates.Watch(ctx) // ends with ctx
	if err := c.greet(s, w, logs, listener.Addr()); err != nil {
		return errors.Join(err, w.Close())
	}
	if err := c.serve(ctx, w, server, listener, log); err != nil {
		return err // requests may be under way, so the end of the process releases the lock
	}
	return w.Close()
}

// logs returns the keys of the logs that both flags name.
func (c witnessServeCmd) logs() ([]note.Verifier, error) {
	var logs []note.Verifier
	for _, vkey := range c.Log {
		v, err := audit.ParseVKey(vkey)
		if err != nil {
			return nil, term.Usage("--log: %s", err)
		}
		logs = append(logs, v)
	}
	if c.Policy != "" {
		text, err := term.ReadBounded(c.Policy, audit.MaxPolicy)
		if err != nil {
			return nil, fmt.Errorf("reading the policy: %w", err)
		}
		p, err := trust.ParsePolicy(text)
		if err != nil {
			return nil, term.Usage("--policy: %s", err)
		}
		logs = append(logs, p.Logs...)
	}
	if len(logs) == 0 {
		return nil, term.Usage("no log to witness is named: give --log VKEY, or --policy FILE with log lines")
	}
	return logs, nil
}

// Limits of a witness's connections. A request is one small body. The answer waits for one write to the disk.
const (
	witnessRead    = 10 * time.Second
	witnessWrite   = 30 * time.Second
	witnessIdle    = 5 * time.Minute
	witnessStreams = 8 // of HTTP/2
)

func witnessServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: witnessRead, ReadTimeout: witnessRead, WriteTimeout: witnessWrite, IdleTimeout: witnessIdle,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: witnessStreams},
	}
}

// serve serves until ctx ends, and then until the requests under way are answered.
func (c witnessServeCmd) serve(ctx context.Context, w *witness.Witness, server *http.Server, l net.Listener,
	log *slog.Logger) error {
	run, stop := context.WithCancel(ctx)
	defer stop()
	group, run := errgroup.WithContext(run)
	if c.Operator != "" {
		operator, err := serving.Listen(c.Operator, "--operator-listen")
		if err != nil {
			return err
		}
		log.Info("serving operators", "address", operator.Addr().String())
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", w.Metrics())
		serving.ServeUntil(run, group, operator, witnessServer(mux, log), nil)
	}
	serving.ServeUntil(run, group, l, server, nil)
	log.Info("serving", "address", l.Addr().String())
	err := group.Wait()
	log.Info("stopped")
	return err
}

// ServedWitness is what `witness serve` says at its start.
type ServedWitness struct {
	URL        string   `json:"url"`
	VKey       string   `json:"vkey"`
	PolicyLine string   `json:"policy_line"`
	Logs       []string `json:"logs"`
	State      string   `json:"state"`
}

// greet prints what the operators of the logs need.
func (c witnessServeCmd) greet(s term.Streams, w *witness.Witness, logs []note.Verifier, addr net.Addr) error {
	at := strings.TrimSuffix(c.URL, "/")
	if at == "" {
		at = "http://" + addr.String()
		if c.TLSCert != "" {
			at = "https://" + addr.String()
		}
	}
	told := ServedWitness{URL: at, VKey: w.VKey(), PolicyLine: w.PolicyLine(at), State: c.State}
	for _, l := range logs {
		told.Logs = append(told.Logs, l.Name())
	}
	slices.Sort(told.Logs)
	told.Logs = slices.Compact(told.Logs)
	return s.Answer(c.JSON, told, `shuffled witnesses %s at %s
  state         %s
  verifier key  %s
  policy line   %s
`, strings.Join(told.Logs, ", "), told.URL, told.State, told.VKey, told.PolicyLine)
}
