package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A fence is a block of code in a document.
type fence struct {
	kind, text string
	line       int    // of its first line
	section    string // the heading of level 2 that it stands under
}

// fences are the blocks of a document, in their order.
func fences(t *testing.T, document string) (all []fence) {
	t.Helper()
	text := contents(t, filepath.Join("../..", document))
	var open *fence
	section := ""
	for i, line := range strings.Split(string(text), "\n") {
		kind, marks := strings.CutPrefix(strings.TrimSpace(line), "```")
		title, heads := strings.CutPrefix(line, "## ")
		switch {
		case marks && open == nil:
			open = &fence{kind: kind, line: i + 2, section: section}
		case marks:
			all, open = append(all, *open), nil
		case open != nil:
			open.text += line + "\n"
		case heads:
			section = title
		}
	}
	return all
}

// A language is one that documents show the steps of a game in.
type language struct {
	kind    string // of its blocks
	program string // how a block begins that is a program
	mark    string // stands in a program where the blocks of a section are meant to stand
}

var languages = map[string]language{
	"go": {"go", "package ", "\t// The Go of a section stands here.\n"},
	"ts": {"ts", "import ", "// The TypeScript of a section stands here.\n"},
}

// A walk types the blocks of documents in their order against one sandbox: commands in one shell for each document,
// which begins with the blocks of the walk's own beginning. The Go blocks of a section are one function, run where its
// last block stands, and so are those of TypeScript; one that is a program is ./hand or hand.js from there on. A block
// of json or text shows what the block before it prints. A block of another kind fails: what a document shows is tried.
// Without Node, TypeScript is left out, and the sections of its programs.
type walk struct {
	t      *testing.T
	d      *daemon
	dir    string
	node   bool
	begin  []fence
	frames map[string]string // by kind, programs with a language's mark
	blocks map[string][]fence
}

// address is where a daemon listens in documents.
const address = "http://127.0.0.1:8080"

// newWalk starts a sandbox in a directory of its own, with its data where documents have it.
func newWalk(t *testing.T, documents ...string) *walk {
	t.Helper()
	w := &walk{t: t, d: newDaemon(t, ""), dir: t.TempDir(), node: nodePackages(t), frames: map[string]string{},
		blocks: map[string][]fence{}}
	w.d.data = filepath.Join(w.dir, "shuffled-data")
	w.d.start()
	for _, document := range documents {
		w.blocks[document] = fences(t, document)
		if !w.node {
			w.blocks[document] = withoutTypeScript(w.blocks[document])
		}
	}
	return w
}

// sections groups the blocks of a language that are no programs, by the place of the last one.
func sections(document, kind string, blocks []fence) map[int]string {
	bodies, last := map[string]string{}, map[string]int{}
	for i, b := range blocks {
		if b.kind == kind && !strings.HasPrefix(b.text, languages[kind].program) {
			if kind == "go" {
				bodies[b.section] += fmt.Sprintf("//line %s:%d\n", document, b.line)
			}
			bodies[b.section] += b.text
			last[b.section] = i
		}
	}
	at := map[int]string{}
	for section, body := range bodies {
		at[last[section]] = body
	}
	return at
}

// build makes a program of Go source, in the module of the client.
func (w *walk) build(name, source string) string {
	w.t.Helper()
	file, program := filepath.Join(w.t.TempDir(), "main.go"), filepath.Join(w.t.TempDir(), name)
	source = strings.ReplaceAll(source, address, w.d.url)
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", program, file).CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return program
}

// framed puts what stands at the mark of a language's program there.
func (w *walk) framed(kind, body string) string {
	w.t.Helper()
	if !strings.Contains(w.frames[kind], languages[kind].mark) {
		w.t.Fatalf("no program has the line %q", languages[kind].mark)
	}
	return strings.Replace(w.frames[kind], languages[kind].mark, body, 1)
}

// compile makes programs of the blocks of code and gives their commands, each by document and the place of a block.
func (w *walk) compile() map[string]string {
	commands, cases, scripts := map[string]string{}, "", map[string]string{}
	for document, blocks := range w.blocks {
		key := func(at int) string { return fmt.Sprintf("%s:%d", document, at) }
		for at, body := range sections(document, "go", blocks) {
			cases += fmt.Sprintf("case %q:\n%s", key(at), body)
			commands[key(at)] = fmt.Sprintf("%s %s\n", filepath.Join(w.dir, "sections"), key(at))
		}
		for at, body := range sections(document, "ts", blocks) {
			scripts[scriptName(key(at))] = w.framed("ts", body)
			commands[key(at)] = fmt.Sprintf("node %s.js\n", scriptName(key(at)))
		}
		for at, b := range blocks {
			switch program := strings.HasPrefix(b.text, languages[b.kind].program); {
			case program && b.kind == "go":
				commands[key(at)] = fmt.Sprintf("cp %s hand\n", w.build("hand", b.text))
			case program && b.kind == "ts":
				scripts[scriptName(key(at))] = b.text
				commands[key(at)] = fmt.Sprintf("cp %s.js hand.js\n", scriptName(key(at)))
			}
		}
	}
	if cases != "" {
		program := w.build("sections", w.framed("go", "switch os.Args[1] {\n"+cases+"}\n"))
		if err := os.Rename(program, filepath.Join(w.dir, "sections")); err != nil {
			w.t.Fatal(err)
		}
	}
	if len(scripts) > 0 {
		w.transpile(scripts)
	}
	return commands
}

// run types the documents.
func (w *walk) run(documents ...string) {
	w.t.Helper()
	commands := w.compile()
	for _, document := range documents {
		w.t.Run(document, func(t *testing.T) { w.document(t, document, commands) })
	}
}

// document types the blocks of one document.
func (w *walk) document(t *testing.T, document string, commands map[string]string) {
	all := append(w.begin[:len(w.begin):len(w.begin)], w.blocks[document]...)
	out := func(i int) string { return filepath.Join(w.dir, fmt.Sprintf("%d.out", i)) }
	var script strings.Builder
	for i, b := range all {
		command, code := commands[fmt.Sprintf("%s:%d", document, i-len(w.begin))], languages[b.kind].kind != ""
		switch {
		case b.kind == "sh":
			command = b.text
		case !code && b.kind != "json" && b.kind != "text" || i == 0:
			t.Fatalf("%s:%d: no test runs a block of %q here", document, b.line, b.kind)
		case command == "":
			continue
		}
		fmt.Fprintf(&script, "{\n%s} >%s 2>&1\n", command, out(i))
	}
	cmd := exec.Command("sh", "-eu", "-c", strings.ReplaceAll(script.String(), address, w.d.url))
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(builtBinary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	failed, failure := cmd.CombinedOutput()
	printed, last := "", 0
	for i, b := range all {
		text, err := os.ReadFile(out(i))
		switch {
		case err == nil:
			printed, last = string(text), i
			os.Remove(out(i))
		case failure == nil && (b.kind == "json" || b.kind == "text"):
			if fault := shown(b, printed); fault != "" {
				t.Errorf("%s:%d: %s\nin what the block before prints:\n%s", document, b.line, fault, printed)
			}
		}
	}
	if failure != nil {
		t.Fatalf("%s:%d: %v\n%s%s%s", document, all[last].line, failure, all[last].text, printed, failed)
	}
}

// shown says what a block shows that was not printed. Its lines, or the members of its
// JSON, are among the printed ones, in their order; "…" stands for any text.
func shown(b fence, printed string) string {
	if b.kind == "json" {
		var want, got any
		if err := json.Unmarshal([]byte(b.text), &want); err != nil {
			return "the block is no JSON: " + err.Error()
		}
		if at := strings.IndexAny(printed, "{["); at < 0 || json.NewDecoder(strings.NewReader(printed[at:])).
			Decode(&got) != nil {
			return "there is no JSON"
		}
		return like(want, got, "")
	}
	rest := printed
	for line := range strings.Lines(b.text) {
		line = strings.TrimRight(line, "\n")
		pattern := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$"
		at := regexp.MustCompile(pattern).FindStringIndex(rest)
		if at == nil {
			return fmt.Sprintf("there is no line %q, or not there", line)
		}
		rest = rest[at[1]:]
	}
	return ""
}

// varies are the members of answers that are others each time.
var varies = map[string]bool{"id": true, "time": true, "close_by": true, "card": true, "value": true, "shows": true}

// like says where an answer differs from the one that a document shows, which may leave out members.
func like(want, got any, at string) string {
	differs := func() string { return fmt.Sprintf("%s is %v, not %v", at, got, want) }
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return differs()
		}
		for name, value := range w {
			if _, is := g[name]; !is {
				return fmt.Sprintf("%s has no %q", at, name)
			}
			if varies[name] && fmt.Sprintf("%T", value) == fmt.Sprintf("%T", g[name]) {
				continue
			}
			if fault := like(value, g[name], at+"."+name); fault != "" {
				return fault
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs()
		}
		for i := range w {
			if fault := like(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); fault != "" {
				return fault
			}
		}
	case string:
		g, ok := got.(string)
		head, cut := strings.CutSuffix(w, "…")
		if !ok || g != w && !(cut && strings.HasPrefix(g, head)) {
			return differs()
		}
	default:
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			return differs()
		}
	}
	return ""
}

// TestShown: what a document may show of what was printed, and what not.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, block, printed, want string }{
		{"text", "a…c\ne\n", "x\nabc\nd\ne\n", ""},
		{"text", "e\nabc\n", "abc\ne\n", "no line"},
		{"text", "a.c\n", "abc\n", "no line"},
		{"json", `{"next": 4, "id": 7, "a": ["x…"]}`, `{"a":["xyz"],"b":1,"id":9,"next":4}`, ""},
		{"json", `{"next": 4}`, `{"next":5}`, ".next is 5"},
		{"json", `{"id": 4}`, `{"id":"4"}`, ".id is 4"},
		{"json", `{"a": ["x…"]}`, `{"a":["yz"]}`, ".a[0] is yz"},
		{"json", `{"a": [1]}`, `{"a":[1,2]}`, ".a is [1 2]"},
		{"json", `{"c": null}`, `{}`, `has no "c"`},
		{"json", `{"c": {}}`, `{"c": 1}`, ".c is 1"},
		{"json", `{`, `{}`, "no JSON"},
		{"json", `{}`, `curl: 22`, "no JSON"},
	} {
		fault := shown(fence{kind: test.kind, text: test.block}, test.printed)
		if fault == "" != (test.want == "") || !strings.Contains(fault, test.want) {
			t.Errorf("%s of %s: %q, want %q", test.block, test.printed, fault, test.want)
		}
	}
}
