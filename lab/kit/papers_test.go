package kit

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// TestNote: the signature is over the manifest, of the key that is asked for.
func TestNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, ManifestName, `{"format":"x"}`)
	keys := func() (note.Signer, note.Verifier) {
		skey, vkey, err := note.GenerateKey(nil, "submitter.example/kits")
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(skey)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := note.NewVerifier(vkey)
		if err != nil {
			t.Fatal(err)
		}
		return signer, verifier
	}
	signer, verifier := keys()
	_, other := keys()
	fault := func(v note.Verifier) string {
		t.Helper()
		fault, err := CheckNote(dir, v)
		if err != nil {
			t.Fatal(err)
		}
		return fault
	}
	if got := fault(verifier); got != "manifest.note is missing: nobody signed this kit" {
		t.Error(got)
	}
	if err := Sign(dir, signer); err != nil {
		t.Fatal(err)
	}
	if got := fault(verifier); got != "" {
		t.Error(got)
	}
	if got := fault(other); !strings.Contains(got, "no verifiable signatures") {
		t.Errorf("another key: %q", got)
	}
	put(t, dir, ManifestName, `{"format":"y"}`)
	if got := fault(verifier); got != "manifest.note is of another manifest" {
		t.Errorf("another manifest: %q", got)
	}
}

// TestChanges lists the commits after a tag, and the files of the certified path.
func TestChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for _, c := range []struct{ file, message string }{{"a", "first"}, {"b", "second"}, {"path/c", "third"}} {
		put(t, dir, c.file, c.message)
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", c.message)
		if c.message == "first" {
			git(t, dir, "tag", "v1")
		}
	}
	s, err := OpenSource(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Changes(t.Context(), "v1", []string{"path"})
	if err != nil || strings.Contains(string(text), "first") || !strings.Contains(string(text), " second\n") ||
		!strings.Contains(string(text), " third\n") || !strings.Contains(string(text), " path/c ") ||
		strings.Contains(string(text), " b ") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := s.Changes(t.Context(), "v2", nil); err == nil {
		t.Error("there is no v2")
	}
}

// TestModules: with only the modules of the archive and an empty cache, go finds all
// modules of the programs.
func TestModules(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("copies a hundred megabytes")
	}
	var b bytes.Buffer
	if err := Modules(t.Context(), "../..", &b); err != nil {
		t.Fatal(err)
	}
	proxy, cache := t.TempDir(), t.TempDir()
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		put(t, proxy, h.Name, string(text))
	}
	env := []string{"GOMODCACHE=" + cache, "GOFLAGS=-modcacherw", "GOWORK=off", "GOSUMDB=off",
		"GOPROXY=file://" + proxy}
	for module, program := range programs {
		if _, err := goCommand(t.Context(), filepath.Join("../..", module), env, "list", "-deps", program); err != nil {
			t.Error(err)
		}
	}
	if err := os.RemoveAll(proxy); err != nil {
		t.Fatal(err)
	}
	env[0] = "GOMODCACHE=" + t.TempDir()
	if _, err := goCommand(t.Context(), "../..", env, "list", "-deps", "./cmd/shuffled"); err == nil {
		t.Error("go found modules somewhere else: this test shows nothing")
	}
}

// TestLetter: the letter has what is known, and lines for the rest.
func TestLetter(t *testing.T) {
	t.Parallel()
	text, err := Letter{Platform: Platform{System: "linux/amd64", Kernel: "6.1"}, Version: "v1.2.3", Commit: "c0ffee",
		Since: "v1.2.0", FIPS: "off", Compiler: true}.Text()
	for _, want := range []string{"shuffled v1.2.3", "commit c0ffee", "since v1.2.0: CHANGES.md", "kernel 6.1",
		"____"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", text, want, err)
		}
	}
	if text, err := Suite(125_000_000); err != nil || string(text) != "0\nraw.bin\n1\n0\n1000\n1\n" {
		t.Errorf("%q, %v", text, err)
	}
}
