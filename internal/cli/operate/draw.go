package operate

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// DrawCmd is shuffled draw.
type DrawCmd struct {
	remote.Flags
	commitFlags
	Ranges  string `xor:"what" placeholder:"K,K,…" help:"Draw a value from 1 to each K, independently: 6,6 is two dice, and 6x3 is 6,6,6. No value is 0, so roulette needs --wheel."`
	Numbers string `xor:"what" placeholder:"TAKE/OF" help:"Draw TAKE of the numbers 1 to OF, none twice, in the order drawn: 20/80."`
	Wheel   string `xor:"what" placeholder:"LABEL:WEIGHT,…" help:"Spin a wheel once. The chance of a label is its weight divided by the sum of all weights."`
}

func (DrawCmd) Help() string {
	return `Commits to drawn values, which are dealt, closed and proved like cards.

Examples:

    shuffled draw --table craps-1 --ranges 6,6
    shuffled draw --table roulette-1 --wheel "$(seq -s, -f '%g:1' 0 36)"
    shuffled draw --table keno-1 --numbers 20/80
    shuffled draw --table wheel-1 --wheel 1:24,2:15,5:7,10:4,20:2,joker:2
    shuffled deal 2 --first 0 --run 2:board::public --close completed`
}

func (c *DrawCmd) Run(ctx context.Context, s term.Streams) error {
	req, count, err := c.request(time.Now())
	if err != nil {
		return err
	}
	return c.commit(ctx, &c.Flags, s, func(ctx context.Context, d *client.Client) (*client.Committed, error) {
		return d.Draws(ctx, c.key(), req)
	}, "Draw", fmt.Sprintf("--run %d:board::public --close completed", count))
}

// request is the request that the flags ask for. count is how many values it draws.
func (c *DrawCmd) request(now time.Time) (req client.DrawsRequest, count int, err error) {
	req = client.DrawsRequest{Table: c.Table, GameRef: remote.Given(c.GameRef),
		Disclosure: remote.Given(client.Disclosure(c.Disclosure))}
	if req.Mix, req.Terms, req.CloseBy, err = c.read(false, now); err != nil {
		return req, 0, err
	}
	switch {
	case c.Ranges != "":
		req.Ranges, err = parseRanges(c.Ranges)
		return req, len(req.Ranges), err
	case c.Numbers != "":
		take, of, _ := strings.Cut(c.Numbers, "/")
		n, err := strconv.Atoi(take)
		m, err2 := strconv.Atoi(of)
		if err != nil || err2 != nil {
			return req, 0, term.Usage("--numbers must be TAKE/OF, as 20/80, not %q", c.Numbers)
		}
		req.Numbers = &client.Numbers{Take: n, Of: m}
		return req, n, nil
	case c.Wheel != "":
		req.Wheel, err = parseWheel(c.Wheel)
		return req, 1, err
	}
	return req, 0, term.Usage("one of --ranges, --numbers and --wheel must say what is drawn")
}

// maxRanges is how many values a draw list has at most.
const maxRanges = 4096

// parseRanges reads "6,6" or "6x2".
func parseRanges(text string) (ranges []uint32, err error) {
	for part := range strings.SplitSeq(text, ",") {
		k, times, repeated := strings.Cut(part, "x")
		if !repeated {
			times = "1"
		}
		high, err := strconv.ParseUint(k, 10, 32)
		n, err2 := strconv.Atoi(times)
		if err != nil || err2 != nil || n < 1 || n > maxRanges-len(ranges) {
			return nil, term.Usage("--ranges must be up to %d numbers, as 6,6 or 6x2, not %q", maxRanges, text)
		}
		for range n {
			ranges = append(ranges, uint32(high))
		}
	}
	return ranges, nil
}

// parseWheel reads "LABEL:WEIGHT,…". A label may have colons.
func parseWheel(text string) (wheel []client.Stop, err error) {
	for part := range strings.SplitSeq(text, ",") {
		i := strings.LastIndexByte(part, ':')
		if i < 1 {
			return nil, term.Usage("--wheel must be LABEL:WEIGHT,…, as 1:24,2:15,joker:2, not %q", text)
		}
		weight, err := strconv.Atoi(part[i+1:])
		if err != nil {
			return nil, term.Usage("--wheel: the weight of %q must be a number from 1, not %q", part[:i], part[i+1:])
		}
		wheel = append(wheel, client.Stop{Label: part[:i], Weight: weight})
	}
	return wheel, nil
}

// TermsCmd is shuffled terms.
type TermsCmd struct {
	Put termsPutCmd `cmd:"" help:"Give a running daemon a document that says what values mean."`
}

type termsPutCmd struct {
	remote.Flags
	Wheel    string `xor:"what" placeholder:"LABEL:WEIGHT,…" help:"A wheel: each label with the number of values that show it."`
	PayTable string `xor:"what" placeholder:"FILE" help:"A pay table: a text for people."`
}

func (termsPutCmd) Help() string {
	return `Prints the value for --terms of shuffled draw and shuffled shuffle. In a draw with a wheel, each range is the sum of the wheel's weights.

Examples:

    shuffled terms put --wheel "nothing:9989,a car:10,a trip:1"
    shuffled draw --table wheel-1 --ranges 10000 --terms wheel:HASH`
}

func (c *termsPutCmd) Run(ctx context.Context, s term.Streams) error {
	var document client.TermsDocument
	switch {
	case c.Wheel != "":
		stops, err := parseWheel(c.Wheel)
		if err != nil {
			return err
		}
		document.Kind = client.TermsDocumentKindWheel
		for _, stop := range stops {
			if stop.Weight < 1 || stop.Weight > 1<<30 {
				return term.Usage("--wheel: the weight of %q must be from 1 to 1073741824, not %d", stop.Label, stop.Weight)
			}
			document.Labels = append(document.Labels, client.TermsLabel{Label: stop.Label, Weight: uint32(stop.Weight)})
		}
	case c.PayTable != "":
		text, err := os.ReadFile(c.PayTable)
		if err != nil {
			return fmt.Errorf("reading the pay table: %w", err)
		}
		document.Kind, document.Text = client.TermsDocumentKindPayTable, remote.Given(string(text))
	default:
		return term.Usage("--wheel or --pay-table must say which document is put")
	}
	return remote.Ask(ctx, &c.Flags, s,
		func(d *client.Client) (*client.BoundTerms, error) { return d.PutTerms(ctx, document) },
		func(b *client.BoundTerms) error {
			_, err := fmt.Fprintf(s.Out, "%s:%s\n", b.Kind, b.Hash)
			return err
		})
}

// bound reads --terms: KIND:HASH, and for a list of tickets its count after that.
func (c *commitFlags) bound() (*client.BoundTerms, error) {
	if c.Terms == "" {
		return nil, nil
	}
	parts := strings.Split(c.Terms, ":")
	b := &client.BoundTerms{Kind: client.BoundTermsKind(parts[0])}
	tickets := b.Kind == client.BoundTermsKindTicketList
	if len(parts) < 2 || len(parts) > 3 || tickets != (len(parts) == 3) {
		return nil, term.Usage("--terms must be wheel:HASH, pay_table:HASH or ticket_list:ROOT:COUNT, not %q", c.Terms)
	}
	if err := b.Hash.UnmarshalText([]byte(parts[1])); err != nil {
		return nil, term.Usage("--terms: the hash is %s", err)
	}
	if tickets {
		count, err := strconv.ParseUint(parts[2], 10, 64)
		if err != nil {
			return nil, term.Usage("--terms: the count of tickets must be a number, not %q", parts[2])
		}
		b.Count = &count
	}
	return b, nil
}
