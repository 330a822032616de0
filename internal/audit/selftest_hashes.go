package audit

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/known"
	"shuffled/internal/shuffle"
)

// Commitments, salts, openings, names, mixes and rules: docs/SPEC.md sections 1.5, 4 to 6, 9 and 11.

func mixValues(values []valueVector) (out []MixValue) {
	for _, v := range values {
		value := MixValue{Source: Source(v.Source), Cut: uint16(v.Cut)}
		switch value.Source {
		case SourceSlot:
			copy(value.Slot[:], v.Value)
		case SourceBeacon:
			copy(value.Beacon[:], v.Value)
		}
		out = append(out, value)
	}
	return out
}

func childrenTest(a *known.Answers, v *vectors) {
	for _, c := range v.Children {
		values, err := ChildValues(c.Parent, c.Positions, c.Indexes)
		a.Values(c.Name, values, err, c.Values)
	}
}

func slotsTest(a *known.Answers, v *vectors) {
	for _, c := range v.Slots {
		h := SlotHash(c.Origin, c.Table, [32]byte(c.R))
		a.Bytes(c.Name, h[:], nil, c.Hash.String())
	}
}

func seedsTest(a *known.Answers, v *vectors) {
	for _, c := range v.Seeds {
		seed := MixSeed(tlog.RecordHash(c.Commit), mixValues(c.Values))
		a.Bytes(c.Name, seed[:], nil, c.Seed.String())
	}
}

func commitmentTest(a *known.Answers, v *vectors) {
	for _, c := range v.Shuffles {
		h := Commitment(c.Context, c.Tape)
		a.Bytes(c.Name, h[:], nil, c.Commitment.String())
	}
}

func saltsTest(a *known.Answers, v *vectors) {
	for _, c := range v.Salts {
		want := known.Bytes(slices.Concat(c.Salts...))
		a.Bytes(c.Name, Salts([32]byte(c.Commitment), c.Tape, len(c.Salts)), nil, want.String())
	}
}

// deckRootTest computes each root as a commit does, and as the tree that gives openings.
func deckRootTest(a *known.Answers, v *vectors) {
	for _, c := range v.Shuffles {
		commitment, tape := [32]byte(c.Commitment), c.Tape
		root := DeckRoot(commitment, c.Context, tape, c.Values)
		a.Bytes(c.Name+", to commit", root[:], nil, c.DeckRoot.String())
		root = NewDeckTree(Tag(c.Tag), c.Values, Salts(commitment, tape, len(c.Values))).Root()
		a.Bytes(c.Name+", to open", root[:], nil, c.DeckRoot.String())
	}
}

func openingTest(a *known.Answers, v *vectors) {
	for _, c := range v.Openings {
		o := Opening{Position: c.Position, Value: c.Value, Salt: [32]byte(c.Salt)}
		for _, h := range c.Path {
			o.Proof = append(o.Proof, tlog.Hash(h))
		}
		err := o.Check(Tag(c.Tag), [32]byte(c.DeckRoot), c.M)
		if c.Opens {
			a.Is(c.Name, "opens", err, "opens")
		} else {
			a.Refused(c.Name, err, ErrOpening)
		}
	}
	// And one that is made here, as a deal makes it.
	for _, c := range v.Shuffles {
		p := len(c.Values) - 1
		o := NewDeckTree(Tag(c.Tag), c.Values, Salts([32]byte(c.Commitment), c.Tape, len(c.Values))).Open(p)
		a.Values("made: "+c.Name, o.Value, o.Check(Tag(c.Tag), [32]byte(c.DeckRoot), len(c.Values)), c.Values[p])
	}
}

func contextTest(a *known.Answers, v *vectors) {
	for _, c := range v.Shuffles {
		context, err := ParseContext(c.Context)
		if err != nil {
			a.Is(c.Name, "", err, "a context")
			continue
		}
		a.Bytes(c.Name+", parsed and encoded", context.Encode(), nil, c.Context.String())
		out, err := context.Recipe.Run(c.Tape)
		a.Values(c.Name+", run", out, err, shuffle.Outcome{Values: c.Values, EndAt: int(c.EndAt)})
	}
}

func keyTagTest(a *known.Answers, v *vectors) {
	for _, c := range v.KeyTags {
		tag := KeyTag(c.Origin, c.Identity, c.Table, c.Key)
		a.Bytes(c.Name, tag[:], nil, c.Tag.String())
	}
}

func keyIDTest(a *known.Answers, v *vectors) {
	for _, c := range v.KeyIDs {
		id := KeyID(c.Key)
		a.Bytes(c.Name, id[:], nil, c.ID.String())
	}
}

func referenceTest(a *known.Answers, v *vectors) {
	for _, c := range v.References {
		name, err := Reference(c.Salt, c.Value)
		a.Is(c.Name, name, err, c.Reference)
	}
}

// legalityTest folds whole ledgers entry by entry, each of which must be legal.
func legalityTest(a *known.Answers, v *vectors) {
	for _, c := range v.Ledgers {
		s := NewState()
		for i, b := range c.Entries {
			e, err := ParseEntry(b)
			if err == nil {
				err = s.Apply(e)
			}
			what := "legal"
			if err != nil {
				what = ""
			}
			a.Is(fmt.Sprintf("%s: entry %d", c.Name, i), what, err, "legal")
		}
		var broken *Illegal
		if e, err := ParseEntry(c.Entries[0]); err == nil && errors.As(s.Apply(e), &broken) {
			a.Is(c.Name+": a second genesis", broken.Code, nil, RuleGenesisFirst)
		} else {
			a.Is(c.Name+": a second genesis", "", errors.Join(err, errors.New("it is legal")), RuleGenesisFirst)
		}
	}
}
