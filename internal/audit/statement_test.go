package audit

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// refStatement is the text of docs/SPEC.md section 8.1, written by hand.
func refStatement(origin string, id uint64, commit, disclosed []byte) string {
	return fmt.Sprintf("shuffled/v1/statement\n%s\n%d\n%s\n%s\norder ok\n", origin, id, refBase64(commit),
		refBase64(disclosed))
}

// sampleStatement is signed by two auditors.
func sampleStatement() string {
	h := newHouse()
	text := refStatement(sampleOrigin, 2, h.leaves[2], h.leaves[4])
	return refNote(text, refSign(text, "lab.example", signer("lab")), refSign(text, "regulator", signer("regulator")))
}

// TestStatementAgreesWithReference: any statement has the reference's text, is read back
// as it was, and is signed by whom signed it.
func TestStatementAgreesWithReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Statement{Origin: genOrigin().Draw(t, "origin"),
			ID: genIndex(1).Draw(t, "id"), Commit: tlog.Hash(genHash().Draw(t, "commit")),
			Disclosed: tlog.Hash(genHash().Draw(t, "disclosed"))}
		if want := refStatement(s.Origin, s.ID, s.Commit[:], s.Disclosed[:]); s.Text() != want {
			t.Fatalf("%q, want %q", s.Text(), want)
		}
		name := rapid.StringMatching(`[\x21-\x2a\x2c-\x7e]{1,128}`).Draw(t, "name")
		private, vkey, err := note.GenerateKey(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		key, err := ParseVKey(vkey)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := s.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseStatement(signed)
		if err != nil || got.Statement != s || len(got.By) != 1 || got.By[0] != (Signer{name, key.KeyHash()}) {
			t.Fatalf("%q reads as %+v, %v", signed, got, err)
		}
		if !got.SignedBy(key) {
			t.Fatalf("%q has not the signature of its signer", signed)
		}
		other := s
		other.Commit[0] ^= 1
		signed = []byte(strings.Replace(string(signed), s.Text(), other.Text(), 1))
		if got, err := ParseStatement(signed); err != nil || got.SignedBy(key) {
			t.Fatalf("%q has the signature of another text: %v", signed, err)
		}
	})
}

// TestStatementSigners: what no auditor's key is called signs nothing.
func TestStatementSigners(t *testing.T) {
	for _, name := range []string{"läb", strings.Repeat("a", 129), "a\u007f"} {
		private, _, err := note.GenerateKey(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Statement{Origin: sampleOrigin, ID: 2}).Sign(signer); err == nil {
			t.Errorf("%q signs", name)
		}
	}
}

// FuzzParseStatement: whatever parses has the same text in front of its signatures.
func FuzzParseStatement(f *testing.F) {
	good := sampleStatement()
	seeds(f, 4, []string{good, strings.Replace(good, "/v1/", "/v2/", 1), strings.Replace(good, "\n2\n", "\n02\n", 1),
		strings.Replace(good, "—", "-", 1), newHouse().signed(11)})
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStatement([]byte(text))
		if err != nil {
			if f := faultOf(err); f != malformed && (f != unknown || !strings.HasPrefix(text, "shuffled/v")) {
				t.Fatal(err)
			}
			return
		}
		if !strings.HasPrefix(text, s.Text()+"\n— "+s.By[0].Name+" ") || len(s.By) > 64 || len(text) > 16_384 {
			t.Fatalf("%q reads as %+v", text, s)
		}
	})
}
