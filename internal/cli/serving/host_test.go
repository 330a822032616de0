package serving

import (
	"fmt"
	"strings"
	"testing"

	"shuffled/internal/config"
)

// TestLeastMemory: a host that gives the daemon less memory than it needs is a concern, and no other is.
func TestLeastMemory(t *testing.T) {
	for memory, want := range map[uint64]bool{0: false, leastMemory - 1: true, leastMemory: false} {
		said := fmt.Sprint(HostConcerns(config.Default(), memory))
		if got := strings.Contains(said, "a daemon needs 128"); got != want {
			t.Errorf("with %d bytes: %s", memory, said)
		}
	}
}
