package main

import (
	"cmp"
	"crypto/fips140"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"shuffled/internal/process"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// build is what the binary knows of itself, and of the platform below it.
type build struct {
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

// commit is set by scripts/build.sh, whose builds do not depend on the state of git.
var commit string

func thisBuild() build {
	below := process.Platform()
	b := build{Version: "devel", Revision: commit, Algorithm: "shuffled/v1", Go: runtime.Version(), FIPS: below.FIPS, FIPSBuild: fips140.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Kernel: below.Kernel, VDSO: string(below.VDSO)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
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

// versionName is the version as a name of docs/SPEC.md section 1.5.
func versionName() string {
	v := strings.Map(func(r rune) rune {
		if r == '+' || r == '(' || r == ')' {
			return '-'
		}
		return r
	}, thisBuild().Version)
	return strings.Trim(v[:min(len(v), 64)], "-")
}

func (c versionCmd) Run(s streams) error {
	b := thisBuild()
	if c.JSON {
		return printJSON(s.out, b)
	}
	fips := "off"
	if b.FIPS {
		fips = "on (module " + b.FIPSBuild + ")"
	}
	fmt.Fprintf(s.out, "shuffled   %s %s\nalgorithm  %s\ngo         %s\nFIPS 140-3 %s\n", b.Version, b.Revision, b.Algorithm, b.Go, fips)
	fmt.Fprintf(s.out, "platform   %s\nkernel     %s, getrandom in the vDSO: %s\n", b.Platform, cmp.Or(b.Kernel, "unknown"), b.VDSO)
	return nil
}
