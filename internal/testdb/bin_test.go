package testdb

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programs makes a directory with executable files of the given names.
func programs(t *testing.T, dir string, names ...string) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	for _, name := range names {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	return dir
}

func TestServerSearch(t *testing.T) {
	root := t.TempDir()
	versions := filepath.Join(root, "versions")
	for _, v := range []string{"9.6", "15", "17", "18"} {
		programs(t, filepath.Join(versions, v, "bin"), serverPrograms...)
	}
	must(t, os.Remove(filepath.Join(versions, "18", "bin", "postgres")))
	inPath := programs(t, filepath.Join(root, "path"), serverPrograms...)
	linked := programs(t, filepath.Join(root, "linked"))
	for _, name := range serverPrograms {
		must(t, os.Symlink(filepath.Join(versions, "15", "bin", name), filepath.Join(linked, name)))
	}
	clientOnly := programs(t, filepath.Join(root, "client"), "psql", "initdb")
	configDir := programs(t, filepath.Join(root, "config"), serverPrograms...)
	config := programs(t, filepath.Join(root, "pgconfig"))
	script := "#!/bin/sh\n[ \"$*\" = --bindir ] && echo " + configDir + "\n"
	must(t, os.WriteFile(filepath.Join(config, "pg_config"), []byte(script), 0o755))
	for _, test := range []struct {
		name, path, versions, want string
	}{
		{"PATH first", clientOnly + ":" + inPath + ":" + config, versions, inPath},
		{"links are followed", linked, versions, filepath.Join(versions, "15", "bin")},
		{"then pg_config", clientOnly + ":" + config, versions, configDir},
		{"then the newest complete version", clientOnly, versions, filepath.Join(versions, "17", "bin")},
		{"working directory never", ".", filepath.Join(root, "none"), ""},
		{"none", clientOnly, filepath.Join(root, "none"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(inPath)
			t.Setenv("PATH", test.path)
			got, err := firstServer(candidates(test.path, test.versions))
			if test.want == "" {
				if !errors.Is(err, errNoBinaries) {
					t.Fatalf("found %q, error %v; want errNoBinaries", got, err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Fatalf("found %q, error %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestBin(t *testing.T) {
	if _, err := binDir(); err != nil {
		unavailable(t, err)
	}
	path, err := Bin("pg_dump")
	must(t, err)
	out, err := exec.Command(path, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "pg_dump (PostgreSQL) ") {
		t.Errorf("%s --version: %q, %v", path, out, err)
	}
	if path, err := Bin("pg_no_such_program"); err == nil {
		t.Errorf("found %s", path)
	}
}
