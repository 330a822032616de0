package operate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// KillCmd is shuffled kill.
type KillCmd struct {
	Set  killSetCmd  `cmd:"" help:"Stop new shuffles: in the whole ledger, at a table, or from a deck."`
	List killListCmd `cmd:"" help:"List the kill switches that are set." example:"shuffled kill list --token-file admin.token"`
}

type killSetCmd struct {
	remote.Flags
	All      bool   `xor:"scope" help:"The whole ledger."`
	Table    string `xor:"scope" placeholder:"NAME" help:"One table."`
	Deck     string `xor:"scope" placeholder:"NAME" help:"One published deck, such as standard-52."`
	DeckHash string `xor:"scope" placeholder:"HASH" help:"One deck by its hash, in base64."`
	Because  string `name:"reason" required:"" placeholder:"TEXT" help:"The reason. It is written to the ledger for ever."`
}

func (killSetCmd) Help() string {
	return `An act of the administrators clears the switch: shuffled act do kill_clear.

Examples:

    shuffled kill set --table poker-7 --reason "camera fault" --token-file admin.token
    shuffled kill set --deck short-36 --reason "misprinted" --token-file admin.token
    shuffled kill set --all --reason "regulator's order 4711" --token-file admin.token`
}

func (c *killSetCmd) Run(ctx context.Context, s term.Streams) error {
	req := client.SwitchRequest{Reason: c.Because, Table: remote.Given(c.Table), Deck: remote.Given(c.Deck)}
	switch {
	case c.All:
		req.Scope = client.SwitchRequestScopeLedger
	case c.Table != "":
		req.Scope = client.SwitchRequestScopeTable
	case c.Deck != "":
		req.Scope = client.SwitchRequestScopeDeck
	case c.DeckHash != "":
		req.Scope, req.DeckHash = client.SwitchRequestScopeDeck, new(client.Hash)
		if err := req.DeckHash.UnmarshalText([]byte(c.DeckHash)); err != nil {
			return term.Usage("--deck-hash is %s", err)
		}
	default:
		return term.Usage("--all, --table, --deck or --deck-hash must say what the switch covers")
	}
	return c.Record(ctx, s, "The kill switch is set: no new shuffle begins there, and open shuffles are played on",
		func(d *client.Client) (*client.Appended, error) { return d.SetSwitch(ctx, req) })
}

type killListCmd struct{ remote.Flags }

func (c *killListCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) ([]client.Switch, error) {
		list, err := d.Switches(ctx)
		if err != nil {
			return nil, err
		}
		return list.Switches, nil
	}, func(list []client.Switch) error {
		if len(list) == 0 {
			_, err := fmt.Fprintln(s.Out, "no kill switch is set")
			return err
		}
		for _, one := range list {
			what := string(one.Scope) + " " + remote.Value(one.Table)
			if one.DeckHash != nil {
				what += one.DeckHash.String()
			}
			fmt.Fprintln(s.Out, term.Visible(strings.TrimSuffix(what, " ")))
		}
		return nil
	})
}

// TableCmd is shuffled table.
type TableCmd struct {
	Open  tableOpenCmd  `cmd:"" help:"Open a table that was closed, or one before its first shuffle, as an administrator." example:"shuffled table open poker-7 --token-file admin.token"`
	Close tableCloseCmd `cmd:"" help:"Close a table, as an administrator: it gets no new shuffle, and what was not dealt from is set aside."`
	List  tableListCmd  `cmd:"" help:"List the tables with their open shuffles." example:"shuffled table list --token-file dealer.token"`
}

type tableListCmd struct{ remote.Flags }

func (c *tableListCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) (all []client.TableState, err error) {
		for t, err := range d.Tables(ctx) {
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return append([]client.TableState{}, all...), nil
	}, func(all []client.TableState) error {
		if len(all) == 0 {
			_, err := fmt.Fprintln(s.Out, "no table")
			return err
		}
		rows := [][]any{{"TABLE", "STATE", "SERIAL", "OPEN SHUFFLES"}}
		for _, t := range all {
			open := strings.Trim(fmt.Sprint(t.Shuffles), "[]")
			if t.More != nil {
				open += " and more"
			}
			rows = append(rows, []any{term.Visible(t.Table), term.Visible(string(t.State)), t.Serial,
				cmp.Or(open, "-")})
		}
		return s.List(rows)
	})
}

// DecksCmd is shuffled decks.
type DecksCmd struct{ remote.Flags }

func (c *DecksCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) ([]client.PublishedDeck, error) { return d.Decks(ctx) },
		func(all []client.PublishedDeck) error {
			rows := [][]any{{"NAME", "CARDS", "HASH"}}
			for _, d := range all {
				rows = append(rows, []any{term.Visible(d.Name), d.Cards, d.Hash})
			}
			return s.List(rows)
		})
}

type tableFlags struct {
	remote.Flags
	Table string `arg:"" help:"The table."`
}

func (c *tableFlags) run(ctx context.Context, s term.Streams, action client.TableRequestAction, done string) error {
	return c.Record(ctx, s, fmt.Sprintf("Table %s is %s", term.Visible(c.Table), done),
		func(d *client.Client) (*client.Appended, error) {
			return d.SetTable(ctx, client.TableRequest{Action: action, Table: c.Table})
		})
}

type tableOpenCmd struct{ tableFlags }

func (c *tableOpenCmd) Run(ctx context.Context, s term.Streams) error {
	return c.run(ctx, s, client.TableRequestActionOpen, "open")
}

type tableCloseCmd struct{ tableFlags }

func (tableCloseCmd) Help() string {
	return `A close sets aside every shuffle of the table that has no deal, of all identities. Such a shuffle is never dealt: its owner closes it, or it expires. It holds up no other. What was dealt from goes on, and so do a child and an order for another ledger. An audit counts what was set aside.

Example:
  shuffled table close poker-7 --token-file admin.token`
}

func (c *tableCloseCmd) Run(ctx context.Context, s term.Streams) error {
	return c.run(ctx, s, client.TableRequestActionClose, "closed")
}

// AccessCmd is shuffled access.
type AccessCmd struct {
	List accessListCmd `cmd:"" help:"List what regulators and administrators asked for." example:"shuffled access list --from 2026-11-01 --to 2026-12-01 --token-file admin.token"`
}

type accessListCmd struct {
	remote.Flags
	From string `placeholder:"TIME" help:"Requests at this time or later: 2026-11-22, or 2026-11-22T18:30:00Z."`
	To   string `placeholder:"TIME" help:"Requests before this time."`
}

func (c *accessListCmd) Run(ctx context.Context, s term.Streams) (err error) {
	params := client.ListAccessParams{Limit: remote.Given(uint64(500))}
	if params.From, err = parseDay("--from", c.From); err != nil {
		return err
	}
	if params.To, err = parseDay("--to", c.To); err != nil {
		return err
	}
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) ([]client.AccessRecord, error) {
		records := []client.AccessRecord{}
		for {
			list, err := d.Access(ctx, params)
			if err != nil {
				return nil, err
			}
			records = append(records, list.Records...)
			if params.Cursor = list.Next; list.Next == nil {
				return records, nil
			}
		}
	}, func(records []client.AccessRecord) error {
		rows := [][]any{{"TIME", "WHO", "REQUEST", "ASKED FOR"}}
		for _, r := range records {
			rows = append(rows, []any{clock(r.Time), term.Visible(r.Token), term.Visible(r.Request),
				term.Visible(r.Method + " " + r.Path)})
		}
		return s.List(rows)
	})
}
