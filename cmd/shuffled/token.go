package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token and print it, this once."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of a ledger."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token by its public id."`
}

// withTokens opens the store and finds the ledger by name.
func (p placeFlags) withTokens(ctx context.Context, name string, do func(backend, ledger.ID) error) error {
	return p.withLedgers(ctx, func(cfg *config.Config, store backend, infos []ledger.Info) error {
		for _, info := range infos {
			if info.Name == name {
				return do(store, ledger.IDOf(info.Origin))
			}
		}
		return fmt.Errorf("there is no ledger %s in %s", name, database(cfg))
	})
}

type tokenCreateCmd struct {
	placeFlags
	Ledger  string        `default:"main" help:"Ledger the token is for."`
	Role    string        `required:"" enum:"dealer,auditor,admin" help:"dealer, auditor or admin."`
	Expires time.Duration `placeholder:"DURATION" help:"Life of the token, such as 720h (default: until it is revoked)."`
}

// Help shows an example.
func (tokenCreateCmd) Help() string {
	return "Example:\n  (umask 077; shuffled token create --ledger main --role dealer > dealer.token)"
}

func (c tokenCreateCmd) Run(ctx context.Context, s streams) error {
	if c.Expires < 0 {
		return usage("--expires is a time from now")
	}
	return c.withTokens(ctx, c.Ledger, func(store backend, id ledger.ID) error {
		expires := int64(0)
		if c.Expires > 0 {
			expires = time.Now().Add(c.Expires).UnixMilli()
		}
		bearer, err := newToken(ctx, store, id, ledger.ParseRole(c.Role), expires)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", bearer.Bytes())
		return err
	})
}

type tokenListCmd struct {
	placeFlags
	Ledger string `default:"main" help:"Ledger."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (tokenListCmd) Help() string { return "Example:\n  shuffled token list --ledger main" }

// listedToken is a line of `token list`; it holds nothing secret.
type listedToken struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	State   string `json:"state"`
	Created string `json:"created"`
	Expires string `json:"expires,omitempty"`
	Revoked string `json:"revoked,omitempty"`
}

func (c tokenListCmd) Run(ctx context.Context, s streams) error {
	return c.withTokens(ctx, c.Ledger, func(store backend, id ledger.ID) error {
		tokens, err := store.Tokens(ctx, id)
		if err != nil {
			return fmt.Errorf("listing tokens: %w", err)
		}
		list := make([]listedToken, 0, len(tokens))
		for _, t := range tokens {
			list = append(list, listToken(t))
		}
		if c.JSON {
			return printJSON(s.out, list)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tROLE\tSTATE\tCREATED\tEXPIRES")
		for _, t := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.ID, t.Role, t.State, t.Created, t.Expires)
		}
		return w.Flush()
	})
}

func listToken(t ledger.Token) listedToken {
	at := func(ms int64) string {
		if ms == 0 {
			return ""
		}
		return time.UnixMilli(ms).UTC().Format(time.RFC3339)
	}
	l := listedToken{ID: t.ID, Role: t.Role.String(), State: "in force", Created: at(t.Created), Expires: at(t.Expires), Revoked: at(t.Revoked)}
	switch {
	case t.Revoked != 0:
		l.State = "revoked"
	case t.Expires != 0 && t.Expires <= time.Now().UnixMilli():
		l.State = "expired"
	}
	return l
}

type tokenRevokeCmd struct {
	placeFlags
	Ledger string `default:"main" help:"Ledger."`
	ID     string `arg:"" help:"Public id, tok_…"`
}

// Help shows an example.
func (tokenRevokeCmd) Help() string {
	return "Example:\n  shuffled token revoke --ledger main tok_7h3k2m5n6p4q2r3s"
}

func (c tokenRevokeCmd) Run(ctx context.Context, s streams) error {
	return c.withTokens(ctx, c.Ledger, func(store backend, id ledger.ID) error {
		err := store.RevokeToken(ctx, id, c.ID, time.Now().UnixMilli())
		if errors.Is(err, ledger.ErrNotFound) {
			return fmt.Errorf("ledger %s has no token %s in force", c.Ledger, c.ID)
		}
		if err != nil {
			return fmt.Errorf("revoking the token: %w", err)
		}
		fmt.Fprintf(s.out, "revoked %s; daemons refuse it within 5 seconds\n", c.ID)
		return nil
	})
}
