package operate

import (
	"context"
	"fmt"

	"shuffled/client"
	"shuffled/internal/cli/player"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// MixCmd is shuffled mix.
type MixCmd struct {
	remote.Flags
	ID     uint64   `arg:"" help:"The shuffle."`
	Slot   []string `sep:"none" placeholder:"VALUE" help:"A player's value, or a file with what shuffled slot new printed. One for each slot of the plan, in its order."`
	Beacon string   `placeholder:"SIGNATURE" help:"The 48 bytes of the round's signature, in base64 or hexadecimal. Default: the daemon fetches it."`
	Cut    *int     `placeholder:"N" help:"Places that the player's cut takes off the top, 0 to places-1."`
}

func (MixCmd) Help() string {
	return `All values of the plan are revealed at once, before the first deal, or the shuffle is closed as void with the reason mix_failed. The same values give the same answer again.

Examples:

    shuffled mix 7 --slot anna.slot --slot bert.slot --cut 17
    shuffled mix 7                # a plan of a beacon alone, whose round the daemon fetches
    shuffled mix 7 --beacon b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39`
}

func (c *MixCmd) Run(ctx context.Context, s term.Streams) error {
	req, err := c.request(s)
	if err != nil {
		return err
	}
	return change(ctx, &c.Flags, s, c.ID, (*client.Client).Mix, req, func(*client.Committed, *client.Mix) error {
		s.Title("Shuffle %d: the mix is recorded and signed", c.ID)
		_, err := fmt.Fprintf(s.Out, "The order of the places follows from the commit and these values; anybody can compute it.\nDeal from it: shuffled deal %d --first 0 --run …\n", c.ID)
		return err
	})
}

// request is what the flags reveal.
func (c *MixCmd) request(s term.Streams) (client.MixRequest, error) {
	req := client.MixRequest{Cut: c.Cut}
	for _, arg := range c.Slot {
		value, err := slotValue(arg, s)
		if err != nil {
			return req, err
		}
		req.Slots = append(req.Slots, value)
	}
	if c.Beacon != "" {
		signature, err := player.ParseBytes(c.Beacon, 48)
		if err != nil {
			return req, term.Usage("--beacon: a round's signature %s", err)
		}
		req.Beacon = signature
	}
	return req, nil
}
