package labreport

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
	"shuffled/lab/battery"
)

// A Subject is a kind of outcome that is judged.
type Subject struct {
	Name   string
	Cards  []string // names of the columns of the battery's Positions; none for draws
	Recipe shuffle.Recipe
	Shape  battery.Shape
}

// OfDeck is the subject of shuffles of a deck. A shoe is recognised by its published name; any other deck
// is judged card by card, with any card names.
func OfDeck(d shuffle.Deck) Subject {
	s := Subject{
		Name: d.Name(), Cards: d.Cards(),
		Recipe: shuffle.Recipe{Cards: d.Len(), Take: d.Len()},
		Shape:  battery.Shape{Cards: d.Len(), Decks: 1},
	}
	var decks int
	if n, _ := fmt.Sscanf(d.Name(), "shoe-%d", &decks); n == 1 && decks > 1 {
		s.Shape.Decks, s.Cards = decks, s.Cards[:d.Len()/decks]
	}
	if s.Name == "" {
		s.Name = fmt.Sprintf("a deck of %d cards", d.Len())
	}
	return s
}

// OfDraws is the subject of outcomes with this many values of 1 to k, k at least 1.
func OfDraws(k uint32, values int) Subject {
	s := Subject{Name: "draws", Shape: battery.Shape{K: k, Values: values}}
	for range values {
		s.Recipe.Ranges = append(s.Recipe.Ranges, k)
	}
	return s
}

// Sample counts a first sample, and a second one if the rule requires it. fill adds the outcomes of the sample; without
// a second one (ErrNoSecond) the verdict is Repeat. A sample on which no test of chance is possible is not judged
// (ErrTooSmall).
func (s Subject) Sample(fill func(b *battery.Battery, second bool) error) (*Sample, error) {
	began := time.Now()
	first, err := battery.New(s.Shape)
	if err != nil {
		return nil, err
	}
	if err := fill(first, false); err != nil {
		return nil, err
	}
	out := &Sample{Name: s.Name, Cards: s.Cards, First: first.Report()}
	if !out.First.Tested() {
		return nil, ErrTooSmall
	}
	out.Verdict = first.Judge(out.First, nil)
	if out.Verdict.Decision == battery.Repeat {
		again, err := battery.New(s.Shape)
		if err != nil {
			return nil, err
		}
		switch err := fill(again, true); {
		case err == nil:
			out.Second = again.Report()
			out.Verdict = first.Judge(out.First, out.Second)
		case err != ErrNoSecond:
			return nil, err
		}
	}
	out.Seconds = math.Round(time.Since(began).Seconds()*1000) / 1000
	return out, nil
}

// ErrNoSecond is the error of a fill that has no second sample.
var ErrNoSecond = errors.New("there is no second sample")

// ErrTooSmall is the error of a sample with too few outcomes for any test.
var ErrTooSmall = errors.New("sample too small: nothing could be tested")

// Generate makes count outcomes, with the function that deals, and adds them.
func (s Subject) Generate(ctx context.Context, src *entropy.Source, workers int, count uint64, b *battery.Battery,
	progress func(done uint64)) error {
	return Feed(ctx, workers, count, func(int) (lab.Maker, error) { return lab.NewMaker(src, s.Recipe), nil }, b,
		progress)
}

// Feed adds count outcomes of makers, one for each worker.
func Feed(ctx context.Context, workers int, count uint64, maker func(worker int) (lab.Maker, error), b *battery.Battery,
	progress func(done uint64)) error {
	counters := make([]*battery.Worker, workers)
	for i := range counters {
		counters[i] = b.Worker()
	}
	return lab.Run(ctx, workers, count, maker, func(worker int, values []uint32) error {
		counters[worker].Add(values)
		return nil
	}, progress)
}
