package load

import (
	"context"
	"fmt"
	"time"

	"shuffled/client"
)

// street is one deal of a hand: a number of cards, in the runs that a worker writes.
type street struct {
	cards int
	runs  func(*worker)
}

// streets are the deals of a hand, in order.
var streets = []street{
	{2 * seats, func(w *worker) { w.seats(seats) }},
	{4, func(w *worker) { w.street(3) }},
	{2, func(w *worker) { w.street(1) }},
	{2, func(w *worker) { w.street(1) }},
}

// operations returns the number of operations that a commit, or a whole hand, has in a batch.
func operations(kind Kind) int {
	if kind == Hand {
		return 1 + len(streets) + 1
	}
	return 1
}

// batch requests as many commits, or whole hands, in one request as the config says.
func (w *worker) batch(ctx context.Context, kind Kind, due time.Time) error {
	w.path = append(w.path[:0], "/batch"...)
	w.body = append(w.body[:0], `{"operations":[`...)
	keys := make([]string, w.cfg.Batch)
	for i := range keys {
		keys[i] = client.NewKey()
		if i > 0 {
			w.body = append(w.body, ',')
		}
		w.body = fmt.Appendf(w.body, `{"op":"shuffle","key":"%s","body":{"table":"%s","deck":"%s"}}`, keys[i],
			w.table, w.cfg.Deck)
		if kind == Hand {
			w.rest(i * operations(Hand))
		}
	}
	w.body = append(w.body, "]}"...)
	answer, at, err := w.ask(ctx, kind, "", due)
	if answer == nil {
		return err
	}
	w.kept.add(claim{kind: kind, keys: keys, table: w.table, answer: answer})
	if w.measured(at) {
		w.shuffles.Add(uint64(len(keys)))
	}
	return nil
}

// rest writes the operations of a hand after its commit, which is operation of.
func (w *worker) rest(of int) {
	first := 0
	for _, s := range streets {
		w.body = fmt.Appendf(w.body, `,{"op":"deal","shuffle":{"op":%d},"body":{"first":%d,"runs":[`, of, first)
		s.runs(w)
		w.body = append(w.body, "]}}"...)
		first += s.cards
	}
	w.body = fmt.Appendf(w.body, `,{"op":"close","shuffle":{"op":%d},"body":{"outcome":"completed"}}`, of)
}

// batch verifies every answer of a batch against its evidence.
func (c *checker) batch(k *claim, a *answer) error {
	per := operations(k.kind)
	if len(a.Results) != per*len(k.keys) {
		return fmt.Errorf("%d operations were asked for, and %d are in the answer", per*len(k.keys), len(a.Results))
	}
	for i, key := range k.keys {
		all := a.Results[i*per : (i+1)*per]
		for j, r := range all {
			if r.Status != 200 {
				return fmt.Errorf("operation %d has the status %d", i*per+j, r.Status)
			}
		}
		if err := c.made(&claim{kind: Commit, key: key, table: k.table}, &all[0].Body); err != nil {
			return err
		}
		if k.kind != Hand {
			continue
		}
		one := claim{kind: Deal, shuffle: all[0].Body.ID}
		for j, s := range streets {
			one.count = s.cards
			if err := c.played(&one, &all[1+j].Body); err != nil {
				return err
			}
			one.first += s.cards
		}
		if err := c.played(&claim{kind: Close, shuffle: one.shuffle}, &all[per-1].Body); err != nil {
			return err
		}
	}
	return nil
}
