package host

import (
	"context"
	"fmt"

	"shuffled/internal/cli/place"
	"shuffled/internal/config"
	"shuffled/internal/term"
)

// DoctorCmd is shuffled doctor.
type DoctorCmd struct {
	place.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help says what the command checks, and shows an example.
func (DoctorCmd) Help() string {
	return `Checks the host, the files, the database and the listeners of a configuration, and says what to do. If the daemon
of the configuration runs, it also prints what that daemon says on /readyz: what each ledger can do, and its witnesses.
It writes nothing.

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
	if hint := term.Hint(err); hint != "" {
		cure = hint
	}
	d.fail(check, cure, "%s", err)
	return true
}

// Run makes all checks, and returns term.ErrFails if one failed.
func (c DoctorCmd) Run(ctx context.Context, s term.Streams) error {
	d := new(doctor)
	c.look(ctx, d)
	failed := false
	rows := make([][]any, 0, len(d.findings))
	for _, f := range d.findings {
		failed = failed || f.Result == checkFail
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
	if err == nil && failed {
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
