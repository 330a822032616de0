package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"shuffled/client"
)

type shuffleCmd struct {
	remote
	Table      string `required:"" placeholder:"NAME" help:"The table. Its shuffles are numbered 1, 2, 3 without gaps."`
	Deck       string `required:"" placeholder:"DECK" help:"A published deck: standard-52, standard-54, short-36, pinochle-48, spanish-40, shoe-1 to shoe-16."`
	Take       int    `placeholder:"N" help:"Commit to the first N cards of the order only. Default: all."`
	EndAt      string `placeholder:"PLACE" help:"Place of the cut card, or LO-HI to have it drawn."`
	CloseBy    string `placeholder:"TIME" help:"When the daemon closes the shuffle as expired: 2026-03-14T15:00:00Z, or from now, as 45m. Default: the ledger's."`
	GameRef    string `placeholder:"NAME" help:"Your name for the game. No personal data."`
	Disclosure string `placeholder:"WHO" enum:",public,auditor" default:"" help:"Who gets the tape at the close: public or auditor. Default: the ledger's."`
	Idempotent string `name:"idempotency-key" placeholder:"KEY" help:"The same key and request give the same shuffle. Default: a new UUIDv7."`
}

func (shuffleCmd) Help() string {
	return `Examples:

    shuffled shuffle --table poker-7 --deck standard-52 --token-file shuffled-data/dealer.token --key shuffled-data/main.vkey
    shuffled shuffle --table bac-1 --deck shoe-8 --end-at 380-400 --close-by 2h`
}

func (c *shuffleCmd) Run(ctx context.Context, s streams) error {
	req, err := c.request(time.Now())
	if err != nil {
		return err
	}
	key := c.Idempotent
	if key == "" {
		key = client.NewKey()
	}
	d, err := c.connect(ctx, s)
	if err != nil {
		return err
	}
	made, err := d.Commit(ctx, key, req)
	if err != nil {
		if !refused(err) {
			fmt.Fprintf(s.err, "shuffled: whether it was done is not known: repeat it with --idempotency-key %s\n", visible(key))
		}
		return c.fail(s, err)
	}
	if c.JSON {
		return printSafeJSON(s.out, struct {
			client.Shuffle
			Key string `json:"idempotency_key"`
		}{made.Shuffle, key})
	}
	p := s.sheet().p
	fmt.Fprintf(s.out, "%s\n\n", p.bold(fmt.Sprintf("Shuffle %d: number %d of table %s, committed and signed", made.ID, made.Serial, made.Table)))
	fmt.Fprintf(s.out, "  commitment  %s\n  deck root   %s\n  places      %d\n  close by    %s\n  key         %s\n\n",
		made.Commitment, made.DeckRoot, made.Places(), clock(made.CloseBy), visible(key))
	fmt.Fprintf(s.out, "Deal from it: shuffled deal %d --first 0 --run 2:seat:seat-1\n", made.ID)
	return nil
}

// request is what the flags ask for.
func (c *shuffleCmd) request(now time.Time) (client.ShuffleRequest, error) {
	req := client.ShuffleRequest{Table: c.Table, Deck: &c.Deck}
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
	if c.CloseBy != "" {
		at, err := parseCloseBy(c.CloseBy, now)
		if err != nil {
			return req, err
		}
		req.CloseBy = &client.Timestamp{Time: at}
	}
	if c.GameRef != "" {
		req.GameRef = &c.GameRef
	}
	if c.Disclosure != "" {
		d := client.Disclosure(c.Disclosure)
		req.Disclosure = &d
	}
	return req, nil
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
		return client.EndAt{}, usage("--end-at is a place from 1, or LO-HI, not %q", text)
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
		return at, usage("--close-by is a time such as 2026-03-14T15:00:00Z or 45m, not %q", text)
	}
	return at.UTC().Truncate(time.Second), nil
}

// clock writes a time of the daemon's.
func clock(t client.Timestamp) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
