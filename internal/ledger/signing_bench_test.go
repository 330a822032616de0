package ledger

import (
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/keys"
)

// BenchmarkSignHead signs the checkpoint of a batch, without and with the line of ML-DSA-44.
func BenchmarkSignHead(b *testing.B) {
	short, err := keys.GenerateSigning("bench.example/main")
	if err != nil {
		b.Fatal(err)
	}
	long, err := keys.GenerateMLDSA("bench.example/main")
	if err != nil {
		b.Fatal(err)
	}
	for name, signers := range map[string][]note.Signer{"Ed25519": {short.Signer()},
		"both": {short.Signer(), long.At(0)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := signHead(1_000_000, tlog.Hash{1}, signers...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
