// Package failover tests the promise of a receipt against the failures of a database:
// replies that are lost, servers that are killed, hang, are promoted too early or
// come back with less than they had. It has only tests, which run the real ledger and
// dealer, and some the real binary, on real servers.
package failover

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

func TestMain(m *testing.M) { testdb.Main(m) }

var (
	injections = flag.Int("injections", 100, "how many requests, and how many replies, of appends are lost")
	rounds     = flag.Int("rounds", 2, "how many failovers of each kind")
)

const origin = "test.example/failover"

var info = ledger.Info{Name: "main", Origin: origin}

// house is a ledger in a database, and what its daemons share.
type house struct {
	t         *testing.T
	origin    string
	direct    string // address of the database, without a proxy
	dir       string // of the high-water marks
	signer    note.Signer
	key       note.Verifier
	ring      *seal.Keyring
	source    *entropy.Source
	witnesses []*witnesstest.Witness
	word      string // of the operator, if there is no mark
}

// newHouse makes the tables and a ledger, whose deals wait for that many witnesses.
func newHouse(t *testing.T, direct string, witnesses int) *house {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	must(t, err)
	h := &house{t: t, origin: origin, direct: direct, dir: t.TempDir(), word: "a new daemon"}
	h.signer, err = note.NewSigner(skey)
	must(t, err)
	h.key, err = note.NewVerifier(vkey)
	must(t, err)
	secret := make([]byte, seal.KeySize)
	rand.Read(secret)
	key, err := seal.NewKey(secret)
	must(t, err)
	h.ring, err = seal.NewKeyring(key)
	must(t, err)
	h.source, err = entropy.New(entropy.Config{})
	must(t, err)
	public, err := audit.SigningKey(vkey)
	must(t, err)
	g := &audit.Genesis{Revision: audit.Revision, Origin: origin, SigningKey: public, Deals: audit.DealsSigned,
		Disclosure:     audit.DisclosurePublic,
		DefaultCloseBy: 3600, MaxCloseBy: 7200, Access: audit.AccessPublic}
	h.startWitnesses(g, vkey, witnesses)
	must(t, postgres.MigrateUp(t.Context(), direct, postgres.Options{}))
	store := h.store(direct, postgres.Options{})
	defer store.Close()
	must(t, sequencer.Create(t.Context(), store, info, g, h.signer, h.mark("created"), time.Now()))
	return h
}

func (h *house) startWitnesses(g *audit.Genesis, vkey string, n int) {
	if n == 0 {
		return
	}
	var lines, names []string
	for range n {
		w := witnesstest.Start(h.t, vkey)
		h.witnesses = append(h.witnesses, w)
		lines, names = append(lines, w.PolicyLine), append(names, w.Name)
	}
	g.Deals = audit.DealsCosigned
	g.Policy = fmt.Appendf(nil, "%s\ngroup all-of-them all %s\nquorum all-of-them\n", strings.Join(lines, "\n"),
		strings.Join(names, " "))
}

func (h *house) mark(name string) string { return filepath.Join(h.dir, name+".mark") }

func (h *house) store(dsn string, o postgres.Options) *postgres.Store {
	h.t.Helper()
	o.AllowSuperuser = true
	for tries := 0; ; tries++ {
		s, err := postgres.Open(h.t.Context(), dsn, o)
		if err == nil || tries == 10 { // the timeout may be a short one
			must(h.t, err)
			return s
		}
	}
}

// daemon is a dealer, its ledger and its store.
type daemon struct {
	*dealer.Dealer
	name  string
	store *postgres.Store
	log   *lines
	close func()
}

// daemon starts a daemon with a mark of its own name: an existing one, or none and
// the operator's word.
func (h *house) daemon(name, dsn string, o postgres.Options) *daemon {
	h.t.Helper()
	d, err := h.open(name, dsn, o)
	must(h.t, err)
	return d
}

func (h *house) open(name, dsn string, o postgres.Options) (*daemon, error) {
	store := h.store(dsn, o)
	d := &daemon{name: name, store: store, log: new(lines)}
	log := slog.New(slog.NewTextHandler(d.log, nil))
	l, err := sequencer.Open(h.t.Context(), ledger.Config{
		Store: store, Info: info, Signers: []note.Signer{h.signer}, Mark: h.mark(name), AdoptHead: h.word,
		Witness: witness.Reach,
		Start:   audit.Event{Name: "test"}, Probe: 20 * time.Millisecond, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	d.Dealer = dealer.New(dealer.Config{Ledger: l, Store: store, Entropy: h.source, Keys: h.ring, Log: log,
		Now: func() int64 { return time.Now().UnixMilli() }})
	var once sync.Once
	d.close = func() {
		once.Do(func() {
			if err := errors.Join(l.Close(), store.Close()); err != nil {
				h.t.Errorf("closing %s: %v", name, err)
			}
		})
	}
	h.t.Cleanup(d.close)
	return d, nil
}

// lines is a log that a test reads.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// both is the address of a database on two servers, in this order, as an operator
// gives it.
func both(t *testing.T, dsns ...string) string {
	t.Helper()
	var hosts []string
	var u *url.URL
	for _, dsn := range dsns {
		var err error
		u, err = url.Parse(dsn)
		must(t, err)
		hosts = append(hosts, u.Host)
	}
	u.Host = strings.Join(hosts, ",")
	q := u.Query()
	q.Set("target_session_attrs", "read-write")
	u.RawQuery = q.Encode()
	return u.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition that will come.
func until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func ask[T any](t testing.TB, dsn, sql string) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	must(t, err)
	defer conn.Close(ctx)
	must(t, conn.QueryRow(ctx, sql).Scan(&v))
	return v
}
