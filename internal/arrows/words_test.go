package arrows

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// glossaryLimit is how many words the glossary may define.
const glossaryLimit = 40

// TestGlossary counts the words of docs/GLOSSARY.md, and refuses one that stands twice.
func TestGlossary(t *testing.T) {
	seen := map[string]bool{}
	rows := regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\*`)
	for _, row := range rows.FindAllStringSubmatch(read(t, filepath.Join(root, "docs", "GLOSSARY.md")), -1) {
		if seen[row[1]] {
			t.Errorf("docs/GLOSSARY.md defines %q twice", row[1])
		}
		seen[row[1]] = true
	}
	if len(seen) == 0 || len(seen) > glossaryLimit {
		t.Errorf("docs/GLOSSARY.md defines %d words: at least 1 and at most %d are wanted", len(seen), glossaryLimit)
	}
}

// idioms are expressions that a reader has to read twice, with what replaces them.
var idioms = map[string]string{
	"whoever":      "name the subject, or write \"who\"",
	"but for":      "except",
	"meanwhile":    "in that time, or name the time",
	"all the same": "still, or nothing",
	"at hand":      "available, or name the place",
	"for want of":  "because there is no …",
	"of then":      "of that time",
	"beside":       "alongside, next to, with",
}

// TestIdioms looks for idioms in code, documents, pages and scripts.
func TestIdioms(t *testing.T) {
	patterns := map[string]*regexp.Regexp{}
	for idiom := range idioms {
		words := strings.ReplaceAll(idiom, " ", `\s+(?:(?://|#|--)\s*)?`)
		patterns[idiom] = regexp.MustCompile(`(?i)\b` + words + `\b`)
	}
	texts := prose(t)
	for name, text := range texts {
		lower := strings.ToLower(text)
		for idiom, cure := range idioms {
			longest := slices.MaxFunc(strings.Fields(idiom), func(a, b string) int { return len(a) - len(b) })
			if !strings.Contains(lower, longest) {
				continue // most files do not have the word, and the pattern is slow
			}
			for _, at := range patterns[idiom].FindAllStringIndex(text, -1) {
				line := 1 + strings.Count(text[:at[0]], "\n")
				t.Errorf("%s:%d: %q: write %s", name, line, text[at[0]:at[1]], cure)
			}
		}
	}
	if len(texts) < 500 {
		t.Errorf("only %d files were read", len(texts))
	}
}

// prose returns the texts that people write and read, by path. Generated code is left out.
func prose(t *testing.T) map[string]string {
	t.Helper()
	kinds := map[string]bool{
		".go": true, ".md": true, ".mjs": true, ".html": true, ".sh": true, ".sql": true, ".yaml": true, ".toml": true,
		".yml": true, ".service": true, ".tmpl": true, ".ts": true, ".css": true, ".py": true,
	}
	plain := map[string]bool{
		"Makefile": true, filepath.Join("deploy", "Containerfile"): true, filepath.Join(".ci", "run"): true,
	}
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, ".gen.go") || d.Name() == "words_test.go":
			return nil
		}
		name, err := filepath.Rel(root, path)
		if kinds[filepath.Ext(path)] || plain[name] {
			texts[name] = read(t, path)
			delete(plain, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range plain {
		t.Errorf("%s was not read: is it elsewhere?", name)
	}
	return texts
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
