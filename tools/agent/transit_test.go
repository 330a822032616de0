package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// realTransit is a new transit engine on the server that the environment names, with the keys main
// and sealing. Its methods do what the server's administrator does.
type realTransit struct {
	*testing.T
	url, token, mount string
	limited           string // the helper's token, with few rights
	settings          *settings
}

func newTransit(t *testing.T) *realTransit {
	t.Helper()
	r := &realTransit{T: t, url: os.Getenv("SHUFFLED_TRANSIT_URL"), token: os.Getenv("SHUFFLED_TRANSIT_TOKEN"),
		mount: "t" + strings.ToLower(rand.Text())}
	if r.url == "" || r.token == "" {
		t.Skip("SKIPPED, a test of keys in a KMS: SHUFFLED_TRANSIT_URL and SHUFFLED_TRANSIT_TOKEN name no server, " +
			"such as vault server -dev")
	}
	r.settings = &settings{url: r.url, mount: r.mount, credential: filepath.Join(t.TempDir(), "token"),
		sign: []string{"main"}, wrap: "sealing"}
	r.admin("POST", "sys/mounts/"+r.mount, `{"type":"transit"}`)
	t.Cleanup(func() { r.admin("DELETE", "sys/mounts/"+r.mount, "") })
	r.make("main", `{"type":"ed25519"}`)
	r.make("sealing", `{"type":"aes256-gcm96"}`)
	var rules strings.Builder // as docs/operations/keys.md has them; the keys are read by any name here
	for _, rule := range [][2]string{{"keys/+", "read"}, {"sign/main", "update"}, {"encrypt/sealing", "update"},
		{"decrypt/sealing", "update"}} {
		fmt.Fprintf(&rules, "path %q { capabilities = [%q] }\n", r.mount+"/"+rule[0], rule[1])
	}
	policy, err := json.Marshal(map[string]string{"policy": rules.String()})
	if err != nil {
		t.Fatal(err)
	}
	r.admin("PUT", "sys/policies/acl/"+r.mount, string(policy))
	var made struct {
		Auth struct {
			Token string `json:"client_token"`
		}
	}
	err = json.Unmarshal(r.admin("POST", "auth/token/create", `{"policies":["`+r.mount+`"]}`), &made)
	if err != nil || made.Auth.Token == "" {
		t.Fatal("no token", err)
	}
	r.limited = made.Auth.Token
	put(t, r.settings.credential, r.limited+"\n")
	return r
}

func (r *realTransit) make(name, body string) { r.admin("POST", r.mount+"/keys/"+name, body) }

func (r *realTransit) admin(method, path, body string) []byte {
	r.Helper()
	req, err := http.NewRequest(method, r.url+"/v1/"+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("X-Vault-Token", r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		r.Fatalf("%s %s: %s, %v: %s", method, path, resp.Status, err, text)
	}
	return text
}

// helper starts a helper with the settings.
func (r *realTransit) helper() (*helper, error) {
	s, err := openTransit(r.settings)
	if err != nil {
		return nil, err
	}
	return newHelper(s, slog.New(slog.DiscardHandler))
}

// TestTransit: keys in a real transit engine sign and wrap, also after the engine rotated them. A
// request that the engine refuses or does not answer in time is an error.
func TestTransit(t *testing.T) {
	r := newTransit(t)
	before, err := r.helper()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := before.store.Wrap([]byte("a secret"))
	if err != nil {
		t.Fatal(err)
	}
	r.admin("POST", r.mount+"/keys/main/rotate", "")
	r.admin("POST", r.mount+"/keys/sealing/rotate", "")
	after, err := r.helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(before.keys) != 1 || len(after.keys) != 2 || after.keys[0].name != "main-v1" ||
		!before.keys[0].public.Equal(after.keys[0].public) || after.keys[1].public.Equal(after.keys[0].public) {
		t.Errorf("before %v, after %v", before.keys, after.keys)
	}
	for _, h := range []*helper{before, after} { // before signs with the version that it knows
		for i := range h.keys {
			if _, err := h.Sign(h.ssh[i].PublicKey(), []byte("a text")); err != nil {
				t.Error(err)
			}
		}
		if plain, err := h.store.Unwrap(sealed); err != nil || string(plain) != "a secret" {
			t.Errorf("%q, %v", plain, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		// Vault reads v0 as v1.
		if plain, err := after.store.Unwrap(changed); err == nil && string(plain) != "a secret" {
			t.Errorf("with another byte %d it opens to %q", i, plain)
		}
	}
	var other struct{ Data struct{ Ciphertext string } }
	err = json.Unmarshal(r.admin("POST", r.mount+"/encrypt/sealing", `{"plaintext":"QUJD"}`), &other)
	if err != nil || other.Data.Ciphertext == "" {
		t.Fatal(err)
	}
	if _, err := after.store.Unwrap([]byte(other.Data.Ciphertext)); err == nil {
		t.Error("what was sealed for others opens")
	}

	sign := func() error {
		_, err := after.Sign(after.ssh[1].PublicKey(), []byte("a text"))
		return err
	}
	put(t, r.settings.credential, "none\n")
	if err := sign(); err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "none") {
		t.Errorf("a token that is not in force: %v", err)
	}
	put(t, r.settings.credential, r.limited+"\n") // a renewed token is read without a restart
	if err := sign(); err != nil {
		t.Error(err)
	}
	r.settings.url = stalled(t)
	if err := sign(); err == nil || !strings.Contains(err.Error(), "Timeout") {
		t.Errorf("a server that does not answer: %v", err)
	}
	r.settings.url = r.url
	if err := sign(); err != nil {
		t.Error(err)
	}

	r.make("loose", `{"type":"aes256-gcm96","exportable":true}`)
	r.make("backup", `{"type":"ed25519","allow_plaintext_backup":true}`)
	for name, of := range map[string]struct{ sign, wrap, want string }{
		"exportable": {"main", "loose", "can leave"}, "a backup": {"backup", "sealing", "can leave"},
		"another type": {"sealing", "sealing", "must be ed25519"}, "no key": {"none", "sealing", "404"},
		"to wrap": {"main", "main", "must be aes256-gcm96"}} {
		r.settings.sign, r.settings.wrap = []string{of.sign}, of.wrap
		if _, err := r.helper(); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.settings.sign, r.settings.wrap = []string{"main"}, "sealing"
	r.admin("POST", r.mount+"/keys/main/config", `{"deletion_allowed":true}`)
	r.admin("DELETE", r.mount+"/keys/main", "")
	r.make("main", `{"type":"ed25519"}`) // another key of the same name
	_, err = after.Sign(after.ssh[0].PublicKey(), []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "refuses") {
		t.Errorf("another key of the same name: %v", err)
	}
}

// stalled returns the URL of a server that accepts connections and never answers.
func stalled(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}

// TestTransitAnswers: an answer that no transit engine gives is neither a key nor a signature.
func TestTransitAnswers(t *testing.T) {
	t.Parallel()
	key := make([]byte, 32)
	good, err := json.Marshal(map[string]any{"data": map[string]any{"type": "ed25519",
		"keys": map[string]any{"1": map[string]any{"public_key": key}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		keys, signature string
		status          int
		want            string
	}{
		"another signature":       {string(good), `"vault:v1:` + strings.Repeat("A", 86) + `=="`, 200, "refuses"},
		"of another version":      {string(good), `"vault:v2:AAAA"`, 200, "of that version"},
		"no base64":               {string(good), `"vault:v1:?"`, 200, "illegal base64"},
		"a number":                {string(good), `1`, 200, "cannot be read"},
		"a short public key":      {strings.Replace(string(good), "AAAA", "", 1), "", 200, "no public key"},
		"a version of words":      {strings.Replace(string(good), `"1"`, `"x"`, 1), "", 200, `version "x"`},
		"nothing":                 {"", "", 200, "cannot be read"},
		"more than anybody reads": {`{"data":"` + strings.Repeat("x", maxAnswer) + `"}`, "", 200, "cannot be read"},
		"moved":                   {string(good), "", 307, "307"},
		"sealed":                  {"secret words", "", 503, "503"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(of.status)
			if strings.Contains(r.URL.Path, "/sign/") {
				fmt.Fprintf(w, `{"data":{"signature":%s}}`, of.signature)
			} else {
				io.WriteString(w, of.keys)
			}
		}))
		s := &settings{url: server.URL, mount: "transit", credential: filepath.Join(t.TempDir(), "token"),
			sign: []string{"main"}}
		put(t, s.credential, "a token")
		store, err := openTransit(s)
		if err == nil {
			_, err = newHelper(store, slog.New(slog.DiscardHandler))
		}
		if err == nil || !strings.Contains(err.Error(), of.want) || strings.Contains(err.Error(), "secret words") ||
			strings.Contains(err.Error(), "a token") {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
	for _, url := range []string{"", "vault:8200", "http://vault.example.com:8200", "https://me:word@vault.example.com",
		"https://vault.example.com?x", "ftp://127.0.0.1", "http://localhost:8200"} {
		if _, err := openTransit(&settings{url: url}); err == nil || strings.Contains(err.Error(), "word@") {
			t.Errorf("%q: %v", url, err)
		}
	}
	if patience >= 5*time.Second {
		t.Error("the daemon gives up before this helper does")
	}
}
