package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// stated is a request body with a statement about the shuffle of a transcript, signed by
// an auditor of this name; change makes it another one.
func stated(t *testing.T, transcript []byte, name string, change func(*openings.Statement)) string {
	t.Helper()
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	file, err := openings.ParseTranscript(transcript)
	check(err)
	leaf := func(receipt string) tlog.Hash {
		r, err := audit.ParseReceipt(receipt)
		check(err)
		return tlog.RecordHash(r.Entry)
	}
	genesis, err := audit.ParseReceipt(file.Receipts[0])
	check(err)
	e, err := audit.ParseEntry(genesis.Entry)
	check(err)
	s := openings.Statement{Origin: e.Body.(*audit.Genesis).Origin, ID: file.ID, Commit: leaf(file.Receipts[1]),
		Disclosed: leaf(file.Receipts[len(file.Receipts)-1])}
	if change != nil {
		change(&s)
	}
	private, _, err := note.GenerateKey(strings.NewReader(strings.Repeat(name, 32)), name)
	check(err)
	signer, err := note.NewSigner(private)
	check(err)
	signed, err := s.Sign(signer)
	check(err)
	b, err := json.Marshal(map[string]string{"statement": string(signed)})
	check(err)
	return string(b)
}

// TestStatements: auditors hand in statements, nobody else does, and everybody's transcript has them.
func TestStatements(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	transcript := func() []byte { return s.get(path+"/transcript", "").body }
	hand := func(token, body string) answer { return s.by(token, path+"/statements", "", body) }
	hand(s.auditorToken, stated(t, transcript(), "lab.example", nil)).want(t, CodeStatement, "")
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	good := stated(t, transcript(), "lab.example", nil)
	for token, code := range map[string]Code{"": CodeUnauthorized, s.dealerToken: CodeForbidden,
		s.adminToken: CodeForbidden} {
		hand(token, good).want(t, code, "")
	}
	for _, body := range []string{`{}`, `{"statement":""}`, `{"statement":"x"}`,
		stated(t, transcript(), "lab.example", func(s *openings.Statement) { s.ID++ })} {
		hand(s.auditorToken, body).want(t, CodeInvalidRequest, "statement")
	}
	s.by(s.auditorToken, "/v1/main/shuffles/999/statements", "", good).want(t, CodeNotFound, "")
	for range 2 {
		if taken := read[StatementTaken](t, hand(s.auditorToken, good)); taken.Statements != 1 {
			t.Errorf("%+v", taken)
		}
	}
	if taken := read[StatementTaken](t, hand(s.regulatorToken, stated(t, transcript(), "regulator", nil))); taken.
		Statements != 2 {
		t.Errorf("%+v", taken)
	}
	file, err := openings.ParseTranscript(transcript())
	if err != nil || len(file.Statements) != 2 || !strings.Contains(file.Statements[1], "— regulator ") {
		t.Errorf("%v, %v", file, err)
	}
}
