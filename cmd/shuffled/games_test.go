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
	text, err := os.ReadFile("../../docs/GAMES.md")
	if err != nil {
		t.Fatal(err)
	}
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
	if text := readText(t, document); id == nil || !strings.Contains(text, "The first id is "+id[1]+" here") {
		t.Errorf("the README says another first id than %v", id)
	}
}
