package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWorkedValues: the blocks of the specification are those of the vectors, each stands there once, and every label
// that readers need and every type of entries has one.
func TestWorkedValues(t *testing.T) {
	var text string
	for _, path := range specFiles {
		spec, readErr := os.ReadFile("../../../" + path)
		made, err := fillWorked("../../..", string(spec))
		if readErr != nil || err != nil || made != string(spec) {
			t.Errorf("%s is not what go generate ./internal/audit makes: %v, %v", path, readErr, err)
		}
		text += made
	}
	labels := make(map[string]bool)
	types := make(map[byte]bool)
	for name, w := range workedValues {
		if n := strings.Count(text, "<!-- worked "+name+" -->"); n != 1 {
			t.Errorf("the worked value %s stands there %d times", name, n)
		}
		labels[w.label] = true
		if w.file != entriesFile {
			continue
		}
		block, err := w.block("../../..")
		var code byte
		_, entry, _ := strings.Cut(block, "bytes   01")
		if _, scanErr := fmt.Sscanf(entry, "%02x", &code); err != nil || scanErr != nil {
			t.Fatalf("%s: %v, %v", name, err, scanErr)
		}
		types[code] = true
	}
	rows := regexp.MustCompile("(?m)^\\| `shuffled/v1/([a-z-]+)\\\\0` \\| (.*)$").FindAllStringSubmatch(text, -1)
	for _, row := range rows {
		if own := strings.Contains(row[2], "only the writer"); labels[row[1]] == own {
			t.Errorf("label %s: a worked value %t, only the writer knows its input %t", row[1], labels[row[1]], own)
		}
	}
	if len(rows) < 20 || len(types) != 12 {
		t.Errorf("%d labels, %d types of entries", len(rows), len(types))
	}
}
