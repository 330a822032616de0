package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"shuffled/client"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

type keyListCmd struct{ remote.Flags }

func (c *keyListCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) (*client.Keys, error) { return d.Keys(ctx) },
		func(answer *client.Keys) error { return printKeys(s, answer.Keys) })
}

func printKeys(s term.Streams, list []client.Key) error {
	standing, policy := keyStanding(list), ""
	rows := [][]any{{"ENTRY", "TIME", "SUBJECT", "STANDING", "KEY"}}
	for i, k := range list {
		what := ""
		switch {
		case k.Vkey != nil:
			what = *k.Vkey
		case k.ID != nil:
			what = k.ID.String()
		case k.Policy != nil:
			sum := sha256.Sum256([]byte(*k.Policy))
			what, policy = "SHA-256 of the text "+hex.EncodeToString(sum[:8]), *k.Policy
		}
		subject := string(k.Subject)
		if k.Retired != nil {
			subject += " of " + string(*k.Retired)
		}
		rows = append(rows, []any{k.Entry, k.Time.UTC().Format(time.RFC3339), term.Visible(subject),
			term.Visible(standing[i]), term.Visible(what)})
	}
	if err := s.List(rows); err != nil || policy == "" {
		return err
	}
	fmt.Fprintln(s.Out, "\nThe newest policy:")
	for line := range strings.Lines(policy) {
		fmt.Fprintf(s.Out, "  %s\n", term.Visible(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// keyStanding says what became of each key, in the order of the list. Which policy is in force cannot be told
// from the entries alone.
func keyStanding(list []client.Key) []string {
	standing := make([]string, len(list))
	newest := make(map[client.KeySubject]int)
	for i, k := range list {
		switch k.Subject {
		case client.KeySubjectAuditor:
			standing[i] = "in force"
		case client.KeySubjectRetirement:
			if k.From != nil {
				standing[i] = "from " + k.From.UTC().Format(time.RFC3339)
			}
			for j, other := range list[:i] {
				if k.ID != nil && other.ID != nil && *other.ID == *k.ID &&
					other.Subject != client.KeySubjectRetirement {
					standing[j] = "retired"
				}
			}
		default:
			if before, ok := newest[k.Subject]; ok && standing[before] != "retired" {
				standing[before] = "replaced"
			}
			standing[i] = "in force"
			if k.Subject == client.KeySubjectPolicy {
				standing[i] = "newest"
			}
			newest[k.Subject] = i
		}
	}
	return standing
}
