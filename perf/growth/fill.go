package growth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/store/postgres"
)

// Each proposal has the commits of this many shuffles at this many tables, and for each commit of the
// previous proposal a deal of two cards and a public close: as much as fits into one batch.
const (
	shuffles = 340
	tables   = 64
)

// filler makes shuffles that are legal and have the real size. Their commitments, roots and tapes are
// noise: no rule checks them, but an audit would.
type filler struct {
	actor   audit.Actor
	origin  string
	genesis [32]byte
	random  *rand.ChaCha8
	keys    string // "uuid" or "random"
	recipe  shuffle.Recipe
	open    []uint64 // shuffles that the newest proposal committed
}

// newFiller makes a filler that writes as the dealer of the sandbox.
func newFiller(ctx context.Context, l *sequencer.Ledger, keys string) (*filler, error) {
	holders, err := l.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(holders, func(h rules.Holder) bool { return h.Role == audit.RoleDealer && h.Revoked == 0 })
	if at < 0 {
		return nil, errors.New("the ledger has no dealer's token in force")
	}
	actor := audit.Actor{Identity: holders[at].Identity, Credential: holders[at].ID}
	var seed [32]byte
	copy(seed[:], keys)
	return &filler{actor, l.Info().Origin, l.GenesisHash(), rand.NewChaCha8(seed), keys,
		shuffle.Recipe{Cards: 52, Take: 52}, nil}, nil
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

// proposal deals and closes the open shuffles, and commits as many new ones.
func (f *filler) proposal(shuffles int) ledger.Proposal {
	p := ledger.Proposal{Actor: f.actor}
	for i := range shuffles {
		table := fmt.Sprint("table-", i%tables)
		p.Bodies = append(p.Bodies, &audit.Commit{
			Context: &audit.Context{Origin: f.origin, Genesis: f.genesis, Table: table, DeckHash: f.hash(),
				Recipe: f.recipe, Disclosure: audit.DisclosurePublic},
			Commitment: f.hash(), DeckRoot: f.hash(), KeyTag: audit.KeyTag(f.origin, f.actor.Identity, table, f.key()),
			Request: f.hash(),
		})
		p.Kept = append(p.Kept, f.bytes(f.recipe.TapeLen()+seal.Overhead))
	}
	for _, id := range f.open {
		p.Bodies = append(p.Bodies, &audit.Deal{Shuffle: id,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}})
	}
	for _, id := range f.open {
		p.Bodies = append(p.Bodies, &audit.Close{Shuffle: id, Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape,
			Tape: f.bytes(f.recipe.TapeLen())})
	}
	return p
}

// Open opens the ledger of a sandbox whose daemon was stopped. The caller must close both.
func Open(ctx context.Context, database, data string) (*sequencer.Ledger, *postgres.Store, error) {
	s, err := postgres.Open(ctx, database, postgres.Options{AllowSuperuser: true})
	if err != nil {
		return nil, nil, err
	}
	key, err := keys.ReadSigning(filepath.Join(data, "main.key"), keys.Secret{})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	l, err := sequencer.Open(ctx, ledger.Config{Store: s, Info: ledger.Info{Name: "main", Origin: key.Origin()},
		Signers: []note.Signer{key.Signer()}, Mark: Mark(data), Start: audit.Event{Name: "growth"}})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return l, s, nil
}

// Mark is the high-water mark of that ledger.
func Mark(data string) string { return filepath.Join(data, "main.mark") }

// Fill appends up to a size, and reports progress from time to time. Its idempotency keys are "uuid" or
// "random". A run that was cut off leaves some shuffles open, and the next run goes on.
func Fill(ctx context.Context, l *sequencer.Ledger, size uint64, keys string, say func(string, ...any)) error {
	f, err := newFiller(ctx, l, keys)
	if err != nil {
		return err
	}
	began, from := time.Now(), l.Head().Size
	for told := began; l.Head().Size < size || len(f.open) > 0; {
		more := shuffles
		if l.Head().Size >= size {
			more = 0
		}
		written, err := l.Append(ctx, f.proposal(more))
		if err != nil {
			return err
		}
		f.open = f.open[:0]
		for _, e := range written[:more] {
			f.open = append(f.open, e.Index)
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			say("%d entries, %.0f/s", l.Head().Size, float64(l.Head().Size-from)/time.Since(began).Seconds())
		}
	}
	if n := l.Head().Size - from; n > 0 {
		say("wrote %d entries, %.0f/s", n, float64(n)/time.Since(began).Seconds())
	}
	return nil
}
