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
	req := closeRequest(c.Outcome, c.Because)
	return change(ctx, &c.Flags, s, c.ID, (*client.Client).Close, req,
		func(_ *client.Committed, closed *client.Close) error { return sayClosed(s, c.ID, req, closed) })
}

// change loads a shuffle, has the daemon do something to it and shows what came of that.
func change[Q, T any](ctx context.Context, r *remote.Flags, s term.Streams, id uint64,
	do func(*client.Client, context.Context, *client.Committed, Q) (T, error), req Q,
	show func(*client.Committed, T) error) error {
	var shuffle *client.Committed
	return remote.Ask(ctx, r, s, func(d *client.Client) (done T, err error) {
		if shuffle, err = d.Load(ctx, id); err != nil {
			return done, err
		}
		return do(d, r.Tried(ctx), shuffle, req)
	}, func(done T) error { return show(shuffle, done) })
}

func closeRequest(outcome, reason string) client.CloseRequest {
	return client.CloseRequest{Outcome: client.Outcome(outcome), Reason: remote.Given(client.Reason(reason))}
}

// sayClosed says how the shuffle ended and who has the tape.
func sayClosed(s term.Streams, id uint64, asked client.CloseRequest, c *client.Close) error {
	how := string(asked.Outcome)
	if asked.Reason != nil {
		how += ": " + string(*asked.Reason)
	}
	s.Title("Shuffle %d: closed as %s, recorded and signed", id, how)
	if len(c.Tape) > 0 {
		fmt.Fprintf(s.Out, "The tape is public: %d bytes, which open the commitment.\n", len(c.Tape))
	} else {
		fmt.Fprintf(s.Out, "The tape is sealed to the auditors.\n")
	}
	_, err := fmt.Fprintf(s.Out, "All the evidence: shuffled show %d --transcript FILE\n", id)
	return err
}
