package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/testdb"
)

// A typist types blocks of documents in a directory of its own, where the documents' names of
// hosts, files and ids are those of a test.
type typist struct {
	tb      *testing.T
	work    string
	env     []string
	replace *strings.Replacer
	names   []string // what replace replaces, and by what
}

// newTypist has the program in its PATH, and these directories behind it.
func newTypist(t *testing.T, path ...string) *typist {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the documents use curl, which is not here")
	}
	path = append(append([]string{filepath.Dir(builtBinary(t))}, path...), os.Getenv("PATH"))
	y := &typist{tb: t, work: t.TempDir(), env: append(os.Environ(), "PATH="+strings.Join(path, ":"))}
	y.replaces()
	return y
}

// replaces adds names of documents, each with what stands for it here. The first ones count.
func (y *typist) replaces(names ...string) {
	y.names = append(y.names, names...)
	y.replace = strings.NewReplacer(y.names...)
}

// agrees answers yes to what an act asks, as the reader of the page does on a terminal.
const agrees = `shuffled() {
  case "${1-} ${2-}" in
  "act do" | "act sign") command shuffled "$@" --yes ;;
  *) command shuffled "$@" ;;
  esac
}
`

// try types commands, and returns what they say.
func (y *typist) try(commands string) (string, error) {
	cmd := exec.Command("sh", "-eu", "-c", agrees+commands)
	cmd.Dir, cmd.Env = y.work, y.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must types commands that are to succeed.
func (y *typist) must(commands string) string {
	y.tb.Helper()
	out, err := y.try(commands)
	if err != nil {
		y.tb.Fatalf("%s\n%v\n%s", commands, err, out)
	}
	return out
}

// arguments are the words of one command, as the shell has them.
func (y *typist) arguments(command string) []string {
	y.tb.Helper()
	out := y.must("shuffled() { printf '%s\\n' \"$@\"; }\n" + command)
	return strings.Split(strings.TrimSpace(out), "\n")
}

// block types the one block of a document that begins with a text, with names that hold for it
// alone, and returns what it says.
func (y *typist) block(document, begins string, names ...string) string {
	y.tb.Helper()
	block := y.text(document, begins, names...)
	out, err := y.try(block)
	if err != nil {
		y.tb.Fatalf("%s:\n%s%v\n%s", document, block, err, out)
	}
	return out
}

// text is the block, with the names of this test. A name of the block's own that is not in it fails the test.
func (y *typist) text(document, begins string, names ...string) string {
	y.tb.Helper()
	b := theBlock(y.tb, document, begins)
	for i := 0; i < len(names); i += 2 {
		if !strings.Contains(b.text, names[i]) {
			y.tb.Errorf("%s:%d: %q is not in the block", document, b.line, names[i])
		}
	}
	return y.replace.Replace(strings.NewReplacer(names...).Replace(b.text))
}

// theBlock is the one block of commands of a document that begins with a text.
func theBlock(t *testing.T, document, begins string) fence {
	t.Helper()
	blocks := slices.DeleteFunc(fences(t, document), func(b fence) bool {
		return b.kind != "sh" || !strings.HasPrefix(b.text, begins)
	})
	if len(blocks) != 1 {
		t.Fatalf("%s: %d blocks begin with %q", document, len(blocks), begins)
	}
	return blocks[0]
}

// blocksOf are the blocks of commands of a chapter of docs/operations.
func blocksOf(t *testing.T, chapter string) (blocks []string) {
	t.Helper()
	for _, b := range fences(t, filepath.Join("docs/operations", chapter)) {
		if b.kind == "sh" {
			blocks = append(blocks, b.text)
		}
	}
	return blocks
}

// sandboxTypist is a typist next to a sandbox, with the sandbox's token and key files where it
// types, as an operator has them.
func sandboxTypist(t *testing.T, args ...string) (*typist, *daemon) {
	t.Helper()
	y, d := newTypist(t), newDaemon(t, "")
	d.data = filepath.Join(y.work, "shuffled-data")
	d.start(args...)
	y.must("cp shuffled-data/*.token shuffled-data/*.vkey shuffled-data/auditor.key shuffled-data/admin.key .")
	y.env = append(y.env, "SHUFFLED_URL="+d.url)
	y.replaces(address, d.url, "https://shuffle.example.com", d.url)
	return y, d
}

// TestTypeRun types what docs/operations/run.md does with a running daemon.
func TestTypeRun(t *testing.T) {
	t.Parallel()
	y, d := sandboxTypist(t)
	const document = "docs/operations/run.md"
	y.env = append(y.env, "CLIENT=--token-file dealer.token --key main.vkey",
		"ADMIN=--url "+d.url+" --token-file admin.token --key main.vkey")
	ID := strings.TrimSpace(y.must(`
for table in table-7 poker-7 rescued-1; do
  shuffled shuffle --table $table --deck standard-52 --game-ref game-4711 $CLIENT --quiet
  shuffled deal @$table --first 0 --run 4:seat:seat-1 $CLIENT >/dev/null
done | tail -n 1
shuffled token create $ADMIN --role dealer --identity rescue > rescue.token
chmod 0600 rescue.token`))
	// The latch is not set here: TestLatch clears one that is.
	said := y.block(document, "shuffled kill set", "shuffled act do latch_clear", "! shuffled act do latch_clear")
	if !strings.Contains(said, "poker-7") || !strings.Contains(said, "must clear a latch that is set") {
		t.Errorf("%s", said)
	}
	thief := regexp.MustCompile(`tok_\w+`).FindString(y.must("cat auditor.token"))
	said = y.block(document, "(umask 077; shuffled token create", "tok_7h3k2m5n6p4q2r3s", thief)
	if !strings.Contains(said, "poker-backend") {
		t.Errorf("%s", said)
	}
	y.must("shuffled token create $ADMIN --role auditor --identity auditor > auditor.token; chmod 0600 auditor.token")
	y.block(document, "shuffled takeover", " 41 ", " "+ID+" ")
	y.must("shuffled table open poker-7 $ADMIN")
	if said := y.block(document, "shuffled table list"); !strings.Contains(said, "Table poker-7 is open") {
		t.Errorf("%s", said)
	}
	if said := y.block(document, "shuffled recall"); !strings.Contains(said, "table-7") {
		t.Errorf("%s", said)
	}
	if said := y.block(document, "shuffled deal", "@table-7:12", "@table-7:1"); !strings.Contains(said, "shoe-8") {
		t.Errorf("%s", said)
	}
	// Streams do not end: they are cut off, and must not have ended before.
	said = y.block(document, "shuffled events",
		"shuffled events --token-file", "! timeout 1 shuffled events --token-file",
		"shuffled events --after", "! timeout 1 shuffled events --after",
		"printf", "! printf", "curl -N", "curl -N -m 1 -s", "1041", "2")
	if !strings.Contains(said, "table-7") {
		t.Errorf("%s", said)
	}
}

// TestTypeKeys types what docs/operations/keys.md does with one administrator's token or none.
func TestTypeKeys(t *testing.T) {
	t.Parallel()
	const document = "docs/operations/keys.md"
	y, d := sandboxTypist(t)
	y.block(document, "ssh-keygen", "/run/shuffled/agent.sock", "agent.sock",
		"shuffled key", "trap 'kill $SSH_AGENT_PID' EXIT; eval $(ssh-agent -a $PWD/agent.sock)\n"+
			"ssh-add -q main.ssh\nshuffled key",
		"-f main.ssh ", "-f main.ssh -q -N '' ", "--out main.key", "--out agent.key")
	y.block(document, "shuffled key generate auditor",
		"--out auditor.key", "--out lab.key\nshuffled key generate auditor --out regulator.key",
		"shuffled ledger create …", "shuffled migrate up --data new; shuffled ledger create "+
			"--data new --name room --origin cards.example.com/room --deals signed")
	if said := y.block(document, "shuffled act do auditor"); strings.Count(said, "It is done: ") != 2 ||
		!strings.Contains(said, "retirement of auditor") {
		t.Errorf("%s", said)
	}
	credentials := filepath.Join(y.work, "credentials")
	y.must("mkdir credentials")
	y.replaces("/etc/shuffled/credentials", credentials)
	// The block says what is done in between.
	first, rest, ok := strings.Cut(y.text(document, "shuffled key generate signing",
		"cards.example.com/main", "sandbox.localhost/main"), "# every witness")
	if !ok {
		t.Fatal("the block has no comment on witnesses")
	}
	_, rest, _ = strings.Cut(rest, "then start it again\n")
	y.must(first)
	d.stop()
	settings := fmt.Sprintf("[[ledger]]\nname = \"main\"\nsigning_keys = [%q]\n", credentials+"/main-2.key")
	must(t, os.WriteFile(filepath.Join(y.work, "main.toml"), []byte(settings), 0o600))
	d.start("--config", filepath.Join(y.work, "main.toml"))
	said := y.must(rest)
	if strings.Count(said, "It is done: ") != 2 {
		t.Errorf("%s", said)
	}
}

// TestTypeWitness types docs/operations/witnesses.md.
func TestTypeWitness(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	at := testdb.FreeAddress(t)
	y.must("shuffled key generate signing --origin cards.example.com/main --out main.key")
	y.replaces("--url https://w1.regulator.example.org", "--listen "+at+" --url http://"+at,
		"/var/lib/shuffled-witness", filepath.Join(y.work, "state"))
	generate, serve, ok := strings.Cut(y.text("docs/operations/witnesses.md", "shuffled key generate witness"),
		"shuffled witness serve")
	if !ok {
		t.Fatal("the block serves nothing")
	}
	key := strings.TrimSpace(y.must(generate))
	witness := &daemon{t: t, log: filepath.Join(t.TempDir(), "log")}
	witness.launchIn(y.work, "http://"+at+"/healthz", y.arguments("shuffled witness serve"+serve))
	if line := key + " http://" + at; !strings.Contains(witness.logged(), line) {
		t.Errorf("no line of a policy has %q:\n%s", line, witness.logged())
	}
}
