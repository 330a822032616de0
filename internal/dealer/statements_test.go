package dealer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/verify"
)

// lab is an auditor that signs statements.
type lab struct {
	signer note.Signer
	vkey   string
}

func newLab(t *testing.T, name string) lab {
	t.Helper()
	private, vkey, err := note.GenerateKey(nil, name)
	must(t, err)
	signer, err := note.NewSigner(private)
	must(t, err)
	return lab{signer, vkey}
}

func (l lab) sign(t *testing.T, s openings.Statement) string {
	t.Helper()
	b, err := s.Sign(l.signer)
	must(t, err)
	return string(b)
}

// statement is what an honest auditor says about a closed shuffle.
func (tb *table) statement(id uint64) openings.Statement {
	tb.t.Helper()
	s := openings.Statement{Origin: origin, ID: id}
	for row, err := range tb.open.Store.Rows(tb.t.Context(), tb.Ledger().ID(), 0, audit.MaxInteger) {
		must(tb.t, err)
		if row.Index == id {
			s.Commit = tlog.RecordHash(row.Entry)
		}
		if row.Type == audit.TypeClose && row.Shuffle == id {
			s.Disclosed = tlog.RecordHash(row.Entry)
		}
	}
	return s
}

// TestStatements: what an auditor signed stands in the transcripts, once, and what is not
// about this shuffle, or too much, does not.
func TestStatements(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, _ []*disclosure.Auditor) {
		s := tb.commit("k", hand)
		tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a"), board(3)}})
		first := newLab(t, "lab.example/shuffles")
		refused := func(what, statement, want string) {
			t.Helper()
			_, err := tb.AddStatement(t.Context(), s.ID, statement)
			var request *api.RequestError
			if !errors.Is(err, dealer.ErrStatement) && !errors.As(err, &request) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
		refused("of an open shuffle", first.sign(t, tb.statement(s.ID)), "discloses no tape")
		tb.close(s.ID)
		good := tb.statement(s.ID)
		refused("no statement", "x", "no signed note")
		for what, change := range map[string]func(*openings.Statement){
			"another ledger":  func(s *openings.Statement) { s.Origin = "example.org/other" },
			"another shuffle": func(s *openings.Statement) { s.ID++ },
			"another commit":  func(s *openings.Statement) { s.Commit[0] ^= 1 },
			"another tape":    func(s *openings.Statement) { s.Disclosed[0] ^= 1 },
		} {
			other := good
			change(&other)
			refused(what, first.sign(t, other), "with the leaf hashes")
		}
		if tr := tb.transcript(s.ID, api.View{}); tr.Statements != nil {
			t.Fatalf("statements %q", tr.Statements)
		}
		for range 2 { // the same again is the same
			if n, err := tb.AddStatement(t.Context(), s.ID, first.sign(t, good)); n != 1 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		second := newLab(t, "regulator.example")
		both, err := note.Sign(&note.Note{Text: good.Text()}, first.signer, second.signer)
		must(t, err)
		refused("a second one of a key", string(both), "lab.example/shuffles+")
		for i := 1; i < openings.MaxStatements; i++ {
			more := newLab(t, fmt.Sprint("lab-", i))
			if n, err := tb.AddStatement(t.Context(), s.ID, more.sign(t, good)); n != i+1 || err != nil {
				t.Fatalf("statement %d: %d, %v", i, n, err)
			}
		}
		refused("the ninth", second.sign(t, good), "has 8")
		for _, v := range []api.View{{}, {Auditor: true}, {Identity: "tester", Recipient: "a"}} {
			if tr := tb.transcript(s.ID, v); len(tr.Statements) != 8 || tr.Statements[0] != first.sign(t, good) {
				t.Errorf("%+v: %d statements", v, len(tr.Statements))
			}
		}
		b, err := tb.Transcript(t.Context(), s.ID, api.View{})
		must(t, err)
		v := verify.Transcript(b, verify.Trust{VKey: tb.vkey, Auditors: []string{first.vkey}})
		if v.Verdict != verify.Proved || len(v.Statements) != 8 || !v.Statements[0].Trusted || v.Statements[1].Trusted {
			t.Errorf("%s %+v", v.Verdict, v.Statements)
		}
	})
}

// TestForeignStatements: rows that came another way spoil no transcript.
func TestForeignStatements(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.close(s.ID)
	good, l := tb.statement(s.ID), newLab(t, "lab.example/shuffles")
	other := good
	other.ID++
	rows := []string{"x", l.sign(t, other), l.sign(t, good), l.sign(t, good)}
	for n, row := range rows {
		must(t, tb.cfg.Store.PutStatement(t.Context(), tb.Ledger().ID(), s.ID, n, []byte(row)))
	}
	if tr := tb.transcript(s.ID, api.View{}); len(tr.Statements) != 1 || tr.Statements[0] != rows[2] {
		t.Errorf("statements %q", tr.Statements)
	}
}
