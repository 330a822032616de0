package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/client"
)

// TestGames runs docs/GAMES.md: each section's commands, and the requests between
// them, in their order against a daemon of its own.
func TestGames(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the document uses curl, which is not here")
	}
	page, err := os.ReadFile("../../docs/GAMES.md")
	if err != nil {
		t.Fatal(err)
	}
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(sh|http)\n(.*?)^```$")
	found := 0
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		steps := blocks.FindAllStringSubmatch(text, -1)
		found += len(steps)
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, "")
			d.start()
			dir := t.TempDir()
			for _, step := range steps {
				if step[1] == "http" {
					d.send(t, step[2])
					continue
				}
				cmd := exec.Command("sh", "-eu", "-c", step[2])
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), d.environment()...)
				cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s\n%s", err, step[2], out)
				}
			}
			onThePage(t, dir, filepath.Join(d.data, "main.vkey"))
		})
	}
	if found < 15 {
		t.Errorf("only %d blocks found", found)
	}
}

// onThePage has the second implementation check the proofs of tickets of a section, with the transcript of their draw.
func onThePage(t *testing.T, dir, key string) {
	t.Helper()
	proofs, err := filepath.Glob(filepath.Join(dir, "*.proof"))
	if err != nil || len(proofs) == 0 {
		return
	}
	if _, err := exec.LookPath("node"); err != nil && os.Getenv("SHUFFLED_REQUIRE_NODE") != "1" {
		t.Log("NO NODE HERE: the second implementation was not asked. Install Node 20 (scripts/web.sh)")
		return
	}
	for _, proof := range proofs {
		cmd := exec.Command("node", "--input-type=module", "-e", `
import { readFileSync } from "node:fs";
const { load } = await import(process.env.PAGE);
const shuffled = load(), [draw, proof] = [process.env.DRAW, process.env.PROOF].map((name) => new Uint8Array(readFileSync(name)));
const v = await shuffled.verify(draw, { vkey: readFileSync(process.env.SHUFFLED_KEY, "utf8").trim() });
const t = shuffled.ticketOf(proof, v);
console.log(v.verdict, t.line, t.number, v.cards.length);`)
		page, err := filepath.Abs("../../web/verify.mjs")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "PAGE="+page, "DRAW="+filepath.Join(dir, "raffle.json"), "PROOF="+proof,
			"SHUFFLED_KEY="+key)
		out, err := cmd.CombinedOutput()
		if want := "proved T-000042 42 3\n"; err != nil || string(out) != want {
			t.Errorf("%v: %s, want %s", err, out, want)
		}
	}
}

// send makes the requests of a block: a line with the address, a line with the body.
// An answer to a batch has an answer to each operation.
func (d *daemon) send(t *testing.T, block string) {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		method, path, ok := strings.Cut(lines[i], " ")
		if !ok || method != http.MethodPost && method != http.MethodPut {
			t.Fatalf("no address: %s", lines[i])
		}
		status, answer, err := d.do(method, path, d.token("dealer.token"), client.NewKey(), []byte(lines[i+1]))
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s\n%s\n%d, %v: %s", lines[i], lines[i+1], status, err, answer)
		}
		var batch client.Batch
		if err := json.Unmarshal(answer, &batch); err != nil {
			t.Fatal(err)
		}
		for j, r := range batch.Results {
			if r.Status != http.StatusOK {
				t.Errorf("%s\n%s\noperation %d: %d: %s", lines[i], lines[i+1], j, r.Status, r.Body)
			}
		}
	}
}
