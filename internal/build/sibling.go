package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Sibling returns the path of another program of this project. It lies in the directory of the program that runs; a
// program of that name elsewhere may be another build, and is not looked for. It is of the same commit.
func Sibling(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the directory of this program: %w", err)
	}
	path, commit := filepath.Join(filepath.Dir(self), name), This().Revision
	const cure = `run "sh scripts/build.sh" in the source, which builds all programs into bin`
	if text, err := os.ReadFile(path); err != nil {
		return "", fmt.Errorf("the program %s is not in %s, the directory of this program: "+cure, name, filepath.Dir(self))
	} else if !isOf(text, commit) {
		return "", fmt.Errorf("the program %s is not of the commit of this program, %s: "+cure, path, commit)
	}
	return path, nil
}

// isOf reports whether the linker or scripts/build.sh wrote this commit into the text of a program. A program that does
// not know its own commit takes any other for its sibling.
func isOf(text []byte, commit string) bool {
	const modified = "-modified" // what scripts/build.sh adds to the commit of a checkout with changes
	changed := !strings.HasSuffix(commit, modified) && bytes.Contains(text, []byte(commit+modified))
	return commit == "" || bytes.Contains(text, []byte(commit)) && !changed
}
