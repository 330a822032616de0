package dealer

import (
	"bytes"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// BenchmarkCommitKernel does all that one commit of 52 cards computes by itself, from the tape to the receipt's text:
// no store, no signature (one for each batch) and no HTTP.
func BenchmarkCommitKernel(b *testing.B) {
	source, err := entropy.New(entropy.Config{})
	if err != nil {
		b.Fatal(err)
	}
	key, err := seal.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		b.Fatal(err)
	}
	ring, err := seal.NewKeyring(key)
	if err != nil {
		b.Fatal(err)
	}
	deck, _ := shuffle.Named("standard-52")
	d := &Dealer{keyed: keyed{opener: opener{reader{cfg: Config{Entropy: source, Keys: ring}}}}}
	c := &audit.Context{Origin: "casino.example/main", Table: "table-7", DeckHash: deck.Hash(),
		Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic}
	r := audit.Receipt{Index: 1_000_003, Proof: make([]tlog.Hash, 20), Checkpoint: bytes.Repeat([]byte("x"), 180)}
	b.ReportAllocs()
	for b.Loop() {
		commit, _, opened, err := d.commit(c, nil)
		if err != nil {
			b.Fatal(err)
		}
		opened.wipe()
		commit.KeyTag = audit.KeyTag(c.Origin, "0123456789abcdef", c.Table, "0199a1c2-7b3d-7c11-8e4f-0123456789ab")
		commit.Serial, commit.Previous, commit.CloseBy, commit.GameRef = 1234, 55_555, 1_790_003_600_000, "round-123456"
		entry, err := audit.Entry{Time: 1_790_000_000_000, Actor: as("0123456789abcdef"), Body: commit}.Encode()
		if err != nil {
			b.Fatal(err)
		}
		tlog.RecordHash(entry)
		r.Entry = entry
		if r.Text() == "" {
			b.Fatal("no receipt")
		}
	}
}
