package keystest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// KMS makes a transit engine on the server that SHUFFLED_TRANSIT_URL and
// SHUFFLED_TRANSIT_TOKEN name, such as one of vault server -dev, with the keys main, which
// signs, and sealing, which wraps, and serves it. Without a server the test is skipped.
func KMS(t *testing.T) *Helper {
	t.Helper()
	url, token := os.Getenv("SHUFFLED_TRANSIT_URL"), os.Getenv("SHUFFLED_TRANSIT_TOKEN")
	if url == "" || token == "" {
		missing(t, "SHUFFLED_REQUIRE_TRANSIT", "SHUFFLED_TRANSIT_URL and SHUFFLED_TRANSIT_TOKEN name no KMS")
	}
	mount := fmt.Sprintf("t%d-%d", os.Getpid(), time.Now().UnixNano())
	admin := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequest(method, url+"/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Vault-Token", token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %s, %v: %s", method, path, resp.Status, err, text)
		}
	}
	admin("POST", "sys/mounts/"+mount, `{"type":"transit"}`)
	t.Cleanup(func() { admin("DELETE", "sys/mounts/"+mount, "") })
	admin("POST", mount+"/keys/main", `{"type":"ed25519"}`)
	admin("POST", mount+"/keys/sealing", `{"type":"aes256-gcm96"}`)

	dir := short(t)
	h := &Helper{Socket: filepath.Join(dir, "s"), Key: "main-v1", binary: filepath.Join(dir, "agent"),
		env: os.Environ()}
	build(t, h.binary, "CGO_ENABLED=0", "SHUFFLED_REQUIRE_TRANSIT")
	put(t, filepath.Join(dir, "token"), token+"\n")
	h.args = []string{"transit", "-url", url, "-mount", mount, "-token-file", filepath.Join(dir, "token"),
		"-sign", "main", "-wrap", "sealing", "-socket", h.Socket}
	h.Start(t)
	return h
}
