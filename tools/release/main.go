// Command release packs the programs that scripts/release.sh built. It writes Debian packages, an
// OCI image, for which it needs no container daemon, a bill of materials with the licences, a provenance,
// and the digests of all files. The same programs and arguments give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A release describes what is packed.
type release struct {
	dir     string // has a directory of programs for each platform, named OS-ARCH
	source  string // the root of the repository
	version string // without a v
	commit  string // the commit in git
	time    time.Time
}

func main() {
	r := release{}
	flag.StringVar(&r.dir, "dir", "", "directory of the release, with the programs of each platform in OS-ARCH")
	flag.StringVar(&r.source, "source", "", "root of the repository")
	flag.StringVar(&r.version, "version", "", "version, such as 1.0.0-rc.1")
	flag.StringVar(&r.commit, "commit", "", "commit of git")
	seconds := flag.Int64("time", 0, "time of the commit, in seconds since 1970")
	flag.Parse()
	r.time = time.Unix(*seconds, 0).UTC()
	if err := r.pack(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// pack writes all files of the release except the programs. It writes the digests last.
func (r *release) pack() error {
	if r.dir == "" || r.source == "" || r.version == "" || r.commit == "" || r.time.Unix() == 0 {
		return fmt.Errorf("-dir, -source, -version, -commit and -time must be given")
	}
	programs, err := filepath.Glob(filepath.Join(r.dir, "*-*", "shuffled*"))
	if err != nil || len(programs) == 0 {
		return fmt.Errorf("finding programs in %s: there are none (%v)", r.dir, err)
	}
	for _, name := range licenceFiles {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.dir, name), text, 0o644); err != nil {
			return err
		}
	}
	for _, step := range []func([]string) error{r.materials, r.debs, r.image, r.provenance} {
		if err := step(programs); err != nil {
			return err
		}
	}
	return r.sums()
}

// of returns the path of the program of this name for each architecture of Linux that has it.
func (r *release) of(name string) (map[string]string, error) {
	found := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		path := filepath.Join(r.dir, "linux-"+arch, name)
		if _, err := os.Stat(path); err == nil {
			found[arch] = path
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("finding %s in %s: no platform of Linux has it", name, r.dir)
	}
	return found, nil
}
