package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxAnswer is the largest number of bytes of an answer that are read.
const maxAnswer = 1 << 20

// transit is the transit engine of Vault or OpenBao, over HTTP. Each request reads the file of
// the engine's token again, because another program may renew it.
type transit struct {
	*settings
	client *http.Client
}

func openTransit(s *settings) (store, error) {
	u, err := url.Parse(s.url)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("-url must be an address such as https://vault.example.com:8200, without a password")
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("-url must be https, except for an address of this host such as http://127.0.0.1:8200")
	}
	client := &http.Client{Timeout: patience,
		// No redirect is followed, so that the token is sent only to the address of -url.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t := &transit{s, client}
	if s.wrap == "" {
		return t, nil
	}
	if _, err := t.key(s.wrap, "aes256-gcm96"); err != nil {
		return nil, err
	}
	return t, nil
}

// call makes a request to the engine. If the engine refuses it, the error has the status of the
// answer, and nothing else of the answer.
func (t *transit) call(method, path string, body, answer any) error {
	token, err := secret(t.credential)
	if err != nil {
		return fmt.Errorf("reading the token: %w", err)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	address := strings.TrimSuffix(t.url, "/") + "/v1/" + t.mount + "/" + path
	req, err := http.NewRequestWithContext(context.Background(), method, address, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("X-Vault-Token", token)
	req.Header.Set("X-Vault-Request", "true")
	resp, err := t.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, address, resp.Status)
	}
	limited := io.LimitReader(resp.Body, maxAnswer)
	if err := json.NewDecoder(limited).Decode(&struct{ Data any }{answer}); err != nil {
		return fmt.Errorf("%s %s: its answer cannot be read: %w", method, address, err)
	}
	return nil
}

// keyInfo is what the engine says about a key.
type keyInfo struct {
	Type       string
	Derived    bool
	Exportable bool
	Backup     bool `json:"allow_plaintext_backup"`
	Keys       map[string]json.RawMessage
}

// key reads what the engine says about a key. It refuses a key of another type, and one that can leave the engine.
func (t *transit) key(name, kind string) (*keyInfo, error) {
	var info keyInfo
	if err := t.call(http.MethodGet, "keys/"+url.PathEscape(name), nil, &info); err != nil {
		return nil, fmt.Errorf("looking for key %q: %w", name, err)
	}
	if info.Type != kind || info.Derived {
		return nil, fmt.Errorf("key %q is of type %q: it must be %s, and not derived", name, info.Type, kind)
	}
	if info.Exportable || info.Backup {
		return nil, fmt.Errorf("key %q can leave the KMS: it must be neither exportable nor allow a plaintext backup", name)
	}
	return &info, nil
}

// Keys returns every version of the keys of -sign: after a rotation, the KMS holds the old and
// the new version, and the ledger says which one is in force.
func (t *transit) Keys() (keys []*key, err error) {
	for _, name := range t.sign {
		info, err := t.key(name, "ed25519")
		if err != nil {
			return nil, err
		}
		for _, version := range slices.Sorted(maps.Keys(info.Keys)) {
			var of struct {
				Public []byte `json:"public_key"`
			}
			number, err := strconv.Atoi(version)
			if err == nil {
				err = json.Unmarshal(info.Keys[version], &of)
			}
			if err != nil || len(of.Public) != ed25519.PublicKeySize {
				return nil, fmt.Errorf("version %q of key %q has no public key of Ed25519", version, name)
			}
			keys = append(keys, &key{name + "-v" + version, of.Public, func(message []byte) ([]byte, error) {
				return t.signed(name, number, message)
			}})
		}
	}
	return keys, nil
}

// signed lets the engine sign with the given version of a key, even if there is a newer one.
func (t *transit) signed(name string, version int, message []byte) ([]byte, error) {
	var answer struct{ Signature string }
	err := t.call(http.MethodPost, "sign/"+url.PathEscape(name),
		map[string]any{"input": message, "key_version": version}, &answer)
	if err != nil {
		return nil, err
	}
	text, ok := strings.CutPrefix(answer.Signature, fmt.Sprintf("vault:v%d:", version))
	if !ok {
		return nil, errors.New("the answer is no signature of that version")
	}
	return base64.StdEncoding.DecodeString(text)
}

// Wrap seals a secret with the newest version of the key of -wrap.
func (t *transit) Wrap(plain []byte) ([]byte, error) {
	var answer struct{ Ciphertext string }
	err := t.cipher("encrypt/", "plaintext", plain, &answer)
	return []byte(answer.Ciphertext), err
}

// Unwrap opens a result of Wrap, with the version of the key that sealed it.
func (t *transit) Unwrap(sealed []byte) ([]byte, error) {
	var answer struct{ Plaintext []byte }
	err := t.cipher("decrypt/", "ciphertext", string(sealed), &answer)
	return answer.Plaintext, err
}

func (t *transit) cipher(path, member string, value, answer any) error {
	if t.wrap == "" {
		return errors.New("there is no key to wrap with: -wrap was not given")
	}
	return t.call(http.MethodPost, path+url.PathEscape(t.wrap),
		map[string]any{member: value, "associated_data": []byte(envelope)}, answer)
}
