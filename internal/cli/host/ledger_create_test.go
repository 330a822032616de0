package host

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"shuffled/internal/audit"
)

// TestCreateQuorums: a production ledger begins with no policy of which two quorums share no witness; a sandbox does.
func TestCreateQuorums(t *testing.T) {
	t.Parallel()
	public := func(b byte) ed25519.PublicKey {
		seed := [ed25519.SeedSize]byte{b}
		return ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	}
	vkey, err := audit.VKey("cards.example.com/main", append([]byte{1}, public(0)...))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, name := range []string{"w1", "w2", "w3", "w4"} {
		key, err := audit.WitnessVKey(name, public(byte(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		text += "witness " + name + " " + key + " http://127.0.0.1:1/\n"
	}
	for group, says := range map[string]string{
		"any w1 w2": "the quorum of w1 and the quorum of w2 share no witness", "2 w1 w2 w3 w4": "share no witness",
		"all w1 w2": "", "3 w1 w2 w3 w4": "",
	} {
		file := filepath.Join(t.TempDir(), "witnesses.policy")
		if err := os.WriteFile(file, []byte(text+"group g "+group+"\nquorum g\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ledgerCreateCmd{Policy: file, Production: true}.policy(vkey)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("production, %s: %v", group, err)
		}
		if _, err := (ledgerCreateCmd{Policy: file}).policy(vkey); err != nil {
			t.Errorf("a sandbox, %s: %v", group, err)
		}
	}
}

func TestMixModes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]uint8{"": 0, "--mix slots": 1, "--mix beacon": 2, "--mix cut": 4,
		"--mix slots,cut": 5, "--mix slots,beacon,cut": 7, "--mix slots,beacon,cut,co_dealer": allMixModes,
		"--mix slots,co_dealer": 9} {
		var c ledgerCreateCmd
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields("--name main --origin o " + line)); err != nil ||
			c.mixModes() != want {
			t.Errorf("%s: %d, %v", line, c.mixModes(), err)
		}
		if _, err := parser.Parse([]string{"--name", "main", "--origin", "o", "--mix", "slots,dice"}); err == nil {
			t.Error("a source that there is not")
		}
	}
}

// TestHouse: the kind of house says to whom tapes go, and is asked for where nothing does.
func TestHouse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ house, disclosure, want string }{
		{"poker", "", "auditor"}, {"casino", "", "public"}, {"lottery", "", "public"},
		{"poker", "public", "public"}, {"casino", "auditor", "auditor"}, {"", "auditor", "auditor"},
		{"", "", ""}, {"bingo", "", ""},
	} {
		c := ledgerCreateCmd{House: test.house, Disclosure: test.disclosure}
		err := c.settleDisclosure()
		if (err == nil) != (test.want != "") || err == nil && c.Disclosure != test.want {
			t.Errorf("%+v: %q, %v", test, c.Disclosure, err)
		}
	}
}
