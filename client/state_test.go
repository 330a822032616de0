package client_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/keys"
)

// BenchmarkFileState is what a new checkpoint costs on this disk.
func BenchmarkFileState(b *testing.B) {
	state := client.FileState(filepath.Join(b.TempDir(), "state"))
	for b.Loop() {
		if err := state.Save(make([]byte, 2000)); err != nil {
			b.Fatal(err)
		}
	}
}

// stateOf is a State that has something.
type stateOf []byte

func (s stateOf) Load() ([]byte, error) { return s, nil }
func (stateOf) Save([]byte) error       { return nil }

// TestStateBeforeAPin: a client goes on from its state when a second key is pinned, whose
// line the checkpoints in it lack; and from none of a key that is not pinned.
func TestStateBeforeAPin(t *testing.T) {
	t.Parallel()
	const origin = "example.com/test"
	signing, err := keys.GenerateSigning(origin)
	must(t, err)
	other, err := keys.GenerateSigning(origin)
	must(t, err)
	long, err := keys.GenerateMLDSA(origin)
	must(t, err)
	text := audit.Checkpoint{Origin: origin, Size: 1}.Text()
	for by, start := range map[note.Signer]bool{signing.Signer(): true, other.Signer(): false} {
		signed, err := note.Sign(&note.Note{Text: text}, by)
		must(t, err)
		state, err := json.Marshal(map[string]string{"newest": string(signed)})
		must(t, err)
		_, err = client.New(client.Config{URL: "http://127.0.0.1:1", Ledger: "main", State: stateOf(state),
			Policy: "log " + signing.VKey() + "\nlog " + long.VKey() + "\nquorum none\n"})
		if (err == nil) != start {
			t.Errorf("a state signed with a pinned key (%t): %v", start, err)
		}
	}
}
