package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/keys"
)

// TestTwoPoliciesOfAHouse: the keys of two files would count under the quorum of the second alone.
func TestTwoPoliciesOfAHouse(t *testing.T) {
	t.Parallel()
	var files []string
	for _, name := range []string{"one", "two"} {
		key, err := keys.GenerateSigning("cards.example.com/main")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(files[len(files)-1], []byte("log "+key.VKey()+"\nquorum none\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if houses, err := readHouses(files[:1]); err != nil || len(houses) != 1 {
		t.Errorf("one policy: %v, %v", houses, err)
	}
	if _, err := readHouses(files); err == nil || !strings.Contains(err.Error(), files[1]+" is a second one of") {
		t.Errorf("two policies of one house: %v", err)
	}
}
