//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// released returns the one file of the release whose name matches the pattern. SHUFFLED_RELEASE is
// the directory of the release; scripts/reproduce.sh sets it.
func released(t *testing.T, pattern string) string {
	t.Helper()
	dir := os.Getenv("SHUFFLED_RELEASE")
	if dir == "" {
		t.Skip("SHUFFLED_RELEASE names no release: nothing was installed")
	}
	if os.Getuid() != 0 {
		t.Skip("only root may change the root directory: nothing was installed")
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", pattern, dir, found, err)
	}
	return found[0]
}

// TestInstalled: the package installs in the new Debian system in the directory SHUFFLED_DEBIAN,
// which the test changes. systemd finds no fault in the units of the package and of shuffled init.
// The daemon serves as the user of the unit. A purge removes the program, and keeps the keys.
func TestInstalled(t *testing.T) {
	root := os.Getenv("SHUFFLED_DEBIAN")
	if root == "" {
		t.Skip("SHUFFLED_DEBIAN names no tree of Debian: the package was not installed")
	}
	text, err := os.ReadFile(released(t, "shuffled_*_"+runtime.GOARCH+".deb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "shuffled.deb"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	typed := func(script string) string {
		t.Helper()
		out, err := inside(t.Context(), root, "root:root", "sh", "-euc", script).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	typed("dpkg --install /shuffled.deb")
	typed(`cd /root
		for name in alice bob; do shuffled key generate administrator --name $name --out $name.key; done
		shuffled init /etc/shuffled --origin cards.example.com/main --house casino --without-witnesses \
			--database postgres://db.example.com/shuffled --administrator alice=alice.vkey --administrator bob=bob.vkey \
			--mix slots`)
	units := "/usr/lib/systemd/system/shuffled.service /usr/lib/systemd/system/shuffled-witness.service " +
		"/etc/shuffled/shuffled.service"
	if out := typed("for unit in " + units + "; do systemd-analyze verify --man=no $unit; done"); out != "" {
		t.Errorf("systemd about the units: %s", out)
	}
	typed("install -m 0644 /etc/shuffled/shuffled.service /etc/systemd/system/; systemctl enable shuffled")
	play(t, root, "shuffled:shuffled", "/usr/bin/shuffled", "/tmp/sandbox")
	typed("dpkg --purge shuffled; test ! -e /usr/bin/shuffled; test -e /etc/shuffled/credentials/main.key")
}

// TestImageRuns: the program of the image runs as the image's user, with only the files of the image.
func TestImageRuns(t *testing.T) {
	work, root := t.TempDir(), t.TempDir()
	unpack(t, released(t, "shuffled-*-oci.tar"), work)
	index, err := layout.ImageIndexFromPath(work)
	if err != nil {
		t.Fatal(err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Manifests {
		if m.Platform.Architecture != runtime.GOARCH {
			continue
		}
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		files := mutate.Extract(image)
		defer files.Close()
		tar := exec.Command("tar", "--extract", "--directory", root, "--same-owner", "--numeric-owner")
		tar.Stdin = files
		if out, err := tar.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(filepath.Join(root, "proc"), 0o755)); err != nil {
			t.Fatal(err)
		}
		play(t, root, config.Config.User, config.Config.Entrypoint[0], "/var/lib/shuffled")
		return
	}
	t.Fatalf("no image for %s: %+v", runtime.GOARCH, list.Manifests)
}

// inside returns a command that runs as this user, with this directory as its root, and with a
// process namespace and /proc of its own. When the command ends, all its processes are killed.
func inside(ctx context.Context, root, user string, words ...string) *exec.Cmd {
	const script = `mount -t proc proc "$0/proc"; user=$1; shift; chroot --userspec="$user" "$0" "$@"; exit $?`
	return exec.CommandContext(ctx, "unshare", append([]string{"--mount", "--pid", "--fork", "--kill-child",
		"sh", "-euc", script, root, user}, words...)...)
}

// play starts a sandbox daemon as this user, with the directory root as its root, and commits to a shuffle.
func play(t *testing.T, root, user, program, data string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := inside(ctx, root, user, program, "serve", "--dev", "--data", data, "--listen", "127.0.0.1:0")
	var logged strings.Builder
	cmd.Stderr = &logged
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var url string
	for lines := bufio.NewScanner(said); url == "" && lines.Scan(); {
		url = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+$`).FindString(lines.Text())
	}
	go io.Copy(io.Discard, said)
	token, err := os.ReadFile(filepath.Join(root, data, "dealer.token"))
	if err != nil || url == "" {
		t.Fatalf("the daemon in %s does not serve: %v\n%s", root, err, &logged)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/main/shuffles",
		strings.NewReader(`{"table": "table-1", "deck": "standard-52"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Idempotency-Key", "0f0e0d0c-0b0a-4908-8706-050403020100")
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var shuffle struct{ Receipt json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&shuffle); err != nil || len(shuffle.Receipt) == 0 {
		t.Errorf("%s in %s answers %s, and no receipt: %v", program, root, answer.Status, err)
	}
}
