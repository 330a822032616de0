package operate

import (
	"context"
	"fmt"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// TakeoverCmd is shuffled takeover.
type TakeoverCmd struct {
	remote.Flags
	ID      uint64 `arg:"" help:"The shuffle."`
	Extent  string `enum:"close,play" default:"close" help:"close: to end it. play: to deal on, for which a production ledger asks for two administrators (shuffled act propose takeover)."`
	Because string `name:"reason" required:"" placeholder:"TEXT" help:"Why. It is written to the ledger for ever, and every file of the shuffle shows it."`
}

func (TakeoverCmd) Help() string {
	return `Only the identity that committed to a shuffle mixes, deals and closes it. A takeover makes the identity of this token its owner.

Example:

    shuffled takeover 41 --reason "the table service is gone, ticket 4712" --token-file other.token`
}

func (c *TakeoverCmd) Run(ctx context.Context, s term.Streams) error {
	extent := client.Extent(c.Extent)
	req := client.TakeoverRequest{Reason: c.Because, Extent: &extent}
	return change(ctx, &c.Flags, s, c.ID, (*client.Client).TakeOver, req,
		func(_ *client.Committed, taken *client.Takeover) error {
			said := fmt.Sprintf("Shuffle %d: taken over from %s to %s, recorded and signed", c.ID,
				term.Visible(taken.From), c.Extent)
			_, err := fmt.Fprintln(s.Out, s.Sheet().P.Bold(said))
			return err
		})
}
