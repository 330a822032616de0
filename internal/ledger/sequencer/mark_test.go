package sequencer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

const testOrigin = "test.example/ledger"

// testSigner makes a new signing key, and the key as a genesis names it.
func testSigner(t *testing.T) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, testOrigin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func signed(t *testing.T, s note.Signer, size uint64) []byte {
	t.Helper()
	h, err := ledger.SignHead(size, tlog.Hash{byte(size)}, s)
	if err != nil {
		t.Fatal(err)
	}
	return h.Checkpoint
}

func TestMark(t *testing.T) {
	t.Parallel()
	signer, key := testSigner(t)
	path := filepath.Join(t.TempDir(), "mark")
	if _, _, err := ReadMark(path, key); !errors.Is(err, stops.NoMark) {
		t.Fatalf("reading no file: %v", err)
	}
	m, err := openMark(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openMark(path); err == nil {
		t.Error("a second daemon opened the mark")
	}
	for size := uint64(1); size <= 5; size++ {
		if err := m.write(signed(t, signer, size)); err != nil {
			t.Fatal(err)
		}
		// Another process sees it at once, before any sync.
		if c, _, err := ReadMark(path, key); err != nil || c.Size != size || c.Origin != testOrigin {
			t.Fatalf("after writing size %d: %+v, %v", size, c, err)
		}
	}
	if err := m.close(); err != nil || m.dirty {
		t.Fatalf("closing: %v; what is not synced is left: %v", err, m.dirty)
	}

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Size 5 is in the first slot, 4 in the second.
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		want   uint64 // 0: refused
	}{
		"whole":             {func(b []byte) []byte { return b }, 5},
		"newest slot torn":  {func(b []byte) []byte { clear(b[100:markSlot]); return b }, 4},
		"older slot torn":   {func(b []byte) []byte { clear(b[markSlot+100:]); return b }, 5},
		"both slots torn":   {func(b []byte) []byte { clear(b[100:]); return b }, 0},
		"cut to one slot":   {func(b []byte) []byte { return b[:markSlot] }, 5},
		"empty":             {func(b []byte) []byte { return nil }, 0},
		"a bit in the root": {func(b []byte) []byte { b[len(testOrigin)+5] ^= 1; return b }, 4},
	} {
		damaged := filepath.Join(t.TempDir(), "mark")
		if err := os.WriteFile(damaged, c.damage(append([]byte(nil), b...)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := ReadMark(damaged, key)
		if (err != nil) != (c.want == 0) || got.Size != c.want {
			t.Errorf("%s: size %d, %v; want %d", name, got.Size, err, c.want)
		}
	}

	_, otherKey := testSigner(t)
	if _, _, err := ReadMark(path, otherKey); err == nil {
		t.Error("a mark signed by another key was accepted")
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestMarkSlotFits: the largest checkpoint that the sequencer signs, of a rotation, has its place.
func TestMarkSlotFits(t *testing.T) {
	t.Parallel()
	var signers []note.Signer
	for range 2 {
		skey, _, err := note.GenerateKey(nil, strings.Repeat("o", audit.MaxOrigin))
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(skey)
		if err != nil {
			t.Fatal(err)
		}
		signers = append(signers, signer)
	}
	head, err := ledger.SignHead(audit.MaxInteger, tlog.Hash{255}, signers...)
	if err != nil || len(head.Checkpoint) > 645 || len(head.Checkpoint) > markSlot {
		t.Errorf("%d bytes in a slot of %d: %v", len(head.Checkpoint), markSlot, err)
	}
}

// TestMarkIsSynced: what was written is synced every interval without another write,
// and a sync that fails then stops the next write, and every one after it.
func TestMarkIsSynced(t *testing.T) {
	t.Parallel()
	signer, _ := testSigner(t)
	m, err := openMark(filepath.Join(t.TempDir(), "mark"))
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(t.Context())
	var syncing sync.WaitGroup
	syncing.Go(func() { m.syncEvery(running, time.Millisecond) })
	until := func(what string, is func() bool) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
			m.mu.Lock()
			done := is()
			m.mu.Unlock()
			if done {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	for size := uint64(1); size <= 3; size++ {
		if err := m.write(signed(t, signer, size)); err != nil {
			t.Fatal(err)
		}
		until("a mark is not synced", func() bool { return !m.dirty })
	}
	m.mu.Lock()
	m.dirty = true // as after a write, which the file does not take any more
	m.file.Close()
	m.mu.Unlock()
	until("a failed sync is not noticed", func() bool { return m.err != nil })
	for range 2 {
		if err := m.write(signed(t, signer, 4)); err == nil || !strings.Contains(err.Error(), "syncing") {
			t.Errorf("a write after a failed sync: %v", err)
		}
	}
	cancel()
	syncing.Wait()
	if m.close() == nil {
		t.Error("close hid the failed sync")
	}
}

// TestMarkStopsAfterFailedSync: after a failed sync nothing may be believed.
func TestMarkStopsAfterFailedSync(t *testing.T) {
	t.Parallel()
	signer, _ := testSigner(t)
	m, err := openMark(filepath.Join(t.TempDir(), "mark"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.write(signed(t, signer, 1)); err != nil {
		t.Fatal(err)
	}
	m.file.Close() // the next sync fails
	m.sync()
	if err := m.write(signed(t, signer, 2)); err == nil {
		t.Error("a write after a failed sync was accepted")
	}
	if m.close() == nil {
		t.Error("close hid the failed sync")
	}
}
