package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"shuffled/internal/outcome"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/lab"
	"shuffled/lab/battery"
	"shuffled/lab/labreport"
)

// judgeFiles judges outcomes that were written earlier.
func (c *labBatteryCmd) judgeFiles(ctx context.Context, s term.Streams, r *labreport.Report) error {
	names := []string{c.From}
	if c.Second != "" {
		names = append(names, c.Second)
	}
	var dumps []*dump
	for _, name := range names {
		d, err := openDump(name)
		if err != nil {
			return c.foul(s, name, err)
		}
		defer d.f.Close()
		dumps = append(dumps, d)
	}
	if len(dumps) > 1 {
		if err := dumps[0].independent(dumps[1]); err != nil {
			return c.foul(s, c.Second, err)
		}
	}
	sample, err := dumps[0].subject.Sample(func(b *battery.Battery, second bool) error {
		if !second {
			return dumps[0].feed(ctx, s, c.Workers, b)
		}
		if len(dumps) < 2 {
			return labreport.ErrNoSecond
		}
		return dumps[1].feed(ctx, s, c.Workers, b)
	})
	if err != nil {
		return c.foul(s, c.From, err)
	}
	judged := dumps
	if len(dumps) > 1 && sample.Second == nil {
		judged, sample.Note = dumps[:1], "second sample not used: the first decided"
	}
	for _, d := range judged {
		sample.Files = append(sample.Files, labreport.File{Name: d.f.Name(), SHA256: d.manifest.SHA256})
	}
	r.Samples = append(r.Samples, sample)
	return nil
}

// errEvidence is the error of a file that differs from its manifest.
var errEvidence = errors.New("the file is not what its manifest says")

// foul makes the error of a file that contradicts its manifest: evidence that fails.
func (c *labBatteryCmd) foul(s term.Streams, name string, err error) error {
	if !errors.Is(err, errEvidence) && !errors.Is(err, outcome.ErrFoul) {
		return fmt.Errorf("%s: %w", term.Visible(name), err)
	}
	fmt.Fprintf(s.Err, "shuffled: error: %s: %s\n", term.Visible(name), term.Visible(err.Error()))
	return term.ErrFails
}

// A dump is a file of outcomes as lab decks and lab draws write it, or another program with the few members
// of a manifest that docs/LAB.md requires.
type dump struct {
	f        *os.File
	manifest lab.Manifest
	subject  labreport.Subject
}

// maxManifest is larger than the manifest of any deck.
const maxManifest = 4 << 20

// openDump opens a file, reads its manifest and compares the two.
func openDump(name string) (*dump, error) {
	d := &dump{}
	text, err := term.ReadBounded(name+".json", maxManifest)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if err := json.Unmarshal(text, &d.manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if d.subject, err = subjectOf(&d.manifest); err != nil {
		return nil, fmt.Errorf("the manifest: %w", err)
	}
	if d.f, err = os.Open(name); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, errors.Join(err, d.f.Close())
	}
	return d, nil
}

// subjectOf says what a manifest's outcomes are.
func subjectOf(m *lab.Manifest) (labreport.Subject, error) {
	n, csv := uint64(m.Positions), m.Format.Name == string(lab.CSV)
	switch width := m.Format.ValueBytes; {
	case m.Format.Name != string(lab.Binary) && !csv:
		return labreport.Subject{}, term.Usage("format is %s: bin and csv are judged", term.Visible(m.Format.Name))
	case !csv && width != 1 && width != 2 && width != 4:
		return labreport.Subject{}, term.Usage("value_bytes is 1, 2 or 4, not %d", width)
	case m.Positions < 1 || m.Positions > shuffle.MaxCards || m.Outcomes < 1 || m.Outcomes > maxJudged:
		return labreport.Subject{}, term.Usage("%d outcomes of %d values are not judged", m.Outcomes, m.Positions)
	case !csv && (m.Format.RecordBytes != width*m.Positions || m.Bytes != m.Outcomes*n*uint64(width)):
		return labreport.Subject{}, term.Usage("bytes, record_bytes and outcomes do not agree")
	}
	subject, err := kindOf(m)
	if err != nil {
		return subject, err
	}
	if _, err := battery.New(subject.Shape); err != nil {
		return subject, term.Usage("%s", err)
	}
	return subject, nil
}

func kindOf(m *lab.Manifest) (labreport.Subject, error) {
	if m.Deck == nil {
		if m.Parameters["distinct"] == true {
			return labreport.Subject{}, term.Usage("numbers without repeats are not judged: each depends on those before, and the tests of draws are for values that do not")
		}
		if m.Parameters["ranges"] != nil {
			return labreport.Subject{}, term.Usage("draws of several ranges are not judged: the tests of draws are for values of one range, 1 to k")
		}
		k, ok := m.Parameters["k"].(float64)
		if !ok || k < 2 || k > shuffle.MaxRange || k != float64(uint32(k)) {
			return labreport.Subject{}, term.Usage("parameters.k is 2 to %d", shuffle.MaxRange)
		}
		return labreport.OfDraws(uint32(k), m.Positions), nil
	}
	deck, err := shuffle.NewDeck(m.Deck.Names)
	if err != nil {
		return labreport.Subject{}, term.Usage("deck: %s", err)
	}
	if named, ok := shuffle.Named(m.Deck.Name); ok && slices.Equal(named.Cards(), deck.Cards()) {
		deck = named // a shoe is recognised by its name
	}
	if m.Positions != deck.Len() {
		return labreport.Subject{}, term.Usage("only %d of %d cards were written: whole orders are judged", m.Positions,
			deck.Len())
	}
	return labreport.OfDeck(deck), nil
}

// check compares the bytes with the manifest.
func (d *dump) check() error {
	h := sha256.New()
	n, err := io.Copy(h, d.f)
	switch {
	case err != nil:
		return err
	case uint64(n) != d.manifest.Bytes:
		return fmt.Errorf("%w: it has %d bytes, not %d", errEvidence, n, d.manifest.Bytes)
	case hex.EncodeToString(h.Sum(nil)) != d.manifest.SHA256:
		return fmt.Errorf("%w: its SHA-256 is another", errEvidence)
	}
	return nil
}

// independent refuses a second sample that is the first one, or of another kind.
func (d *dump) independent(second *dump) error {
	switch {
	case d.manifest.SHA256 == second.manifest.SHA256:
		return term.Usage("--second must be another sample, and has the bytes of the first sample")
	case d.subject.Shape != second.subject.Shape || d.manifest.Outcomes != second.manifest.Outcomes:
		return term.Usage("--second must be of the same kind and size as the first sample")
	}
	return nil
}

// feed adds all outcomes. Each worker reads its own consecutive part of the file, so that neighbours in it
// stay neighbours.
func (d *dump) feed(ctx context.Context, s term.Streams, workers int, b *battery.Battery) error {
	p := term.NewProgress(s.Err, "outcomes")
	defer p.End()
	m := &d.manifest
	if m.Format.Name == string(lab.CSV) {
		lines, err := d.lines()
		if err != nil {
			return err
		}
		return labreport.Feed(ctx, 1, m.Outcomes, func(int) (lab.Maker, error) { return lines, nil }, b,
			func(done uint64) { p.At(done, m.Outcomes) })
	}
	maker := func(worker int) (lab.Maker, error) {
		first := uint64(0)
		for w := range worker {
			first += lab.Share(m.Outcomes, workers, w)
		}
		size := int64(m.Format.RecordBytes)
		return &stretch{
			r:    io.NewSectionReader(d.f, int64(first)*size, int64(lab.Share(m.Outcomes, workers, worker))*size),
			next: first, width: m.Format.ValueBytes, recipe: d.subject.Recipe,
			buf: make([]byte, 0, max(1, 1<<18/size)*size), values: make([]uint32, m.Positions),
		}, nil
	}
	return labreport.Feed(ctx, workers, m.Outcomes, maker, b, func(done uint64) { p.At(done, m.Outcomes) })
}

// A stretch reads outcomes one after the other. It is a lab.Maker.
type stretch struct {
	r      io.Reader
	next   uint64 // the number of the outcome
	width  int    // bytes of a value
	recipe shuffle.Recipe
	buf    []byte // whole records
	rest   []byte // of buf, not returned yet
	values []uint32
}

func (r *stretch) Next() ([]uint32, error) {
	if len(r.rest) == 0 {
		n, err := io.ReadFull(r.r, r.buf[:cap(r.buf)])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		r.rest = r.buf[:n]
	}
	if len(r.rest) < r.width*len(r.values) {
		return nil, io.ErrUnexpectedEOF
	}
	for i := range r.values {
		switch r.width {
		case 1:
			r.values[i] = uint32(r.rest[i])
		case 2:
			r.values[i] = uint32(binary.BigEndian.Uint16(r.rest[2*i:]))
		default:
			r.values[i] = binary.BigEndian.Uint32(r.rest[4*i:])
		}
	}
	r.rest = r.rest[r.width*len(r.values):]
	if err := outcome.Check(r.recipe, shuffle.Outcome{Values: r.values}); err != nil {
		return nil, fmt.Errorf("outcome %d: %w", r.next, err)
	}
	r.next++
	return r.values, nil
}
