package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"shuffled/internal/build"
	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/lab"
	"shuffled/lab/battery"
	"shuffled/lab/labreport"
)

type labBatteryCmd struct {
	Deck    []string `placeholder:"DECK" help:"Judge shuffles of this published deck. May be repeated. Default: standard-52, if nothing else is judged."`
	Draws   []uint32 `placeholder:"K" help:"Judge values drawn from 1 to K. K is from 2 to 2^30. May be repeated."`
	Values  int      `default:"1" placeholder:"V" help:"With --draws: number of values in each outcome, 1 to 4096."`
	Count   uint64   `default:"1000000" placeholder:"N" help:"Number of outcomes of each kind, 1 to 4294967295."`
	From    string   `placeholder:"FILE" help:"Judge this file, as lab decks, lab draws or audit verify --outcomes writes it in bin or csv. Another program may have written it. Its manifest is FILE.json."`
	Second  string   `placeholder:"FILE" help:"With --from: the second sample, if the first one is borderline."`
	Workers int      `placeholder:"N" help:"Work with N goroutines. Default: one for each processor."`
	All     bool     `help:"List every result, not only the worst."`
	HTML    string   `name:"html" placeholder:"FILE" help:"Write the report as a page with plots to this new file."`
	JSON    bool     `name:"json" help:"Print the report as JSON."`
}

func (labBatteryCmd) Help() string {
	return `Makes outcomes with the function that the daemon deals with, or reads them from a file. Then it runs every test that regulators name. ` +
		labreport.Rule() + ` A second sample is made if it is needed. The exit code is 1 if a sample is rejected.

For a cryptographic generator, statistics are only a smoke test. shuffled lab prove tries what no sample shows, every lane of small draws and every small order, and says what it leaves to an argument. shuffled lab selftest shows that the tests find known faults.

Examples:

    shuffled lab battery --deck standard-52 --count 10000000 --html battery.html
    shuffled lab battery --deck shoe-6 --deck shoe-8 --count 1000000 --all
    shuffled lab battery --draws 37 --count 10000000
    shuffled lab battery --draws 6 --values 2 --json
    shuffled lab battery --from decks.bin`
}

// maxJudged is the number of outcomes that a battery counts without an overflow.
const maxJudged = 1<<32 - 1

func (c *labBatteryCmd) Run(ctx context.Context, s term.Streams) error {
	subjects, err := c.check()
	if err != nil {
		return err
	}
	// Almost nothing of what is allocated stays, so less frequent collection costs only some MiB.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(800))
	}
	began := time.Now()
	r := &labreport.Report{
		Command: "lab battery", Algorithm: lab.Algorithm, Build: lab.Build(build.This()),
		Started: began.UTC().Format(time.RFC3339),
		Rule:    labreport.Rule(), CannotShow: labreport.CannotShow(),
	}
	if c.From != "" {
		r.Parameters = map[string]any{"from": c.From, "workers": c.Workers}
		if c.Second != "" {
			r.Parameters["second"] = c.Second
		}
		err = c.judgeFiles(ctx, s, r)
	} else {
		r.Parameters = map[string]any{"count": c.Count, "workers": c.Workers}
		if len(c.Deck) > 0 {
			r.Parameters["deck"] = c.Deck
		}
		if len(c.Draws) > 0 {
			r.Parameters["draws"], r.Parameters["values"] = c.Draws, c.Values
		}
		err = c.judgeMade(ctx, s, r, subjects)
	}
	if ctx.Err() != nil {
		return errors.New("interrupted: nothing was judged")
	}
	if err != nil {
		return err
	}
	r.Seconds = math.Round(time.Since(began).Seconds()*1000) / 1000
	r.Conclude()
	return c.conclude(s, r)
}

// check finds faults of the request before anything is made.
func (c *labBatteryCmd) check() (subjects []labreport.Subject, err error) {
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case c.From != "" && len(c.Deck)+len(c.Draws) > 0:
		return nil, term.Usage("--deck and --draws must be left out with --from: the file says what it holds")
	case c.Second != "" && c.From == "":
		return nil, term.Usage("--second needs --from: without --from the command makes a second sample itself if it needs one")
	case c.Values < 1 || c.Values > shuffle.MaxRanges:
		return nil, term.Usage("--values must be 1 to %d, not %d", shuffle.MaxRanges, c.Values)
	case c.Count < 1 || c.Count > maxJudged:
		return nil, term.Usage("--count must be 1 to %d, not %d", uint64(maxJudged), c.Count)
	}
	if err := lab.CheckWorkers(c.Workers); err != nil {
		return nil, wrongField(err)
	}
	if err := isNew("--html", c.HTML); err != nil {
		return nil, err
	}
	return c.subjects()
}

// subjects are the kinds of outcome that are made.
func (c *labBatteryCmd) subjects() (subjects []labreport.Subject, err error) {
	if len(c.Deck)+len(c.Draws) == 0 && c.From == "" {
		c.Deck = []string{"standard-52"}
	}
	for _, name := range c.Deck {
		deck, ok := shuffle.Named(name)
		if !ok {
			return nil, term.Usage("--deck must be one of %s, not %s", strings.Join(shuffle.Names(), ", "),
				term.Visible(name))
		}
		subject := labreport.OfDeck(deck)
		if _, err := battery.New(subject.Shape); err != nil {
			return nil, term.Usage("--deck %s: %s", name, err)
		}
		subjects = append(subjects, subject)
	}
	for _, k := range c.Draws {
		if k < 2 || k > shuffle.MaxRange {
			return nil, term.Usage("--draws must be 2 to %d, not %d", shuffle.MaxRange, k)
		}
		subjects = append(subjects, labreport.OfDraws(k, c.Values))
	}
	return subjects, nil
}

// judgeMade makes outcomes and judges them.
func (c *labBatteryCmd) judgeMade(ctx context.Context, s term.Streams, r *labreport.Report,
	subjects []labreport.Subject) error {
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		return err
	}
	for _, subject := range subjects {
		sample, err := subject.Sample(func(b *battery.Battery, second bool) error {
			what := subject.Name
			if second {
				what += ", second sample"
			}
			p := term.NewProgress(s.Err, what)
			defer p.End()
			return subject.Generate(ctx, src, c.Workers, c.Count, b, func(done uint64) { p.At(done, c.Count) })
		})
		if err != nil {
			return fmt.Errorf("%s: %w", subject.Name, err)
		}
		r.Samples = append(r.Samples, sample)
	}
	return nil
}

// conclude writes the report, and fails if a sample does.
func (c *labBatteryCmd) conclude(s term.Streams, r *labreport.Report) error {
	if c.HTML != "" {
		if err := writeNew(c.HTML, r.WriteHTML); err != nil {
			return fmt.Errorf("writing the page: %w", err)
		}
	}
	if c.JSON {
		if err := term.PrintJSON(s.Out, r); err != nil {
			return err
		}
	} else if err := c.print(s, r); err != nil {
		return err
	}
	switch battery.Decision(r.Decision) {
	case battery.Reject:
		return term.ErrFails
	case battery.Repeat:
		return term.WithHint(errors.New("a sample is borderline, and no second sample was given"),
			"make a second sample of the same size, and judge both with --from FILE --second FILE")
	}
	return nil
}

// writeNew makes a file under another name first, so that it is complete or absent.
func writeNew(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".page-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is none
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if exists(name) {
		return &fs.PathError{Op: "make", Path: name, Err: fs.ErrExist}
	}
	return os.Rename(f.Name(), name)
}
