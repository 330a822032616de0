package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token and print it, this once, or let a client certificate stand for one."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of a ledger."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token or certificate by its public id."`
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

type tokenListCmd struct {
	placeFlags
	Ledger string `default:"main" help:"Ledger."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (tokenListCmd) Help() string { return "Example:\n  shuffled token list --ledger main" }

// listedToken is a line of `token list`; it holds nothing secret.
type listedToken struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Role    string   `json:"role"`
	Tables  []string `json:"tables,omitempty"` // absent: all
	State   string   `json:"state"`
	Created string   `json:"created"`
	Expires string   `json:"expires,omitempty"`
	Revoked string   `json:"revoked,omitempty"`
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
		fmt.Fprintln(w, "ID\tKIND\tROLE\tTABLES\tSTATE\tCREATED\tEXPIRES")
		for _, t := range list {
			tables := cmp.Or(strings.Join(t.Tables, " "), "all")
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Kind, t.Role, tables, t.State, t.Created, t.Expires)
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
	l := listedToken{ID: t.ID, Kind: "token", Role: t.Role.String(), Tables: t.Tables, State: "in force", Created: at(t.Created), Expires: at(t.Expires), Revoked: at(t.Revoked)}
	if ledger.IsCertificate(t.ID) {
		l.Kind = "certificate"
	}
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
	ID     string `arg:"" help:"Public id, tok_… or crt_…"`
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
