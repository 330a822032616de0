package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"shuffled/internal/build"
	"shuffled/internal/entropy"
	"shuffled/internal/term"
	"shuffled/lab"
)

// labOutput is where a sample goes.
type labOutput struct {
	Out      string `placeholder:"FILE" help:"Write to this new file, and the manifest to FILE.json. Default: standard output."`
	Manifest string `placeholder:"FILE" help:"Write the manifest to this new file."`
	Workers  int    `placeholder:"N" help:"Work with N goroutines. Default: one for each processor."`
	JSON     bool   `name:"json" help:"With --out: print the manifest."`
}

// writing is one kind of sample: how it is written, and its manifest.
type writing struct {
	binary     bool   // no text for a terminal
	unit       string // of total
	total      uint64
	parameters map[string]any
	write      func(ctx context.Context, src *entropy.Source, workers int, w io.Writer,
		progress func(uint64)) (*lab.Written, error)
	manifest func(*lab.Written) *lab.Manifest
}

// run writes the sample, and the manifest when all of it is written.
func (o *labOutput) run(ctx context.Context, s term.Streams, w writing) error {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if err := o.check(s, w.binary); err != nil {
		return err
	}
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		return err
	}
	// Almost nothing of what is allocated stays, so less frequent collection costs only some MiB.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(800))
	}
	// A reader that has enough closes the pipe: writing then fails, and does not end the process.
	signal.Ignore(syscall.SIGPIPE)
	out, err := o.open(ctx, s)
	if err != nil {
		return err
	}
	p, began := term.NewProgress(s.Err, w.unit), time.Now()
	written, err := w.write(ctx, src, o.Workers, out, func(done uint64) { p.At(done, w.total) })
	p.End()
	if err := out.end(err); err != nil {
		return o.ended(ctx, err)
	}
	m := w.manifest(written)
	m.Parameters, m.Build = w.parameters, lab.Build(build.This())
	m.Started, m.Seconds = began.UTC().Format(time.RFC3339), math.Round(time.Since(began).Seconds()*1000)/1000
	m.Parameters["workers"] = o.Workers
	return o.conclude(s, m)
}

// check finds faults of the request before anything is made.
func (o *labOutput) check(s term.Streams, binary bool) error {
	if err := lab.CheckWorkers(o.Workers); err != nil {
		return wrongField(err)
	}
	if o.JSON && o.Out == "" {
		return term.Usage("--json needs --out, because the sample goes to standard output")
	}
	if binary && o.Out == "" && term.IsTerminal(s.Out) {
		return term.Usage("--out is missing: a terminal cannot show bytes, so name a file, or pipe the bytes")
	}
	if o.Out != "" && o.Manifest == "" {
		o.Manifest = o.Out + ".json"
	}
	if o.Manifest != "" && filepath.Clean(o.Manifest) == filepath.Clean(o.Out) {
		return term.Usage("--manifest must name another file than --out")
	}
	if err := isNew("--out", o.Out); err != nil {
		return err
	}
	return isNew("--manifest", o.Manifest)
}

// isNew refuses a file that exists, and early also one that could not be made at the end.
func isNew(flag, name string) error {
	if name == "" {
		return nil
	}
	if exists(name) {
		return term.Usage("%s: %s exists, and no file is overwritten: name a new file", flag, term.Visible(name))
	}
	if dir, err := os.Stat(filepath.Dir(name)); err != nil || !dir.IsDir() {
		return term.Usage("%s: %s is no directory", flag, term.Visible(filepath.Dir(name)))
	}
	return nil
}

// open makes the file, or takes standard output.
func (o *labOutput) open(ctx context.Context, s term.Streams) (*labFile, error) {
	if o.Out == "" {
		return &labFile{ctx: ctx, w: s.Out}, nil
	}
	f, err := os.OpenFile(o.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("making the file of the sample: %w", err)
	}
	return &labFile{ctx: ctx, w: f, own: f}, nil
}

// labFile is what a sample is written to. A Write that nobody reads does not keep the command from ending.
type labFile struct {
	ctx context.Context
	w   io.Writer
	own *os.File // nil: standard output
}

// Write returns early when the command is interrupted; b is then not used again.
func (f *labFile) Write(b []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1) // the goroutine never blocks on it
	go func() {
		n, err := f.w.Write(b)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	}
}

// end closes the file. After an error it removes the file, because a part of a sample looks like a whole one.
func (f *labFile) end(err error) error {
	if f.own == nil {
		return err
	}
	err = errors.Join(err, f.own.Close())
	if err != nil {
		return errors.Join(err, os.Remove(f.own.Name()))
	}
	return nil
}

// ended says why a sample is not whole.
func (o *labOutput) ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil && o.Out != "":
		return errors.New("interrupted: nothing is kept")
	case ctx.Err() != nil:
		return errors.New("interrupted: what was written is not all of the sample, and has no manifest")
	case errors.Is(err, syscall.EPIPE) && o.Manifest == "":
		return nil // its reader has enough
	case errors.Is(err, syscall.EPIPE):
		return errors.New("the reader closed the pipe: there is no manifest of a part")
	}
	return fmt.Errorf("writing the sample: %w", err)
}

// conclude writes the manifest, and prints what was made: on standard error if the sample is on standard output.
func (o *labOutput) conclude(s term.Streams, m *lab.Manifest) error {
	if o.Out != "" {
		m.File = filepath.Base(o.Out)
	}
	if o.Manifest != "" {
		if err := writeManifest(o.Manifest, m); err != nil {
			return fmt.Errorf("writing the manifest: %w", err)
		}
	}
	if o.JSON {
		return term.PrintJSON(s.Out, m)
	}
	w := s.Err
	if o.Out != "" {
		w = s.Out
	}
	text := term.Counted(m.Bytes) + " bytes"
	if m.Outcomes > 0 {
		text = fmt.Sprintf("%s outcomes of %s values, %s", term.Counted(m.Outcomes), term.Counted(uint64(m.Positions)),
			text)
	}
	text += fmt.Sprintf(", %.1f s\nSHA-256   %s\n", m.Seconds, m.SHA256)
	if o.Manifest != "" {
		text += fmt.Sprintf("manifest  %s\n", term.Visible(o.Manifest))
	}
	_, err := io.WriteString(w, text)
	return err
}

// writeManifest makes the file under another name first, so that it is complete or absent.
func writeManifest(name string, m *lab.Manifest) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".manifest-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is none
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := errors.Join(e.Encode(m), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if exists(name) {
		return &fs.PathError{Op: "make", Path: name, Err: fs.ErrExist}
	}
	return os.Rename(f.Name(), name)
}

// wrongField turns a FieldError of a sample into an error of the command line.
func wrongField(err error) error {
	var field *lab.FieldError
	if errors.As(err, &field) {
		return term.Usage("--%s %s", field.Field, term.Visible(field.Rule))
	}
	return err
}
