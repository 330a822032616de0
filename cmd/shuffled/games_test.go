package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGames types docs/GAMES.md, the pages of the games in the order in which it lists them,
// and docs/CLIENT.md, in one sandbox.
func TestGames(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the documents use curl, which is not here")
	}
	text := contents(t, "../../docs/GAMES.md")
	documents := []string{"docs/GAMES.md"}
	row := regexp.MustCompile(`(?m)^\| .* \| \[.*\]\((games/.*\.md)\) \|$`)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		documents = append(documents, "docs/"+m[1])
	}
	pages, err := filepath.Glob("../../docs/games/*.md")
	if err != nil || len(pages) != len(documents)-1 {
		t.Fatalf("%v: docs/GAMES.md lists %d of %d pages", err, len(documents)-1, len(pages))
	}
	documents = append(documents, "docs/CLIENT.md")
	w := newWalk(t, documents...)
	first := w.blocks["docs/GAMES.md"]
	for len(first) > 0 && first[0].section == "Begin" {
		if l, ok := languages[first[0].kind]; ok && strings.Contains(first[0].text, l.mark) {
			w.frames[l.kind] = first[0].text
		}
		w.begin, first = append(w.begin, first[0]), first[1:]
	}
	w.blocks["docs/GAMES.md"] = first
	w.run(documents...)
	w.onThePage()
}

// onThePage has the second implementation check the proof of a ticket, with the transcript of its draw.
func (w *walk) onThePage() {
	t := w.t
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		return // newWalk said so
	}
	cmd := exec.Command("node", "--input-type=module", "-e", `
import { readFileSync } from "node:fs";
const { load } = await import(process.env.PAGE);
const shuffled = load(), [draw, proof] = ["raffle.json", "T-000042.proof"].map((name) => new Uint8Array(readFileSync(name)));
const v = await shuffled.verify(draw, { vkey: readFileSync("shuffled-data/main.vkey", "utf8").trim() });
const t = shuffled.ticketOf(proof, v);
console.log(v.verdict, t.line, t.number, v.cards.length);`)
	page, err := filepath.Abs("../../web/verify.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "PAGE="+page)
	out, err := cmd.CombinedOutput()
	if want := "proved T-000042 42 3\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}

// TestReadme types the blocks of the README as they stand there, the daemon on a free port.
func TestReadme(t *testing.T) {
	t.Parallel()
	const document = "README.md"
	y, d := newTypist(t), newDaemon(t, "")
	d.data = filepath.Join(y.work, "shuffled-data")
	y.replaces(address, d.url, strings.TrimPrefix(address, "http://"), d.addr, "go run ./cmd/shuffled", "shuffled")
	// The tests are what runs now; the demonstration is a command of the checkout.
	try := exec.Command("sh", "-eu", "-c", y.text(document, "make demo", "make test", "make -n test"))
	try.Dir = "../.."
	if out, err := try.CombinedOutput(); err != nil || !strings.Contains(string(out), "CAUGHT") {
		t.Errorf("%v\n%s", err, out)
	}
	d.launchIn(y.work, d.url+"/readyz", y.arguments(y.text(document, "go run ./cmd/shuffled serve")))
	first := y.block(document, "TOKEN=")
	audit := y.block(document, "go run ./cmd/shuffled audit")
	for _, said := range []string{first, audit} {
		if !strings.Contains(said, "PROVED") {
			t.Errorf("%s", said)
		}
	}
	id := regexp.MustCompile(`shuffle (\d+): `).FindStringSubmatch(first)
	text := string(contents(t, filepath.Join("../..", document)))
	if id == nil || !strings.Contains(text, "The first id is "+id[1]+" here") {
		t.Errorf("the README says another first id than %v", id)
	}
}

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
	write("node_modules/shuffled/package.json", string(contents(w.t, filepath.Join(here, "package.json"))))
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
