package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fault is a mistake in the certified path: a statement that is put into the source below one of its lines.
type fault struct {
	what  string
	file  string // in internal
	below string // the line, without the white space around it; it stands once in the file
	code  string // PLANTED is true if this fault is the one that is on
	// why says why fewer than two layers see the fault.
	why string
}

// switchOf is put into internal/shuffle as a file of its own. Without a fault that is on, the program is right, and
// notes the faults whose place it reached: a layer that does not reach a fault cannot see it, and is not run with it.
const switchOf = `package shuffle

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	plantedFault, _ = strconv.Atoi(os.Getenv("SHUFFLED_PLANTED"))
	reachedFile     = os.Getenv("SHUFFLED_REACHED")
	reachedFaults   [256]atomic.Bool
)

func Planted(fault int) bool { return plantedFault == fault || plantedFault == 0 && reach(fault) }

func reach(fault int) bool {
	if reachedFile == "" || reachedFaults[fault].Load() || reachedFaults[fault].Swap(true) {
		return false
	}
	f, err := os.OpenFile(reachedFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, fault)
	if err := f.Close(); err != nil {
		panic(err)
	}
	return false
}
`

// plant writes a copy of each source file with all of its faults in it, and returns the file for go build -overlay that
// puts them in place of the source. Fault i of the list is on with SHUFFLED_PLANTED=i+1.
func plant(t *testing.T, root, dir string) (overlay string) {
	t.Helper()
	replace := map[string]string{}
	put := func(file, text string) {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, "internal", file)] = to
	}
	sources := map[string]string{}
	for i, f := range faults {
		if sources[f.file] == "" {
			sources[f.file] = read(t, filepath.Join(root, "internal", f.file))
		}
		on := fmt.Sprintf("Planted(%d)", i+1)
		if !strings.HasPrefix(f.file, "shuffle/") {
			on = "shuffle." + on
		}
		text, ok := insert(sources[f.file], f.below, strings.ReplaceAll(f.code, "PLANTED", on))
		if !ok || !strings.Contains(f.code, "PLANTED") {
			t.Fatalf("fault %q: %q does not stand once in %s, or the code has no switch", f.what, f.below, f.file)
		}
		sources[f.file] = text
	}
	for file, text := range sources {
		if !strings.HasPrefix(file, "shuffle/") && !strings.Contains(text, `"shuffled/internal/shuffle"`) {
			text = strings.Replace(text, "import (", "import (\n\t\"shuffled/internal/shuffle\"", 1)
		}
		put(file, text)
	}
	put("shuffle/planted.go", switchOf)
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// insert puts code below the line of text that is below, if there is one such line.
func insert(text, below, code string) (string, bool) {
	lines, at := strings.SplitAfter(text, "\n"), -1
	for i, line := range lines {
		if strings.TrimSpace(line) != below {
			continue
		}
		if at >= 0 {
			return "", false
		}
		at = i
	}
	if at < 0 {
		return "", false
	}
	return strings.Join(lines[:at+1], "") + code + "\n" + strings.Join(lines[at+1:], ""), true
}
