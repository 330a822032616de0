package operate

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// EventsCmd is shuffled events.
type EventsCmd struct {
	remote.Flags
	After *uint64 `placeholder:"INDEX" help:"Begin after the entry with this index. Default: begin with the next event."`
	Until *uint64 `placeholder:"INDEX" help:"End after the entry with this index. Default: do not end."`
}

func (EventsCmd) Help() string {
	return `Follows what happens in the ledger: commits, mixes, deals, closes, takeovers, switches, the latch, shuffles that close soon, and what the witnesses have cosigned. No event holds a card. A token for some tables gets the events of these tables only. With --json each line is an event. If the connection ends, the command connects again and goes on where it was.

Examples:

    shuffled events --token-file shuffled-data/dealer.token
    shuffled events --after 0 --json --token-file shuffled-data/auditor.token`
}

func (c *EventsCmd) Run(ctx context.Context, s term.Streams) error {
	d, err := c.Connect(ctx, s)
	if err != nil {
		return err
	}
	for e, err := range d.Events(ctx, c.After) {
		if ctx.Err() != nil {
			return nil // stopped by a signal
		}
		if err == nil {
			err = c.print(s.Out, e)
		}
		if err != nil {
			return c.Fail(s, err)
		}
		if c.Until != nil && e.Index != nil && *e.Index >= *c.Until {
			return nil
		}
	}
	return nil
}

func (c *EventsCmd) print(w io.Writer, e client.Event) error {
	if c.JSON {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", line)
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-12s", clock(e.Time), e.Type)
	say := func(format string, value any) { fmt.Fprintf(&b, "  "+format, value) }
	if e.Table != nil {
		say("%s", *e.Table)
	}
	if e.Shuffle != nil {
		say("shuffle %d", *e.Shuffle)
	}
	if e.First != nil && e.Count != nil {
		say("places %s", fmt.Sprintf("%d to %d", *e.First, *e.First+*e.Count-1))
	}
	for _, word := range []string{remote.Value((*string)(e.Outcome)), remote.Value((*string)(e.Reason)),
		remote.Value((*string)(e.Extent)), remote.Value((*string)(e.Scope)), remote.Value((*string)(e.Action)),
		remote.Value(e.Identity)} {
		if word != "" {
			say("%s", word)
		}
	}
	if e.CloseBy != nil {
		say("close by %s", clock(*e.CloseBy))
	}
	if e.Size != nil {
		say("entries below %d", *e.Size)
	}
	_, err := fmt.Fprintln(w, term.Visible(b.String()))
	return err
}
