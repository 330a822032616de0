package kit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scripted copies a script of the project into a new directory with files, and with
// programs that replace others: each is the text of a shell script.
func scripted(t *testing.T, script string, files, programs map[string]string) func(env []string,
	args ...string) (code int, out string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../scripts", script))
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	put(t, dir, "scripts/"+script, string(text))
	if text, err = os.ReadFile("../../scripts/version.sh"); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "scripts/version.sh", string(text))
	for name, body := range files {
		put(t, dir, name, body)
	}
	for name, body := range programs {
		put(t, bin, name, "#!/bin/sh\n"+body+"\n")
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return func(env []string, args ...string) (int, string) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{"scripts/" + script}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SHUFFLED_INSTALL=no", "COMMIT="),
			env...)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
}

// TestBuildNamesChanges: in a checkout no other commit can be named without a mark.
func TestBuildNamesChanges(t *testing.T) {
	t.Parallel()
	const goProgram = `case $1 in env) ;; *) echo "$@" ;; esac`
	git := func(changes string) string {
		return `case $1 in rev-parse) echo c0ffee ;; status) printf '` + changes + `' ;; esac`
	}
	for _, c := range []struct{ checkout, changes, commit, want string }{
		{".git/HEAD", "", "", "shuffled/internal/build.Commit=c0ffee "},
		{".git/HEAD", "", "c0ffee", "shuffled/internal/build.Commit=c0ffee "},
		{".git/HEAD", " M x", "", "shuffled/internal/build.Commit=c0ffee-modified "},
		{".git/HEAD", " M x", "c0ffee", "shuffled/internal/build.Commit=c0ffee-modified "},
		{".git/HEAD", " M x", "c0ffee-modified", "shuffled/internal/build.Commit=c0ffee-modified "},
		{".git/HEAD", "", "decade", "shuffled/internal/build.Commit=decade-modified "},
		{"", "", "decade", "shuffled/internal/build.Commit=decade "},
		{"", "", "", "build: no checkout of git here"},
	} {
		files := map[string]string{"CHANGELOG.md": "## Unreleased\n"}
		if c.checkout != "" {
			files[c.checkout] = ""
		}
		run := scripted(t, "build.sh", files, map[string]string{"go": goProgram, "git": git(c.changes)})
		if _, out := run([]string{"COMMIT=" + c.commit}); !strings.Contains(out, c.want) {
			t.Errorf("%+v: %s", c, out)
		}
	}
}

// TestVersion: only the commit with the tag of a version has that version.
func TestVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ heading, checkout, tags, want string }{
		{"1.0.0-rc.2 (2026-11-30)", ".git/HEAD", "v1.0.0-rc.2", "1.0.0-rc.2\n"},
		{"1.0.0-rc.2 (2026-11-30)", ".git/HEAD", "v1.0.0-rc.1", "1.0.0-rc.2+284.76633c3d01b2\n"},
		{"1.0.0-rc.2 (2026-11-30)", ".git/HEAD", "", "1.0.0-rc.2+284.76633c3d01b2\n"},
		{"Unreleased", ".git/HEAD", "v1.0.0", "0.0.0-dev+76633c3d01b2\n"},
		{"1.0.0-rc.2 (2026-11-30)", "", "", "1.0.0-rc.2+76633c3d01b2\n"},
	} {
		files := map[string]string{"CHANGELOG.md": "# Changes\n\n## " + c.heading + "\n\n## 1.0.0-rc.1\n"}
		if c.checkout != "" {
			files[c.checkout] = ""
		}
		git := `case $1 in rev-parse) [ "$2" = -q ] && exit 1; echo 76633c3d01b2 ;; tag) echo ` + c.tags +
			` ;; log) echo heading ;; rev-list) [ "$3" = heading..HEAD ] && echo 284 ;; esac`
		run := scripted(t, "version.sh", files, map[string]string{"git": git})
		if code, out := run([]string{"COMMIT=76633c3d01b2fabe"}); code != 0 || out != c.want {
			t.Errorf("%+v: exit code %d, %s", c, code, out)
		}
	}
}

// TestLabScript: too few blocks are refused, and a dieharder of which no test ran is
// no success.
func TestLabScript(t *testing.T) {
	t.Parallel()
	programs := map[string]string{
		"go":        `while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done; printf '#!/bin/sh\n' >"$out"; chmod +x "$out"`,
		"rngtest":   `case $1 in --version) echo 1 ;; *) echo "rngtest: FIPS 140-2 successes: $2"; echo "rngtest: FIPS 140-2 failures: 0" ;; esac`,
		"dieharder": `echo "  diehard_birthdays|   0|       100|     100|0.5|  PASSED  "`,
	}
	run := scripted(t, "lab.sh", nil, programs)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--blocks 999", 2, "--blocks is 1000 or more"},
		{"--blocks 1000 --minutes 0", 3, "dieharder is here, and none of its tests ran"},
		{"--blocks 1000 --tests 0", 0, "0 of 1000 blocks fail"},
	} {
		if code, out := run(nil, strings.Fields(c.args)...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit code %d, want %d\n%s", c.args, code, c.code, out)
		}
	}
}
