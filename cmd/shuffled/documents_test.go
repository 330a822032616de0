package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"

	"shuffled/internal/config"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

// TestDocumentedCommands: each command of the program in a block of the documents has a
// name and flags that there are. Those that a test can type, tests do.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(new(cli), kong.Name("shuffled"))
	must(t, err)
	commands := 0
	for _, path := range documents(t) {
		for _, block := range fences(t, path) {
			if block.kind != "sh" {
				continue
			}
			for _, command := range commandsOf(block.text) {
				commands++
				if fault := unknownIn(parser.Model.Node, command); fault != "" {
					t.Errorf("%s:%d: %s: %s", path, block.line, strings.Join(command, " "), fault)
				}
			}
		}
	}
	if commands < 100 {
		t.Errorf("only %d commands were found", commands)
	}
}

// documents are the README and the documents below docs.
func documents(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		must(t, err)
		for _, path := range found {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
	}
	return all
}

// typed are the documents whose blocks a test types, all of them, by that test. Each page of a
// game is of TestGames, which fails for one that docs/GAMES.md does not list.
var typed = map[string]string{
	"docs/GAMES.md": "TestGames", "docs/CLIENT.md": "TestGames", "docs/operations/install.md": "TestInstall",
}

// typedBlocks are the blocks of commands of the other documents, by their beginning and the test that types them.
var typedBlocks = map[string]map[string]string{
	"README.md": {"make demo": "TestReadme", "go run ./cmd/shuffled serve": "TestReadme", "TOKEN=": "TestReadme",
		"go run ./cmd/shuffled audit": "TestReadme"},
	"docs/AUDIT.md": {"shuffled audit export": "TestTypeAudit", "curl -s https://w1": "TestInstall",
		"shuffled audit verify main-bundle --policy": "TestTypeAudit",
		"shuffled audit verify --outcome void":       "TestTypeAudit",
		"shuffled audit verify main-bundle lab":      "TestTypeAudit",
		"cp -r main-bundle copy":                     "TestTypeAudit", "shuffled audit fsck": "TestInstall",
		"shuffled verify hand.json": "TestTypeAudit", "shuffled key generate signing": "TestTypeAudit",
		"KEEP=audits": "TestTypeLab", "CGO_ENABLED=0": "TestTypeAudit"},
	"docs/LAB.md": {"shuffled lab raw": "TestTypeLab", "shuffled audit export": "TestTypeLab",
		"shuffled selftest": "TestTypeLab"},
	"docs/SIZING.md": {"shuffled serve --dev": "TestTypeLab"},
	"docs/operations/backup.md": {"curl -s http://127": "TestInstall", "shuffled act do adopt_head": "TestActs",
		"curl -s https://witness": "TestInstall"},
	"docs/operations/blind.md": {"shuffled serve --dev --co-dealer": "TestTypeBlind"},
	"docs/operations/keys.md": {"ssh-keygen": "TestTypeKeys", "shuffled act do auditor": "TestTypeKeys",
		"shuffled act do policy": "TestInstall", "shuffled act do kill_clear": "TestInstall",
		"shuffled token list": "TestInstall", "shuffled key generate signing": "TestTypeKeys",
		"shuffled key generate auditor": "TestTypeKeys"},
	"docs/operations/load.md": {"shuffled audit export": "TestInstall"},
	"docs/operations/run.md": {"shuffled kill set": "TestTypeRun", "(umask 077; shuffled token": "TestTypeRun",
		"shuffled takeover": "TestTypeRun", "shuffled act do takeover": "TestInstall",
		"shuffled act do kill_clear": "TestInstall",
		"shuffled recall":            "TestTypeRun",
		"shuffled deal":              "TestTypeRun", "shuffled events": "TestTypeRun",
		"shuffled retention run": "TestInstall", "shuffled table list": "TestTypeRun"},
	"docs/operations/witnesses.md": {"shuffled key generate witness": "TestTypeWitness"},
}

// untyped are the blocks of commands that no test types, by their beginning, and why.
var untyped = map[string]map[string]string{
	"docs/COMPLIANCE.md": {"make compliance": "runs these tests and takes minutes; it is a check of its own"},
	"docs/LAB.md": {
		"shuffled lab battery":  "judges samples of a million and more; the lab's tests run it on small ones",
		"shuffled lab selftest": "makes samples for minutes; the lab's tests run each control",
		"shuffled lab prove":    "takes minutes; the lab's tests run each proof",
		"shuffled lab health":   "reads 10^9 bytes; the lab's tests run it on fewer",
		"make lab":              "needs rngtest and dieharder, and takes minutes to hours",
		"# 700 MB":              "takes tens of minutes; the kit's tests make a small one",
	},
	"docs/operations/keys.md": {
		"CGO_ENABLED=1": "needs C and a token; TestHSM runs the program on SoftHSM",
		"vault write":   "needs a server of Vault; TestTransit runs the program on one that is named",
	},
}

// TestDocumentedBlocks: each block of the documents with a kind is typed by a test, or it is a block of commands that
// stands in untyped. These, and those of other kinds, are at least well formed: a script, JSON, a part of the
// configuration, statements that PostgreSQL runs, or what nginx takes. No test reads text.
func TestDocumentedBlocks(t *testing.T) {
	t.Parallel()
	tests := testsHere(t)
	for document, name := range typed {
		if !tests[name] {
			t.Errorf("%s is to be typed by %s, which is not there", document, name)
		}
	}
	found := map[string]int{}
	for _, document := range documents(t) {
		for _, b := range fences(t, document) {
			if b.kind == "" || typed[document] != "" || strings.HasPrefix(document, "docs/games/") {
				continue
			}
			if b.kind == "sh" {
				begins, name := standsIn(typedBlocks[document], b)
				reason, why := standsIn(untyped[document], b)
				found[document+": "+begins+reason]++
				if name != "" && why == "" && tests[name] {
					continue
				} else if name != "" || why == "" {
					t.Errorf("%s:%d: typed by the test %q, untyped because %q: want one of them", document, b.line,
						name, why)
				}
			}
			t.Run(fmt.Sprintf("%s:%d", document, b.line), func(t *testing.T) {
				if err := wellFormed(t, b); err != nil {
					t.Errorf("the block is no %s: %v", b.kind, err)
				}
			})
		}
	}
	for _, table := range []map[string]map[string]string{typedBlocks, untyped} {
		for document, blocks := range table {
			for begins := range blocks {
				if n := found[document+": "+begins]; n != 1 {
					t.Errorf("%s: %d blocks begin with %q", document, n, begins)
				}
			}
		}
	}
}

// standsIn is the longest beginning of a block in a table, with what the table says.
func standsIn(table map[string]string, b fence) (begins, says string) {
	for text, value := range table {
		if strings.HasPrefix(b.text, text) && len(text) > len(begins) {
			begins, says = text, value
		}
	}
	return begins, says
}

// testsHere are the tests of this package, by name.
func testsHere(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	tests := map[string]bool{}
	for _, file := range files {
		text := contents(t, file)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
	}
	return tests
}

// wellFormed reads a block as what it says it is. It skips the test when the program that reads it is not installed.
func wellFormed(t *testing.T, b fence) error {
	t.Helper()
	switch b.kind {
	case "sh":
		cmd := exec.Command("sh", "-n")
		cmd.Stdin = strings.NewReader(b.text)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	case "json":
		var value any
		return json.Unmarshal([]byte(b.text), &value)
	case "toml":
		_, err := config.Parse("block", []byte(b.text))
		return err
	case "sql":
		return runSQL(t, b.text)
	case "nginx":
		return checkNginx(t, b.text)
	case "text":
	default:
		return fmt.Errorf("%q is no kind that a test knows", b.kind)
	}
	return nil
}

// runSQL runs statements in a new database with the schema and the writer's role. L and N are
// a ledger's number and a row's.
func runSQL(t *testing.T, text string) error {
	t.Helper()
	dsn := testdb.DSN(t)
	must(t, postgres.MigrateUp(t.Context(), dsn, postgres.Options{}))
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	// Roles are the cluster's, which others share: this one is never committed.
	text = strings.NewReplacer("BEGIN;", "", "COMMIT;", "", "= L ", "= 1 ", "= N;", "= 1;").Replace(text)
	_, err = conn.Exec(t.Context(), "BEGIN; CREATE ROLE shuffled_writer; "+text+"; ROLLBACK")
	return err
}

// checkNginx has nginx check what stands in a server.
func checkNginx(t *testing.T, text string) error {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx, err = exec.LookPath("/usr/sbin/nginx")
	}
	if err != nil {
		t.Skipf("NO NGINX HERE, its block is NOT tried: %v", err)
	}
	dir := t.TempDir()
	conf := "pid " + dir + "/pid; events {} http { access_log off; "
	for _, temporary := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		conf += temporary + "_temp_path " + dir + "/" + temporary + "; "
	}
	conf += "server { listen unix:" + dir + "/s;\n" + text + "} }\n"
	must(t, os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600))
	out, err := exec.Command(nginx, "-t", "-p", dir, "-c", "conf", "-g", "error_log stderr;").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// TestWellFormed: blocks that TestDocumentedBlocks must not let through.
func TestWellFormed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, text string
		ok         bool
	}{
		{"sh", "for i in 1 2; do echo $i; done\n", true}, {"sh", "for i in 1 2; do\n", false},
		{"json", `{"a": 1}`, true}, {"json", `{"a": 1`, false},
		{"toml", "[beacon]\nrelays = []\n", true}, {"toml", "[beacon]\nrelay = []\n", false}, {"py", "", false},
		{"sql", "SELECT idx FROM entries WHERE idx = N;", true}, {"sql", "SELECT idx FROM entry;", false},
		{"nginx", "location / { root /srv; }", true}, {"nginx", "location / { rooot /srv; }", false},
	} {
		t.Run(test.kind, func(t *testing.T) {
			if err := wellFormed(t, fence{kind: test.kind, text: test.text}); (err == nil) != test.ok {
				t.Errorf("%q: %v", test.text, err)
			}
		})
	}
}

// commandsOf are the words of the program's commands in a script, without comments and what stands in quotes.
func commandsOf(script string) (commands [][]string) {
	script = strings.ReplaceAll(script, "\\\n", " ")
	script = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`).ReplaceAllString(script, "quoted")
	script = regexp.MustCompile(`(?m)(^|\s)#.*$`).ReplaceAllString(script, "")
	for _, m := range regexp.MustCompile(`(?m)(?:^|[ (;|])(?:shuffled|go run ./cmd/shuffled) ([^\n|;)>]*)`).
		FindAllStringSubmatch(script, -1) {
		commands = append(commands, strings.Fields(m[1]))
	}
	return commands
}

// unknownIn says which word of a command the grammar does not have.
func unknownIn(n *kong.Node, words []string) string {
	flags := map[string]bool{}
	add := func(n *kong.Node) {
		for _, f := range n.Flags {
			flags["--"+f.Name] = true
		}
	}
	add(n)
	for n.Children != nil && len(words) > 0 {
		var next *kong.Node
		for _, child := range n.Children {
			if child.Name == words[0] {
				next = child
			}
		}
		if next == nil {
			break
		}
		n, words = next, words[1:]
		add(n)
	}
	if len(n.Children) > 0 {
		return "there is no such command"
	}
	if n.Passthrough {
		return ""
	}
	for _, word := range words {
		if name, _, _ := strings.Cut(word, "="); strings.HasPrefix(word, "--") && !flags[name] {
			return "there is no " + name
		}
	}
	return ""
}
