package testdb

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// errNoBinaries is the one reason for which a test may be skipped.
var errNoBinaries = errors.New("no PostgreSQL server binaries in PATH, " +
	"pg_config --bindir or /usr/lib/postgresql/*/bin; run scripts/postgres.sh, " +
	"or on Debian: apt-get install postgresql")

// serverPrograms are the programs that a directory of the server must have.
var serverPrograms = []string{"initdb", "postgres", "pg_ctl"}

// Bin returns the path of a PostgreSQL program such as pgbench, psql or pg_dump. It has the version that the clusters
// run if it is installed alongside the server; otherwise it is the one in PATH.
func Bin(name string) (string, error) {
	if dir, err := binDir(); err == nil {
		if path := filepath.Join(dir, name); executable(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("finding PostgreSQL's %s: %w", name, err)
	}
	return path, nil
}

// binDir returns the directory with the server programs, or errNoBinaries.
var binDir = sync.OnceValues(func() (string, error) {
	return firstServer(candidates(os.Getenv("PATH"), "/usr/lib/postgresql"))
})

// candidates lists the directories that may hold the server, best first. Debian keeps the server out of PATH in one
// directory per major version below versions, and its pg_config may be that of the client library.
func candidates(path, versions string) []string {
	dirs := filepath.SplitList(path)
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	found, _ := filepath.Glob(filepath.Join(versions, "*", "bin"))
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Compare(majorVersion(b), majorVersion(a))
	})
	return append(dirs, found...)
}

// majorVersion reads the 15 of /usr/lib/postgresql/15/bin. A directory without a number sorts last.
func majorVersion(bin string) float64 {
	v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
	if err != nil {
		return -1
	}
	return v
}

// firstServer returns the first directory that holds every server program.
// Links are followed, since a server finds its libraries relative to itself.
func firstServer(dirs []string) (string, error) {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue // as in os/exec, nothing is run from the working directory
		}
		missing := slices.ContainsFunc(serverPrograms, func(name string) bool {
			return !executable(filepath.Join(dir, name))
		})
		if missing {
			continue
		}
		target, err := filepath.EvalSymlinks(filepath.Join(dir, serverPrograms[0]))
		if err != nil {
			return "", fmt.Errorf("following %s: %w", dir, err)
		}
		return filepath.Dir(target), nil
	}
	return "", errNoBinaries
}

// executable reports whether path is a file that some user may execute.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
