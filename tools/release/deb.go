package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// afterInstall makes the users of the units. It starts no unit, because a house must first be set
// up with shuffled init. The units need procps for /bin/kill.
const afterInstall = `#!/bin/sh
set -e
for name in shuffled shuffled-witness; do
	getent passwd "$name" >/dev/null ||
		useradd --system --user-group --home-dir "/var/lib/$name" --no-create-home --shell /usr/sbin/nologin "$name"
done
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`

// debs writes a Debian package for each architecture.
func (r *release) debs([]string) error {
	programs, err := r.of("shuffled")
	if err != nil {
		return err
	}
	for arch, program := range programs {
		if err := r.deb(arch, program); err != nil {
			return fmt.Errorf("packing for Debian %s: %w", arch, err)
		}
	}
	return nil
}

func (r *release) deb(arch, program string) error {
	work, err := os.MkdirTemp("", "deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var contents files.Contents
	add := func(from, to string, mode os.FileMode) {
		contents = append(contents, &files.Content{Source: from, Destination: to,
			FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}})
	}
	add(program, "/usr/bin/shuffled", 0o755)
	for _, unit := range []string{"shuffled.service", "shuffled-witness.service"} {
		text, err := os.ReadFile(filepath.Join(r.source, "deploy", unit))
		if err != nil {
			return err
		}
		path := filepath.Join(work, unit)
		placed := strings.ReplaceAll(string(text), "/usr/local/bin/shuffled", "/usr/bin/shuffled")
		if err := os.WriteFile(path, []byte(placed), 0o644); err != nil {
			return err
		}
		add(path, "/usr/lib/systemd/system/"+unit, 0o644)
	}
	for from, to := range map[string]string{"CHANGELOG.md": "CHANGELOG.md", "README.md": "README.md",
		"configs/shuffled.example.toml": "shuffled.example.toml", "deploy/roles.sql": "roles.sql"} {
		add(filepath.Join(r.source, from), "/usr/share/doc/shuffled/"+to, 0o644)
	}
	for _, name := range append(licenceFiles, licencesName) {
		add(filepath.Join(r.dir, name), "/usr/share/doc/shuffled/"+name, 0o644)
	}
	script := filepath.Join(work, "postinst")
	if err := os.WriteFile(script, []byte(afterInstall), 0o755); err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{Name: "shuffled", Arch: arch, Platform: "linux",
		Version: strings.Replace(r.version, "-", "~", 1), VersionSchema: "none", Section: "games", Priority: "optional",
		License:    licence,
		Maintainer: "The owner of this house <root@localhost>",
		Description: "auditable shuffling daemon\n" +
			" Shuffles cards for regulated games and leaves evidence that anybody can check.",
		MTime: r.time,
		Overridables: nfpm.Overridables{Contents: contents, Depends: []string{"passwd", "procps"},
			Scripts: nfpm.Scripts{PostInstall: script}}})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(r.dir, fmt.Sprintf("shuffled_%s_%s.deb", r.version, arch)))
	if err != nil {
		return err
	}
	if err := deb.Default.Package(info, out); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
