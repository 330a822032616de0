package ticket

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/internal/term"
)

// TestCommands: a root, a proof for an entrant, its check, and what fails.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "tickets.txt"), filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte("T-1\nT-2\nT-3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	s := term.Streams{In: strings.NewReader("T-1\nT-2\nT-3\n"), Out: &out, Err: &notes}
	run := func(c interface{ Run(term.Streams) error }) (string, error) {
		out.Reset()
		err := c.Run(s)
		return out.String(), err
	}
	from := List{file, secret}
	first, err := run(&rootCmd{List: from})
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^count 3\nroot (\S{44})\n$`).FindStringSubmatch(first)
	if again, err := run(&rootCmd{List: List{"-", secret}}); err != nil || again != first || m == nil {
		t.Fatalf("the root is %q, and then %q: %v", first, again, err)
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}
	proof, err := run(&proveCmd{List: from, Line: "T-2"})
	if err != nil {
		t.Fatal(err)
	}
	if by, err := run(&proveCmd{List: from, Number: 2}); err != nil || by != proof {
		t.Errorf("the proof by number is %q: %v", by, err)
	}
	path := filepath.Join(dir, "proof")
	check := func(proof, root string, count uint64) (string, error) {
		if err := os.WriteFile(path, []byte(proof), 0o600); err != nil {
			t.Fatal(err)
		}
		return run(&checkCmd{File: path, Root: root, Count: count})
	}
	if said, err := check(proof, m[1], 3); err != nil || said != "Ticket T-2 has the number 2 of 3.\n" {
		t.Errorf("the proof: %q, %v", said, err)
	}
	for name, c := range map[string]struct {
		proof, root string
		count       uint64
	}{
		"another line":  {strings.Replace(proof, "T-2", "T-4", 1), m[1], 3},
		"another root":  {proof, strings.Repeat("A", 43) + "=", 3},
		"another count": {proof, m[1], 4},
		"no proof":      {"T-2\n", m[1], 3},
	} {
		if said, err := check(c.proof, c.root, c.count); !errors.Is(err, term.ErrFails) ||
			!strings.HasPrefix(said, "FAILED: ") {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
	_, err = run(&proveCmd{List: from, Line: "T-9"})
	if err == nil || !strings.Contains(err.Error(), "no such ticket") {
		t.Errorf("a ticket that is not there: %v", err)
	}
}
