package selftest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// TestRun passes every test, and holds the table itself: names that stand once,
// a reason and a source for each, and no test that compares little.
func TestRun(t *testing.T) {
	results := Run()
	passed, err := Judge(results)
	if err != nil {
		t.Error(err)
	}
	if passed.Tests < 40 || passed.Answers < 250 {
		t.Errorf("only %d tests with %d answers", passed.Tests, passed.Answers)
	}
	seen := map[string]bool{}
	for _, r := range results {
		if r.Name == "" || r.Covers == "" || r.Rule == "" || r.Source == "" || seen[r.Name] {
			t.Errorf("a test without a name of its own, a reason or a source: %+v", r)
		}
		seen[r.Name] = true
		if len(r.Answers) < 2 && r.Name != "aes-256-ctr" {
			t.Errorf("%s compares only %q", r.Name, r.Answers)
		}
		answers := map[string]bool{}
		for _, what := range r.Answers {
			if what == "" || answers[what] {
				t.Errorf("%s: the answer %q stands twice, or has no name", r.Name, what)
			}
			answers[what] = true
		}
		if strings.HasPrefix(r.Name, "entry-") && !strings.Contains(strings.Join(r.Answers, "\n"), ", written out") {
			t.Errorf("%s has no entry that is written out", r.Name)
		}
	}
}

// TestFailsClosed: whatever goes wrong in a test is a failure that names it.
func TestFailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(*answers, *vectors)
		load error
		want string
	}{
		"a wrong answer":     {func(a *answers, _ *vectors) { a.is("one", "1", nil, "1"); a.is("two", "3", nil, "2") }, nil, "two: 3, want 2"},
		"an error":           {func(a *answers, _ *vectors) { a.is("one", "1", errors.New("broken"), "1") }, nil, "one: error: broken, want 1"},
		"a box that opens":   {func(a *answers, _ *vectors) { a.refused("one", nil, errors.ErrUnsupported) }, nil, "one: accepted"},
		"for another reason": {func(a *answers, _ *vectors) { a.refused("one", errors.New("x"), errors.ErrUnsupported) }, nil, "for another reason: x"},
		"a panic":            {func(a *answers, _ *vectors) { a.is("one", "1", nil, "1"); panic("slice") }, nil, "it panicked: slice"},
		"a bad constant":     {func(a *answers, _ *vectors) { unhex("0") }, nil, "not hexadecimal"},
		"nothing compared":   {func(*answers, *vectors) {}, nil, "it compared nothing"},
		"no vectors":         {func(a *answers, _ *vectors) { a.is("one", "1", nil, "1") }, errors.New("cut short"), "cut short"},
	} {
		r := test{"name", "covers", "rule", "source", c.run}.result(new(vectors), c.load)
		if all := strings.Join(r.Wrong, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
		if _, err := Judge([]Result{{Name: "another", Answers: []string{"x"}}, r}); err == nil || !strings.Contains(err.Error(), "1 of 2 known-answer tests failed: name (") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Judge(nil); err == nil {
		t.Error("no tests at all have passed")
	}
}

// TestSealedBox makes the box of sealed-tape from the layout of package seal with
// nothing but HMAC and AES-GCM.
func TestSealedBox(t *testing.T) {
	key, commitment, nonce, tape := count(0x01, 32), count(0x40, 32), count(0xc0, 12), count(0xa0, 16)
	mac := func(key []byte, message ...byte) []byte {
		m := hmac.New(sha256.New, key)
		m.Write(message)
		return m.Sum(nil)
	}
	const label, origin = "shuffled/v1/seal\x00", "vectors.example/ledger-1"
	block, err := aes.NewCipher(mac(mac(commitment, key...), append([]byte(label), 1)...))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256(append([]byte("shuffled/v1/sealing-key-id\x00"), key...))
	data := append([]byte(label+string(rune(len(origin)))+origin), commitment...)
	box := append(append([]byte{1}, id[:16]...), aead.Seal(nonce, nonce, tape, data)...)
	a := new(answers)
	sealedTest(a, nil)
	if len(a.wrong) > 0 {
		t.Error(a.wrong)
	}
	if got, want := hex.EncodeToString(box), sealedBox; got != want {
		t.Errorf("the box is %s, not %s", got, want)
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		Run()
	}
}

// BenchmarkTests shows where the time goes.
func BenchmarkTests(b *testing.B) {
	v, err := load()
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tests {
		b.Run(t.name, func(b *testing.B) {
			for b.Loop() {
				t.result(v, nil)
			}
		})
	}
}
