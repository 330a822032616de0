package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/follow"
	"shuffled/internal/httpapi"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/recall"
	"shuffled/internal/seal"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// daemon is a real ledger with its API.
type daemon struct {
	administrator *keys.SigningKey
	t             testing.TB
	api           http.Handler
	vkey          string
	token         string // a dealer's
	admin         string // an administrator's token

	start     time.Time // its clock's, when it was made
	origin    string
	policy    string // with the ledger's key and the witnesses
	witnesses []*witnesstest.Witness
	ledger    *sequencer.Ledger
}

// setting is what a daemon differs in.
type setting struct {
	witnesses  int  // of which all but one, if there are more, are the quorum
	late       bool // its own rules wait for no witness
	disclosure audit.Disclosure
	at         time.Time // where its clock starts; zero: now
	round      func(ctx context.Context, round uint64) ([48]byte, error)
}

func newDaemon(t testing.TB) *daemon {
	t.Helper()
	return newDaemonWith(t, setting{})
}

// follow runs a feed of the ledger until the test is over.
func (d *daemon) follow(of *dealer.Dealer, l *sequencer.Ledger) *follow.Feed {
	feed := follow.New(follow.Config{Ledger: l, Tables: of.Shuffles(), Now: time.Now,
		Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); feed.Run(ctx) }()
	d.t.Cleanup(func() { stop(); <-ended })
	return feed
}

func newDaemonWith(t testing.TB, o setting) *daemon {
	t.Helper()
	signing, err := keys.GenerateSigning("example.com/test")
	must(t, err)
	return newDaemonOf(t, signing, o)
}

// newDaemonUnder makes a ledger of its own under a key that others may have.
func newDaemonUnder(t testing.TB, signing *keys.SigningKey) *daemon {
	t.Helper()
	return newDaemonOf(t, signing, setting{})
}

func newDaemonOf(t testing.TB, signing *keys.SigningKey, o setting) *daemon {
	t.Helper()
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "test.sqlite")
	check(sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
	store, err := sqlite.Open(path, sqlite.Options{})
	check(err)
	t.Cleanup(func() { store.Close() })

	start := time.Now()
	now := func() time.Time {
		if o.at.IsZero() {
			return time.Now()
		}
		return o.at.Add(time.Since(start))
	}
	made := &daemon{t: t, vkey: signing.VKey(), start: now(), origin: signing.Origin()}
	deals := made.startWitnesses(o.witnesses)
	if o.late {
		deals = audit.DealsSigned
	}
	auditor, err := keys.GenerateAuditor()
	check(err)
	made.administrator, err = keys.GenerateSigning("admin")
	check(err)
	if o.disclosure == 0 {
		o.disclosure = audit.DisclosurePublic
	}

	info := ledger.Info{Name: "main", Origin: signing.Origin()}
	mark := filepath.Join(dir, "main.mark")
	check(sequencer.Create(t.Context(), store, info, &audit.Genesis{
		Revision: audit.Revision, Origin: signing.Origin(), SigningKey: signing.Public(),
		AuditorKeys:    [][]byte{auditor.Public()},
		Administrators: []audit.Administrator{{Name: "admin", Key: made.administrator.Public()}},
		Policy:         made.witnessPolicy(), Deals: deals, Disclosure: o.disclosure, MixModes: 7,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic,
	}, signing.Signer(), mark, now()))
	l, err := sequencer.Open(t.Context(), ledger.Config{
		Store: store, Info: info, Signers: []note.Signer{signing.Signer()}, Mark: mark,
		Start:   audit.Event{Name: "test"},
		Clock:   func() (time.Time, time.Duration) { return now(), time.Since(start) },
		Witness: witness.Reach,
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
		Now: func() int64 { return now().UnixMilli() }, Round: o.round})

	api, err := httpapi.New(httpapi.Config{Limits: config.Default().Limits.Sandbox(), Log: log, Now: now})
	check(err)
	check(api.Add(httpapi.Ledger{Dealer: d, Log: l, Access: store, Recall: recall.New(l, store, 0, now),
		Events: made.follow(d, l)}))
	api.Ready()
	made.api, made.ledger = api, l
	made.token, made.admin = made.newToken(audit.RoleDealer, "dealer"), made.newToken(audit.RoleAdmin, "admin")
	return made
}

// newToken makes a token of a service.
func (d *daemon) newToken(role audit.Role, identity string) string {
	d.t.Helper()
	id, bearer := keys.NewToken()
	_, secret, _ := keys.SplitToken(string(bearer.Bytes()))
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormToken, Role: role, Identity: identity}
	c.Digest = c.Opens(keys.HashToken(secret))
	p := ledger.Proposal{Actor: audit.Operator, Bodies: []audit.Body{c}}
	if _, err := d.ledger.Append(d.t.Context(), p); err != nil {
		d.t.Fatal(err)
	}
	return string(bearer.Bytes())
}

// startWitnesses starts n witnesses of the ledger, and returns what deals then need.
func (d *daemon) startWitnesses(n int) audit.Deals {
	for range n {
		d.witnesses = append(d.witnesses, witnesstest.Start(d.t, d.vkey))
	}
	d.policy = fmt.Sprintf("log %s\n%s", d.vkey, d.witnessPolicy())
	if n == 0 {
		d.policy += "quorum none\n"
		return audit.DealsSigned
	}
	return audit.DealsCosigned
}

// witnessPolicy names the witnesses; nil where there are none.
func (d *daemon) witnessPolicy() []byte {
	var lines, names []string
	for _, w := range d.witnesses {
		lines, names = append(lines, w.PolicyLine), append(names, w.Name)
	}
	if lines == nil {
		return nil
	}
	return fmt.Appendf(nil, "%s\ngroup all-but-one %d %s\nquorum all-but-one\n", strings.Join(lines, "\n"),
		max(1, len(names)-1), strings.Join(names, " "))
}

// client returns a client of the daemon behind between, which sees every request; nil is nothing in between.
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
	must(d.t, err)
	return c
}

// repeated is what the answer to a repeated request says of a shuffle.
func repeated(s client.Shuffle) client.Shuffle {
	s.Repeated = ptr(client.ShuffleRepeatedTrue)
	return s
}

func ptr[T any](v T) *T { return &v }

// witnessed makes a client pin the policy, and wait for witnesses as long as it takes.
func (d *daemon) witnessed(cfg *client.Config) {
	cfg.VKey, cfg.Policy = "", d.policy
	cfg.Attempts, cfg.MaxPause = 5000, 20*time.Millisecond
}
