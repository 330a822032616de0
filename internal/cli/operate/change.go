package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/player"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// change loads a shuffle, asks the daemon to change it, and shows the answer.
func change[Q, T any](ctx context.Context, r *remote.Flags, s term.Streams, id *ShuffleArg,
	do func(*client.Client, context.Context, *client.Committed, Q) (T, error), req Q,
	show func(*client.Committed, T) error) error {
	var shuffle *client.Committed
	return remote.Ask(ctx, r, s, func(d *client.Client) (done T, err error) {
		if shuffle, err = id.load(ctx, d); err != nil {
			return done, err
		}
		return do(d, r.Tried(ctx), shuffle, req)
	}, func(done T) error { return show(shuffle, done) })
}

// CloseCmd is shuffled close.
type CloseCmd struct {
	remote.Flags
	ID      ShuffleArg `arg:"" help:"The shuffle: its id, @TABLE for the open shuffle of a table, or @TABLE:SERIAL."`
	Outcome string     `required:"" placeholder:"OUTCOME" enum:"completed,ended_early,void" help:"How the shuffle ends: completed, ended_early or void."`
	Because string     `name:"reason" placeholder:"REASON" help:"With --outcome void, the reason: misdeal, exposed_card, foul_deck, game_cancelled, operator_error, system_fault, player_dispute, mix_failed or regulator."`
	Reveal  []string   `sep:"none" placeholder:"PLACES" help:"Dealt places that become public together with the close, such as 0-1,4-5. May be repeated."`
}

func (CloseCmd) Help() string {
	return `A shuffle is closed once and for ever. Its tape is disclosed as its commit declared. With --again, the same command gives the same answer again.

Examples:

    shuffled close 2 --outcome completed
    shuffled close 2 --outcome completed --reveal 0-1,4-5  # a showdown
    shuffled close 2 --outcome void --reason misdeal`
}

func (c *CloseCmd) Run(ctx context.Context, s term.Streams) (err error) {
	req := closeRequest(c.Outcome, c.Because)
	if req.Reveal, err = parsePlaces(c.Reveal); err != nil {
		return err
	}
	return change(ctx, &c.Flags, s, &c.ID, (*client.Client).Close, req,
		func(shuffle *client.Committed, closed *client.Close) error {
			if err := sayClosed(s, c.ID.Number, req, closed); err != nil || closed.Reveal == nil {
				return err
			}
			return sayRevealed(s, shuffle, closed.Reveal)
		})
}

func closeRequest(outcome, reason string) client.CloseRequest {
	return client.CloseRequest{Outcome: client.Outcome(outcome), Reason: remote.Given(client.Reason(reason))}
}

// sayClosed says how the shuffle ended, and who has the tape.
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

// TakeoverCmd is shuffled takeover.
type TakeoverCmd struct {
	remote.Flags
	ID      ShuffleArg `arg:"" help:"The shuffle: its id, @TABLE for the open shuffle of a table, or @TABLE:SERIAL."`
	Because string     `name:"reason" required:"" placeholder:"TEXT" help:"The reason. It is written to the ledger for ever, and every file of the shuffle shows it."`
}

func (TakeoverCmd) Help() string {
	return `Only the owner of a shuffle mixes, deals and closes it: at first, the identity that committed to it. A takeover makes the identity of this token the owner, to close the shuffle and for nothing else. To deal on, it takes an act: shuffled act do takeover.

Example:

    shuffled takeover 41 --reason "the table service is gone, ticket 4712" --token-file other.token`
}

func (c *TakeoverCmd) Run(ctx context.Context, s term.Streams) error {
	req := client.TakeoverRequest{Reason: c.Because}
	return change(ctx, &c.Flags, s, &c.ID, (*client.Client).TakeOver, req,
		func(_ *client.Committed, taken *client.Takeover) error {
			s.Title("Shuffle %d: taken over from %s to close, recorded and signed", c.ID.Number,
				term.Visible(taken.From))
			return nil
		})
}

// MixCmd is shuffled mix.
type MixCmd struct {
	remote.Flags
	ID     ShuffleArg `arg:"" help:"The shuffle: its id, @TABLE for the open shuffle of a table, or @TABLE:SERIAL."`
	Slot   []string   `sep:"none" placeholder:"VALUE" help:"A player's value, or a file with what shuffled slot new printed. Repeat it for each slot of the plan, in the order of the plan."`
	Beacon string     `placeholder:"SIGNATURE" help:"The 48 bytes of the round's signature, in base64 or hexadecimal. Default: the daemon fetches it."`
	Cut    *int       `placeholder:"N" help:"How many places the player's cut takes off the top: 0 to the number of places less 1."`
}

func (MixCmd) Help() string {
	return `Reveals all values of the plan at once, before the first deal. If a value is missing, close the shuffle as void with the reason mix_failed. With --again, the same values give the same answer again.

Examples:

    shuffled mix 7 --slot anna.slot --slot bert.slot --cut 17
    shuffled mix 7                # a plan with only a beacon: the daemon fetches the round
    shuffled mix 7 --beacon b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39`
}

func (c *MixCmd) Run(ctx context.Context, s term.Streams) error {
	req, err := c.request(s)
	if err != nil {
		return err
	}
	return change(ctx, &c.Flags, s, &c.ID, (*client.Client).Mix, req, func(*client.Committed, *client.Mix) error {
		s.Title("Shuffle %d: the mix is recorded and signed", c.ID.Number)
		_, err := fmt.Fprintf(s.Out, "The order of the places follows from the commit and these values; anybody can compute it.\nDeal from it: shuffled deal %d --first 0 --run …\n", c.ID.Number)
		return err
	})
}

// request is the request that the flags ask for.
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

// ShuffleArg names a shuffle by its id or by its table.
type ShuffleArg struct {
	Number uint64 // the id; 0 for a table's shuffle until it is found
	table  string // "" for an id
	serial uint64 // 0 for the open shuffle of the table
}

// UnmarshalText reads an id, @TABLE or @TABLE:SERIAL.
func (a *ShuffleArg) UnmarshalText(text []byte) (err error) {
	wrong := fmt.Errorf("%q names no shuffle: give its id, as 41, or @TABLE for the open shuffle of a table, or @TABLE:SERIAL", text)
	at, named := strings.CutPrefix(string(text), "@")
	if !named {
		if a.Number, err = strconv.ParseUint(at, 10, 63); err != nil {
			return wrong
		}
		return nil
	}
	table, serial, numbered := strings.Cut(at, ":")
	if numbered {
		if a.serial, err = strconv.ParseUint(serial, 10, 63); err != nil || a.serial == 0 {
			return wrong
		}
	}
	if audit.CheckName(table) != nil {
		return wrong
	}
	a.table = table
	return nil
}

// load returns the shuffle. Its commit is proved.
func (a *ShuffleArg) load(ctx context.Context, d *client.Client) (*client.Committed, error) {
	if a.table == "" {
		return d.Load(ctx, a.Number)
	}
	s, err := d.LoadAt(ctx, a.table, a.serial)
	if err == nil {
		a.Number = s.ID
	}
	return s, err
}

// find finds the id of a table's shuffle.
func (a *ShuffleArg) find(ctx context.Context, d *client.Client) error {
	if a.table == "" {
		return nil
	}
	_, err := a.load(ctx, d)
	return err
}
