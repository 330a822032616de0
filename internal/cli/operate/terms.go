package operate

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

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
