package host

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

// office is two administrators of a new ledger, and a third who came later.
type office struct {
	t    *testing.T
	dir  string
	st   standing
	keys map[string]*keys.SigningKey
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir(), keys: map[string]*keys.SigningKey{}}
	for _, name := range []string{"alice", "bob", "carol", "main"} {
		key, err := signingKey(o.path(name+".key"), name, keys.Secret{})
		o.check(err)
		o.keys[name] = key
	}
	o.st.of = &audit.Genesis{Revision: audit.Revision, Origin: "cards.example.com/main",
		SigningKey: o.keys["main"].Public(), Administrators: []audit.Administrator{
			{Name: "alice", Key: o.keys["alice"].Public()}, {Name: "bob", Key: o.keys["bob"].Public()}},
		Deals: audit.DealsSigned, Disclosure: audit.DisclosurePublic, DefaultCloseBy: 60, MaxCloseBy: 3600,
		Access: audit.AccessPublic}
	var err error
	o.st.genesis, err = audit.Entry{Time: 1, Actor: audit.Operator, Body: o.st.of}.Encode()
	o.check(err)
	o.st.Persons = ledger.Persons{Newest: 17, Head: ledger.Head{Size: 18, Root: [32]byte{19}}}
	return o
}

func (o *office) path(name string) string { return filepath.Join(o.dir, name) }

func (o *office) check(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// first is the file of an act that the first administrator signed.
func (o *office) first(signer string, body audit.Body) []byte {
	o.t.Helper()
	a := newAct(o.st, "admin", time.Hour, body, [32]byte{7})
	o.check(a.sign(o.keys[signer]))
	o.check(a.save(o.path("act\u202e")))
	text, err := os.ReadFile(o.path("act\u202e"))
	o.check(err)
	return text
}

// second has bob sign a file, and returns what he sees. The file must change if he signs, and only then.
func (o *office) second(text []byte, public string) (screen string, err error) {
	o.t.Helper()
	o.check(os.WriteFile(o.path("act\u202e"), text, 0o600))
	var out bytes.Buffer
	sign := actSignCmd{File: o.path("act\u202e"), Sign: o.path("bob.key"), Public: public, Yes: true}
	err = sign.Run(term.Streams{Out: &out})
	after, failed := os.ReadFile(o.path("act\u202e"))
	o.check(failed)
	if bytes.Equal(text, after) != (err != nil) || err != nil && out.Len() > 0 {
		o.t.Errorf("%v: the file changed or not, and bob saw\n%s", err, &out)
	}
	for _, r := range out.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			o.t.Errorf("%q on the screen", r)
		}
	}
	return out.String(), err
}

// drawn are texts that would draw something else on a terminal.
var drawn = []string{"\n", "\r", "\x1b[2K\x1b[1A", "\u202e", "\u200f", "\u0000", " ", "x"}

// mutants are the file with one member changed, taken out or put in.
func (o *office) mutants(text []byte) (all []map[string]any) {
	var file map[string]any
	o.check(json.Unmarshal(text, &file))
	with := func(name string, value any) {
		m := maps.Clone(file)
		m[name] = value
		all = append(all, m)
	}
	for name, value := range file {
		m := maps.Clone(file)
		delete(m, name)
		all = append(all, m)
		if n, ok := value.(float64); ok {
			for _, other := range []float64{0, n - 1, n + 1, 255} {
				with(name, other)
			}
			continue
		}
		for _, d := range drawn {
			with(name, d+value.(string))
			with(name, value.(string)+d)
			with(name, d)
		}
		raw, err := base64.StdEncoding.DecodeString(value.(string))
		for i := range raw {
			if err == nil && len(raw) > 16 && i%4 == 0 {
				flipped := bytes.Clone(raw)
				flipped[i] ^= 1
				with(name, base64.StdEncoding.EncodeToString(flipped))
			}
		}
	}
	for _, name := range []string{"ledger", "act", "says", "expires", "Format", "identity", "body"} {
		if _, ok := file[name]; !ok {
			with(name, "staging.example/test\n\x1b[8m")
		}
	}
	return all
}

// TestSignerReadsWhatIsSigned: each member of the file of an act of each kind is changed in turn. The second
// administrator then sees the same as before, or is told nothing and signs nothing.
func TestSignerReadsWhatIsSigned(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	policy := []byte("quorum none\n")
	key := o.keys["carol"].Public()
	for name, body := range map[string]audit.Body{
		"cancel":  nil,
		"policy":  &audit.Key{Subject: audit.SubjectPolicy, Policy: policy},
		"signing": &audit.Key{Subject: audit.SubjectSigning, Public: key},
		"retirement": &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning, ID: [32]byte{1},
			From: 2},
		"administrator": &audit.Key{Subject: audit.SubjectAdministrator, Name: "carol", Admin: audit.ChangeAdd,
			Public: key},
		"two_persons": &audit.Key{Subject: audit.SubjectTwoPersons, Acts: []audit.Act{audit.ActPolicy}, Delay: 60},
		"co_dealer": &audit.Key{Subject: audit.SubjectCoDealer, Origin: "lab.example.org/o", Public: key,
			Policy: policy},
		"kill_clear": &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeDeck, Deck: [32]byte{3},
			Reason: "mended"},
		"latch_clear": &audit.Event{Kind: audit.EventLatchClear, Reason: "a new host"},
		"adopt_head":  &audit.Event{Kind: audit.EventHeadAdopted, Size: 4, Digest: [32]byte{5}, Reason: "restored"},
		"takeover":    &audit.Takeover{Shuffle: 6, Extent: audit.ExtentPlay, Reason: "the service is gone"},
		"admin_credential": &audit.Credential{Kind: audit.CredentialCreated, ID: "tok_7h3k2m5n6p4q2r3s",
			Form: audit.FormToken, Role: audit.RoleAdmin, Identity: "admin"},
	} {
		text := o.first("alice", body)
		honest, err := o.second(text, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, derived := range []string{"ledger      cards.example.com/main\n", "act         " + name + "\n",
			"behind      the act at entry 17, and a head of 18 entries, root Ew", "signed by   alice\n",
			"signed by   bob\n"} {
			if !strings.Contains(honest, derived) {
				t.Errorf("%s: bob does not see %q:\n%s", name, derived, honest)
			}
		}
		refused := 0
		for _, m := range o.mutants(text) {
			mutant, err := json.Marshal(m)
			o.check(err)
			screen, err := o.second(mutant, "")
			if err != nil {
				refused++
			} else if screen != honest {
				t.Errorf("%s: bob sees\n%sof the file\n%s", name, screen, mutant)
			}
		}
		if refused < 150 {
			t.Errorf("%s: only %d files were refused", name, refused)
		}
	}
}

// TestSignerOfLater: the signature of an administrator whom the genesis does not name is proved by the key in a file.
func TestSignerOfLater(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	text := o.first("carol", &audit.Event{Kind: audit.EventLatchClear, Reason: "a new host"})
	for public, proved := range map[string]bool{"": false, "alice.vkey": false, "bob.vkey": false, "carol.vkey": true} {
		if public != "" {
			public = o.path(public)
		}
		screen, err := o.second(text, public)
		if (err == nil) != proved || proved != strings.Contains(screen, "signed by   carol\n") {
			t.Errorf("%s: %v\n%s", public, err, screen)
		}
	}
}

// TestLongestPolicy: a policy of 18 witnesses with ML-DSA-44 is read, and one of 19 is more
// than a ledger takes, which is said before an act is signed.
func TestLongestPolicy(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	file := filepath.Join(t.TempDir(), "witnesses.policy")
	for i := range 19 {
		key, err := keys.GenerateMLDSA(fmt.Sprintf("w%d.example.org/witness", i))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "witness w%d %s\n", i, key.VKey())
		if err := os.WriteFile(file, []byte(text.String()+"quorum w0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := &actSubject{Kind: "policy", Policy: file}
		_, err = c.keyBody("")
		if (err == nil) != (i < 18) || err != nil && !strings.Contains(err.Error(), "32768 bytes") {
			t.Errorf("%d witnesses: %v", i+1, err)
		}
	}
	if err := os.WriteFile(file, []byte("quorum nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&actSubject{Kind: "policy", Policy: file}).keyBody(""); err == nil ||
		!strings.Contains(err.Error(), "nobody") {
		t.Errorf("a quorum of nobody: %v", err)
	}
}

// TestActNamesFlags: a file that an act needs and no flag names is told by the flag.
func TestActNamesFlags(t *testing.T) {
	t.Parallel()
	for flag, c := range map[string]actSubject{
		"--policy is missing": {Kind: "policy"}, "--public is missing": {Kind: "auditor"},
		"--policy is missing: ": {Kind: "co_dealer", Public: "lab.vkey"},
		"--delay must":          {Kind: "two_persons", Delay: -time.Hour},
	} {
		if _, err := c.keyBody("cards.example.com/main"); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v, want %q", c.Kind, err, flag)
		}
	}
	for d, ok := range map[time.Duration]bool{0: true, time.Hour: true, -time.Hour: false,
		900 * time.Millisecond: false, 20 * 366 * 24 * time.Hour: false} {
		if n, err := secondsOf(d); (err == nil) != ok || ok && time.Duration(n)*time.Second != d {
			t.Errorf("%s: %d seconds, %v", d, n, err)
		}
	}
}

// TestActReplacesNoFile: act do writes a new file, and replaces none, such as a key.
func TestActReplacesNoFile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, want := range map[string]string{"alice.key": "alice.key exists", "new.act": "", "": ""} {
		c := &actDoCmd{Life: time.Hour}
		if name != "" {
			c.Out = o.path(name)
		}
		if err := c.settle(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("--out %s: %v", name, err)
		}
	}
}
