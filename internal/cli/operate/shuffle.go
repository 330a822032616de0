// Package operate has the commands of those who run games on a daemon. They ask it over HTTP, as a game's back
// end does, and print what the client proved.
package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"shuffled/client"
	"shuffled/internal/cli/player"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// ShuffleCmd is shuffled shuffle.
type ShuffleCmd struct {
	remote.Flags
	commitFlags
	Deck      string `placeholder:"DECK" xor:"deck" help:"A published deck: standard-52, standard-54, short-36, pinochle-48, spanish-40, shoe-1 to shoe-16."`
	Parent    uint64 `placeholder:"ID" xor:"deck" help:"Shuffle cards of this open shuffle again: those that were not dealt, or those of --positions. The open shuffle ends as continued."`
	Positions string `placeholder:"LIST" help:"With --parent: the positions in its committed order whose cards are shuffled, such as 0,5,9-51. Dealt cards that were returned may be among them."`
	Take      int    `placeholder:"N" help:"Commit only to the first N cards of the order. Default: all."`
	EndAt     string `placeholder:"PLACE" help:"Place of the cut card, or LO-HI to draw the place from these."`
	Cut       bool   `help:"Plan a player's cut."`
}

func (ShuffleCmd) Help() string {
	return `Examples:

    shuffled shuffle --table poker-7 --deck standard-52 --token-file shuffled-data/dealer.token --key shuffled-data/main.vkey
    shuffled shuffle --table bac-1 --deck shoe-8 --end-at 380-400 --close-by 2h
    shuffled shuffle --table poker-8 --deck standard-52 --slot HASH --slot HASH --cut
    shuffled shuffle --table poker-8 --deck standard-52 --beacon
    shuffled shuffle --table poker-8 --deck standard-52 --co-dealer --cut
    shuffled shuffle --table bac-1 --parent 41`
}

func (c *ShuffleCmd) Run(ctx context.Context, s term.Streams) error {
	req, err := c.request(time.Now())
	if err != nil {
		return err
	}
	return c.commit(ctx, &c.Flags, s, func(ctx context.Context, d *client.Client) (*client.Committed, error) {
		return d.Commit(ctx, c.key(), req)
	}, "Shuffle", "--run 2:seat:seat-1")
}

// request is the request that the flags ask for.
func (c *ShuffleCmd) request(now time.Time) (req client.ShuffleRequest, err error) {
	req = client.ShuffleRequest{Table: c.Table, Deck: remote.Given(c.Deck), GameRef: remote.Given(c.GameRef),
		Disclosure: remote.Given(client.Disclosure(c.Disclosure)), Take: remote.Given(c.Take)}
	switch {
	case c.Parent != 0:
		req.Parent = &client.Parent{ID: c.Parent}
		if c.Positions != "" {
			if req.Parent.Positions, err = parsePlaces([]string{c.Positions}); err != nil {
				return req, term.Usage("--positions: %s", err)
			}
		}
	case c.Deck == "":
		return req, term.Usage("--deck or --parent must say which cards are shuffled")
	case c.Positions != "":
		return req, term.Usage("--positions needs --parent")
	}
	if c.EndAt != "" {
		at, err := parseEndAt(c.EndAt)
		if err != nil {
			return req, err
		}
		req.EndAt = &at
	}
	req.Mix, req.Terms, req.CloseBy, err = c.read(c.Cut, now)
	return req, err
}

// parseEndAt reads "380" or "380-400".
func parseEndAt(text string) (client.EndAt, error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	lo, err := strconv.Atoi(first)
	hi, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || lo < 1 || hi < lo {
		return client.EndAt{}, term.Usage("--end-at must be a place from 1, or LO-HI, not %q", text)
	}
	return client.EndAt{Lo: lo, Hi: hi}, nil
}

// parseCloseBy reads a time as RFC 3339, or a duration from now, to the second.
func parseCloseBy(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, term.Usage("--close-by must be a time such as 2026-03-14T15:00:00Z or 45m, not %q", text)
	}
	return at.UTC().Truncate(time.Second), nil
}

// clock writes a time that the daemon told.
func clock(t client.Timestamp) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// commitFlags are the flags of all commits, to cards and to draws.
type commitFlags struct {
	Table      string    `required:"" placeholder:"NAME" help:"The table. Its shuffles and draws are numbered 1, 2, 3 without gaps."`
	Slot       []string  `sep:"none" placeholder:"HASH" help:"A player's slot hash, as shuffled slot new prints it. Repeat it for each player: the order counts."`
	Beacon     roundFlag `help:"Plan a round of drand's quicknet: --beacon=ROUND, or --beacon for a round some seconds from now."`
	CoDealer   bool      `help:"Deal it blind: the co-dealer that the ledger names gives the order of the places."`
	CloseBy    string    `placeholder:"TIME" help:"When the daemon closes it as expired: 2026-03-14T15:00:00Z, or a time from now, such as 45m. Default: the ledger's."`
	GameRef    string    `placeholder:"NAME" help:"Your name for the game. No personal data."`
	Disclosure string    `placeholder:"WHO" enum:",public,auditor" default:"" help:"Who gets the tape at the close: public or auditor. Default: the ledger's."`
	Terms      string    `placeholder:"KIND:HASH" help:"What the values mean: wheel:HASH or pay_table:HASH, as shuffled terms put prints it, or ticket_list:ROOT:COUNT."`
	Idempotent string    `name:"idempotency-key" placeholder:"KEY" help:"The same key and request give the same answer. Default: a new UUIDv7."`
	Quiet      bool      `short:"q" help:"Print only the id, for a script."`
}

// roundFlag is a flag that may have a round as its value.
type roundFlag struct {
	asked bool
	round uint64 // 0 if the daemon chooses
}

// IsBool lets the flag have no value.
func (*roundFlag) IsBool() bool { return true }

// Decode reads a round, from 1 on, if there is a value.
func (f *roundFlag) Decode(ctx *kong.DecodeContext) error {
	f.asked = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	text := fmt.Sprint(ctx.Scan.Pop().Value)
	round, err := strconv.ParseUint(text, 10, 53)
	if err != nil || round == 0 {
		return fmt.Errorf("a round must be a number from 1, not %q", text)
	}
	f.round = round
	return nil
}

// key returns the idempotency key. It makes one if none is given.
func (t *commitFlags) key() string {
	t.Idempotent = cmp.Or(t.Idempotent, client.NewKey())
	return t.Idempotent
}

// plan returns the mix plan, nil for none.
func (t *commitFlags) plan(cut bool) (*client.MixPlan, error) {
	if len(t.Slot) == 0 && !t.Beacon.asked && !cut && !t.CoDealer {
		return nil, nil
	}
	p := &client.MixPlan{CoDealer: remote.Given(client.MixPlanCoDealer(t.CoDealer)),
		Cut: remote.Given(client.MixPlanCut(cut))}
	for _, text := range t.Slot {
		hash, err := player.ParseBytes(text, 32)
		if err != nil {
			return nil, term.Usage("--slot: a slot hash %s", err)
		}
		p.Slots = append(p.Slots, client.Hash(hash))
	}
	if t.Beacon.asked {
		p.Beacon = &client.BeaconPlan{Round: remote.Given(t.Beacon.round)}
	}
	return p, nil
}

// read reads the plan, the terms and the close-by, each nil if no flag gives it.
func (t *commitFlags) read(cut bool, now time.Time) (p *client.MixPlan, of *client.BoundTerms, by *client.Timestamp,
	err error) {
	if p, err = t.plan(cut); err == nil {
		of, err = t.bound()
	}
	if err == nil && t.CloseBy != "" {
		by = new(client.Timestamp)
		by.Time, err = parseCloseBy(t.CloseBy, now)
	}
	return p, of, by, err
}

// committed is what --json prints of a commit.
type committed struct {
	client.Shuffle
	client.Terms
	Key string `json:"idempotency_key,omitempty"`
}

// commit asks the daemon to commit to one shuffle, and shows the answer.
func (t *commitFlags) commit(ctx context.Context, r *remote.Flags, s term.Streams,
	call func(context.Context, *client.Client) (*client.Committed, error), what, runs string) error {
	var made *client.Committed
	return remote.Ask(ctx, r, s, func(d *client.Client) (_ committed, err error) {
		if made, err = call(r.Tried(ctx), d); client.Unknown(err) {
			fmt.Fprintf(s.Err, "shuffled: it is not known whether the request was done: repeat the command with --again --idempotency-key %s\n",
				term.Visible(t.Idempotent))
		}
		if err != nil {
			return committed{}, err
		}
		return committed{made.Shuffle, made.Terms, t.Idempotent}, nil
	}, func(committed) error {
		if t.Quiet {
			_, err := fmt.Fprintln(s.Out, made.ID)
			return err
		}
		t.announce(s, made, what, runs)
		return nil
	})
}

// announce says what was committed, and what can follow.
func (t *commitFlags) announce(s term.Streams, made *client.Committed, what, runs string) {
	s.Title("%s %d: number %d of table %s, committed and signed", what, made.ID, made.Serial, made.Table)
	s.Fact("commitment", "%s", made.Commitment)
	s.Fact("deck root", "%s", made.DeckRoot)
	s.Fact("places", "%d", made.Places())
	sayPlan(s, made.Plan)
	s.Fact("close by", "%s", clock(made.CloseBy))
	s.Fact("key", "%s", t.Idempotent)
	if p := made.Plan; p != nil && (len(p.Slots) > 0 || p.Beacon != nil || p.Cut) {
		fmt.Fprintf(s.Out, "\nNothing is dealt before the mix. Players reveal once they hold this commit's receipt:\n  %s\n", mixCommand(made.ID, p))
		return
	}
	fmt.Fprintf(s.Out, "\nDeal from it: shuffled deal %d --first 0 %s\n", made.ID, runs)
}

// sayPlan lists the sources of a plan.
func sayPlan(s term.Streams, p *client.Plan) {
	if p == nil {
		return
	}
	if of := p.CoDealer; of != nil {
		s.Fact("co-dealer", "by its order %d", of.Index)
	}
	for i, hash := range p.Slots {
		s.Fact(fmt.Sprintf("slot %d", i+1), "%s", hash)
	}
	if b := p.Beacon; b != nil {
		s.Fact("beacon", "round %d of drand's quicknet, out at %s", b.Round, clock(b.Time))
	}
	if p.Cut {
		s.Fact("cut", "by a player")
	}
}

// mixCommand is the command that reveals the values of a plan.
func mixCommand(id uint64, p *client.Plan) string {
	line := fmt.Sprintf("shuffled mix %d", id) + strings.Repeat(" --slot VALUE", len(p.Slots))
	if p.Cut {
		line += " --cut N"
	}
	return line
}

// slotValue reads a slot's value, or the file of this name that has one.
func slotValue(arg string, s term.Streams) (client.Hash, error) {
	if value, err := player.ParseBytes(arg, 32); err == nil {
		return client.Hash(value), nil
	}
	value, err := player.ReadSlot(arg, s.In)
	if errors.Is(err, os.ErrNotExist) {
		return client.Hash{}, term.Usage("--slot must be a slot's value, which is 32 bytes in base64 or hexadecimal, or a file with such a value")
	}
	return client.Hash(value), err
}
