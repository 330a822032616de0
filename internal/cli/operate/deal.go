package operate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// DealCmd is shuffled deal.
type DealCmd struct {
	remote.Flags
	ID      ShuffleArg   `arg:"" help:"The shuffle: its id, @TABLE for the open shuffle of a table, or @TABLE:SERIAL."`
	First   int          `required:"" placeholder:"PLACE" help:"The next place, counted from 0."`
	Runs    []string     `required:"" name:"run" sep:"none" placeholder:"RUN" help:"A run, as COUNT:PURPOSE[:RECIPIENT[:public]]. Purposes are seat, board, burn, discard, rabbit and order. May be repeated."`
	Round   uint16       `placeholder:"N" help:"The round that the runs are of, when one shuffle serves several: that of the run before, or the next."`
	State   *client.Hash `placeholder:"HASH" help:"For a blind shuffle: the hash of the game's history up to this request, in base64."`
	Close   string       `placeholder:"OUTCOME" enum:",completed,ended_early,void" default:"" help:"Close the shuffle with this deal: completed, ended_early or void."`
	Because string       `name:"reason" placeholder:"REASON" help:"With --close void: the reason, such as misdeal."`
}

func (DealCmd) Help() string {
	return `If the answer was lost, repeat the command with --again: the same places and runs give the same cards.

Examples:

    shuffled deal 2 --first 0 --run 2:seat:seat-1 --run 2:seat:seat-2
    shuffled deal 2 --first 4 --run 1:burn --run 3:board::public
    shuffled deal @table-1 --first 4 --run 1:burn --run 3:board::public  # the open shuffle of the table
    shuffled deal 2 --first 8 --run 1:board::public --close completed
    shuffled deal 4 --first 9 --run 2:seat:box-1 --run 1:board:dealer:public --round 2  # of a shoe
    shuffled deal 6 --first 0 --run 2:board::public       # two dice, thrown
    shuffled deal 9 --first 0 --run 416:order:game-server  # the whole order, to a back end that deals by itself`
}

func (c *DealCmd) Run(ctx context.Context, s term.Streams) error {
	req := client.DealRequest{First: c.First, State: c.State}
	for _, text := range c.Runs {
		run, err := parseRun(text)
		if err != nil {
			return err
		}
		run.Round = remote.Given(c.Round)
		req.Runs = append(req.Runs, run)
	}
	if c.Close != "" {
		req.Close = new(closeRequest(c.Close, c.Because))
	} else if c.Because != "" {
		return term.Usage("--reason needs --close")
	}
	return change(ctx, &c.Flags, s, &c.ID, (*client.Client).Deal, req,
		func(shuffle *client.Committed, dealt *client.Deal) error { return c.print(s, req, shuffle, dealt) })
}

// print shows what was dealt, and what can follow.
func (c *DealCmd) print(s term.Streams, req client.DealRequest, shuffle *client.Committed, dealt *client.Deal) error {
	places := fmt.Sprintf("places %d to %d", c.First, dealt.Next-1)
	if dealt.Next-1 == c.First {
		places = fmt.Sprintf("place %d", c.First)
	}
	what := "card"
	if dealt.Shows != nil {
		what = "value"
	}
	sheet := s.Sheet()
	s.Title("Shuffle %d: %s dealt, recorded and signed", c.ID.Number, places)
	fmt.Fprintln(s.Out, term.DrawHands(sheet.P, dealtHands(req.Runs, dealt, lookOf(shuffle)), sheet.W))
	sayLabels(s, dealt.Shows, dealt.Labels)
	if remote.Value(dealt.LastHand) {
		s.Title("The cut card has come out: this hand is the last.")
	}
	if dealt.Close != nil {
		return sayClosed(s, c.ID.Number, *req.Close, dealt.Close)
	}
	_, err := fmt.Fprintf(s.Out, "Every %s opens the deck root. The next place is %d of %d.\n", what, dealt.Next,
		shuffle.Places())
	return err
}

// saidLabels is how many labels go to the terminal. --json has all.
const saidLabels = 20

// sayLabels says what drawn values mean, by the wheel in the commitment.
func sayLabels(s term.Streams, shows []uint32, labels []string) {
	for i, label := range labels {
		if i == saidLabels {
			fmt.Fprintf(s.Out, "  and %d more: --json lists them\n", len(labels)-saidLabels)
			break
		}
		fmt.Fprintf(s.Out, "  %s: %s\n", term.Counted(uint64(shows[i])), term.Visible(label))
	}
}

// lookOf is how cards of the shuffle are drawn. It uses the hash of the deck for nothing else.
func lookOf(shuffle *client.Committed) term.Style {
	if shuffle.DeckHash == nil {
		return term.Plain
	}
	return term.StyleOfHash(*shuffle.DeckHash)
}

// faces draws opened cards or drawn values. For drawn values, shows has what each value shows after its mix.
func faces(cards []client.Card, shows []uint32, look term.Style) (all []term.Face) {
	for i, c := range cards {
		name := remote.Value(c.Card)
		if shows != nil {
			name = strconv.FormatUint(uint64(shows[i]), 10)
		}
		all = append(all, look.Face(name))
	}
	return all
}

// dealtHands gives the cards of each run to its recipient or purpose.
func dealtHands(runs []client.Run, dealt *client.Deal, look term.Style) (hands []term.Hand) {
	opened := faces(dealt.Cards, dealt.Shows, look) // as many as the runs open: the client has counted them
	for _, r := range runs {
		h := term.Hand{Label: string(r.Purpose)}
		if r.Recipient != nil {
			h.Label = term.Visible(*r.Recipient)
		}
		run := audit.Run{Purpose: audit.ParsePurpose(string(r.Purpose)), Public: remote.Value(r.Public)}
		if run.Aside() { // it opens nothing
			h.Cards = slices.Repeat([]term.Face{term.Back}, r.Count)
		} else {
			h.Cards, opened = opened[:r.Count], opened[r.Count:]
		}
		hands = append(hands, h)
	}
	return hands
}

// parseRun reads COUNT:PURPOSE[:RECIPIENT[:public]].
func parseRun(text string) (client.Run, error) {
	parts := strings.Split(text, ":")
	wrong := func() (client.Run, error) {
		return client.Run{},
			term.Usage("--run must be COUNT:PURPOSE[:RECIPIENT[:public]], as 2:seat:seat-1 or 3:board::public, not %q", text)
	}
	if len(parts) < 2 || len(parts) > 4 {
		return wrong()
	}
	count, err := strconv.Atoi(parts[0])
	if err != nil || count < 1 {
		return wrong()
	}
	if audit.ParsePurpose(parts[1]) == 0 {
		return client.Run{}, term.Usage("--run %s has the unknown purpose %q: a purpose is seat, board, burn, discard, rabbit or order",
			text, parts[1])
	}
	run := client.Run{Count: count, Purpose: client.Purpose(parts[1])}
	if run.Purpose == client.PurposeSeat && (len(parts) < 3 || parts[2] == "") {
		return client.Run{}, term.Usage("--run %s has no recipient, and a run with the purpose seat must name one: "+
			"name the seat, as %d:seat:seat-1", text, count)
	}
	if len(parts) > 2 && parts[2] != "" {
		if audit.CheckName(parts[2]) != nil {
			return wrong()
		}
		run.Recipient = &parts[2]
	}
	if len(parts) > 3 {
		if run.Public = new(true); parts[3] != "public" {
			return wrong()
		}
	}
	return run, nil
}

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
