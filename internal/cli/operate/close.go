package operate

import (
	"context"
	"fmt"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// CloseCmd is shuffled close.
type CloseCmd struct {
	remote.Flags
	ID      uint64 `arg:"" help:"The shuffle."`
	Outcome string `required:"" placeholder:"OUTCOME" enum:"completed,ended_early,void" help:"How it ends: completed, ended_early or void."`
	Because string `name:"reason" placeholder:"REASON" help:"Why it is void: misdeal, exposed_card, foul_deck, game_cancelled, operator_error, system_fault, player_dispute, mix_failed or regulator."`
}

func (CloseCmd) Help() string {
	return `A shuffle is closed once and for ever, and its tape is disclosed as its commit declared. The same command gives the same answer again.

Examples:

    shuffled close 2 --outcome completed
    shuffled close 2 --outcome void --reason misdeal`
}

func (c *CloseCmd) Run(ctx context.Context, s term.Streams) error {
	d, err := c.Connect(ctx, s)
	if err != nil {
		return err
	}
	shuffle, err := d.Load(ctx, c.ID)
	if err != nil {
		return c.Fail(s, err)
	}
	closed, err := d.Close(c.Tried(ctx), shuffle, *closeRequest(c.Outcome, c.Because))
	if err != nil {
		return c.Fail(s, err)
	}
	if c.JSON {
		return term.PrintJSON(s.Out, closed)
	}
	sayClosed(s, c.ID, closeRequest(c.Outcome, c.Because), closed)
	return nil
}

func closeRequest(outcome, reason string) *client.CloseRequest {
	req := &client.CloseRequest{Outcome: client.Outcome(outcome)}
	if reason != "" {
		r := client.Reason(reason)
		req.Reason = &r
	}
	return req
}

// sayClosed says how the shuffle ended and who has the tape.
func sayClosed(s term.Streams, id uint64, asked *client.CloseRequest, c *client.Close) {
	how := string(asked.Outcome)
	if asked.Reason != nil {
		how += ": " + string(*asked.Reason)
	}
	fmt.Fprintf(s.Out, "%s\n\n", s.Sheet().P.Bold(fmt.Sprintf("Shuffle %d: closed as %s, recorded and signed", id,
		how)))
	if len(c.Tape) > 0 {
		fmt.Fprintf(s.Out, "The tape is public: %d bytes, which open the commitment.\n", len(c.Tape))
	} else {
		fmt.Fprintf(s.Out, "The tape is sealed to the auditors.\n")
	}
	fmt.Fprintf(s.Out, "All the evidence: shuffled show %d --transcript FILE\n", id)
}
