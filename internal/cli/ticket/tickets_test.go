package ticket

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shuffled/internal/term"
)

// TestCommands: a root, and a proof for an entrant. TestCheckDrawn checks proofs.
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
	form := regexp.MustCompile(`^count 3\nroot \S{44}\n$`)
	if again, err := run(&rootCmd{List: List{"-", secret}}); err != nil || again != first || !form.MatchString(first) {
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
	_, err = run(&proveCmd{List: from, Line: "T-9"})
	if err == nil || !strings.Contains(err.Error(), "no such ticket") {
		t.Errorf("a ticket that is not there: %v", err)
	}
}
