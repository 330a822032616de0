package kit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRebuild: the script of a kit builds from the kit alone, with empty caches and without the
// user's settings, and accepts only programs of the same bytes. TestKitRebuildsItself of
// lab/cmd/shuffled-lab runs it on a real kit.
func TestRebuild(t *testing.T) {
	t.Parallel()
	const buildScript = `set -e
test ! -e "$GOMODCACHE" -a ! -e "$GOCACHE" -a -e "${GOPROXY#file://}/m.zip"
test "$GOENV $GOTOOLCHAIN $GOSUMDB ${GOFLAGS-unset}" = "off local off unset"
mkdir -p "$(dirname "$1")"
printf %s "$GOOS $GOFIPS140 $VERSION $COMMIT" >"$1"
printf %s "$PROGRAMS" >"${1%/*}/shuffled-lab"
`
	for _, c := range []struct {
		name, file, text string // of what is damaged
		code             int
		says             string
	}{
		{"honest", "notes", "", 0, "both programs have the same bytes"},
		{"another program", "shuffled", "linux off 1.0.0 c0ffeE", 1, "differ"},
		{"another program of the lab", "shuffled-lab", "shuffled", 1, "EOF on"},
		{"another source", "sources.sha256", strings.Repeat("0", 64) + "  scripts/build.sh\n", 1, "FAILED"},
		{"no modules", "modules.tar", "", 2, "tar: "},
		{"another compiler", "bin/go", "#!/bin/sh\necho go8\n", 2, "go here is go8; the programs were built with go9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script, err := Rebuild(Build{Go: "go9", System: "linux", Arch: "amd64", Module: "off", Version: "1.0.0",
				Commit: "c0ffee"})
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "rebuild.sh", string(script))
			put(t, dir, "source/scripts/build.sh", buildScript)
			put(t, dir, "modules/m.zip", "")
			put(t, dir, "shuffled", "linux off 1.0.0 c0ffee")
			put(t, dir, "shuffled-lab", "shuffled shuffled-lab")
			put(t, dir, "bin/go", "#!/bin/sh\necho go9\n")
			shell := func(line string) (int, string) {
				cmd := exec.Command("sh", "-c", line)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod",
					"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
				out, _ := cmd.CombinedOutput()
				return cmd.ProcessState.ExitCode(), string(out)
			}
			if code, out := shell(`tar -cf sources.tar -C source scripts && tar -cf modules.tar -C modules m.zip &&
				(cd source && sha256sum scripts/build.sh) >sources.sha256 && chmod +x bin/go`); code != 0 {
				t.Fatal(out)
			}
			put(t, dir, c.file, c.text)
			if code, out := shell("sh rebuild.sh"); code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("exit code %d, want %d and %q\n%s", code, c.code, c.says, out)
			}
		})
	}
}
