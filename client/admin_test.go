package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// TestAdmin makes every call of an administrator, and then again with the answers to all of them in its place: what was
// not asked for, or was done before, is a fault.
func TestAdmin(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	c := d.client(l.between, func(cfg *client.Config) { cfg.Token = d.admin })
	ctx := t.Context()
	deck, _ := shuffle.Named("short-36")
	hash, other := client.Hash(deck.Hash()), client.Hash{1}
	set := func(req client.SwitchRequest) func() (*client.Appended, error) {
		req.Reason = "a test"
		return func() (*client.Appended, error) { return c.SetSwitch(ctx, req) }
	}
	table := func(action client.TableRequestAction, name string) func() (*client.Appended, error) {
		return func() (*client.Appended, error) {
			return c.SetTable(ctx, client.TableRequest{Action: action, Table: name})
		}
	}
	all := client.SwitchRequest{Scope: client.SwitchRequestScopeLedger}
	clear := d.act(c, "admin", &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Reason: "a test"})
	calls := []func() (*client.Appended, error){
		set(all),
		func() (*client.Appended, error) { return c.SubmitAct(ctx, clear) },
		set(client.SwitchRequest{Scope: client.SwitchRequestScopeTable, Table: ptr("t")}),
		set(client.SwitchRequest{Scope: client.SwitchRequestScopeTable, Table: ptr("u")}),
		set(client.SwitchRequest{Scope: client.SwitchRequestScopeDeck, DeckHash: &hash}),
		set(client.SwitchRequest{Scope: client.SwitchRequestScopeDeck, DeckHash: &other}),
		table(client.TableRequestActionOpen, "v"),
		table(client.TableRequestActionClose, "v"),
		table(client.TableRequestActionOpen, "w"),
		func() (*client.Appended, error) {
			return c.SetSwitch(ctx, client.SwitchRequest{Scope: all.Scope, Reason: "another reason"})
		},
	}
	answers := make([][]byte, len(calls))
	for i, call := range calls {
		l.tell("", func(b []byte) []byte { answers[i] = b; return b })
		if _, err := call(); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	l.tell("", nil)
	list, err := c.Switches(ctx)
	if got, _ := json.Marshal(list); err != nil || len(list.Switches) != 5 {
		t.Errorf("%s, %v", got, err)
	}
	var refused *client.Error
	if _, err := set(all)(); !errors.As(err, &refused) || refused.Code != client.CodeKill {
		t.Errorf("a switch that is set: %v", err)
	}
	latch := d.act(c, "admin", &audit.Event{Kind: audit.EventLatchClear, Reason: "not set"})
	if _, err := c.SubmitAct(ctx, latch); !errors.As(err, &refused) || refused.Code != client.CodeInvalidRequest {
		t.Errorf("a latch that is not set: %v", err)
	}
	// An administrator's own requests are on record.
	if records, err := c.Access(ctx, client.ListAccessParams{Limit: ptr(uint64(5))}); err != nil ||
		len(records.Records) != 5 || records.Next == nil {
		t.Errorf("%v, %v", records, err)
	}

	// The daemon does not even have to agree.
	for i, call := range calls {
		for j, answer := range answers {
			l.tell("", func([]byte) []byte { return answer })
			l.forge = true
			var fault *client.Fault
			if _, err := call(); !errors.As(err, &fault) {
				t.Errorf("call %d with the answer of call %d: %v", i, j, err)
			}
		}
	}
	l.tell("", nil)
	swaps := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, withBody(r, strings.Replace(readAll(t, r), "spanish-40", "standard-52", 1)))
		})
	}, func(cfg *client.Config) { cfg.Token = d.admin })
	_, err = swaps.SetSwitch(ctx, client.SwitchRequest{Scope: client.SwitchRequestScopeDeck, Deck: ptr("spanish-40"),
		Reason: "a test"})
	isFault(t, "a switch of another deck", err, "not the one that was asked for")
	_, err = c.SetSwitch(ctx, client.SwitchRequest{Scope: client.SwitchRequestScopeDeck, Deck: ptr("spanish-40"),
		Reason: "a test"})
	must(t, err)
}

// act is the request for what the administrator approves, by an identity.
func (d *daemon) act(c *client.Client, as string, body audit.Body) client.ActRequest {
	d.t.Helper()
	told, err := c.Acts(d.t.Context())
	check(err)
	act := &audit.ActEntry{Digest: audit.Approved(as, body), Previous: told.Newest, HeadSize: told.Size,
		HeadRoot: told.Root, Expires: time.Now().Add(time.Hour).UnixMilli()}
	act.Act, _ = audit.ActFor(body)
	signature, err := d.administrator.Signer().Sign(act.Signed(told.Genesis))
	check(err)
	act.Signatures = []audit.ActSignature{{Administrator: "admin", Signature: [64]byte(signature)}}
	return client.ActRequest{Act: audit.EncodeBody(act), Type: ptr(int(body.Type())), Body: audit.EncodeBody(body)}
}

// TestOtherCredential has a daemon that writes another credential than was asked for.
func TestOtherCredential(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	until := client.Timestamp{Time: time.Now().Add(time.Hour).Truncate(time.Millisecond)}
	text, err := until.MarshalText()
	check(err)
	for id, lie := range map[string]struct{ replace, by string }{
		"tok_honest":   {"", ""},
		"tok_identity": {`"identity":"floor"`, `"identity":"dealer"`},
		"tok_tables":   {`["b","a"]`, `["a","b","c"]`},
		"tok_all":      {`,"tables":["b","a"]`, ""},
		"tok_expires":  {`"expires":"` + string(text) + `",`, ""},
		"tok_role":     {`"role":"dealer"`, `"role":"regulator"`},
	} {
		c := d.client(func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := readAll(t, r)
				changed := strings.Replace(body, lie.replace, lie.by, 1)
				if changed == body && lie.replace != "" {
					t.Errorf("%s is not in %s", lie.replace, body)
				}
				h.ServeHTTP(w, withBody(r, changed))
			})
		}, func(cfg *client.Config) { cfg.Token = d.admin })
		_, err := c.ChangeCredential(t.Context(), client.CredentialRequest{
			Action: client.CredentialRequestActionCreate, Credential: id, Role: ptr(client.CredentialRequestRoleDealer),
			Identity: ptr("floor"),
			Tables:   []string{"b", "a"}, Expires: &until, Hash: &client.Hash{1},
		})
		var f *client.Fault
		if errors.As(err, &f) != (lie.replace != "") || lie.replace == "" && err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}
