// Package operate has the commands of those who run games on a daemon. They ask it over HTTP, as a game's back
// end does, and print what the client proved.
package operate

import (
	"context"
	"strconv"
	"strings"
	"time"

	"shuffled/client"
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
		Disclosure: remote.Given(client.Disclosure(c.Disclosure))}
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
	if c.Take != 0 {
		req.Take = &c.Take
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
