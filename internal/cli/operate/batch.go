package operate

import (
	"context"
	"fmt"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// committedBatch is what --json prints of a batch.
type committedBatch struct {
	Shuffles []committed `json:"shuffles"`
	Key      string      `json:"idempotency_key"`
}

// batch commits to many shuffles under one key.
func (c *ShuffleCmd) batch(ctx context.Context, s term.Streams, req client.ShuffleRequest) error {
	var all []*client.Committed
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) (batch committedBatch, err error) {
		if all, err = d.Commits(c.Tried(ctx), c.key(), req, *c.Count); err != nil {
			c.unknown(s, err)
		}
		for _, made := range all {
			batch.Shuffles = append(batch.Shuffles, committed{made.Shuffle, made.Terms, ""})
		}
		batch.Key = c.Idempotent
		return batch, err
	}, func(committedBatch) error {
		c.announceAll(s, all)
		return nil
	})
}

// announceAll says what was committed, and how it goes on.
func (c *ShuffleCmd) announceAll(s term.Streams, all []*client.Committed) {
	first, last := all[0], all[len(all)-1]
	s.Title("Shuffles %d to %d: numbers %d to %d of table %s, committed and signed", first.ID, last.ID,
		first.Serial, last.Serial, first.Table)
	c.facts(s, first, "%d each")
	fmt.Fprintln(s.Out)
	for _, made := range all {
		s.Fact(fmt.Sprint(made.ID), "commitment %s", made.Commitment)
	}
	if first.Plan != nil {
		fmt.Fprintf(s.Out, "\nNothing is dealt before its mix, and none before the one above it: %s\n",
			mixCommand(first.ID, first.Plan))
		return
	}
	fmt.Fprintf(s.Out, "\nDeal from them in this order: shuffled deal %d --first 0 --run 2:seat:seat-1\n", first.ID)
}
