package keys

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"
)

func newToken(t *testing.T) (id, secret, bearer string) {
	t.Helper()
	id, b := NewToken()
	bearer = string(b.Bytes())
	got, secret, ok := SplitToken(bearer)
	if !ok || got != id {
		t.Fatalf("%q does not split", bearer)
	}
	return id, secret, bearer
}

func TestNewToken(t *testing.T) {
	form := regexp.MustCompile(`^(tok_[a-z2-7]{16})\.([A-Za-z0-9_-]{43})$`)
	ids, secrets := map[string]bool{}, map[string]bool{}
	const n = 1000
	for range n {
		id, secret, bearer := newToken(t)
		m := form.FindStringSubmatch(bearer)
		if m == nil || m[1] != id || m[2] != secret {
			t.Fatalf("%q with id %q", bearer, id)
		}
		ids[id], secrets[secret] = true, true
	}
	if len(ids) != n || len(secrets) != n {
		t.Errorf("%d ids and %d secrets of %d", len(ids), len(secrets), n)
	}
}

func TestSplitTokenRefuses(t *testing.T) {
	id, secret, bearer := newToken(t)
	for name, text := range map[string]string{
		"empty":           "",
		"id only":         id,
		"no dot":          id + secret,
		"two dots":        id + ".." + secret[1:],
		"secret first":    secret + "." + id,
		"other prefix":    "tik_" + bearer[4:],
		"upper-case id":   "tok_" + strings.ToUpper(id[4:]) + "." + secret,
		"short id":        id[:len(id)-1] + "." + secret,
		"long id":         id + "a." + secret,
		"longer id":       id + "aaaaaaaa." + secret,
		"wrong id digit":  id[:len(id)-1] + "1." + secret,
		"short secret":    bearer[:len(bearer)-1],
		"long secret":     bearer + "A",
		"padding":         bearer[:len(bearer)-1] + "=",
		"standard base64": bearer[:len(bearer)-2] + "+A",
		"spare bits set":  bearer[:len(bearer)-1] + "B",
		"line end":        bearer[:len(bearer)-1] + "\n",
		"line end in id":  id[:10] + "\n" + id[11:] + "." + secret,
		"space":           " " + bearer,
		"the word Bearer": "Bearer " + bearer,
	} {
		if a, b, ok := SplitToken(text); ok || a != "" || b != "" {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
}

func TestHashToken(t *testing.T) {
	_, secret, _ := newToken(t)
	if HashToken(secret) != sha256.Sum256([]byte(secret)) {
		t.Error("the hash is not SHA-256 of the secret's text")
	}
}

func TestTokenIsNotPrinted(t *testing.T) {
	_, b := NewToken()
	bearer := string(b.Bytes())
	out := printAll(b, &b)
	if strings.Contains(out, bearer) || strings.Contains(out, bearer[21:]) {
		t.Error("the token is printed")
	}
}

func FuzzSplitToken(f *testing.F) {
	_, b := NewToken()
	f.Add(string(b.Bytes()))
	f.Add("tok_.")
	f.Fuzz(func(t *testing.T, bearer string) {
		if id, secret, ok := SplitToken(bearer); ok && id+"."+secret != bearer {
			t.Errorf("%q splits into %q and %q", bearer, id, secret)
		}
	})
}
