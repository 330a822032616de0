package dealer_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
	"shuffled/internal/verify"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const origin = "test.example/dealer"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// table is a dealer on a real store, with a clock that a test can move.
type table struct {
	*dealer.Dealer
	t      *testing.T
	cfg    dealer.Config
	vkey   string
	path   string // of the store's file, for SQLite
	dir    string
	open   ledger.Config
	start  time.Time
	shared *clock

	witnesses []*witnesstest.Witness
}

// clock is the time of all daemons of a table. Moving it moves its monotonic part too: time passes, nothing steps.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
	still time.Time // not zero: time passes only when it is moved
}

// read returns the time and how much of it passed.
func (c *clock) read(start time.Time) (time.Time, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.still.IsZero() {
		return time.Now().Add(c.ahead), time.Since(start) + c.ahead
	}
	return c.still.Add(c.ahead), c.ahead
}

// setting is how a table differs from a sandbox on SQLite.
type setting struct {
	source     *entropy.Source
	postgres   bool
	auditors   [][]byte
	disclosure audit.Disclosure
	modes      uint8     // of the genesis: sources that a plan may have
	at         time.Time // what the clock shows first; zero: the time
	witnesses  int       // of whom all must cosign before a deal
}

func newTable(t *testing.T, source *entropy.Source) *table {
	t.Helper()
	return newTableWith(t, setting{source: source})
}

func newTableWith(t *testing.T, set setting) *table {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	must(t, err)
	signer, err := note.NewSigner(skey)
	must(t, err)
	public, err := audit.SigningKey(vkey)
	must(t, err)
	tb := &table{t: t, vkey: vkey, dir: t.TempDir(), start: time.Now(), shared: new(clock)}
	if !set.at.IsZero() {
		tb.shared.ahead = set.at.Sub(tb.start)
	}
	store := tb.openStore(set.postgres)
	if set.disclosure == 0 {
		set.disclosure = audit.DisclosurePublic
	}
	info, mark := ledger.Info{Name: "main", Origin: origin}, filepath.Join(tb.dir, "mark")
	g := &audit.Genesis{Revision: audit.Revision, Origin: origin, SigningKey: public, Deals: audit.DealsSigned,
		MixModes:    set.modes,
		AuditorKeys: set.auditors, Disclosure: set.disclosure, DefaultCloseBy: 3600, MaxCloseBy: 7200,
		Access: audit.AccessPublic}
	tb.startWitnesses(g, set.witnesses)
	err = sequencer.Create(t.Context(), store, info, g, signer, mark, tb.now())
	must(t, err)
	tb.open = ledger.Config{Store: store, Info: info, Signers: []note.Signer{signer}, Mark: mark,
		Start:   audit.Event{Name: "test"},
		Witness: witness.Reach,
		Clock:   func() (time.Time, time.Duration) { return tb.shared.read(tb.start) }}
	if set.source == nil {
		if set.source, err = entropy.New(entropy.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	tb.cfg = dealer.Config{Store: store, Entropy: set.source, Keys: newRing(t), Log: slog.New(slog.DiscardHandler),
		Now: func() int64 { return tb.now().UnixMilli() }}
	tb.serve(store, mark)
	return tb
}

// startWitnesses starts n witnesses and lets the genesis wait for all of them.
func (tb *table) startWitnesses(g *audit.Genesis, n int) {
	if n == 0 {
		return
	}
	var lines, names []string
	for range n {
		w := witnesstest.Start(tb.t, tb.vkey)
		tb.witnesses = append(tb.witnesses, w)
		lines, names = append(lines, w.PolicyLine), append(names, w.Name)
	}
	g.Deals = audit.DealsCosigned
	g.Policy = fmt.Appendf(nil, "%s\ngroup all-of-them all %s\nquorum all-of-them\n", strings.Join(lines, "\n"),
		strings.Join(names, " "))
}

// openStore makes an empty store.
func (tb *table) openStore(inPostgres bool) ledger.Store {
	t := tb.t
	t.Helper()
	if inPostgres {
		dsn := testdb.DSN(t)
		must(t, postgres.MigrateUp(t.Context(), dsn, postgres.Options{}))
		store, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
		must(t, err)
		t.Cleanup(func() { store.Close() })
		return store
	}
	tb.path = filepath.Join(tb.dir, "shuffled.db")
	must(t, sqlite.MigrateUp(t.Context(), tb.path, sqlite.Options{}))
	store, err := sqlite.Open(tb.path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { store.Close() })
	return store
}

// serve opens the ledger and lets the table's dealer serve it.
func (tb *table) serve(store ledger.Store, mark string) {
	tb.t.Helper()
	c := tb.open
	c.Store, c.Mark = store, mark
	l, err := sequencer.Open(tb.t.Context(), c)
	must(tb.t, err)
	tb.t.Cleanup(func() { l.Close() })
	tb.cfg.Ledger, tb.cfg.Store = l, store
	tb.Dealer = dealer.New(tb.cfg)
}

// rival returns another daemon on the same ledger, on this store: the table's own, or one in front of it.
func (tb *table) rival(store ledger.Store) *table {
	tb.t.Helper()
	other := *tb
	other.open.AdoptHead = "another daemon"
	other.open.Mark = filepath.Join(tb.t.TempDir(), "mark")
	other.serve(store, other.open.Mark)
	return &other
}

func newRing(t *testing.T) *seal.Keyring {
	t.Helper()
	secret := make([]byte, seal.KeySize)
	for i := range secret {
		secret[i] = byte(time.Now().UnixNano() >> (i % 8) * 8)
	}
	secret[0], secret[1] = 1, 2
	k, err := seal.NewKey(secret)
	must(t, err)
	ring, err := seal.NewKeyring(k)
	must(t, err)
	return ring
}

func (tb *table) now() time.Time {
	now, _ := tb.shared.read(tb.start)
	return now
}

func (tb *table) pass(d time.Duration) {
	tb.shared.mu.Lock()
	defer tb.shared.mu.Unlock()
	tb.shared.ahead += d
}

func (tb *table) commit(key string, req api.ShuffleRequest) api.Shuffle {
	tb.t.Helper()
	s, err := tb.Shuffle(tb.t.Context(), as("tester"), key, req)
	must(tb.t, err)
	return s
}

func (tb *table) deal(id uint64, req api.DealRequest) api.Deal {
	tb.t.Helper()
	d, err := tb.Deal(tb.t.Context(), as("tester"), id, req)
	must(tb.t, err)
	return d
}

// transcript returns a parsed transcript after the verifier accepted it.
func (tb *table) transcript(id uint64, v api.View) *openings.Transcript {
	tb.t.Helper()
	b, err := tb.Transcript(tb.t.Context(), id, v)
	must(tb.t, err)
	if verdict := verify.Transcript(b, verify.Trust{VKey: tb.vkey}); verdict.Verdict != "proved" {
		js, _ := json.MarshalIndent(verdict, "", " ")
		tb.t.Fatalf("the verdict on shuffle %d: %s", id, js)
	}
	tr, err := openings.ParseTranscript(b)
	must(tb.t, err)
	return tr
}

// as is the actor of a test: a service with one credential of the same name.
func as(name string) audit.Actor { return audit.Actor{Identity: name, Credential: name} }

// tagOf returns the key tag of a key at table t, in hexadecimal.
func tagOf(key string) string { return fmt.Sprintf("%x", audit.KeyTag(origin, "tester", "t", key)) }

func seat(count int, to string) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeSeat, Recipient: to}
}

func board(count int) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeBoard, Public: true}
}

// sameAnswer compares answers except for whether they say that they are repeated.
var sameAnswer = cmpopts.IgnoreFields(api.Answered{}, "Repeated")
