// Package build says which build a program is, and what platform is below it.
package build

import (
	"crypto/fips140"
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
