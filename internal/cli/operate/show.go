package operate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// ShowCmd is shuffled show.
type ShowCmd struct {
	remote.Flags
	ID         ShuffleArg `arg:"" help:"The shuffle: its id, @TABLE for the open shuffle of a table, or @TABLE:SERIAL."`
	Transcript string     `placeholder:"FILE" help:"Write the transcript to FILE, byte for byte as the daemon serves it; - is standard output."`
	Recipient  string     `placeholder:"NAME" help:"With --transcript: the file of one recipient. It needs the token of a dealer."`
}

func (ShowCmd) Help() string {
	return `Examples:

    shuffled show 2
    shuffled show 2 --transcript hand.json
    shuffled show 2 --transcript seat-1.json --recipient seat-1 --token-file shuffled-data/dealer.token`
}

func (c *ShowCmd) Run(ctx context.Context, s term.Streams) error {
	if c.Recipient != "" && c.Transcript == "" {
		return term.Usage("--recipient needs --transcript")
	}
	if c.Transcript != "" {
		return c.write(ctx, s)
	}
	return remote.Ask(ctx, &c.Flags, s,
		func(d *client.Client) (*client.Status, error) {
			if err := c.ID.find(ctx, d); err != nil {
				return nil, err
			}
			return d.State(ctx, c.ID.Number)
		},
		func(state *client.Status) error { return c.print(s, state) })
}

// write saves the transcript. The client has proved it.
func (c *ShowCmd) write(ctx context.Context, s term.Streams) error {
	data, err := remote.Call(ctx, &c.Flags, s, func(d *client.Client) ([]byte, error) {
		if err := c.ID.find(ctx, d); err != nil {
			return nil, err
		}
		return d.Transcript(ctx, c.ID.Number, c.Recipient)
	})
	if err != nil {
		return err
	}
	if c.Transcript == "-" {
		_, err = s.Out.Write(data)
		return err
	}
	if err := os.WriteFile(c.Transcript, data, 0o644); err != nil {
		return fmt.Errorf("writing the transcript: %w", err)
	}
	return s.Answer(c.JSON, map[string]any{"file": c.Transcript, "bytes": len(data)},
		"%s: %d bytes, proved. Anyone can check it: shuffled verify %[1]s --key VKEY\n", term.Visible(c.Transcript), len(data))
}

// print shows what is known of the shuffle.
func (c *ShowCmd) print(s term.Streams, st *client.Status) error {
	kind := "sandbox"
	if st.Production {
		kind = "production"
	}
	s.Title("Shuffle %d: number %d of table %s, %s", st.ID, st.Serial, term.Visible(st.Table), st.State)
	s.Fact("ledger", "%s (%s)", c.Ledger, kind)
	if st.GameRef != nil {
		s.Fact("game", "%s", *st.GameRef)
	}
	if st.DeckHash != nil {
		s.Fact("deck", "%d of %d cards of %s", st.Places, st.Cards,
			cmp.Or(st.Deck, "no published deck: its hash is "+st.DeckHash.String()))
	}
	if n := st.Numbers; n != nil {
		s.Fact("numbers", "%d of 1-%d, none twice", n.Take, n.Of)
	}
	if len(st.Ranges) > 0 {
		s.Fact("draws", "%s", listRanges(st.Ranges))
	}
	if st.Parent != nil {
		s.Fact("cards of", "shuffle %d, shuffled again", *st.Parent)
	}
	if st.Previous != nil {
		s.Fact("previous", "shuffle %d of this table", *st.Previous)
	}
	sayPlan(s, st.Plan)
	if st.Plan != nil {
		mix := "not recorded yet: " + mixCommand(st.ID, st.Plan)
		switch {
		case remote.Value(st.Mixed):
			mix = "recorded"
		case st.State == client.ShuffleStateStateClosed:
			mix = "never recorded"
		}
		s.Fact("mix", "%s", mix)
	}
	s.Fact("places", "%d of %d dealt", st.Next, st.Places)
	if st.EndAt != nil {
		s.Fact("cut card", "%s", cutCard(st))
	}
	s.Fact("committed", "%s", clock(st.CommittedAt))
	overdue := ""
	if st.State == client.ShuffleStateStateOverdue {
		overdue = ": overdue, the daemon closes it as expired"
	}
	s.Fact("close by", "%s%s", clock(st.CloseBy), overdue)
	if st.ClosedAt != nil && st.Outcome != nil {
		how := string(*st.Outcome)
		if st.Reason != nil {
			how += ": " + string(*st.Reason)
		}
		s.Fact("closed", "%s, as %s", clock(*st.ClosedAt), how)
	}
	s.Fact("tape", "disclosed at the close: %s", st.Disclosure)
	s.Fact("commitment", "%s", st.Commitment)
	s.Fact("deck root", "%s", st.DeckRoot)
	unproved := "that nothing followed"
	if st.EndAt != nil && st.EndAt.Lo != st.EndAt.Hi {
		unproved += " and whether the cut card is out"
	}
	_, err := fmt.Fprintf(s.Out, "\nThis is proved, except %s. The evidence:\n  shuffled show %d --transcript FILE\n",
		unproved, st.ID)
	return err
}

// cutCard says where the cut card is, as far as that is told.
func cutCard(st *client.Status) string {
	where := fmt.Sprintf("at place %d", st.EndAt.Lo)
	if st.EndAt.Hi != st.EndAt.Lo {
		where = fmt.Sprintf("drawn from places %d to %d", st.EndAt.Lo, st.EndAt.Hi)
	}
	if remote.Value(st.LastHand) {
		return where + "; it has come out, this hand is the last"
	}
	return where
}

// maxListed is how many ranges go to the terminal.
const maxListed = 12

// listRanges lists the ranges of drawn values.
func listRanges(ranges []uint32) string {
	list := make([]string, 0, maxListed)
	for _, k := range ranges[:min(len(ranges), maxListed)] {
		list = append(list, fmt.Sprintf("1-%d", k))
	}
	text := strings.Join(list, ", ")
	if more := len(ranges) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
