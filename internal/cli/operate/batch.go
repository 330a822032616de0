package operate

import (
	"context"
	"fmt"

	"shuffled/client"
	"shuffled/internal/term"
)

// batch commits to many shuffles under one key.
func (c *ShuffleCmd) batch(ctx context.Context, s term.Streams, d *client.Client, req client.ShuffleRequest) error {
	all, err := d.Commits(c.Tried(ctx), c.key(), req, *c.Count)
	if err != nil {
		c.unknown(s, err)
		return c.Fail(s, err)
	}
	if c.JSON {
		batch := committedBatch{Key: c.Idempotent}
		for _, made := range all {
			batch.Shuffles = append(batch.Shuffles, committed{made.Shuffle, made.Terms, ""})
		}
		return term.PrintJSON(s.Out, batch)
	}
	c.announceAll(s, all)
	return nil
}

// committedBatch is what --json prints of a batch.
type committedBatch struct {
	Shuffles []committed `json:"shuffles"`
	Key      string      `json:"idempotency_key"`
}

// announceAll says what was committed, and how it goes on.
func (c *ShuffleCmd) announceAll(s term.Streams, all []*client.Committed) {
	first, last := all[0], all[len(all)-1]
	line := func(label, format string, args ...any) {
		fmt.Fprintf(s.Out, "  %-10s  %s\n", label, term.Visible(fmt.Sprintf(format, args...)))
	}
	title := fmt.Sprintf("Shuffles %d to %d: numbers %d to %d of table %s, committed and signed", first.ID, last.ID,
		first.Serial, last.Serial, first.Table)
	fmt.Fprintf(s.Out, "%s\n\n", s.Sheet().P.Bold(title))
	line("places", "%d each", first.Places())
	for _, fact := range planFacts(first.Plan) {
		line(fact[0], "%s", fact[1])
	}
	line("close by", "%s", clock(first.CloseBy))
	line("key", "%s", c.Idempotent)
	fmt.Fprintln(s.Out)
	for _, made := range all {
		line(fmt.Sprint(made.ID), "commitment %s", made.Commitment)
	}
	if first.Plan != nil {
		fmt.Fprintf(s.Out, "\nNothing is dealt before its mix, and none before the one above it: %s\n",
			mixCommand(first.ID, first.Plan))
		return
	}
	fmt.Fprintf(s.Out, "\nDeal from them in this order: shuffled deal %d --first 0 --run 2:seat:seat-1\n", first.ID)
}
