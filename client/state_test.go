package client_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/keys"
	"shuffled/internal/verify"
)

// BenchmarkFileState is what a new checkpoint costs on this disk.
func BenchmarkFileState(b *testing.B) {
	state := client.FileState(filepath.Join(b.TempDir(), "state"))
	for b.Loop() {
		must(b, state.Save(make([]byte, 2000)))
	}
}

// stateOf is a State that has something.
type stateOf []byte

func (s stateOf) Load() ([]byte, error) { return s, nil }
func (stateOf) Save([]byte) error       { return nil }

// TestStateBeforeAPin: a client goes on from its state when a second key is pinned, whose
// line the checkpoints in it lack; and from none of a key that is not pinned.
func TestStateBeforeAPin(t *testing.T) {
	t.Parallel()
	const origin = "example.com/test"
	signing, err := keys.GenerateSigning(origin)
	must(t, err)
	other, err := keys.GenerateSigning(origin)
	must(t, err)
	long, err := keys.GenerateMLDSA(origin)
	must(t, err)
	text := audit.Checkpoint{Origin: origin, Size: 1}.Text()
	for by, start := range map[note.Signer]bool{signing.Signer(): true, other.Signer(): false} {
		signed, err := note.Sign(&note.Note{Text: text}, by)
		must(t, err)
		state, err := json.Marshal(map[string]string{"newest": string(signed)})
		must(t, err)
		_, err = client.New(client.Config{URL: "http://127.0.0.1:1", Ledger: "main", State: stateOf(state),
			Policy: "log " + signing.VKey() + "\nlog " + long.VKey() + "\nquorum none\n"})
		if (err == nil) != start {
			t.Errorf("a state signed with a pinned key (%t): %v", start, err)
		}
	}
}

// TestAddStatement: what an auditor hands in stands in the next transcript, and is
// believed by those who trust the auditor.
func TestAddStatement(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	s, err := c.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
	check(err)
	_, err = c.Close(t.Context(), s, client.CloseRequest{Outcome: client.OutcomeEndedEarly})
	check(err)
	file, err := c.Transcript(t.Context(), s.ID, "")
	check(err)
	parsed, err := openings.ParseTranscript(file)
	check(err)
	leaf := func(i int) tlog.Hash {
		r, err := audit.ParseReceipt(parsed.Receipts[i])
		check(err)
		return tlog.RecordHash(r.Entry)
	}
	st := openings.Statement{Origin: d.origin, ID: s.ID, Commit: leaf(1), Disclosed: leaf(2)}
	private, vkey, err := note.GenerateKey(nil, "lab.example")
	check(err)
	signer, err := note.NewSigner(private)
	check(err)
	signed, err := st.Sign(signer)
	check(err)

	auditor := d.client(nil, func(cfg *client.Config) { cfg.Token = d.newToken(audit.RoleAuditor, "lab") })
	for range 2 {
		if n, err := auditor.AddStatement(t.Context(), string(signed)); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if _, err := c.AddStatement(t.Context(), string(signed)); err == nil || !strings.Contains(err.Error(), "auditor") {
		t.Errorf("a dealer's: %v", err)
	}
	st.Origin = "example.org/other"
	signed, err = st.Sign(signer)
	check(err)
	for _, text := range []string{"x", string(signed)} {
		if _, err := auditor.AddStatement(t.Context(), text); err == nil || strings.Contains(err.Error(), "422") {
			t.Errorf("%q: %v", text, err)
		}
	}
	file, err = c.Transcript(t.Context(), s.ID, "")
	check(err)
	v := verify.Transcript(file, verify.Trust{VKey: d.vkey, Auditors: []string{vkey}})
	if v.Verdict != verify.Proved || len(v.Statements) != 1 || !v.Statements[0].Trusted {
		t.Errorf("%s %+v", v.Verdict, v.Statements)
	}
}
