package dealer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/verify"
)

// keyAt is a UUID of version 7 that says it was made at this time.
func keyAt(at time.Time, n int) string {
	ms := at.UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n)
}

// TestLyingKeys: whatever time a key names, a retry gets the first answer and draws no
// tape, also after a restart and behind a later rule that refuses new commits.
func TestLyingKeys(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
		single := keyAt(tb.now().Add(time.Hour), 1)
		first := tb.commit(single, req)
		tb.restart()
		tb.pass(time.Hour)
		same := func(name string) {
			t.Helper()
			drawn := tb.cfg.Entropy.Stats().Tapes
			tb.unwritten(func() {
				if diff := cmp.Diff(first, tb.commit(single, req), sameAnswer); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			})
			if n := tb.Ledger().Live().Appends.Duplicate; n != 0 {
				t.Errorf("%s: %d batches were refused", name, n)
			}
			if n := tb.cfg.Entropy.Stats().Tapes - drawn; n != 0 {
				t.Errorf("%s: %d tapes were drawn", name, n)
			}
		}
		same("after a restart")
		if _, err := tb.SetSwitch(t.Context(), as("admin"),
			api.SwitchRequest{Scope: audit.ScopeLedger, Reason: "a test"}); err != nil {
			t.Fatal(err)
		}
		same("behind a switch")
		another := keyAt(tb.now(), 3)
		var illegal *audit.Illegal
		if _, err := tb.Shuffle(t.Context(), as("tester"), another, req); !errors.As(err, &illegal) {
			t.Errorf("a new key behind a switch: %v", err)
		}
	})
}

// TestKeysLast: an idempotency key gets its answer for ever: after a day, after a month, and after restarts, by the
// clock of the daemon and by that of the machine. A retry draws no tape, and another request under the key is refused.
func TestKeysLast(t *testing.T) {
	const day = 24 * time.Hour
	onEachStore(t, setting{at: time.Now().Add(-40 * day)}, func(t *testing.T, tb *table) {
		req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
		other := api.ShuffleRequest{Table: "t", Deck: "short-36"}
		draws := api.DrawsRequest{Table: "t", Ranges: []uint32{6, 6}}
		keys := []string{"hand-1", keyAt(tb.now(), 1), keyAt(tb.now().Add(time.Second), 2)}
		var first []any
		send := func() (answers []any) {
			t.Helper()
			for _, key := range keys {
				answers = append(answers, tb.commit(key, req), tb.draw(key+"-drawn", draws))
			}
			return answers
		}
		first = send()
		for _, step := range []struct {
			name string
			do   func()
		}{
			{"at once", func() {}},
			{"after a restart", tb.restart},
			{"after a day", func() { tb.pass(day + time.Minute) }},
			{"after a day and a restart", tb.restart},
			{"after forty days", func() { tb.pass(39 * day) }},
			{"after forty days and a restart", tb.restart},
		} {
			step.do()
			tapes := tb.cfg.Entropy.Stats().Tapes
			tb.unwritten(func() {
				if diff := cmp.Diff(first, send(), sameAnswer); diff != "" {
					t.Errorf("%s: %s", step.name, diff)
				}
				for _, key := range keys {
					_, err := tb.Shuffle(t.Context(), as("tester"), key, other)
					wantIs(t, step.name+", another request", err, api.ErrKeyReused)
				}
			})
			if n := tb.cfg.Entropy.Stats().Tapes - tapes; n != 0 {
				t.Errorf("%s: %d tapes were drawn", step.name, n)
			}
		}
	})
}

// TestTranscriptAcrossRotations: a file that was made after rotations is proved,
// offline, by who pinned a key of before, a key between, the newest or none.
func TestTranscriptAcrossRotations(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		tb := newTableWith(t, setting{postgres: postgres})
		pins := []string{tb.vkey}
		signers := tb.open.Signers
		tb.Ledger().Close()
		for range 2 {
			skey, vkey, err := note.GenerateKey(nil, origin)
			must(t, err)
			signer, err := note.NewSigner(skey)
			must(t, err)
			signers, pins = append(signers, signer), append(pins, vkey)
		}
		tb.open.Signers = signers
		tb.serve(tb.open.Store, tb.open.Mark)
		rotate := func(vkey string) {
			t.Helper()
			public, err := audit.SigningKey(vkey)
			must(t, err)
			tb.append(&audit.Key{Subject: audit.SubjectSigning, Public: public})
		}
		s := tb.commit("key", hand)
		before, err := tb.Transcript(t.Context(), s.ID, api.View{})
		must(t, err)
		rotate(pins[1])
		if _, err := tb.Deal(t.Context(), as("tester"), s.ID,
			api.DealRequest{Runs: []audit.Run{seat(2, "a")}}); err != nil {
			t.Fatal(err)
		}
		rotate(pins[2])
		tb.close(s.ID)
		after, err := tb.Transcript(t.Context(), s.ID, api.View{})
		must(t, err)
		if v := verify.Transcript(before, verify.Trust{VKey: pins[0]}); v.Verdict != verify.Proved {
			t.Errorf("a file of before: %+v", v)
		}
		for i, vkey := range pins {
			if v := verify.Transcript(after, verify.Trust{VKey: vkey}); v.Verdict != verify.Proved {
				t.Errorf("key %d is pinned: %s at %s", i, v.Verdict, v.Failed)
			}
		}
		if v := verify.Transcript(after, verify.Trust{}); v.Verdict != verify.Consistent {
			t.Errorf("nothing is pinned: %s at %s", v.Verdict, v.Failed)
		}
		f, err := openings.ParseTranscript(after)
		if err != nil || len(f.Keys) != 2 {
			t.Errorf("%d keys, %v", len(f.Keys), err)
		}
		if v := verify.Transcript(before, verify.Trust{VKey: pins[2]}); v.Failed != "signature" {
			t.Errorf("a file of before under the newest key: %s at %s", v.Verdict, v.Failed)
		}
	}
}

// held holds an append back until it is let go, and shows what others send.
type held struct {
	ledger.Store
	hold    chan struct{} // nil: nothing is held
	entered chan struct{}
	written chan error
	sent    func(ledger.Batch)
}

func (h *held) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if h.sent != nil {
		h.sent(b)
	}
	if h.hold == nil {
		return h.Store.Append(ctx, id, old, b)
	}
	hold := h.hold
	h.hold = nil
	close(h.entered)
	<-hold
	err := h.Store.Append(ctx, id, old, b)
	h.written <- err
	return err
}

// TestNewKeyLeaves: who leaves while the commit is being written is told that its outcome is not known.
func TestNewKeyLeaves(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	tb.pass(time.Minute)
	h := &held{Store: tb.cfg.Store, hold: make(chan struct{}), entered: make(chan struct{}),
		written: make(chan error, 1)}
	ctx, leave := context.WithCancel(t.Context())
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
	tb.commit("first", req) // from here on it is alone
	tb.Ledger().Close()
	hold := h.hold
	h.hold = nil
	tb.serve(h, tb.open.Mark)
	h.hold = hold
	told := make(chan error, 1)
	go func() {
		_, err := tb.Shuffle(ctx, as("tester"), keyAt(tb.now(), 1), req)
		told <- err
	}()
	<-h.entered
	leave()
	err := <-told
	close(hold)
	if w := <-h.written; w != nil {
		t.Fatal(w)
	}
	if !errors.Is(err, ledger.ErrUnknownOutcome) || errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("a written commit is told as %v", err)
	}
}

// TestLyingKeyLatched: a refusal that is no rule of the ledger's is not told in the
// place of an answer that stands there, either.
func TestLyingKeyLatched(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
	key := keyAt(tb.now().Add(time.Hour), 1)
	first := tb.commit(key, req)
	tb.restart()
	tb.pass(time.Hour)
	tb.cfg.Entropy.Trip(entropy.ReasonFoulDeck)
	if diff := cmp.Diff(first, tb.commit(key, req), sameAnswer); diff != "" {
		t.Error(diff)
	}
	if _, err := tb.Shuffle(t.Context(), as("tester"), keyAt(tb.now(), 2), req); !errors.Is(err, api.ErrEntropy) {
		t.Errorf("a new key: %v", err)
	}
}

// TestTakenSlotOfAChild: a child with a slot that stands in another commit is refused
// before its parent's tape goes to the store.
func TestTakenSlotOfAChild(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		_, hashes := slots("taken", 1)
		req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
		parent := tb.commit("parent", req)
		req.Plan = &api.MixPlan{Slots: hashes}
		tb.commit("slot", req)
		tb.Ledger().Close()
		tb.serve(&held{Store: tb.cfg.Store, sent: func(b ledger.Batch) {
			for _, r := range b.Rows {
				if r.Type == audit.TypeClose {
					t.Error("the tape of an open shuffle was sent")
				}
			}
		}}, tb.open.Mark)
		_, err := tb.Shuffle(t.Context(), as("tester"), "child",
			api.ShuffleRequest{Table: "t", Parent: &api.Parent{ID: parent.ID}, Plan: req.Plan})
		var illegal *audit.Illegal
		if !errors.As(err, &illegal) || illegal.Code != audit.RuleSlot {
			t.Errorf("a slot that is taken: %v", err)
		}
	})
}

// TestLyingKeyOfAChild: a child's key is always looked up, for its parent's tape goes to the store with it.
func TestLyingKeyOfAChild(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
	lying := keyAt(tb.now().Add(time.Hour), 1)
	used := tb.commit(lying, req)
	if _, err := tb.Close(t.Context(), as("tester"), used.ID,
		api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
		t.Fatal(err)
	}
	by := api.Time(tb.now().Add(7000 * time.Second).UnixMilli())
	req.CloseBy = &by
	parent := tb.commit("parent", req)
	tb.Ledger().Close()
	tb.serve(&held{Store: tb.cfg.Store, sent: func(b ledger.Batch) {
		for _, r := range b.Rows {
			if r.Type == audit.TypeClose && r.Shuffle == parent.ID {
				t.Error("the tape of an open shuffle was sent")
			}
		}
	}}, tb.open.Mark)
	tb.pass(time.Hour)
	_, err := tb.Shuffle(t.Context(), as("tester"), lying,
		api.ShuffleRequest{Table: "t", Parent: &api.Parent{ID: parent.ID}})
	if !errors.Is(err, api.ErrKeyReused) {
		t.Errorf("another request under the key: %v", err)
	}
}
