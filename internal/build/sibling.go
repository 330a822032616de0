package build

import (
	"fmt"
	"os"
	"path/filepath"
)

// Sibling returns the path of another program of this project. It lies in the directory of the program that runs; a
// program of that name elsewhere may be another build, and is not looked for.
func Sibling(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the directory of this program: %w", err)
	}
	dir := filepath.Dir(self)
	path := filepath.Join(dir, name)
	if i, err := os.Stat(path); err != nil || !i.Mode().IsRegular() {
		return "", fmt.Errorf("the program %s is not in %s, the directory of this program: "+
			"run \"sh scripts/build.sh\" in the source, which builds all programs into bin", name, dir)
	}
	return path, nil
}
