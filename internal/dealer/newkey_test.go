package dealer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
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
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
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
			dealer.SwitchRequest{Scope: audit.ScopeLedger, Reason: "a test"}); err != nil {
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
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		other := dealer.ShuffleRequest{Table: "t", Deck: "short-36"}
		draws := dealer.DrawsRequest{Table: "t", Ranges: []uint32{6, 6}}
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
					wantIs(t, step.name+", another request", err, dealer.ErrKeyReused)
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
		before, err := tb.Transcript(t.Context(), s.ID, dealer.View{})
		must(t, err)
		rotate(pins[1])
		if _, err := tb.Deal(t.Context(), as("tester"), s.ID,
			dealer.DealRequest{Runs: []audit.Run{seat(2, "a")}}); err != nil {
			t.Fatal(err)
		}
		rotate(pins[2])
		tb.close(s.ID)
		after, err := tb.Transcript(t.Context(), s.ID, dealer.View{})
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
		f, err := audit.ParseTranscript(after)
		if err != nil || len(f.Keys) != 2 {
			t.Errorf("%d keys, %v", len(f.Keys), err)
		}
		if v := verify.Transcript(before, verify.Trust{VKey: pins[2]}); v.Failed != "signature" {
			t.Errorf("a file of before under the newest key: %s at %s", v.Verdict, v.Failed)
		}
	}
}
