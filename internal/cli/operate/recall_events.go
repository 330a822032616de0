package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// RecallCmd is shuffled recall.
type RecallCmd struct {
	remote.Flags
	Table   string `placeholder:"NAME" help:"Shuffles of this table."`
	From    string `placeholder:"TIME" help:"Shuffles committed at this time or later: 2026-11-22, or 2026-11-22T18:30:00Z."`
	To      string `placeholder:"TIME" help:"Shuffles committed before this time."`
	GameRef string `placeholder:"NAME" help:"Shuffles with this game reference."`
	Owner   string `placeholder:"NAME" help:"Shuffles that this identity committed."`
	Deck    string `placeholder:"DECK" help:"Shuffles of this published deck."`
	Outcome string `enum:",completed,ended_early,continued,void,expired" default:"" placeholder:"OUTCOME" help:"Shuffles that ended so."`
	Reason  string `placeholder:"REASON" help:"Shuffles that are void for this reason."`
	State   string `enum:",open,closed" default:"" placeholder:"STATE" help:"Shuffles in this state: open or closed."`
	Limit   int    `default:"1000" help:"List at most this many shuffles; 0 means all."`
	Prove   bool   `help:"With --table: go back from the newest shuffle of the list to --from, or to serial 1, and prove each commit by its receipt."`
}

func (RecallCmd) Help() string {
	return `Examples:

    shuffled recall --table table-1 --from 2026-11-22 --token-file shuffled-data/auditor.token
    shuffled recall --game-ref game-4711 --json
    shuffled recall --state open --limit 0
    shuffled recall --owner table-service --outcome void --from 2026-11-28
    shuffled recall --table table-1 --limit 0 --prove --key main.vkey

A dealer finds the shuffles of the tables of its token. Auditors and regulators find all. The list is an
index and proves nothing: "shuffled show ID" proves a shuffle, and --prove the sequence of the commits of a
table. Each commit names the one before it, so that none can be left out. If one is not proved, is of another
table, or has a serial that is not one less, the exit code is 1.`
}

// recallPage is how many shuffles one request asks for.
const recallPage = 500

func (c *RecallCmd) Run(ctx context.Context, s term.Streams) error {
	params, err := c.params()
	if err != nil {
		return err
	}
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) (r recalled, err error) {
		r.Shuffles = []client.ShuffleSummary{}
		for one, err := range d.Shuffles(ctx, params) {
			if err != nil {
				return r, err
			}
			if r.More = c.Limit > 0 && len(r.Shuffles) == c.Limit; r.More {
				break
			}
			r.Shuffles = append(r.Shuffles, one)
		}
		if c.Prove && len(r.Shuffles) > 0 {
			r.Proof, err = prove(ctx, d, r.Shuffles, params.From)
		}
		return r, err
	}, func(r recalled) error { return r.print(s) })
}

// recalled is what `recall --json` prints.
type recalled struct {
	Shuffles []client.ShuffleSummary `json:"shuffles"`
	More     bool                    `json:"more"` // more fit than --limit lists
	Proof    *proof                  `json:"proof,omitzero"`
}

func (r recalled) print(s term.Streams) error {
	n := len(r.Shuffles)
	if n > 0 {
		rows := [][]string{{"ID", "SERIAL", "TABLE", "OWNER", "DECK", "GAME", "COMMITTED", "STATE"}}
		for _, one := range r.Shuffles {
			rows = append(rows, recallRow(one))
		}
		io.WriteString(s.Out, term.Aligned("", rows, 2, 3, 4, 5, 6, 7))
	}
	switch {
	case n == 0:
		fmt.Fprintln(s.Out, "no shuffle fits")
	case r.More:
		fmt.Fprintf(s.Out, "\n%s, and there are more: --limit 0 lists all\n", term.Plural(uint64(n), "shuffle"))
	default:
		fmt.Fprintf(s.Out, "\n%s\n", term.Plural(uint64(n), "shuffle"))
	}
	if r.Proof != nil {
		r.Proof.print(s, r.Shuffles[n-1].ID)
	}
	return nil
}

// proof is what `recall --prove` has proved of a table.
type proof struct {
	Newest   uint64   `json:"newest"` // serial of the commit with which it began
	Oldest   uint64   `json:"oldest"`
	Unlisted []uint64 `json:"unlisted"` // ids of commits between the two that are not in the list
}

// prove goes back from the newest shuffle of a list to a time, or to serial 1, and holds the list against the commits.
func prove(ctx context.Context, d *client.Client, list []client.ShuffleSummary, from *client.Timestamp) (*proof,
	error) {
	listed := make(map[uint64]client.ShuffleSummary, len(list))
	for _, s := range list {
		listed[s.ID] = s
	}
	p := proof{Newest: list[len(list)-1].Serial, Unlisted: []uint64{}}
	for past, err := range d.History(ctx, list[len(list)-1].ID) {
		if err != nil {
			return nil, err
		}
		if from != nil && past.CommittedAt.Before(from.Time) {
			break
		}
		p.Oldest = past.Serial
		s, is := listed[past.ID]
		if delete(listed, past.ID); !is {
			p.Unlisted = append(p.Unlisted, past.ID)
		} else if err := past.Prove(s); err != nil {
			return nil, err
		}
	}
	for id := range listed {
		return nil, &client.Fault{What: fmt.Sprintf("shuffle %d of the list is no commit of its table", id)}
	}
	return &p, nil
}

func (p *proof) print(s term.Streams, newest uint64) {
	fmt.Fprintf(s.Out, "%s %s from serial %d back to serial %d, each by its receipt, and each naming the commit before it\n",
		s.Sheet().P.Good("proved:"), term.Plural(p.Newest-p.Oldest+1, "commit"), p.Newest, p.Oldest)
	if n := len(p.Unlisted); n > 0 {
		fmt.Fprintf(s.Out, "Not in the list, which leaves out what closed before its retention: %s.\n",
			term.Plural(uint64(n), "commit"))
	}
	fmt.Fprintf(s.Out, "Only the daemon says that no commit came after entry %d; `shuffled audit` proves it.\n", newest)
}

func (c *RecallCmd) params() (p client.ListShufflesParams, err error) {
	switch {
	case c.Limit < 0:
		return p, term.Usage("--limit must be a number of shuffles from 0, not %d", c.Limit)
	case c.Prove && (c.Table == "" || c.GameRef+c.State+c.Owner+c.Deck+c.Outcome+c.Reason != ""):
		return p, term.Usage("--prove needs --table, and goes with --from, --to and --limit only")
	}
	p.Table, p.GameRef = remote.Given(c.Table), remote.Given(c.GameRef)
	p.Owner, p.Deck = remote.Given(c.Owner), remote.Given(c.Deck)
	p.Outcome, p.Reason = remote.Given(client.Outcome(c.Outcome)), remote.Given(client.Reason(c.Reason))
	p.State, p.Limit = remote.Given(client.ListShufflesParamsState(c.State)), new(uint64(recallPage))
	if c.Limit > 0 && c.Limit < recallPage {
		*p.Limit = uint64(c.Limit) + 1 // one more says that there are more
	}
	if p.From, err = parseDay("--from", c.From); err != nil {
		return p, err
	}
	p.To, err = parseDay("--to", c.To)
	return p, err
}

// parseDay reads a day, which begins at midnight UTC, or an RFC 3339 time.
func parseDay(flag, text string) (*client.Timestamp, error) {
	if text == "" {
		return nil, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return &client.Timestamp{Time: t}, nil
		}
	}
	return nil, term.Usage("%s must be a day such as 2026-11-22 or a time such as 2026-11-22T18:30:00Z, not %q", flag,
		term.Visible(text))
}

func recallRow(r client.ShuffleSummary) []string {
	state := string(r.State)
	if r.Outcome != nil {
		state = string(*r.Outcome)
		if r.Reason != nil {
			state += ": " + string(*r.Reason)
		}
	}
	if r.Kind != client.ShuffleSummaryKindCards {
		state += ", " + string(r.Kind)
	}
	if r.Parent != nil {
		state += fmt.Sprintf(", from %d", *r.Parent)
	}
	name := func(s *string) string { return term.Visible(cmp.Or(remote.Value(s), "-")) }
	return []string{fmt.Sprint(r.ID), fmt.Sprint(r.Serial), term.Visible(r.Table), term.Visible(r.Owner),
		name(r.Deck), name(r.GameRef), clock(r.CommittedAt), term.Visible(state)}
}

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
