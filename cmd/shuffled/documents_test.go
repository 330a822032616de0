package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
	}
	return all
}

// typed are the documents whose blocks a test types, by that test. Each page of a game is of
// TestGames, which fails for one that docs/GAMES.md does not list.
var typed = map[string]string{
	"docs/GAMES.md": "TestGames", "docs/CLIENT.md": "TestGames", "docs/operations/install.md": "TestInstall",
}

// untyped are the other documents with blocks, and why nobody types those as they stand.
var untyped = map[string]string{
	"README.md":                       "TestReadme types two of four; one starts the daemon that they ask, one make",
	"docs/AUDIT.md":                   "of a ledger of months, a lab and witnesses; TestReadme types export, verify and fsck",
	"docs/COMPLIANCE.md":              "takes minutes; make compliance is a check of its own",
	"docs/LAB.md":                     "makes samples for minutes to hours; the lab's tests run the programs on small ones",
	"docs/SIZING.md":                  "measures a machine",
	"docs/operations/availability.md": "of a cluster; make ha breaks one that is set up like it",
	"docs/operations/backup.md":       "TestInstall types the drill; the rest is of a ledger that was lost",
	"docs/operations/blind.md":        "starts a daemon in the background, at a fixed port",
	"docs/operations/keys.md":         "of a token, a vault, an agent and witnesses elsewhere",
	"docs/operations/load.md":         "of a mirror and the server in front of it",
	"docs/operations/run.md":          "examples of commands, of ids and tables that are somebody's",
	"docs/operations/witnesses.md":    "of witnesses in other houses; TestInstall types init's own form of it",
}

// TestDocumentedBlocks: each block of the documents with a kind is typed by a test, or the
// document stands in untyped and the block is at least well formed: a script, JSON, a part of
// the configuration, statements that PostgreSQL runs, or what nginx takes. No test reads text.
func TestDocumentedBlocks(t *testing.T) {
	t.Parallel()
	reasons := maps.Clone(untyped)
	for _, document := range documents(t) {
		_, excused := untyped[document]
		for _, b := range fences(t, document) {
			switch {
			case b.kind == "" || typed[document] != "" || strings.HasPrefix(document, "docs/games/"):
			case !excused:
				t.Errorf("%s:%d: no test types the block, and untyped has no reason", document, b.line)
			default:
				delete(reasons, document)
				t.Run(fmt.Sprintf("%s:%d", document, b.line), func(t *testing.T) {
					if err := wellFormed(t, b); err != nil {
						t.Errorf("the block is no %s: %v", b.kind, err)
					}
				})
			}
		}
	}
	for document := range reasons {
		t.Errorf("%s stands in untyped, and has no block", document)
	}
}

// wellFormed reads a block as what it says it is. It skips the test when the program that
// reads it is not installed.
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
	if err := postgres.MigrateUp(t.Context(), dsn, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
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

// commandsOf are the words of the program's commands in a script, without comments and what
// stands in quotes.
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
