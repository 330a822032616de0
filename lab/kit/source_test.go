package kit

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs git for an invented person, on a fixed day.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05+06:00",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05+06:00")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestArchive: the archive has what is committed, is the same from two checkouts with
// different settings, and the digests are those of its files.
func TestArchive(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("*** no git here: archives of the source are not tested ***")
	}
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "two")
	git(t, one, "init", "--quiet")
	put(t, one, "b/run", "#!/bin/sh\n")
	put(t, one, "b.go", "package b\n")
	if err := os.Chmod(filepath.Join(one, "b/run"), 0o700); err != nil {
		t.Fatal(err)
	}
	git(t, one, "add", ".")
	git(t, one, "commit", "--quiet", "--message", "one")
	git(t, one, "clone", "--quiet", ".", two)
	git(t, two, "config", "tar.umask", "0077")
	git(t, two, "config", "core.autocrlf", "true")
	put(t, one, "secret.key", "not committed")
	put(t, one, "b.go", "package changed\n")

	var archives [2]bytes.Buffer
	for i, dir := range []string{one, two} {
		s, err := OpenSource(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		digests, err := s.Archive(t.Context(), &archives[i])
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Commit) != 40 || s.Time.UTC().Format("2006-01-02T15:04:05") != "2026-01-01T21:04:05" {
			t.Errorf("commit %s at %v", s.Commit, s.Time)
		}
		if got, want := contents(t, archives[i].Bytes()),
			[]string{"b.go 644 package b\n", "b/run 755 #!/bin/sh\n"}; !slices.Equal(got, want) {
			t.Errorf("archive of %q, want %q", got, want)
		}
		sum := sha256.Sum256([]byte("package b\n"))
		if want := (Digest{"b.go", hex.EncodeToString(sum[:])}); len(digests) != 2 || digests[0] != want {
			t.Errorf("digests %v, want %v first", digests, want)
		}
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
		t.Error("two checkouts of one commit give two archives")
	}
}

func contents(t *testing.T, b []byte) (files []string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		mode := "644"
		if h.Mode == 0o755 {
			mode = "755"
		}
		files = append(files, h.Name+" "+mode+" "+string(text))
	}
}

func TestNoSource(t *testing.T) {
	if _, err := OpenSource(t.Context(), t.TempDir()); err == nil ||
		!strings.HasPrefix(err.Error(), "finding the commit of the source: ") {
		t.Errorf("a directory that is no checkout: %v", err)
	}
}

// TestReproducible builds the programs of the committed source in two directories and compares the
// bytes. It shares go's caches, so that it can be run often;
// scripts/reproduce.sh alone takes empty ones.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("two builds of the whole")
	}
	const root = "../.."
	if err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("*** no checkout of git here: the build's bytes are not compared ***")
	}
	cmd := exec.Command("sh", "scripts/reproduce.sh")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CACHE=shared")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nreproducible: ") {
		t.Errorf("%v\n%s", err, out)
	}
}
