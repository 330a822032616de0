// Command shuffled-bench puts a running daemon under load, verifies what it
// acknowledged, and reports. `shuffled bench` runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/build"
	"shuffled/internal/cli/remote"
	"shuffled/internal/process"
	"shuffled/internal/selftest"
	"shuffled/internal/term"
	"shuffled/perf/load"
)

type benchCmd struct {
	remote.Flags
	Connections int           `default:"64" help:"Number of connections. Each has one request under way and a table of its own."`
	Rate        float64       `placeholder:"N" help:"Requests, or hands, that are due per second in all. Latency then counts from the time at which one was due. Default: each connection sends the next request when the last one is answered."`
	Duration    time.Duration `default:"10s" help:"How long the load is measured."`
	WarmUp      time.Duration `name:"warm-up" default:"2s" help:"How long the load runs before it is measured."`
	Mix         string        `default:"commit=1" help:"Weights of commit, deal, close, verify and hand, such as commit=1,deal=4,close=1."`
	Batch       int           `default:"1" help:"Commits, or whole hands, in one request, 1 to 128. More than 1 are sent as a batch."`
	Deck        string        `default:"standard-52" help:"A published deck."`
	Tables      string        `placeholder:"NAME" help:"The tables are NAME-1, NAME-2, …, and must be new. Default: a new name."`
	Keep        int           `default:"256" placeholder:"MIB" help:"Memory for answers that are verified afterwards. If it is full, whole shuffles are left out evenly."`
	Timeout     time.Duration `default:"30s" help:"How long a request may take."`
	Production  bool          `help:"Load a production ledger. The entries of the load stay in the ledger."`
}

// Help shows examples.
func (benchCmd) Help() string {
	return `Put the load on a ledger that has no other use, in a database of the size and on the machine that you will have. docs/SIZING.md says how to read the figures.

A hand is six requests: a commit, hole cards for six seats, flop, turn, river, and the close. A deal of --mix deals two cards from the table's first open shuffle, a close ends it, and a verify has the daemon verify the newest receipt. If there is no such shuffle or receipt, a commit is made instead.

There is no limit to the open shuffles of a table, but each takes memory of the daemon until it is closed. A close of --mix closes it, or the daemon closes it as expired at the ledger's close-by (a day, with --dev).

An answer of 429 or 503 is counted, and its request is repeated after the pause that the answer asks for. Afterwards every answer that was kept is verified. Its receipt has a valid signature and inclusion proof. Its entry is what was asked for. Each card opens the deck root of its commit, and was dealt once. A tape that was disclosed at the close opens the commitment and leads to the deck root.

Exit codes: 1 if an answer is wrong, 3 if the figures measure nothing. The latter is so if nothing was acknowledged or, without --rate, if more requests were refused or failed than were acknowledged. The report says why ("unusable" with --json).

Examples:

    shuffled bench --token-file shuffled-data/dealer.token --key shuffled-data/main.vkey
    shuffled bench --connections 256 --mix hand=1 --duration 1m
    shuffled bench --rate 500 --connections 64 --mix commit=1,deal=4,close=1 --json`
}

func main() { term.Main(process.NoDumps, run) } // a token is in memory

// run is the whole command: arguments in, exit code out.
func run(ctx context.Context, args []string, s term.Streams) int {
	program := term.Program{
		Name:        "shuffled bench", // as a user types it
		Description: "Put a running daemon under load, verify what it acknowledged, and report. Version " + build.This().Version,
		Grammar:     new(benchCmd),
		Before: func(string) (any, error) {
			return selftest.Judge(selftest.Run())
		},
	}
	return program.Run(ctx, args, s, s)
}

// mebi is the unit of --keep.
const mebi = 1 << 20

func (c *benchCmd) Run(ctx context.Context, s term.Streams) error {
	mix, err := load.ParseMix(c.Mix)
	if err != nil {
		return term.Usage("--mix: %s", term.Visible(err.Error()))
	}
	cfg := load.Config{
		URL: c.URL, Ledger: c.Ledger, Connections: c.Connections, Rate: c.Rate, Warmup: c.WarmUp, Duration: c.Duration,
		Mix: mix, Batch: c.Batch, Deck: c.Deck, Tables: c.Tables, Keep: int64(c.Keep) * mebi, Timeout: c.Timeout,
	}
	if cfg.Tables == "" {
		cfg.Tables = "bench-" + client.NewKey()[:13]
	}
	if err := cfg.Check(); err != nil {
		return c.wrong(err)
	}
	if err := c.trust(ctx, s, &cfg); err != nil {
		return err
	}
	cfg.Progress = func(p load.Progress) { fmt.Fprintln(s.Err, second(p)) }
	verifying := term.NewProgress(s.Err, "answers verified")
	cfg.Verifying = func(done, total int) { verifying.At(uint64(done), uint64(total)) }
	report, err := load.Run(ctx, cfg)
	verifying.End()
	if err != nil {
		return c.wrong(err)
	}
	return c.print(s, report)
}

// errUnusable is the error of a load that measured nothing.
var errUnusable = errors.New("the figures measure nothing")

// trust takes the token and the keys, and refuses a production ledger unless the user allows it.
func (c *benchCmd) trust(ctx context.Context, s term.Streams, cfg *load.Config) error {
	if c.ClientCert != "" {
		return term.Usage("--client-cert must be left out: the load is made with a token")
	}
	given, err := c.Config(ctx, s.Err)
	if err != nil {
		return err
	}
	d, err := client.New(given)
	if err != nil {
		return term.Usage("%s", term.Visible(err.Error()))
	}
	said, err := d.SaidKeys(ctx)
	if err != nil {
		return c.Explain(err)
	}
	if said.Production && !c.Production {
		return term.WithHint(term.Usage("ledger %s is for production, and the entries of a load stay in the ledger: --production says that you want this", c.Ledger),
			"create a sandbox ledger alongside it: shuffled ledger create --help")
	}
	cfg.Token = given.Token
	cfg.Keys, err = verifiers(given)
	return err
}

// verifiers are the keys with which a client is made.
func verifiers(given client.Config) ([]note.Verifier, error) {
	if given.VKey != "" {
		key, err := audit.ParseVKey(given.VKey)
		return []note.Verifier{key}, err
	}
	p, err := trust.ParsePolicy([]byte(given.Policy))
	if err != nil {
		return nil, term.Usage("--policy: %s", term.Visible(err.Error()))
	}
	return p.Logs, nil
}

// wrong turns an error of the load into one for people.
func (c *benchCmd) wrong(err error) error {
	var field *load.FieldError
	var refusal *load.Refusal
	switch {
	case errors.As(err, &field):
		return term.Usage("--%s %s", field.Field, term.Visible(field.Rule))
	case errors.As(err, &refusal):
		code := client.Code(refusal.Code)
		if code == client.CodeInvalidValue || code == client.CodeInvalidRequest {
			return term.Usage("%s", err)
		}
		if hint := remote.Advice[code]; hint != "" {
			return term.WithHint(err, "%s", hint)
		}
	}
	return err
}
