package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// RevealCmd is shuffled reveal.
type RevealCmd struct {
	remote.Flags
	ID      ShuffleArg `arg:"" help:"The shuffle: its id, @TABLE for the open shuffle of a table, or @TABLE:SERIAL."`
	Places  []string   `arg:"" name:"place" help:"Dealt places that become public, counted from 0: 4, or 4-7."`
	Exposed bool       `help:"The cards were seen by mistake. Burns and discards may be among them, and audits count such reveals."`
}

func (RevealCmd) Help() string {
	return `A revealed card is public for ever, as at a showdown. If the tape goes to auditors, all other cards stay hidden. With --again, the same places give the same answer again.

Examples:

    shuffled reveal 2 0-1 4-5
    shuffled reveal @table-1 3 --exposed
    shuffled close 2 --outcome completed --reveal 0-1,4-5  # together with the close`
}

func (c *RevealCmd) Run(ctx context.Context, s term.Streams) error {
	places, err := parsePlaces(c.Places)
	if err != nil {
		return err
	}
	req := client.RevealRequest{Places: places, Exposed: remote.Given(c.Exposed)}
	return change(ctx, &c.Flags, s, &c.ID, (*client.Client).Reveal, req,
		func(shuffle *client.Committed, shown *client.Reveal) error {
			s.Title("Shuffle %d: %d places revealed, recorded and signed", c.ID.Number, len(shown.Places))
			return sayRevealed(s, shuffle, shown)
		})
}

// sayRevealed draws what was revealed.
func sayRevealed(s term.Streams, shuffle *client.Committed, shown *client.Reveal) error {
	h := term.Hand{Label: "revealed", Cards: faces(shown.Cards, shown.Shows, lookOf(shuffle))}
	sheet := s.Sheet()
	_, err := fmt.Fprintln(s.Out, term.DrawHands(sheet.P, []term.Hand{h}, sheet.W))
	sayLabels(s, shown.Shows, shown.Labels)
	return err
}

// parsePlaces reads places from 0 to 4095 and ranges of them, as 4, 4-7 or 0-1,4-5.
func parsePlaces(texts []string) (places []int, err error) {
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			from, to, isRange := strings.Cut(part, "-")
			first, err := strconv.ParseUint(from, 10, 12)
			last := first
			if err == nil && isRange {
				last, err = strconv.ParseUint(to, 10, 12)
			}
			if err != nil || last < first {
				return nil, term.Usage("%q is no place: give places from 0 to 4095 as 4, 4-7 or 0-1,4-5", part)
			}
			for p := first; p <= last; p++ {
				places = append(places, int(p))
			}
		}
	}
	return places, nil
}
