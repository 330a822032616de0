package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/cli/place"
	"shuffled/internal/cli/remote"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/term"
)

// TokenCmd is shuffled token.
type TokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token and print it once, or let a client certificate stand for a token."`
	List   tokenListCmd   `cmd:"" help:"List the tokens and certificates of a ledger."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token or certificate by its public id." example:"shuffled token revoke --ledger main tok_7h3k2m5n6p4q2r3s --reason \"left the house\""`
}

// tokenFlags say where the ledger is: served by a running daemon, or in a data directory that no daemon serves.
type tokenFlags struct {
	place.Flags
	Ledger    string `default:"main" help:"Name of the ledger."`
	URL       string `name:"url" placeholder:"URL" help:"Address of the daemon that serves the ledger (default: SHUFFLED_URL, unless --data, --config or --database says where the ledger is; SHUFFLED_DATABASE does not). Without an address, the command opens the ledger itself, and no daemon may serve it at that time."`
	TokenFile string `placeholder:"FILE" help:"With --url: file with an admin's token, mode 0600. Default: the token in SHUFFLED_TOKEN."`
	Key       string `placeholder:"VKEY" env:"SHUFFLED_KEY" help:"With --url: the verifier key of the ledger, or a file with it."`
	remote.ClientCertificate
}

// AfterApply takes the address from the environment, as every command does that asks a daemon. A flag that says
// where a stored ledger is comes first. What only a daemon is shown needs an address, and would else be ignored.
func (t *tokenFlags) AfterApply() error {
	if t.URL == "" && t.Flags == (place.Flags{Database: os.Getenv("SHUFFLED_DATABASE")}) {
		t.URL = os.Getenv("SHUFFLED_URL")
	}
	if t.URL == "" && (t.TokenFile != "" || t.ClientCert != "" || t.Key != os.Getenv("SHUFFLED_KEY")) {
		return term.Usage("--url is missing: --token-file, --client-cert and --key are for the daemon at that address; leave them out if no daemon serves the ledger")
	}
	return nil
}

// remote returns the flags with which the daemon is reached.
func (t *tokenFlags) remote() *remote.Flags {
	return &remote.Flags{URL: t.URL, Ledger: t.Ledger, Key: t.Key, TokenFile: t.TokenFile,
		ClientCertificate: t.ClientCertificate}
}

// change writes the entry, by the daemon or into the stored ledger. There a credential is created only while no
// admin's is in force. It is revoked at any time: an admin's credential that is lost is revoked first.
func (t *tokenFlags) change(ctx context.Context, s term.Streams, body *audit.Credential, hash [32]byte) error {
	if t.URL == "" {
		if body.Kind == audit.CredentialCreated {
			state, _, _, err := t.ReadState(ctx, t.Ledger)
			if err != nil {
				return err
			}
			if err := overAPI(state, time.Now()); err != nil {
				return err
			}
		}
		return t.WithLedger(ctx, t.Ledger, func(l *sequencer.Ledger) error { return place.Append(ctx, l, nil, body) })
	}
	r := t.remote()
	d, err := r.Connect(ctx, s)
	if err != nil {
		return err
	}
	_, err = d.ChangeCredential(ctx, credentialRequest(body, hash))
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == client.CodeCredential {
		return &audit.Illegal{Code: string(refused.Code),
			Detail: term.Visible(refused.Detail)} // the same error as of the stored ledger
	}
	if err != nil {
		return r.Fail(s, err)
	}
	return nil
}

// overAPI returns an error while an admin's credential is in force: only a daemon then changes the ledger.
func overAPI(state *rules.State, now time.Time) error {
	for _, h := range state.Holders() {
		if h.Role == audit.RoleAdmin && h.Revoked == 0 && (h.Expires == 0 || now.UnixMilli() < h.Expires) {
			return term.WithHint(fmt.Errorf("the admin's credential %s is in force, so only a daemon makes this change", h.ID),
				"give the daemon's address with --url and the admin's token with --token-file; if nobody has the token, revoke it: "+
					"shuffled token revoke %s", h.ID)
		}
	}
	return nil
}

func credentialRequest(body *audit.Credential, hash [32]byte) client.CredentialRequest {
	req := client.CredentialRequest{Credential: body.ID}
	if body.Kind == audit.CredentialRevoked {
		req.Action, req.Reason = client.CredentialRequestActionRevoke, remote.Given(body.Reason)
		return req
	}
	req.Action, req.Role = client.CredentialRequestActionCreate, new(client.CredentialRequestRole(body.Role.String()))
	req.Identity, req.Tables, req.Hash = &body.Identity, body.Tables, new(client.Hash(hash))
	if body.Expires != 0 {
		req.Expires = &client.Timestamp{Time: time.UnixMilli(body.Expires)}
	}
	return req
}

type tokenListCmd struct {
	tokenFlags
	JSON bool `name:"json" help:"Print JSON."`
}

func (tokenListCmd) Help() string {
	return "Examples:\n  shuffled token list --ledger main\n  shuffled token list --url https://shuffle.example.com --token-file admin.token"
}

// listedToken is a line of `token list`. It has nothing secret.
type listedToken struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Role     string   `json:"role"`
	Identity string   `json:"identity"`
	Tables   []string `json:"tables,omitempty"` // absent for all
	State    string   `json:"state"`
	Entry    uint64   `json:"entry"` // that created it
	Created  string   `json:"created"`
	Expires  string   `json:"expires,omitempty"`
	Revoked  string   `json:"revoked,omitempty"`
}

func (c tokenListCmd) Run(ctx context.Context, s term.Streams) error {
	list, err := c.list(ctx, s)
	if err != nil {
		return err
	}
	if c.JSON {
		return term.PrintJSON(s.Out, list)
	}
	rows := [][]any{{"ID", "KIND", "ROLE", "IDENTITY", "TABLES", "STATE", "CREATED", "EXPIRES"}}
	for _, t := range list {
		rows = append(rows, []any{t.ID, t.Kind, t.Role, t.Identity, cmp.Or(strings.Join(t.Tables, " "), "all"), t.State,
			t.Created, t.Expires})
	}
	return s.List(rows)
}

func (c *tokenListCmd) list(ctx context.Context, s term.Streams) ([]listedToken, error) {
	if c.URL != "" {
		told, err := remote.Call(ctx, c.remote(), s,
			func(d *client.Client) (*client.CredentialList, error) { return d.Credentials(ctx) })
		if err != nil {
			return nil, err
		}
		return toldTokens(told), nil
	}
	state, _, _, err := c.ReadState(ctx, c.Ledger)
	if err != nil {
		return nil, err
	}
	list := []listedToken{}
	for _, h := range state.Holders() {
		l := listedToken{ID: h.ID, Kind: h.Form.String(), Role: h.Role.String(), Identity: h.Identity, Tables: h.Tables,
			Entry: h.Index, State: "in force", Created: listed(h.Created), Expires: listed(h.Expires),
			Revoked: listed(h.Revoked)}
		switch {
		case h.Revoked != 0:
			l.State = "revoked"
		case h.Expires != 0 && h.Expires <= time.Now().UnixMilli():
			l.State = "expired"
		}
		list = append(list, l)
	}
	return list, nil
}

// listed writes a time in milliseconds as RFC 3339, "" for 0.
func listed(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}

func toldTokens(told *client.CredentialList) []listedToken {
	at := func(t *client.Timestamp) string { return listed(max(0, remote.Value(t).UnixMilli())) } // nil is before 1970
	list := make([]listedToken, len(told.Credentials))
	for i, c := range told.Credentials {
		list[i] = listedToken{ID: c.Credential, Kind: string(c.Form), Role: string(c.Role), Identity: c.Identity,
			Tables: c.Tables, Entry: c.Entry, State: strings.ReplaceAll(string(c.State), "_", " "),
			Created: listed(c.Created.UnixMilli()), Expires: at(c.Expires), Revoked: at(c.Revoked)}
	}
	return list
}

type tokenRevokeCmd struct {
	tokenFlags
	ID      string `arg:"" help:"Public id, tok_… or crt_…"`
	Because string `name:"reason" default:"revoked by an operator" placeholder:"TEXT" help:"The reason. It is written to the ledger for ever."`
}

func (c tokenRevokeCmd) Run(ctx context.Context, s term.Streams) error {
	if err := audit.CheckReason(c.Because); err != nil {
		return term.Usage("--reason %s", err)
	}
	if err := audit.CheckName(c.ID); err != nil {
		return term.Usage("the public id %s", err)
	}
	err := c.change(ctx, s, &audit.Credential{Kind: audit.CredentialRevoked, ID: c.ID, Reason: c.Because}, [32]byte{})
	if illegal, ok := errors.AsType[*audit.Illegal](err); ok && illegal.Code == audit.RuleCredential {
		return fmt.Errorf("ledger %s has no token %s in force", c.Ledger, c.ID)
	}
	if err != nil {
		return fmt.Errorf("revoking the token: %w", err)
	}
	fmt.Fprintf(s.Out, "revoked %s; daemons refuse it within 5 seconds\n", c.ID)
	return nil
}
