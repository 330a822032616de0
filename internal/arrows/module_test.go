package arrows

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	versioned "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// mostSums is how many lines an outsider's go.sum has at most who imports the client.
const mostSums = 20

// TestModule gives a copy of the tree the path that an owner may choose, and imports the
// client from a module outside of it, over a proxy of files.
func TestModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the client from an empty module cache")
	}
	t.Parallel()
	const path, version = "example.com/owner/shuffled", "v0.1.0"
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tree, proxy, outside := filepath.Join(t.TempDir(), "tree"), t.TempDir(), t.TempDir()
	run := func(dir string, env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, errs.Bytes())
		}
		return strings.TrimSpace(string(out))
	}
	files := run(root, nil, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(files, "\n") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue
		}
		to := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(tree, nil, "sh", "scripts/module.sh", path)
	if exec.Command("grep", "-rqE", regexp.QuoteMeta(path)+"/v[0-9]", tree).Run() == nil {
		t.Error("a label of a format was renamed")
	}
	for _, m := range []string{".", "lab", "perf", "test"} { // every import is found, also those of tests
		run(filepath.Join(tree, m), nil, "go", "list", "-test", "./...")
	}

	at := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := zip.CreateFromDir(&archive, versioned.Version{Path: path, Version: version}, tree); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{version + ".mod": mod, version + ".zip": archive.Bytes(),
		version + ".info": []byte(`{"Version":"` + version + `"}`), "list": []byte(version + "\n")} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const program = `package main

import (
	"fmt"

	"` + path + `/client"
)

func main() {
	_, err := client.New(client.Config{URL: "http://127.0.0.1:1", Ledger: "main", VKey: "none"})
	fmt.Println(len(client.NewKey()), err != nil)
}
`
	if err := os.WriteFile(filepath.Join(outside, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := run(root, nil, "go", "env", "GOMODCACHE")
	env := []string{"GOPROXY=file://" + proxy + ",file://" + cache + "/cache/download", "GONOSUMDB=*",
		"GOFLAGS=-modcacherw", "GOMODCACHE=" + t.TempDir(), "GOWORK=off", "GOTOOLCHAIN=local"}
	run(outside, env, "go", "mod", "init", "example.org/game")
	run(outside, env, "go", "get", path+"/client@"+version)
	if got := run(outside, env, "go", "run", "."); got != "36 true" {
		t.Errorf("the program says %q", got)
	}
	sums, err := os.ReadFile(filepath.Join(outside, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(run(outside, env, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."))
	seen := map[string]bool{}
	for _, m := range linked {
		seen[m] = true
	}
	t.Logf("go.sum has %d lines, the program links %d modules, go.mod:\n%s", bytes.Count(sums, []byte("\n")), len(seen),
		run(outside, nil, "cat", "go.mod"))
	if n := bytes.Count(sums, []byte("\n")); n > mostSums {
		t.Errorf("go.sum has %d lines", n)
	}
}
