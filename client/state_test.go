package client_test

import (
	"path/filepath"
	"testing"

	"shuffled/client"
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
