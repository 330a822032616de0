package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/witness/witnesstest"
)

// board is three witnesses, of which two suffice, and the ledger that they cosign.
type board struct {
	t         *testing.T
	signer    note.Signer
	witnesses []*witnesstest.Witness
	policy    *audit.Policy
}

func newBoard(t *testing.T) *board {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, testOrigin)
	if err != nil {
		t.Fatal(err)
	}
	b := &board{t: t}
	if b.signer, err = note.NewSigner(skey); err != nil {
		t.Fatal(err)
	}
	var lines, names []string
	for range 3 {
		w := witnesstest.Start(t, vkey)
		b.witnesses = append(b.witnesses, w)
		lines, names = append(lines, w.PolicyLine), append(names, w.Name)
	}
	b.policy, err = audit.ParsePolicy(fmt.Appendf(nil, "%s\ngroup three 2 %s\nquorum three\n",
		strings.Join(lines, "\n"), strings.Join(names, " ")))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// head is a signed head of some size.
func (b *board) head(size uint64) Head {
	b.t.Helper()
	h, err := SignHead(b.signer, size, tlog.Hash{byte(size)})
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

// member is a witness of the board at an address.
func (b *board) member(i int, url string) *member {
	w := b.witnesses[i]
	return &member{name: w.Name, at: address{w.VKey, url}, signer: signer(w.Key)}
}

// cosigned are a witness's lines on a head, the first that it sees.
func (b *board) cosigned(i int, h Head) []string {
	b.t.Helper()
	text, err := b.witnesses[i].Client().AddCheckpoint(b.t.Context(), 0, nil, h.Checkpoint)
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// TestRoundCountsWitnesses: in a round a witness counts once, at however many
// addresses it cosigns, and of what it says there the larger size is believed.
func TestRoundCountsWitnesses(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	h := b.head(7)
	r := newRound(h)
	here, there := b.member(0, "here"), b.member(0, "there")
	r.waits[here], r.waits[there] = true, true
	lines := b.cosigned(0, h)
	r.add(reply{member: here, head: h, lines: lines})
	r.add(reply{member: there, head: h, lines: append(slices.Clone(lines), lines...)})
	if signed := r.signed(b.policy); len(r.lines) != 1 ||
		strings.Count(string(signed), "\n— ") != 2 || b.policy.Satisfied(signed) {
		t.Errorf("one witness at two addresses has %d lines:\n%s", len(r.lines), signed)
	}
	if len(r.waits) != 0 {
		t.Errorf("%d are waited for", len(r.waits))
	}
	r.add(reply{member: b.member(1, "here"), head: h, lines: b.cosigned(1, h)})
	if signed := r.signed(b.policy); len(r.lines) != 2 || !b.policy.Satisfied(signed) {
		t.Errorf("two witnesses have %d lines:\n%s", len(r.lines), signed)
	}
	for _, size := range []uint64{12, 9} {
		r.add(reply{member: here, head: h, err: &movedError{size}})
		r.add(reply{member: there, head: h, lines: lines})
	}
	if at := r.at[here.signer]; at != 12 {
		t.Errorf("a witness that said 12, 9 and 7 is at %d", at)
	}
	r.add(reply{member: b.member(2, "here"), head: h, err: errors.New("down")})
	if at, ok := r.at[b.member(2, "here").signer]; ok {
		t.Errorf("a witness that said nothing is at %d", at)
	}
}

// TestConfirm: where another daemon is always with the witnesses first, the ledger is
// confirmed by a quorum that cosigned the newest cosigned checkpoint and said in this
// round that it has seen no more, and by nothing less.
func TestConfirm(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	h := b.head(7)
	r := newRound(h)
	for i := range 2 {
		r.add(reply{member: b.member(i, "here"), head: h, lines: b.cosigned(i, h)})
	}
	cosigned := h
	cosigned.Checkpoint = r.signed(b.policy)
	for _, c := range []struct {
		name  string
		sizes map[int]uint64 // that witnesses say they are at
		want  bool
	}{
		{"nobody says anything", nil, false},
		{"both are where it is", map[int]uint64{0: 7, 1: 7}, true},
		{"both are there or below", map[int]uint64{0: 7, 1: 3}, true},
		{"one says nothing", map[int]uint64{0: 7}, false},
		{"one has seen more", map[int]uint64{0: 7, 1: 8}, false},
		{"both have seen more", map[int]uint64{0: 9, 1: 8}, false},
		{"another that did not cosign it is there", map[int]uint64{0: 7, 2: 7}, false},
		{"all three", map[int]uint64{0: 7, 1: 7, 2: 7}, true},
		{"the third has seen more", map[int]uint64{0: 7, 1: 7, 2: 8}, true},
	} {
		l := &Ledger{cosigned: &cosigned}
		w := &witnessing{l: l}
		l.witnessing = w
		w.tenures.Store(&tenures{list: []tenure{{0, b.policy}}, waits: audit.MaxInteger})
		said := newRound(b.head(7))
		for i, size := range c.sizes {
			said.add(reply{member: b.member(i, "here"), err: &movedError{size}})
		}
		if w.confirm(said); l.confirmed.Load() != c.want {
			t.Errorf("%s: confirmed %v", c.name, !c.want)
		}
	}
	l := &Ledger{cosigned: nil}
	w := &witnessing{l: l}
	w.tenures.Store(&tenures{list: []tenure{{0, b.policy}}, waits: audit.MaxInteger})
	if w.confirm(r); l.confirmed.Load() {
		t.Error("confirmed without a cosigned checkpoint")
	}
}
