package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/term"
)

// DoctorCmd is shuffled doctor.
type DoctorCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

func (DoctorCmd) Help() string {
	return `Checks the host, the files, the database and the listeners of a configuration, and says what to do. If the daemon
of the configuration runs, it also prints what that daemon says on /readyz: what each ledger can do, and its witnesses.
It writes nothing, and does not read what a daemon keeps of its co-dealers.

Exit codes: 0 nothing failed, 1 something did, 2 usage, 3 could not run.

Example:

    shuffled doctor --config /etc/shuffled/shuffled.toml`
}

// The results of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// finding is one line of the report.
type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, warn or fail
	Found  string `json:"found"`
	Cure   string `json:"cure,omitempty"`
}

// doctor collects findings.
type doctor struct {
	cfg      *config.Config
	findings []finding
}

func (d *doctor) ok(check, format string, args ...any) {
	d.findings = append(d.findings, finding{check, checkOK, fmt.Sprintf(format, args...), ""})
}

func (d *doctor) warn(check, cure, format string, args ...any) {
	d.findings = append(d.findings, finding{check, checkWarn, fmt.Sprintf(format, args...), cure})
}

func (d *doctor) fail(check, cure, format string, args ...any) {
	d.findings = append(d.findings, finding{check, checkFail, fmt.Sprintf(format, args...), cure})
}

// failed reports whether err is an error. If it is, it adds a finding with the hint of the error as the cure,
// or else with the given cure.
func (d *doctor) failed(check, cure string, err error) bool {
	if err == nil {
		return false
	}
	d.fail(check, cmp.Or(term.Hint(err), cure), "%s", err)
	return true
}

// Run makes all checks, and returns term.ErrFails if one failed.
func (c DoctorCmd) Run(ctx context.Context, s term.Streams) error {
	d := new(doctor)
	c.look(ctx, d)
	rows := make([][]any, 0, len(d.findings))
	for _, f := range d.findings {
		rows = append(rows, []any{f.Result, f.Check, term.Visible(f.Found)})
		if f.Cure != "" {
			rows = append(rows, []any{"", "", "→ " + term.Visible(f.Cure)})
		}
	}
	var err error
	if c.JSON {
		err = term.PrintJSON(s.Out, d.findings)
	} else {
		err = s.List(rows)
	}
	if err == nil && slices.ContainsFunc(d.findings, func(f finding) bool { return f.Result == checkFail }) {
		err = term.ErrFails
	}
	return err
}

func (c DoctorCmd) look(ctx context.Context, d *doctor) {
	d.host()
	cfg, err := c.Load()
	if err == nil {
		err = cfg.Validate()
	}
	if d.failed("configuration", "see configs/shuffled.example.toml, which has every setting with its default", err) {
		return
	}
	d.cfg = cfg
	d.limits()
	d.files(c.Config)
	origins := d.keys()
	d.certificate()
	d.listeners(ctx, origins)
	for _, of := range cfg.Databases() {
		d.database(ctx, of)
	}
	if len(cfg.Ledgers) == 0 {
		d.warn("ledgers", "add a [[ledger]] block", "the configuration serves no ledger")
	}
}

// database opens a database as a daemon does, and checks what a daemon does not check: rights, guards, version and
// clock.
func (d *doctor) database(ctx context.Context, cfg *config.Config) {
	store, err := place.OpenStore(ctx, cfg, false) // as a daemon does
	if d.failed("database", "", err) {
		return
	}
	store.Close()
	e, err := place.Examine(ctx, cfg)
	if d.failed("database", "run roles.sql as the database's administrator, after every migration", err) {
		return
	}
	const roles = "connect as shuffled_writer, and run roles.sql as the database's administrator, after every migration"
	before := len(d.findings)
	for _, fault := range []struct{ tables, found, cure string }{
		{e.Owns, "the role owns %s, so it could remove the guards of the evidence", roles},
		{e.Changes, "the role may change or remove rows of %s", roles},
		{e.Lacks, "the role cannot use %s", roles},
		{e.Gone, "guards of the evidence are not in force: %s",
			"find out who removed these guards, run shuffled audit fsck, and make the guards again as in migrations/postgres"},
	} {
		if fault.tables != "" {
			d.fail("database", fault.cure, fault.found, fault.tables)
		}
	}
	if e.Number > 0 && e.Number < 130000 {
		d.fail("database", "use PostgreSQL 13 or newer", "the server is PostgreSQL %s", e.Version)
	}
	if e.Citus {
		d.warn("durability", "run SELECT * FROM run_command_on_workers('SHOW synchronous_commit'), and the same for fsync and "+
			"full_page_writes: each must be on", "the server has Citus: the settings of its other nodes were not checked")
	}
	if len(d.findings) == before {
		what := "schema, rights, guards and durability are"
		if e.Number == 0 {
			what = "schema and durability are" // an embedded store knows no roles
		}
		d.ok("database", "%s: %s as they must be", strings.TrimSpace(place.Database(cfg)+" "+e.Version), what)
	}
	if !e.Clock.IsZero() {
		d.clock(e.Clock)
	}
}

// clock compares this host's clock with that of the database.
func (d *doctor) clock(other time.Time) {
	const check = "clock of the database"
	apart := time.Since(other).Round(time.Millisecond)
	if apart.Abs() > d.cfg.ClockStep.Duration() {
		d.fail(check, "set the clocks of all hosts from one time service, because entries and cosignatures carry these times",
			"this host's clock and that clock differ by %s, and clock_step is %s", apart, d.cfg.ClockStep.Duration())
		return
	}
	d.ok(check, "this host's clock and that clock differ by %s", apart)
}
