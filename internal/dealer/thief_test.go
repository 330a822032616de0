package dealer_test

import (
	"errors"
	"fmt"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
)

// Tests here are of somebody who stole one key, and has a copy of the database
// too. What a thief of an auditor key can open is in TestAuditorsChange.

// sealedRow returns the stored row of a commit.
func (tb *table) sealedRow(id uint64) ledger.Row {
	tb.t.Helper()
	for row, err := range tb.open.Store.Rows(tb.t.Context(), tb.Ledger().ID(), id, id+1) {
		must(tb.t, err)
		return row
	}
	tb.t.Fatalf("no entry %d", id)
	return ledger.Row{}
}

// TestThiefOfSealingKey: the thief reads what was sealed under the stolen key, and
// after its rotation no shuffle more; the house deals both.
func TestThiefOfSealingKey(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	old := sealingKey(t, 1)
	alone, err := seal.NewKeyring(old)
	must(t, err)
	both, err := seal.NewKeyring(sealingKey(t, 2), old)
	must(t, err)
	cfg := tb.cfg
	cfg.Keys = alone
	tb.Dealer = dealer.New(cfg)
	before := tb.commit("before", hand)
	cfg.Keys = both
	tb.Dealer = dealer.New(cfg) // started again, the new key first
	after := tb.commit("after", api.ShuffleRequest{Table: "u", Deck: "standard-52"})

	thief := alone
	row := tb.sealedRow(before.ID)
	payload, err := thief.Open(origin, before.Commitment, row.Kept)
	if err != nil {
		t.Fatalf("the test's thief has the wrong key: %v", err)
	}
	e, err := audit.ParseEntry(row.Entry)
	must(t, err)
	c := e.Body.(*audit.Commit)
	if openings.Commitment(c.Context.Encode(), payload) != c.Commitment {
		t.Error("what the thief reads is not the tape")
	}
	if _, err := thief.Open(origin, after.Commitment, tb.sealedRow(after.ID).Kept); err == nil {
		t.Error("the thief reads a tape that was sealed after the rotation")
	}
	for _, id := range []uint64{before.ID, after.ID} {
		if _, err := tb.Deal(t.Context(), as("tester"), id,
			api.DealRequest{Runs: []audit.Run{seat(1, "a")}}); err != nil {
			t.Errorf("shuffle %d: %v", id, err)
		}
		tb.close(id)
	}
}

func sealingKey(t *testing.T, n byte) *seal.Key {
	t.Helper()
	secret := make([]byte, seal.KeySize)
	for i := range secret {
		secret[i] = byte(i) ^ n
	}
	k, err := seal.NewKey(secret)
	must(t, err)
	return k
}

// TestThiefOfDisclosureKey: a disclosure key that an auditor let out opens what
// was closed under it, and after its retirement nothing more.
func TestThiefOfDisclosureKey(t *testing.T) {
	t.Parallel()
	auditors, publics := newAuditors(t, 1)
	tb := newTableWith(t, setting{auditors: publics, disclosure: audit.DisclosureAuditor})
	a, b := tb.commit("a", hand).ID, tb.commit("b", hand).ID
	tb.close(a)
	entries := tb.entries()
	stolen := entries[keysIn(entries)[0]].Body.(*audit.Key)
	thief, err := auditors[0].Unwrap(origin, stolen)
	must(t, err)
	tb.append(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectDisclosure,
		ID: audit.KeyID(stolen.Public), From: 1})
	tb.close(b)
	opens := make(map[uint64]bool)
	all := tb.entries()
	for _, e := range all {
		if c, ok := e.Body.(*audit.Close); ok {
			_, err := thief.Open(origin, c.Shuffle, all[c.Shuffle].Body.(*audit.Commit).Commitment, c.Tape)
			opens[c.Shuffle] = err == nil
		}
	}
	if !opens[a] || opens[b] {
		t.Errorf("the thief opens %v, want the close of %d only", opens, a)
	}
	// Nobody can have a close sealed to it again.
	_, err = tb.Ledger().Append(t.Context(), ledger.Proposal{Actor: as("thief"), Bodies: []audit.Body{stolen}})
	var illegal *audit.Illegal
	if !errors.As(err, &illegal) || illegal.Code != audit.RuleKey {
		t.Errorf("the stolen key a second time: %v", err)
	}
}

// TestSealedOfAnotherLength: a thief of the sealing key and the database puts a payload in the place of a sealed tape
// that begins with it, and has more. Nothing is dealt from it, and nothing of it is told.
func TestSealedOfAnotherLength(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	tb.administer(`DROP TRIGGER entries_no_update`)
	for n, more := range []int{1, 2, 104} {
		s := tb.commit(fmt.Sprint("key-", n), api.ShuffleRequest{Table: fmt.Sprint("t", n), Deck: "standard-52"})
		tape, err := tb.tapeOf(s.ID)
		must(t, err)
		sealed, err := tb.cfg.Keys.Seal(origin, s.Commitment, append(tape, make([]byte, more)...))
		must(t, err)
		tb.administer(fmt.Sprintf("UPDATE entries SET kept = x'%x' WHERE idx = %d", sealed, s.ID))
		tb.unwritten(func() {
			d := dealer.New(tb.cfg) // which did not make the commit, and so reads it
			_, err := d.Deal(t.Context(), as("tester"), s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
			wantIs(t, fmt.Sprint("a deal from a tape and ", more, " bytes"), err, api.ErrSealed)
			_, err = d.Close(t.Context(), as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeEndedEarly})
			wantIs(t, fmt.Sprint("a close with a tape and ", more, " bytes"), err, api.ErrSealed)
		})
	}
}
