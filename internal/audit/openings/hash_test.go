package openings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/shuffle"
)

// holdHashes compares the pure hashes with the reference on one set of inputs.
func holdHashes(t interface{ Errorf(string, ...any) }, context, tape []byte, origin, identity, table, key string) {
	hold := func(what string, got, want []byte) {
		if !bytes.Equal(got, want) {
			t.Errorf("%s of context %x, tape %x, %q, %q, %q, %q is\n%x, want\n%x", what, context, tape, origin,
				identity, table, key, got, want)
		}
	}
	commitment := Commitment(context, tape)
	hold("commitment", commitment[:], spec.Commitment(context, tape))
	n := len(context) % 7
	hold("salts", Salts(commitment, tape, n), slices.Concat(spec.Salts(commitment[:], tape, n)...))
	slot := audit.SlotHash(origin, table, commitment)
	hold("slot hash", slot[:], spec.SlotHash(origin, table, commitment[:]))
	tag := audit.KeyTag(origin, identity, table, key)
	hold("key tag", tag[:], spec.KeyTag(origin, identity, table, key))
	id := audit.KeyID(tape)
	hold("key id", id[:], spec.KeyID(tape))
	ref, err := audit.Reference(tape, key)
	if good := len(tape) >= 16 && len(tape) <= 255 && len(key) <= 65_535; (err == nil) != good {
		t.Errorf("reference with a salt of %d bytes: %v", len(tape), err)
	} else if good {
		hold("reference", []byte(ref), []byte(spec.Reference(tape, key)))
		if err := audit.CheckName(ref); err != nil {
			t.Errorf("reference %q is no name: %v", ref, err)
		}
	}
}

func TestHashesAgreeWithReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		holdHashes(t, spec.GenBytes(0, 400).Draw(t, "context"), spec.GenBytes(0, 400).Draw(t, "tape"),
			spec.GenOrigin().Draw(t, "origin"), spec.GenName().Draw(t, "identity"), spec.GenName().Draw(t, "table"),
			spec.GenReason().Draw(t, "key"))
	})
	for n := range 300 {
		holdHashes(t, spec.BytesOf("context", n), spec.BytesOf("tape", n), spec.Letters(uint64(n%129)),
			spec.Letters(uint64(n%63)), spec.Letters(uint64(n%65)), spec.Letters(uint64(n%256)))
	}
	long := spec.BytesOf("tape", 32_768)
	holdHashes(t, spec.BytesOf("context", 40_000), long, "o", "i", "t", "k")
	salts := Salts([32]byte(long), long, 4096)
	if !bytes.Equal(salts, slices.Concat(spec.Salts(long[:32], long, 4096)...)) {
		t.Error("4,096 salts are not the reference's")
	}
	if !bytes.Equal(salts[:32*52], Salts([32]byte(long), long, 52)) {
		t.Error("fewer salts are not the first of more")
	}
}

// TestHashesDiffer: no input of a hash can move into its neighbour, and none is left out.
func TestHashesDiffer(t *testing.T) {
	seen := make(map[string]string)
	see := func(what string, h []byte) {
		if before, ok := seen[string(h)]; ok {
			t.Errorf("%s hashes as %s", what, before)
		}
		seen[string(h)] = what
	}
	commitment := func(context, tape string) {
		h := Commitment([]byte(context), []byte(tape))
		see("commitment "+context+","+tape, h[:])
	}
	commitment("ab", "c")
	commitment("a", "bc")
	commitment("abc", "")
	commitment("", "abc")
	for _, s := range [][3]string{{"ab", "c", "i"}, {"a", "bc", "i"}, {"abc", "d", "i"}, {"a", "b", "i"}} {
		h := audit.SlotHash(s[0], s[1], [32]byte{})
		see("slot "+s[0]+","+s[1], h[:])
	}
	for _, s := range [][3]string{{"ab", "c", "i"}, {"a", "bc", "i"}, {"abc", "d", "i"}, {"a", "b", "i"},
		{"a", "b", "bi"}, {"ab", "b", "i"}, {"a", "i", "b"}} {
		for _, key := range []string{"k", "ck", s[0]} {
			tag := audit.KeyTag(s[0], s[2], s[1], key)
			see("tag "+strings.Join(s[:], ",")+","+key, tag[6:])
			if !bytes.Equal(tag[:], spec.KeyTag(s[0], s[2], s[1], key)) {
				t.Errorf("a commit under %q has the tag %x", key, tag)
			}
		}
	}
	ref, err := audit.Reference(spec.BytesOf("salt", 16), "ab")
	other, err2 := audit.Reference(append(spec.BytesOf("salt", 16), 'a'), "b")
	if err != nil || err2 != nil || ref == other {
		t.Errorf("references %q, %v and %q, %v", ref, err, other, err2)
	}
}

// TestKeyTagTime: six bytes of time for the text form of a UUIDv7 and nothing else (docs/SPEC.md section 5.3).
func TestKeyTagTime(t *testing.T) {
	const uuid = "0192f3c4-d5e6-7abc-8def-0123456789ab"
	for _, c := range spec.KeyTagCases() {
		tag := audit.KeyTag(spec.SampleOrigin, "dealer-1", "t", c.Key)
		if got := tag[:6]; (!bytes.Equal(got, make([]byte, 6))) != c.Timed {
			t.Errorf("%s: %q is ordered by %x", c.Name, c.Key, got)
		}
		if !bytes.Equal(tag[:], spec.KeyTag(spec.SampleOrigin, "dealer-1", "t", c.Key)) {
			t.Errorf("%s: %q has the tag %x", c.Name, c.Key, tag)
		}
	}
	tag := audit.KeyTag(spec.SampleOrigin, "dealer-1", "t", uuid)
	if !bytes.Equal(tag[:6], []byte{0x01, 0x92, 0xf3, 0xc4, 0xd5, 0xe6}) {
		t.Errorf("%s is ordered by %x", uuid, tag[:6])
	}
	// Every character that is another breaks or keeps the form as the reference says.
	for i := range uuid {
		for _, c := range []byte("-0789abcdefgABFG zZ:") {
			key := uuid[:i] + string(c) + uuid[i+1:]
			if tag := audit.KeyTag("o", "i", "t", key); !bytes.Equal(tag[:], spec.KeyTag("o", "i", "t", key)) {
				t.Errorf("%q is ordered by %x, want %x", key, tag[:6], spec.KeyTag("o", "i", "t", key)[:6])
			}
		}
	}
}

// TestReferenceLimits: salts of 16 to 255 bytes.
func TestReferenceLimits(t *testing.T) {
	for n, good := range map[int]bool{0: false, 15: false, 16: true, 255: true, 256: false} {
		if ref, err := audit.Reference(make([]byte, n), "x"); (err == nil) != good || !good && ref != "" {
			t.Errorf("a salt of %d bytes: %q, %v", n, ref, err)
		}
	}
	for n, good := range map[int]bool{0: true, 65_535: true, 65_536: false} {
		if _, err := audit.Reference(make([]byte, 16), spec.Letters(uint64(n))); (err == nil) != good {
			t.Errorf("a value of %d bytes: %v", n, err)
		}
	}
}

// TestOrder holds the places of a mixed shuffle against the reference.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := spec.SampleCommit(spec.GenContext(t))
		ctx := &fields.Context
		ctx.Take = min(ctx.Take, 300)
		e := spec.Entry{Time: 1, Identity: "a", Credential: "a", Commit: &fields}
		leaf := tlog.Hash(spec.EntryLeaf(e.Bytes()))
		m := int(ctx.Take) + len(ctx.Ranges)
		var values []spec.Value
		cut := 0
		for i, p := range ctx.Plan {
			v := spec.Value{Source: p.Source, Value: spec.BytesOf(string(rune('a'+i)), 32)}
			switch p.Source {
			case 2:
				v.Value = spec.BytesOf("beacon", 48)
			case 3:
				cut = rapid.IntRange(0, m-1).Draw(t, "cut")
				v = spec.Value{Source: 3, Cut: uint64(cut)}
			}
			values = append(values, v)
		}
		var mix *audit.Mix
		if len(values) > 0 {
			mix = &audit.Mix{Values: spec.MixValues(values)}
		}
		order, err := NewOrder(leaf, fields.Body(), mix)
		if err != nil {
			t.Fatal(err)
		}
		seed := spec.Seed(e.Bytes(), values)
		if got := MixSeed(leaf, spec.MixValues(values)); !bytes.Equal(got[:], seed) {
			t.Fatalf("seed %x, want %x", got, seed)
		}
		places, drawn := identity(m), spec.DrawnValues(spec.Ranges(ctx))
		if len(values) > 0 && ctx.Kind == 1 {
			places = spec.Positions(seed, m, cut)
		}
		for i, want := range places {
			if got := order.Position(i); got != want {
				t.Fatalf("place %d shows position %d, want %d", i, got, want)
			}
		}
		shown, err := order.Shows(drawn)
		if len(values) > 0 && ctx.Kind != 1 {
			drawn = spec.Shift(seed, spec.Ranges(ctx), drawn)
		}
		if ctx.Kind == 3 {
			drawn = spec.Numbers(drawn)
		}
		if err != nil || !slices.Equal(shown, drawn) {
			t.Fatalf("shown %d, %v, want %d", shown, err, drawn)
		}
	})
}

func identity(m int) []int {
	p := make([]int, m)
	for i := range p {
		p[i] = i
	}
	return p
}

// TestOrderNeedsItsMix: a plan without a mix has no order, and a mix without a plan is none.
func TestOrderNeedsItsMix(t *testing.T) {
	plain, planned := spec.SampleCommit(spec.SampleContext()),
		spec.SampleCommit(spec.With(spec.SampleContext(), func(c *spec.Context) { c.Plan = spec.Slots(1) }))
	for what, c := range map[string]struct {
		commit *audit.Commit
		mix    *audit.Mix
	}{
		"plan without mix": {planned.Body(), nil},
		"mix without plan": {plain.Body(), &audit.Mix{Values: []audit.MixValue{{Source: audit.SourceCut}}}},
		"a cut past the places": {planned.Body(), &audit.Mix{Values: []audit.MixValue{{Source: audit.SourceCut,
			Cut: 52}}}},
	} {
		if _, err := NewOrder(tlog.Hash{}, c.commit, c.mix); err == nil {
			t.Errorf("%s has an order", what)
		}
	}
}

// TestGivenBeyondPlaces: a co-dealer that gives what no place has leads to no position.
func TestGivenDraws(t *testing.T) {
	c := &audit.Commit{Context: &audit.Context{Recipe: shuffle.Recipe{Ranges: []uint32{6, 1000, 100_000}},
		Plan: []audit.Planned{{Source: audit.SourceCoDealer, Origin: "lab", Index: 7}}}}
	order, err := NewOrder(tlog.Hash{}, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	order.Give(&audit.Deal{Runs: []audit.Run{{Count: 3, Purpose: audit.PurposeSeat}},
		Blind: &audit.Blind{Values: []uint32{6, 2, 100_000}}})
	got, err := order.Moved([]uint32{1, 1000, 2})
	if want := []uint32{6, 1, 1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the draws become %d, %v; want %d", got, err, want)
	}
}

func TestGivenBeyondPlaces(t *testing.T) {
	c := &audit.Commit{Context: &audit.Context{Recipe: shuffle.Recipe{Cards: 5, Take: 5},
		Plan: []audit.Planned{{Source: audit.SourceCoDealer, Origin: "lab", Index: 7}, {Source: audit.SourceCut}}}}
	order, err := NewOrder(tlog.Hash{}, c, &audit.Mix{Values: []audit.MixValue{{Source: audit.SourceCut, Cut: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	order.Give(&audit.Deal{Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat}},
		Blind: &audit.Blind{Values: []uint32{5}}})
	if p := order.Position(0); p < 5 {
		t.Errorf("place 0 shows position %d", p)
	}
}

// TestChildValues: a child's values are the parent's at the listed positions.
func TestChildValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := rapid.SliceOfN(rapid.Uint32(), 1, 60).Draw(t, "parent")
		positions := rapid.SliceOfN(rapid.Uint16Range(0, uint16(len(parent)-1)), 1, 60).Draw(t, "positions")
		indexes := rapid.SliceOf(rapid.Uint32Range(0, uint32(len(positions)-1))).Draw(t, "indexes")
		got, err := ChildValues(parent, positions, indexes)
		if err != nil || !slices.Equal(got, spec.Child(parent, positions, indexes)) {
			t.Fatalf("%d, %v", got, err)
		}
	})
	deck := make([]uint32, shuffle.MaxCards)
	for i := range deck {
		deck[i] = uint32(i)
	}
	got, err := ChildValues(deck, []uint16{4095, 256, 1}, []uint32{2, 0, 1})
	if err != nil || !slices.Equal(got, []uint32{1, 4095, 256}) {
		t.Errorf("positions of a large parent: %d, %v", got, err)
	}
	for what, c := range map[string]struct {
		positions []uint16
		indexes   []uint32
	}{
		"an index past the list":        {[]uint16{0, 1}, []uint32{0, 2}},
		"an index of 2^32−1":            {[]uint16{0, 1}, []uint32{1<<32 - 1}},
		"a position past the parent":    {[]uint16{0, 3}, []uint32{1}},
		"a position of 65,535":          {[]uint16{65535}, []uint32{0}},
		"an index into an empty list":   {nil, []uint32{0}},
		"the parent's end, off by one":  {[]uint16{3, 2}, []uint32{0, 1}},
		"the list's end, off by one":    {[]uint16{2}, []uint32{1}},
		"a good index and then another": {[]uint16{1, 2}, []uint32{0, 1, 9}},
	} {
		if got, err := ChildValues([]uint32{7, 8, 9}, c.positions, c.indexes); spec.FaultOf(err) != spec.Malformed ||
			got != nil {
			t.Errorf("%s: %d, %v", what, got, err)
		}
	}
}

// TestFromTapeToRoot: context, tape, commitment, salts and deck root hang
// together, for cards, takes, drawn ends and draw lists.
func TestFromTapeToRoot(t *testing.T) {
	for _, fields := range spec.WholeContexts() {
		ctx, err := audit.ParseContext(fields.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		tape := spec.BytesOf("tape", spec.TapeLen(&fields))
		out, err := ctx.Recipe.Run(tape)
		if err != nil {
			t.Fatal(err)
		}
		values, endAt := spec.Spend(&fields, tape)
		if !slices.Equal(out.Values, values) || out.EndAt != int(endAt) {
			t.Errorf("values %d, end at %d, want %d, %d", out.Values, out.EndAt, values, endAt)
		}
		commitment := Commitment(ctx.Encode(), tape)
		root := NewDeckTree(LeafTag(commitment, fields.Bytes()), out.Values, Salts(commitment, tape,
			len(out.Values))).Root()
		if !bytes.Equal(root[:], spec.DeckRoot(fields.Bytes(), tape, values)) {
			t.Errorf("deck root %x", root)
		}
		if len(tape) > shuffle.MaxTape {
			t.Errorf("a tape of %d bytes", len(tape))
		}
	}
}

// TestPlaceVectors goes through NewOrder where the seed can be reached, and through the seed itself.
func TestPlaceVectors(t *testing.T) {
	var v struct {
		Leaves []spec.LeafVector  `json:"leaves"`
		Places []spec.PlaceVector `json:"places"`
		Shifts []spec.ShiftVector `json:"shifts"`
		Seeds  []struct {
			Commit spec.Hexed `json:"commit_entry"`
		} `json:"seeds"`
	}
	if err := json.Unmarshal(spec.ReadVectors(t, "hashes"), &v); err != nil || len(v.Leaves)*len(v.Places)*len(v.Shifts) == 0 {
		t.Fatalf("%d leaves, %d places, %d shifts: %v", len(v.Leaves), len(v.Places), len(v.Shifts), err)
	}
	for _, c := range v.Leaves {
		if h := leafHash(Tag(c.Tag), c.Position, c.Value, c.Salt); !bytes.Equal(h[:], c.Leaf) {
			t.Errorf("%s: %x, want %x", c.Name, h, c.Leaf)
		}
	}
	for _, c := range v.Places {
		if got := spec.Positions(c.Seed, c.M, c.Cut); !slices.Equal(got, c.Positions) {
			t.Errorf("%s: %d", c.Name, got)
		}
		values := []audit.MixValue{{Source: audit.SourceSlot, Slot: [32]byte(spec.BytesOf("slot 0", 32))},
			{Source: audit.SourceCut, Cut: uint16(c.Cut)}}
		entry := v.Seeds[0].Commit
		parsed, err := audit.ParseEntry(entry)
		if err != nil {
			t.Fatal(err)
		}
		commit := parsed.Body.(*audit.Commit)
		commit.Context.Recipe.Take = c.M
		order, err := NewOrder(tlog.RecordHash(entry), commit, &audit.Mix{Values: values})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Positions {
			if got := order.Position(i); got != want {
				t.Errorf("%s: place %d shows %d, want %d", c.Name, i, got, want)
			}
		}
	}
	for _, c := range v.Shifts {
		got, err := (Order{seed: [32]byte(c.Seed), shifted: true, ranges: c.Ranges, of: c.Of}).Shows(c.Values)
		if err != nil || !slices.Equal(got, c.Shown) {
			t.Errorf("%s: %d, %v", c.Name, got, err)
		}
	}
}
