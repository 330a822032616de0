package client_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/httpapi"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/recall"
	"shuffled/internal/seal"
	"shuffled/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// daemon is a real ledger with its API.
type daemon struct {
	t     *testing.T
	api   http.Handler
	vkey  string
	token string // a dealer's
	admin string // an administrator's token
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	signing, err := keys.GenerateSigning("example.com/test")
	if err != nil {
		t.Fatal(err)
	}
	return newDaemonUnder(t, signing)
}

// newDaemonUnder makes a ledger of its own under a key that others may have.
func newDaemonUnder(t *testing.T, signing *keys.SigningKey) *daemon {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "test.sqlite")
	check(sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
	store, err := sqlite.Open(path, sqlite.Options{})
	check(err)
	t.Cleanup(func() { store.Close() })

	info := ledger.Info{Name: "main", Origin: signing.Origin()}
	mark := filepath.Join(dir, "main.mark")
	check(ledger.Create(t.Context(), store, info, &audit.Genesis{
		Origin: signing.Origin(), SigningKey: signing.Public(), Deals: audit.DealsSigned, Disclosure: audit.DisclosurePublic,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic,
	}, signing.Signer(), mark, time.Now()))
	l, err := ledger.Open(t.Context(), ledger.Config{
		Store: store, Info: info, Signers: []note.Signer{signing.Signer()}, Mark: mark, Start: audit.Event{Name: "test"},
	})
	check(err)
	t.Cleanup(func() { l.Close() })

	source, err := entropy.New(entropy.Config{})
	check(err)
	sealing, err := seal.NewKey(keys.GenerateSealing().Bytes())
	check(err)
	ring, err := seal.NewKeyring(sealing)
	check(err)
	log := slog.New(slog.DiscardHandler)
	d := dealer.New(dealer.Config{Ledger: l, Store: store, Entropy: source, Keys: ring, Log: log,
		Now: func() int64 { return time.Now().UnixMilli() }})

	token := func(role ledger.Role) string {
		t.Helper()
		id, bearer := keys.NewToken()
		_, secret, _ := keys.SplitToken(string(bearer.Bytes()))
		check(store.PutToken(t.Context(), l.ID(), ledger.Token{ID: id, Role: role, Hash: keys.HashToken(secret), Created: 1}))
		return string(bearer.Bytes())
	}

	api, err := httpapi.New(httpapi.Config{Log: log})
	check(err)
	check(api.Add(httpapi.Ledger{Dealer: d, Log: l, Tokens: store, Access: store, Recall: recall.New(l.ID(), store, log)}))
	api.Ready()
	return &daemon{t: t, api: api, vkey: signing.VKey(), token: token(ledger.RoleDealer), admin: token(ledger.RoleAdmin)}
}

// client returns a client of the daemon behind between, which sees every
// request; nil is nothing in between.
func (d *daemon) client(between func(http.Handler) http.Handler, change func(*client.Config)) *client.Client {
	d.t.Helper()
	h := d.api
	if between != nil {
		h = between(h)
	}
	server := httptest.NewServer(h)
	d.t.Cleanup(server.Close)
	cfg := client.Config{URL: server.URL, Ledger: "main", VKey: d.vkey, Token: d.token,
		Pause: time.Millisecond, MaxPause: 2 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	c, err := client.New(cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func ptr[T any](v T) *T { return &v }
