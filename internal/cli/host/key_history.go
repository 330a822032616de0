package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

type keyListCmd struct{ remote.Flags }

func (keyListCmd) Help() string {
	return "Example:\n  shuffled key list --url https://cards.example.com --ledger main"
}

func (c *keyListCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s,
		func(d *client.Client) (*client.Keys, error) { return d.Keys(ctx) },
		func(answer *client.Keys) error { return printKeys(s, answer.Keys) })
}

func printKeys(s term.Streams, list []client.Key) error {
	standing := keyStanding(list)
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
			what = "SHA-256 of the text " + hex.EncodeToString(sum[:8])
		}
		subject := string(k.Subject)
		if k.Retired != nil {
			subject += " of " + string(*k.Retired)
		}
		rows = append(rows, []any{k.Entry, k.Time.UTC().Format(time.RFC3339), term.Visible(subject),
			term.Visible(standing[i]), term.Visible(what)})
	}
	return s.List(rows)
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

type keyRetireCmd struct {
	remote.Flags
	Subject string `arg:"" enum:"signing,disclosure,auditor" help:"signing, disclosure or auditor."`
	Which   string `arg:"" name:"key" help:"The key: its id in base64, its verifier key, or its .vkey or .pub file."`
	From    string `placeholder:"TIME" help:"Time from which what was done under the key deserves no trust, such as 2026-03-14T15:09:26Z. It may be in the past. The default is now."`
	DryRun  bool   `help:"Say what would be written, and write nothing."`
}

func (keyRetireCmd) Help() string {
	return `Replace a key that is in force before you retire it. For a stolen key, --from is the time of the theft, as
far as it is known. Readers then see which checkpoints to distrust.

Examples:

    shuffled key retire signing main.vkey --from 2026-03-14T15:09:26Z --token-file admin.token
    shuffled key retire auditor lab.pub --token-file admin.token`
}

func (c *keyRetireCmd) Run(ctx context.Context, s term.Streams) error {
	id, err := keyID(c.Which)
	if err != nil {
		return err
	}
	retired := client.KeyRequestRetired(c.Subject)
	req := client.KeyRequest{Subject: client.KeyRequestSubjectRetirement, Retired: &retired, ID: &id}
	from := "now"
	if c.From != "" {
		at, err := retiredFrom(c.From)
		if err != nil {
			return err
		}
		req.From, from = &client.Timestamp{Time: at}, at.UTC().Format(time.RFC3339)
	}
	if c.DryRun {
		_, err := fmt.Fprintf(s.Out, "Would retire the %s key %s from %s on. Nothing was written.\n", c.Subject, id,
			from)
		return err
	}
	return addKey(ctx, &c.Flags, s, req, fmt.Sprintf("The %s key %s is retired from %s on", c.Subject, id, from))
}

// retiredFrom reads the time from which a retired key deserves no trust.
func retiredFrom(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(time.Unix(0, 0)) {
		return at, term.Usage("--from must be a time such as 2026-03-14T15:09:26Z, not %q", term.Visible(text))
	}
	return at, nil
}

// addKey asks the daemon for the entry of a key, and says which entry it is.
func addKey(ctx context.Context, r *remote.Flags, s term.Streams, req client.KeyRequest, done string) error {
	return r.Record(ctx, s, done, func(d *client.Client) (*client.Appended, error) { return d.AddKey(ctx, req) })
}

// keyID returns the id of a key that is named by its id, its verifier key or a public file.
func keyID(arg string) (id client.Hash, err error) {
	if vkey, err := keys.ReadVKey(arg); err == nil {
		arg = vkey
	} else if public, err := keys.ReadAuditorPublic(arg); err == nil {
		return client.Hash(audit.KeyID(public)), nil
	}
	if _, err := audit.ParseVKey(arg); err == nil {
		public, err := audit.SigningKey(arg)
		return client.Hash(audit.KeyID(public)), err
	}
	if err := id.UnmarshalText([]byte(arg)); err != nil {
		return id, term.Usage("%q is no key: give a key id, a verifier key, or a .vkey or .pub file", term.Visible(arg))
	}
	return id, nil
}
