// Package build says which build a program is, and what platform is below it.
package build

import (
	"bytes"
	"crypto/fips140"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"shuffled/internal/process"
)

// Info is what a binary knows of itself, and of the platform below it.
type Info struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
	Algorithm string `json:"algorithm"`
	Go        string `json:"go"`
	FIPS      bool   `json:"fips"`
	FIPSBuild string `json:"fips_module"`
	Platform  string `json:"platform"`
	Kernel    string `json:"kernel,omitempty"`
	VDSO      string `json:"vdso_getrandom"`
}

// Name is the version as a name of docs/SPEC.md section 1.5.
func (b Info) Name() string {
	v := strings.Map(func(r rune) rune {
		if r == '+' || r == '(' || r == ')' {
			return '-'
		}
		return r
	}, b.Version)
	return strings.Trim(v[:min(len(v), 64)], "-")
}

// Commit and Release are set by scripts/build.sh, whose builds do not depend on the state of
// git. Release is what scripts/version.sh prints: a build that is not of a tag says so.
var Commit, Release string

// This returns what this binary knows.
func This() Info {
	below := process.Platform()
	b := Info{Version: "devel", Revision: Commit, Algorithm: "shuffled/v1", Go: runtime.Version(), FIPS: below.FIPS,
		FIPSBuild: fips140.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH, Kernel: below.Kernel, VDSO: string(below.VDSO)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	if Release != "" {
		b.Version = Release
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Digest returns the SHA-256 of the program that runs.
func Digest() (sum [32]byte, err error) {
	path, err := os.Executable()
	if err != nil {
		return sum, fmt.Errorf("finding the executable: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, fmt.Errorf("reading the executable: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, fmt.Errorf("reading the executable: %w", err)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// Sibling returns the path of another program of this project. It lies in the directory of the program that runs; a
// program of that name elsewhere may be another build, and is not looked for. It is of the same commit.
func Sibling(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the directory of this program: %w", err)
	}
	path, commit := filepath.Join(filepath.Dir(self), name), This().Revision
	const cure = `run "sh scripts/build.sh" in the source, which builds all programs into bin`
	if text, err := os.ReadFile(path); err != nil {
		return "", fmt.Errorf("the program %s is not in %s, the directory of this program: "+cure, name, filepath.Dir(self))
	} else if !isOf(text, commit) {
		return "", fmt.Errorf("the program %s is not of the commit of this program, %s: "+cure, path, commit)
	}
	return path, nil
}

// isOf reports whether the linker or scripts/build.sh wrote this commit into the text of a program. A program that does
// not know its own commit takes any other for its sibling.
func isOf(text []byte, commit string) bool {
	const modified = "-modified" // what scripts/build.sh adds to the commit of a checkout with changes
	changed := !strings.HasSuffix(commit, modified) && bytes.Contains(text, []byte(commit+modified))
	return commit == "" || bytes.Contains(text, []byte(commit)) && !changed
}
