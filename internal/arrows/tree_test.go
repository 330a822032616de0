package arrows

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// eachFile calls do with every file that somebody wrote, by its name from the root of the tree: hidden directories are
// skipped except those of the checks, and so are those in which programs write.
func eachFile(t *testing.T, do func(file string, text []byte)) {
	t.Helper()
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			name := d.Name()
			if hidden := file != "." && name[0] == '.' && name != ".ci" && name != ".github"; hidden ||
				slices.Contains([]string{"bin", "shuffled-data", "lab-results", "node_modules", "testdata"}, name) {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		switch path.Ext(file) {
		case ".go", ".md", ".sh", ".yaml", ".yml", ".mod":
		default:
			if name := path.Base(file); name != "Makefile" && name != "run" {
				return nil
			}
		}
		text, err := fs.ReadFile(tree, file)
		if err == nil {
			do(file, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// eachGoFile calls do with every Go file.
func eachGoFile(t *testing.T, do func(file string, text []byte)) {
	t.Helper()
	eachFile(t, func(file string, text []byte) {
		if strings.HasSuffix(file, ".go") {
			do(file, text)
		}
	})
}
