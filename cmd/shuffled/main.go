// Command shuffled is a daemon that shuffles cards for regulated games and leaves evidence that nobody has to take on
// trust, an operator's tool for it, and an offline verifier of that evidence.
package main

import (
	"cmp"
	"context"
	"os"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"shuffled/internal/build"
	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/cli/demo"
	"shuffled/internal/cli/host"
	"shuffled/internal/cli/operate"
	"shuffled/internal/cli/player"
	"shuffled/internal/cli/serving"
	"shuffled/internal/cli/ticket"
	"shuffled/internal/process"
	"shuffled/internal/term"
)

type cli struct {
	Demo   demo.Cmd       `cmd:"" group:"Begin" help:"Play a whole hand in this terminal: commit, deal, prove, close, verify, tamper."`
	Init   host.InitCmd   `cmd:"" group:"Set up and run: operator" help:"Write the configuration, keys, roles, policy and unit of a production house, and print the commands that follow."`
	Doctor host.DoctorCmd `cmd:"" group:"Set up and run: operator" help:"Check host, files, database, witnesses and listeners of a configuration, and say what to do."`

	Ledger    host.LedgerCmd    `cmd:"" group:"Set up and run: operator" help:"Create and list ledgers."`
	Migrate   host.MigrateCmd   `cmd:"" group:"Set up and run: operator" help:"Create or change the tables of a database."`
	Serve     serveCmd          `cmd:"" group:"Set up and run: operator" help:"Run the daemon." example:"shuffled serve --dev --data ./shuffled-data --listen 127.0.0.1:8080\n  shuffled serve --config /etc/shuffled/shuffled.toml"`
	Token     host.TokenCmd     `cmd:"" group:"Set up and run: operator" help:"Create, list and revoke API tokens."`
	Act       host.ActCmd       `cmd:"" group:"Set up and run: operator" help:"Change with signatures of administrators: keys, policies, auditors, switches, the latch, admins."`
	Key       host.KeyCmd       `cmd:"" group:"Set up and run: operator" help:"Generate and show keys."`
	Witness   host.WitnessCmd   `cmd:"" group:"Set up and run: operator" help:"Run a witness, which cosigns the checkpoints of ledgers that only grow."`
	Retention host.RetentionCmd `cmd:"" group:"Set up and run: operator" help:"Drop access records that are past their retention."`

	Shuffle  operate.ShuffleCmd  `cmd:"" group:"Play: back end, floor" help:"Ask a running daemon for a shuffle."`
	Draw     operate.DrawCmd     `cmd:"" group:"Play: back end, floor" help:"Ask a running daemon for dice, numbers or a wheel's spin."`
	Mix      operate.MixCmd      `cmd:"" group:"Play: back end, floor" help:"Reveal the outside randomness that a shuffle planned."`
	Deal     operate.DealCmd     `cmd:"" group:"Play: back end, floor" help:"Deal the next cards of a shuffle."`
	Reveal   operate.RevealCmd   `cmd:"" group:"Play: back end, floor" help:"Make dealt cards public: a showdown, or a card that was seen."`
	Close    operate.CloseCmd    `cmd:"" group:"Play: back end, floor" help:"Close a shuffle and disclose its tape."`
	Batch    operate.BatchCmd    `cmd:"" group:"Play: back end, floor" help:"Send many shuffles, draws, mixes, deals, reveals and closes in one request."`
	Show     operate.ShowCmd     `cmd:"" group:"Play: back end, floor" help:"Show a shuffle, or write its transcript to a file."`
	Takeover operate.TakeoverCmd `cmd:"" group:"Play: back end, floor" help:"Become the owner of another identity's shuffle."`
	Decks    operate.DecksCmd    `cmd:"" group:"Play: back end, floor" help:"List the decks that a running daemon knows by name." example:"shuffled decks"`
	Terms    operate.TermsCmd    `cmd:"" group:"Play: back end, floor" help:"Put documents that say what values mean: wheels and pay tables."`
	Tickets  ticket.Cmd          `cmd:"" group:"Play: back end, floor" help:"Hash a list of tickets, prove a ticket, check a proof."`

	Recall operate.RecallCmd `cmd:"" group:"Look and intervene: floor, engineer on call" help:"Find shuffles by table, time, game or state."`
	Events operate.EventsCmd `cmd:"" group:"Look and intervene: floor, engineer on call" help:"Follow what happens in the ledger of a running daemon."`
	Table  operate.TableCmd  `cmd:"" group:"Look and intervene: floor, engineer on call" help:"Open, close and list tables of a running daemon."`
	Kill   operate.KillCmd   `cmd:"" group:"Look and intervene: floor, engineer on call" help:"Set and list kill switches of a running daemon."`
	Access operate.AccessCmd `cmd:"" group:"Look and intervene: floor, engineer on call" help:"Show what regulators and administrators asked a running daemon for."`

	Verify auditcli.VerifyCmd `cmd:"" group:"Verify: player, auditor" help:"Verify a transcript or receipt, offline."`
	Audit  auditcli.AuditCmd  `cmd:"" group:"Verify: player, auditor" help:"Export and check whole ledgers."`
	Slot   player.SlotCmd     `cmd:"" group:"Verify: player, auditor" help:"Make a player's own randomness for a shuffle."`

	Selftest selftestCmd `cmd:"" group:"Measure: test lab" help:"Run the known-answer tests of every primitive and format, and show them."`
	Lab      otherCmd    `cmd:"" group:"Measure: test lab" passthrough:"" help:"Run shuffled-lab, which has what a test lab needs: raw output, outcomes, statistics, controls, proofs, and the kit to hand in."`
	Bench    otherCmd    `cmd:"" group:"Measure: test lab" passthrough:"" help:"Run shuffled-bench, which puts a running daemon under load, verifies what it acknowledged, and reports."`

	Version versionCmd `cmd:"" group:"This program" help:"Show build, algorithm and FIPS state."`
}

func main() { term.Main(process.NoDumps, run) } // for every command: most of them handle keys

// run is the whole command: arguments in, exit code out.
func run(ctx context.Context, args []string, s term.Streams) int {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	program := term.Program{
		Name:        "shuffled",
		Description: "Card shuffling that can be checked by anyone. Start with: shuffled demo",
		Grammar:     new(cli),
		Before: func(command string) (any, error) {
			if command == "serve" || command == "witness serve" {
				serving.IgnoreHangups()
			}
			return testSelf(command)
		},
	}
	return program.Run(ctx, args, s, s)
}

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c versionCmd) Run(s term.Streams) error {
	b := build.This()
	fips := "off"
	if b.FIPS {
		fips = "on (module " + b.FIPSBuild + ")"
	}
	return s.Answer(c.JSON, b, "shuffled   %s %s\nalgorithm  %s\ngo         %s\nFIPS 140-3 %s\nplatform   %s\n"+
		"kernel     %s, getrandom in the vDSO: %s\n", b.Version, b.Revision, b.Algorithm, b.Go, fips, b.Platform,
		cmp.Or(b.Kernel, "unknown"), b.VDSO)
}

// otherCmd is a command that runs another program with the given arguments: shuffled-lab or shuffled-bench, by
// the name of the command. Programs that measure are no part of the program that deals.
type otherCmd struct {
	Args []string `arg:"" optional:"" help:"Arguments of the program."`
}

// Run replaces this process by the program. The program has the streams, the signals and the exit code of this process.
func (c *otherCmd) Run(parsed *kong.Context) error {
	path, err := build.Sibling("shuffled-" + parsed.Selected().Name)
	if err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{path}, c.Args...), os.Environ())
}
