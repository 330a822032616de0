package selftest

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Commitments, salts, openings and names: docs/SPEC.md sections 1.5, 5 and 6.
var evidence = []test{
	{"commitment", "what a commit promises", "SPEC 6.1", "internal/audit/testdata/hashes.json", commitmentTest},
	{"salts", "what hides an unopened card", "SPEC 6.2", "internal/audit/testdata/hashes.json", saltsTest},
	{"deck-root", "Merkle tree over positions, three ways", "SPEC 6.3", "internal/audit/testdata/hashes.json", deckRootTest},
	{"opening", "proof of one card", "SPEC 6.4", "internal/audit/testdata/hashes.json", openingTest},
	{"context", "from context and tape to values", "SPEC 2.2, 5.2", "internal/audit/testdata/hashes.json", contextTest},
	{"key-tag", "tag of an idempotency key", "SPEC 5.3", "internal/audit/testdata/hashes.json", keyTagTest},
	{"key-id", "id of a public key", "SPEC 5.7", "internal/audit/testdata/hashes.json", keyIDTest},
	{"reference", "salted reference to a person", "SPEC 1.5", "internal/audit/testdata/hashes.json", referenceTest},
	{"legality", "rules of legality", "SPEC 9", "internal/audit/testdata/ledgers.json", legalityTest},
}

func commitmentTest(a *answers, v *vectors) {
	for _, c := range v.Shuffles {
		h := audit.Commitment(unhex(c.Context), unhex(c.Tape))
		a.bytes(c.Name, h[:], nil, c.Commitment)
	}
}

func saltsTest(a *answers, v *vectors) {
	for _, c := range v.Salts {
		var want string
		for _, salt := range c.Salts {
			want += salt
		}
		a.bytes(c.Name, audit.Salts(hash32(c.Commitment), unhex(c.Tape), len(c.Salts)), nil, want)
	}
}

// deckRootTest computes each root as a commit does, as an audit of millions does,
// and as the tree that gives openings.
func deckRootTest(a *answers, v *vectors) {
	roots := audit.NewDeckRoots()
	for _, c := range v.Shuffles {
		commitment, tape := hash32(c.Commitment), unhex(c.Tape)
		root := audit.DeckRoot(commitment, tape, c.Values)
		a.bytes(c.Name+", to commit", root[:], nil, c.DeckRoot)
		root = roots.Root(commitment, tape, c.Values)
		a.bytes(c.Name+", to audit", root[:], nil, c.DeckRoot)
		root = audit.NewDeckTree(c.Values, audit.Salts(commitment, tape, len(c.Values))).Root()
		a.bytes(c.Name+", to open", root[:], nil, c.DeckRoot)
	}
}

func openingTest(a *answers, v *vectors) {
	for _, c := range v.Openings {
		o := audit.Opening{Position: c.Position, Value: c.Value, Salt: hash32(c.Salt)}
		for _, h := range c.Path {
			o.Proof = append(o.Proof, hash32(h))
		}
		err := o.Check(hash32(c.DeckRoot), c.M)
		if c.Opens {
			a.is(c.Name, "opens", err, "opens")
		} else {
			a.refused(c.Name, err, audit.ErrOpening)
		}
	}
	// And one that is made here, as a deal makes it.
	for _, c := range v.Shuffles {
		p := len(c.Values) - 1
		o := audit.NewDeckTree(c.Values, audit.Salts(hash32(c.Commitment), unhex(c.Tape), len(c.Values))).Open(p)
		a.values("made: "+c.Name, o.Value, o.Check(hash32(c.DeckRoot), len(c.Values)), c.Values[p])
	}
}

func contextTest(a *answers, v *vectors) {
	for _, c := range v.Shuffles {
		context, err := audit.ParseContext(unhex(c.Context))
		if err != nil {
			a.is(c.Name, "", err, "a context")
			continue
		}
		a.bytes(c.Name+", parsed and encoded", context.Encode(), nil, c.Context)
		out, err := context.Recipe.Run(unhex(c.Tape))
		a.values(c.Name+", run", out, err, shuffle.Outcome{Values: c.Values, EndAt: c.EndAt})
	}
}

func keyTagTest(a *answers, v *vectors) {
	for _, c := range v.KeyTags {
		tag := audit.KeyTagOf(c.Origin, c.Identity, c.Table, c.Key, c.I)
		a.bytes(c.Name, tag[:], nil, c.Tag)
	}
}

func keyIDTest(a *answers, v *vectors) {
	for _, c := range v.KeyIDs {
		id := audit.KeyID(unhex(c.Key))
		a.bytes(c.Name, id[:], nil, c.ID)
	}
}

func referenceTest(a *answers, v *vectors) {
	for _, c := range v.References {
		name, err := audit.Reference(unhex(c.Salt), c.Value)
		a.is(c.Name, name, err, c.Reference)
	}
}

// legalityTest folds whole ledgers entry by entry, each of which must be legal.
func legalityTest(a *answers, v *vectors) {
	for _, c := range v.Ledgers {
		s := audit.NewState()
		for i, b := range c.Entries {
			e, err := audit.ParseEntry(unhex(b))
			if err == nil {
				err = s.Apply(e)
			}
			what := "legal"
			if err != nil {
				what = ""
			}
			a.is(fmt.Sprintf("%s: entry %d", c.Name, i), what, err, "legal")
		}
		a.is(c.Name+": a second genesis", illegal(s, c.Entries[0]), nil, audit.RuleGenesisFirst)
	}
}

// illegal returns the rule that an entry breaks as the next one of s.
func illegal(s *audit.State, entry string) string {
	b, err := hex.DecodeString(entry)
	if err != nil {
		return err.Error()
	}
	e, err := audit.ParseEntry(b)
	if err != nil {
		return err.Error()
	}
	if broken, ok := s.Apply(e).(*audit.Illegal); ok {
		return broken.Code
	}
	return "legal"
}

// digestOf is the hash of an entry as a leaf of its ledger.
func digestOf(b []byte) string {
	h := tlog.RecordHash(b)
	return hex.EncodeToString(h[:])
}
