package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

type tokenCreateCmd struct {
	placeFlags
	Ledger      string        `default:"main" help:"Ledger the token is for."`
	Role        string        `required:"" enum:"dealer,auditor,regulator,admin" help:"dealer, auditor, regulator or admin."`
	Table       []string      `placeholder:"NAME" sep:"none" help:"Only for this table; repeat it for each (default: all tables)."`
	Expires     time.Duration `placeholder:"DURATION" help:"Life of the token, such as 720h (default: until it is revoked)."`
	Certificate string        `type:"existingfile" placeholder:"FILE" help:"No token: the client certificate in FILE (PEM) stands for one, also when it is renewed with the same key."`
}

// Help shows examples.
func (tokenCreateCmd) Help() string {
	return `Examples:

    (umask 077; shuffled token create --role dealer > dealer.token)
    (umask 077; shuffled token create --role dealer --table poker-7 --table poker-8 --expires 720h > room.token)
    shuffled token create --role regulator --certificate inspector.pem`
}

func (c tokenCreateCmd) Run(ctx context.Context, s streams) error {
	token, err := c.token(time.Now())
	if err != nil {
		return err
	}
	if c.Certificate != "" {
		return c.register(ctx, s, token)
	}
	return c.withTokens(ctx, c.Ledger, func(store backend, id ledger.ID) error {
		bearer, err := newToken(ctx, store, id, token)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", bearer.Bytes())
		return err
	})
}

// token is what was asked for, without id and hash.
func (c tokenCreateCmd) token(now time.Time) (ledger.Token, error) {
	t := ledger.Token{Role: audit.ParseRole(c.Role), Created: now.UnixMilli()}
	if c.Expires < 0 {
		return t, usage("--expires is a time from now")
	}
	if c.Expires > 0 {
		t.Expires = now.Add(c.Expires).UnixMilli()
	}
	if t.Role == audit.RoleAdmin && len(c.Table) > 0 {
		return t, usage("--table: what an admin does is for all tables")
	}
	for _, table := range c.Table {
		if err := audit.CheckName(table); err != nil {
			return t, usage("--table: %q %s", visible(table), err)
		}
		if slices.Contains(t.Tables, table) {
			return t, usage("--table: %s is there twice", table)
		}
		t.Tables = append(t.Tables, table)
	}
	return t, nil
}

// register lets a client certificate stand for the token.
func (c tokenCreateCmd) register(ctx context.Context, s streams, token ledger.Token) error {
	spki, err := readCertificateKey(c.Certificate)
	if err != nil {
		return err
	}
	token.ID, token.Hash = ledger.CertificateID(spki)
	return c.withTokens(ctx, c.Ledger, func(store backend, id ledger.ID) error {
		err := store.PutToken(ctx, id, token)
		if errors.Is(err, ledger.ErrExists) {
			return withHint(fmt.Errorf("ledger %s knows the key of this certificate as %s", c.Ledger, token.ID),
				"a key stays what it was made, also when it is revoked: make a new key")
		}
		if err != nil {
			return fmt.Errorf("storing the certificate's key: %w", err)
		}
		_, err = fmt.Fprintln(s.out, token.ID)
		return err
	})
}

// newToken makes a token and puts its hash into the store.
func newToken(ctx context.Context, store ledger.TokenStore, id ledger.ID, token ledger.Token) (keys.Secret, error) {
	name, bearer := keys.NewToken()
	_, secret, ok := keys.SplitToken(string(bearer.Bytes()))
	if !ok {
		return keys.Secret{}, errors.New("a new token does not read back")
	}
	token.ID, token.Hash = name, keys.HashToken(secret)
	if token.Created == 0 {
		token.Created = time.Now().UnixMilli()
	}
	if err := store.PutToken(ctx, id, token); err != nil {
		return keys.Secret{}, fmt.Errorf("storing the token: %w", err)
	}
	return bearer, nil
}
