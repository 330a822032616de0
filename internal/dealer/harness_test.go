package dealer_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/verify"
)

const origin = "test.example/dealer"

// table is a dealer on a real store, with a clock that a test can move.
type table struct {
	*dealer.Dealer
	t     *testing.T
	cfg   dealer.Config
	vkey  string
	path  string // of the store's file
	mu    sync.Mutex
	ahead time.Duration
}

func newTable(t *testing.T, source *entropy.Source) *table {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	public, err := audit.SigningKey(vkey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "shuffled.db")
	if err := sqlite.MigrateUp(t.Context(), path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	info, mark := ledger.Info{Name: "main", Origin: origin}, filepath.Join(dir, "mark")
	err = ledger.Create(t.Context(), store, info, &audit.Genesis{Origin: origin, SigningKey: public, Deals: audit.DealsSigned,
		Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 7200, Access: audit.AccessPublic}, signer, mark, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	tb := &table{t: t, vkey: vkey, path: path}
	// Moving the clock moves its monotonic part too: time passes, nothing steps.
	start := time.Now()
	l, err := ledger.Open(t.Context(), ledger.Config{Store: store, Info: info, Signer: signer, Mark: mark,
		Start: audit.Event{Name: "test"}, Clock: func() (time.Time, time.Duration) {
			return tb.now(), time.Since(start) + tb.moved()
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if source == nil {
		if source, err = entropy.New(entropy.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	tb.cfg = dealer.Config{Ledger: l, Store: store, Entropy: source, Keys: newRing(t), Log: slog.New(slog.DiscardHandler),
		Now: func() int64 { return tb.now().UnixMilli() }}
	tb.Dealer = dealer.New(tb.cfg)
	return tb
}

func newRing(t *testing.T) *seal.Keyring {
	t.Helper()
	secret := make([]byte, seal.KeySize)
	for i := range secret {
		secret[i] = byte(time.Now().UnixNano() >> (i % 8) * 8)
	}
	secret[0], secret[1] = 1, 2
	k, err := seal.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := seal.NewKeyring(k)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func (tb *table) now() time.Time { return time.Now().Add(tb.moved()) }

func (tb *table) moved() time.Duration {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return tb.ahead
}

func (tb *table) pass(d time.Duration) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.ahead += d
}

func (tb *table) commit(key string, req dealer.ShuffleRequest) dealer.Shuffle {
	tb.t.Helper()
	s, err := tb.Shuffle(tb.t.Context(), "tester", key, req)
	if err != nil {
		tb.t.Fatal(err)
	}
	return s
}

func (tb *table) deal(id uint64, req dealer.DealRequest) dealer.Deal {
	tb.t.Helper()
	d, err := tb.Deal(tb.t.Context(), "tester", id, req)
	if err != nil {
		tb.t.Fatal(err)
	}
	return d
}

// transcript returns a parsed transcript after the verifier accepted it.
func (tb *table) transcript(id uint64, v dealer.View) *audit.Transcript {
	tb.t.Helper()
	b, err := tb.Transcript(tb.t.Context(), id, v)
	if err != nil {
		tb.t.Fatal(err)
	}
	if verdict := verify.Transcript(b, verify.Trust{VKey: tb.vkey}); verdict.Verdict != "proved" {
		js, _ := json.MarshalIndent(verdict, "", " ")
		tb.t.Fatalf("the verdict on shuffle %d: %s", id, js)
	}
	tr, err := audit.ParseTranscript(b)
	if err != nil {
		tb.t.Fatal(err)
	}
	return tr
}

// tagOf returns the key tag of a key at table t, in hexadecimal.
func tagOf(key string) string { return fmt.Sprintf("%x", audit.KeyTag(origin, "t", key)) }

func seat(count int, to string) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeSeat, Recipient: to}
}

func board(count int) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeBoard, Public: true}
}
