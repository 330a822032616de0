package growth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// Each proposal is so many shuffles of so many tables, each with a commit, a deal
// of two cards and a public close: what fits into one batch.
const (
	shuffles = 340
	tables   = 64
)

// filler makes shuffles that are legal and of true size. Their commitments, roots
// and tapes are noise: no rule looks into them, an audit would.
type filler struct {
	origin  string
	genesis [32]byte
	random  *rand.ChaCha8
	keys    string // "uuid" or "random"
	recipe  shuffle.Recipe
}

func newFiller(l *ledger.Ledger, keys string) *filler {
	var seed [32]byte
	copy(seed[:], keys)
	return &filler{l.Info().Origin, l.GenesisHash(), rand.NewChaCha8(seed), keys, shuffle.Recipe{Cards: 52, Take: 52}}
}

func (f *filler) bytes(n int) []byte {
	b := make([]byte, n)
	f.random.Read(b)
	return b
}

func (f *filler) hash() [32]byte { return [32]byte(f.bytes(32)) }

func (f *filler) key() string {
	if f.keys == "uuid" {
		return client.NewKey()
	}
	return hex.EncodeToString(f.bytes(16))
}

// proposal is the next one of a ledger of that size.
func (f *filler) proposal(size uint64) ledger.Proposal {
	p := ledger.Proposal{Actor: as("tok_growth")}
	var deals, closes []audit.Body
	for i := range shuffles {
		table := fmt.Sprint("table-", i%tables)
		p.Bodies = append(p.Bodies, &audit.Commit{
			Context: &audit.Context{Origin: f.origin, Genesis: f.genesis, Table: table, DeckHash: f.hash(),
				Recipe:     f.recipe,
				Disclosure: audit.DisclosurePublic},
			Commitment: f.hash(), DeckRoot: f.hash(), KeyTag: audit.KeyTag(f.origin, "tok_growth", table, f.key()),
			Request: f.hash(),
		})
		p.Kept = append(p.Kept, f.bytes(f.recipe.TapeLen()+seal.Overhead))
		id := size + uint64(i)
		deals = append(deals, &audit.Deal{Shuffle: id, Checkpoint: id + 1,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}})
		closes = append(closes, &audit.Close{Shuffle: id, Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape,
			Tape: f.bytes(f.recipe.TapeLen())})
	}
	p.Bodies = append(append(p.Bodies, deals...), closes...)
	return p
}

// fill appends up to a size.
func (f *filler) fill(t *testing.T, l *ledger.Ledger, size uint64) {
	t.Helper()
	began, from := time.Now(), l.Head().Size
	for told := began; l.Head().Size < size; {
		_, err := l.Append(context.Background(), f.proposal(l.Head().Size))
		var moved *audit.Illegal // an entry of the daemon came between, and the ids are others
		if err != nil && !errors.As(err, &moved) {
			t.Fatal(err)
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			t.Logf("%d entries, %.0f/s", l.Head().Size, float64(l.Head().Size-from)/time.Since(began).Seconds())
		}
	}
	if n := l.Head().Size - from; n > 0 {
		t.Logf("wrote %d entries, %.0f/s", n, float64(n)/time.Since(began).Seconds())
	}
}
