package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"shuffled/internal/ledger"
	"shuffled/internal/store/storetest"
)

// envWriter makes the test binary append to a database until it is killed.
const envWriter = "SHUFFLED_SQLITE_WRITER"

// TestKilled kills a writer at no particular moment, again and again: what it
// had acknowledged is there, whole, and the next one goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(envWriter); path != "" {
		writeUntilKilled(t, path)
		return
	}
	path := migrated(t)
	l := storetest.Create(t, open(t, path))
	for round := range 10 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), envWriter+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged, lines := uint64(0), bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if _, err := fmt.Sscanf(lines.Text(), "size %d", &acknowledged); err != nil {
				t.Fatalf("the writer says %q", lines.Text())
			}
			if n == 3+round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait()
		s := open(t, path)
		h, err := s.Head(t.Context(), l.ID)
		if err != nil || h.Size < acknowledged || acknowledged == 0 {
			t.Fatalf("head of size %d, acknowledged %d, %v", h.Size, acknowledged, err)
		}
		n := uint64(0)
		for row, err := range s.Rows(t.Context(), l.ID, 0, h.Size) {
			if err != nil || row.Index != n {
				t.Fatalf("entry %d at place %d, %v", row.Index, n, err)
			}
			n++
		}
		if n != h.Size {
			t.Fatalf("%d entries under a head of size %d", n, h.Size)
		}
		if c, err := s.CheckpointAfter(t.Context(), l.ID, h.Size-1); err != nil || c.Root != h.Root {
			t.Fatalf("newest checkpoint of size %d, %v", c.Size, err)
		}
		if c, err := s.CosignedAtMost(t.Context(), l.ID, h.Size); err != nil || c.Size < acknowledged {
			t.Fatalf("newest cosigned checkpoint of size %d, %v; acknowledged %d", c.Size, err, acknowledged)
		}
		s.Close()
	}
}

func writeUntilKilled(t *testing.T, path string) {
	s := open(t, path)
	l := storetest.Small{ID: ledger.IDOf(storetest.SmallInfo.Origin)}
	var err error
	if l.Head, err = s.Head(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
	for {
		b := l.Next(3)
		if err := s.Append(t.Context(), l.ID, l.Head, b); err != nil {
			t.Fatal(err)
		}
		l.Head = b.Head
		if err := s.PutCosigned(t.Context(), l.ID, l.Head); err != nil {
			t.Fatal(err)
		}
		fmt.Println("size", l.Head.Size)
	}
}
