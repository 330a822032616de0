package witness_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/shuffle"
	"shuffled/internal/store/sqlite"
)

// TestLitewitnessOfALedger: a witness that is not ours cosigns a ledger of ours,
// so that it deals; and when the database goes back, its word stops the ledger.
func TestLitewitnessOfALedger(t *testing.T) {
	l := newTestLog(t, "cards.example.org/live", "a ledger's") // for its key
	w := startLitewitness(t, buildLitewitness(t), l)
	own, err := torchwood.NewCosignatureSigner("foreign.example.org/w", seeded("litewitness's own"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := audit.SigningKey(l.vkey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, mark := filepath.Join(dir, "shuffled.db"), filepath.Join(dir, "mark")
	info := ledger.Info{Name: "live", Origin: l.origin}
	config := ledger.Config{Info: info, Signers: []note.Signer{l.signer}, Mark: mark, Start: audit.Event{Name: "test"},
		Probe:   5 * time.Millisecond,
		Witness: func([]trust.Witness) (ledger.Witness, error) { return w, nil }}
	if err := sqlite.MigrateUp(t.Context(), db, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	policy := fmt.Appendf(nil, "witness foreign %s %s\nquorum foreign\n", own.Verifier(), w.URL)
	err = sequencer.Create(t.Context(), store, info,
		&audit.Genesis{Revision: audit.Revision, Origin: l.origin, SigningKey: public, Policy: policy,
			Deals:      audit.DealsCosigned,
			Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 7200, Access: audit.AccessPublic},
		l.signer, mark, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	config.Store = store
	live, err := sequencer.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	by := audit.Actor{Identity: "tester", Credential: "tester"}
	add := func(live *sequencer.Ledger, body audit.Body) uint64 {
		t.Helper()
		a, err := live.Append(t.Context(), ledger.Proposal{Actor: by, Bodies: []audit.Body{body}})
		if err != nil {
			t.Fatal(err)
		}
		return a[0].Index
	}
	var backup []byte
	for n := range 3 {
		id := add(live, aCommit(live, n))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		err := live.AwaitCosigned(ctx, id)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		add(live, &audit.Deal{Shuffle: id, Checkpoint: id + 1,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat}}})
		if n == 1 {
			if err := errors.Join(live.Close(), store.Close()); err != nil {
				t.Fatal(err)
			}
			if backup, err = os.ReadFile(db); err != nil {
				t.Fatal(err)
			}
			if store, err = sqlite.Open(db, sqlite.Options{}); err != nil {
				t.Fatal(err)
			}
			config.Store = store
			if live, err = sequencer.Open(t.Context(), config); err != nil {
				t.Fatal(err)
			}
		}
	}
	policyRead, err := trust.ParsePolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	if h, _ := live.Cosigned(); !policyRead.Satisfied(h.Checkpoint) {
		t.Errorf("litewitness did not cosign:\n%s", h.Checkpoint)
	}

	if err := errors.Join(live.Close(), store.Close(), os.WriteFile(db, backup, 0o600), os.Remove(mark)); err != nil {
		t.Fatal(err)
	}
	if store, err = sqlite.Open(db, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	config.Store = store
	if live, err = sequencer.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := live.Ready(); !errors.Is(err, ledger.ErrFrozen) || !strings.Contains(err.Error(), "witness says size") {
		t.Errorf("a database that went back: %v", err)
	}
}

// aCommit returns a commit to a made-up tape: the ledger does not look into it.
func aCommit(l *sequencer.Ledger, n int) *audit.Commit {
	h := sha256.Sum256(fmt.Append(nil, "commit ", n))
	return &audit.Commit{Context: &audit.Context{Origin: l.Info().Origin, Genesis: l.GenesisHash(), Table: "t",
		DeckHash: h,
		Recipe:   shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic},
		Commitment: h, DeckRoot: h, KeyTag: h}
}
