package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// npmPackage is the second implementation.
const npmPackage = "../../client/typescript"

// nodePackages reports whether TypeScript can be typed here: with Node, and what `npm ci` in the npm package installs.
func nodePackages(t *testing.T) bool {
	t.Helper()
	_, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(npmPackage, "node_modules/typescript"))
	}
	if err != nil && os.Getenv("SHUFFLED_REQUIRE_NODE") == "1" {
		t.Fatalf("%v, and SHUFFLED_REQUIRE_NODE=1: npm --prefix client/typescript ci --ignore-scripts", err)
	}
	if err != nil {
		t.Logf("NO TYPESCRIPT HERE, its blocks are NOT tried: %v (scripts/web.sh installs Node, "+
			"npm --prefix client/typescript ci the rest)", err)
	}
	return err == nil
}

// withoutTypeScript leaves out what cannot be typed without Node.
func withoutTypeScript(blocks []fence) (rest []fence) {
	programs := map[string]bool{}
	for _, b := range blocks {
		if b.kind == "ts" && strings.HasPrefix(b.text, languages["ts"].program) && !strings.Contains(b.text,
			languages["ts"].mark) {
			programs[b.section] = true
		}
	}
	for _, b := range blocks {
		if b.kind != "ts" && !programs[b.section] {
			rest = append(rest, b)
		}
	}
	return rest
}

// scriptName is the name of a script that a block is in.
func scriptName(key string) string {
	return strings.NewReplacer("/", "-", ".md:", "-").Replace(key)
}

// transpile has the package's own compiler check the scripts, strictly, against the package
// as it is packed, and make JavaScript of them.
func (w *walk) transpile(scripts map[string]string) {
	w.t.Helper()
	here, err := filepath.Abs(npmPackage)
	if err != nil {
		w.t.Fatal(err)
	}
	installed := filepath.Join(here, "node_modules")
	modules := filepath.Join(w.dir, "node_modules")
	tsc := func(arguments ...string) {
		w.t.Helper()
		cmd := exec.Command("node", append([]string{filepath.Join(installed, "typescript/bin/tsc")}, arguments...)...)
		cmd.Dir = w.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("tsc: %v\n%s", err, out)
		}
	}
	write := func(name, text string) {
		w.t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	manifest, err := os.ReadFile(filepath.Join(here, "package.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	write("node_modules/shuffled/package.json", string(manifest))
	write("package.json", `{ "type": "module" }`)
	for _, name := range []string{"@noble", "@types", "undici-types"} {
		if err := os.Symlink(filepath.Join(installed, name), filepath.Join(modules, name)); err != nil {
			w.t.Fatal(err)
		}
	}
	tsc("-p", filepath.Join(here, "tsconfig.build.json"), "--outDir", filepath.Join(modules, "shuffled/dist"))
	check := []string{"--strict", "--pretty", "--target", "es2022", "--module", "nodenext", "--types", "node"}
	for name, source := range scripts {
		write(name+".ts", strings.ReplaceAll(source, address, w.d.url))
		check = append(check, name+".ts")
	}
	tsc(check...)
}
