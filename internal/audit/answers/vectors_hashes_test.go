package answers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/spec"
	"shuffled/internal/known"
)

type hashVectors struct {
	spec.VectorHead
	Commitments []commitmentVector `json:"commitments"`
	Salts       []saltVector       `json:"salts"`
	Leaves      []spec.LeafVector  `json:"leaves"`
	Shuffles    []shuffleVector    `json:"shuffles"`
	Openings    []openingVector    `json:"openings"`
	Slots       []slotVector       `json:"slots"`
	Seeds       []seedVector       `json:"seeds"`
	Places      []spec.PlaceVector `json:"places"`
	Shifts      []spec.ShiftVector `json:"shifts"`
	KeyTags     []keyTagVector     `json:"key_tags"`
	KeyIDs      []keyIDVector      `json:"key_ids"`
	References  []referenceVector  `json:"references"`
	Credentials []credentialVector `json:"credentials"`
	Approvals   []approvalVector   `json:"approvals"`
	Acts        []actVector        `json:"acts"`
	Children    []childVector      `json:"children"`
	Asks        []askVector        `json:"asks"`
	States      []stateVector      `json:"states"`
	Records     []recordVector     `json:"records"`
}

type commitmentVector struct {
	Name       string     `json:"name"`
	Context    spec.Hexed `json:"context"`
	Tape       spec.Hexed `json:"tape"`
	Commitment spec.Hexed `json:"commitment"`
}

type credentialVector struct {
	Name   string      `json:"name"`
	Fields spec.Holder `json:"fields"`
	Hash   spec.Hexed  `json:"hash"`
	Digest spec.Hexed  `json:"digest"`
}

type approvalVector struct {
	Name   string     `json:"name"`
	Entry  spec.Hexed `json:"entry"`
	Digest spec.Hexed `json:"digest"`
}

type actVector struct {
	Name    string     `json:"name"`
	Genesis spec.Hexed `json:"genesis_entry"`
	Entry   spec.Hexed `json:"entry"`
	Signed  spec.Hexed `json:"signed"`
	Key     spec.Hexed `json:"key"` // of the first administrator who signed
	Good    bool       `json:"good"`
}

var hashHead = spec.NewHead("hashes",
	"Pure hashes of docs/SPEC.md sections 1.5, 2 to 6.",
	"shuffles: a context and a tape in full, to commitment, tag of the leaves, values by position, a drawn end_at, and the deck root. The salts follow from commitment and tape.",
	"openings: opens says whether position, value, salt and path prove the value against deck_root under tag among m positions. An opening that does not open is damaged as its name says.",
	"seeds: values in plan order; a cut (source 3) is no part of the seed. places: by place, the position that it shows. shifts: by position, what the place shows; with of, the numbers of 1..of that the moved draws take (2.5).",
	"credentials: hash is SHA-256 of the secret, digest what the entry of the credential holds (5.10). approvals: digest is that of an act which approves entry (5.11).",
	"acts: signed is what the administrators sign in the ledger of genesis_entry; good says whether the first signature is of key under the rules of 7.1.",
	"asks: seed is that of the ask key, signed what is signed under it (SPEC-BLIND 2). records: a chain of records of requests (5.8).")

func makeHashVectors() hashVectors {
	v := hashVectors{VectorHead: hashHead}
	v.addCommitments()
	v.addShuffles()
	v.addOpenings()
	v.addMixes()
	v.addNames()
	v.addActs()
	v.addAsks()
	return v
}

func (v *hashVectors) addCommitments() {
	for _, c := range []struct {
		name          string
		context, tape []byte
	}{
		{"52 cards", spec.SampleContext().Encoded(), spec.BytesOf("tape", 129)},
		{"a draw list", spec.SampleDraw().Encoded(), spec.BytesOf("tape", 58)},
		{"a tape of zeros", spec.SampleContext().Encoded(), make([]byte, 129)},
		{"no context, no tape: the prefixes alone", nil, nil},
		{"a byte of context", []byte{7}, nil},
		{"a byte of tape", nil, []byte{7}},
		{"a tape whose length needs a second byte", []byte{1}, spec.BytesOf("tape", 300)},
	} {
		v.Commitments = append(v.Commitments,
			commitmentVector{c.name, c.context, c.tape, spec.Commitment(c.context, c.tape)})
	}
	for _, c := range []struct {
		name string
		tape []byte
		n    int
	}{{"one", spec.BytesOf("tape", 54), 1}, {"nine, from a tape of 129 bytes", spec.BytesOf("tape", 129), 9},
		{"three, from a tape of zeros", make([]byte, 64), 3}} {
		s := saltVector{Name: c.name, Commitment: spec.BytesOf("commitment", 32), Tape: c.tape}
		for _, salt := range spec.Salts(s.Commitment, c.tape, c.n) {
			s.Salts = append(s.Salts, salt)
		}
		v.Salts = append(v.Salts, s)
	}
	tag := spec.BytesOf("tag", 16)
	for _, c := range []struct {
		name string
		p    int
		v    uint32
		salt spec.Hexed
	}{
		{"position 0, value 0, a salt of zeros", 0, 0, make(spec.Hexed, 32)},
		{"position 51, value 17", 51, 17, spec.BytesOf("salt", 32)},
		{"the last position there can be", 4095, 4095, spec.BytesOf("salt", 32)},
		{"the largest drawn value", 0, 1 << 30, spec.BytesOf("salt", 32)},
		{"bytes of position and value in order", 0x0102, 0x03040506, spec.BytesOf("salt", 32)},
	} {
		v.Leaves = append(v.Leaves, spec.LeafVector{Name: c.name, Tag: tag, Position: c.p, Value: c.v, Salt: c.salt,
			Leaf: spec.Leaf(tag, uint16(c.p), c.v, c.salt)})
	}
}

// encoded is the encoding of c, for expressions.
func (v *hashVectors) addShuffles() {
	names := []string{"52 cards", "one of two cards", "9 of 52 cards", "104 cards, a drawn end_at", "a draw list",
		"draws at the edges of lane widths", "20 of 80 numbers", "five of 2^30 numbers"}
	for i, c := range spec.WholeContexts() {
		tape := spec.BytesOf("tape", spec.TapeLen(&c))
		values, endAt := spec.Spend(&c, tape)
		v.Shuffles = append(v.Shuffles, shuffleVector{names[i], c.Bytes(), tape, spec.Commitment(c.Bytes(), tape),
			spec.Tag(spec.Commitment(c.Bytes(), tape), c.Bytes()), values,
			endAt,
			spec.DeckRoot(c.Bytes(), tape, values)})
	}
}

func (v *hashVectors) addOpenings() {
	c := spec.NewCommitted(52)
	add := func(name string, n, p int, damage func(*openingVector)) {
		o := openingVector{Name: name, Tag: c.Tag[:], DeckRoot: spec.Root(c.Leaves[:n]), M: n, Position: p,
			Value: c.Values[p],
			Salt:  c.Salts[32*p : 32*p+32]}
		for _, h := range spec.Path(p, c.Leaves[:n]) {
			o.Path = append(o.Path, h)
		}
		if damage != nil {
			damage(&o)
		}
		var hashes [][]byte
		for _, h := range o.Path {
			hashes = append(hashes, h)
		}
		o.Opens = spec.Opens(o.Tag, o.DeckRoot, o.M, o.Position, o.Value, o.Salt, hashes)
		v.Openings = append(v.Openings, o)
	}
	for n, positions := range [][]int{1: {0}, 2: {0, 1}, 3: {0, 1, 2}, 5: {0, 3, 4}, 7: {6}, 8: {7},
		52: {0, 17, 32, 51}} {
		for _, p := range positions {
			add(fmt.Sprintf("position %d of %d", p, n), n, p, nil)
		}
	}
	flip := func(b spec.Hexed, at int) spec.Hexed { b = slices.Clone(b); b[at] ^= 1; return b }
	add("damaged: the neighbour's position", 52, 17, func(o *openingVector) { o.Position = 16 })
	add("damaged: position m", 52, 51, func(o *openingVector) { o.Position = 52 })
	add("damaged: another value", 52, 17, func(o *openingVector) { o.Value++ })
	add("damaged: a bit of the salt", 52, 17, func(o *openingVector) { o.Salt = flip(o.Salt, 31) })
	add("damaged: a bit of the tag", 52, 17, func(o *openingVector) { o.Tag = flip(o.Tag, 15) })
	add("damaged: a bit of the root", 52, 17, func(o *openingVector) { o.DeckRoot = flip(o.DeckRoot, 0) })
	add("damaged: a bit of the path", 52, 17, func(o *openingVector) { o.Path[2] = flip(o.Path[2], 9) })
	add("damaged: the path without its first hash", 52, 17, func(o *openingVector) { o.Path = o.Path[1:] })
	add("damaged: the path without its last hash", 52, 17, func(o *openingVector) { o.Path = o.Path[:len(o.Path)-1] })
	add("damaged: the path in the other order", 52, 17, func(o *openingVector) { slices.Reverse(o.Path) })
	add("damaged: the path with a hash more", 52, 17,
		func(o *openingVector) { o.Path = append(o.Path, make(spec.Hexed, 32)) })
	add("damaged: no path", 52, 17, func(o *openingVector) { o.Path = nil })
	add("damaged: a path where one position has none", 1, 0,
		func(o *openingVector) { o.Path = []spec.Hexed{make(spec.Hexed, 32)} })
	add("damaged: m one more than there are, at the right edge", 5, 4, func(o *openingVector) { o.M = 6 })
	add("damaged: m below the position", 52, 51, func(o *openingVector) { o.M = 51 })
	add("m of another tree with a path of the same shape: the root does not say m, the commit does", 52, 17,
		func(o *openingVector) { o.M = 50 })
	add("damaged: a node passed off as a leaf's neighbour", 8, 0, func(o *openingVector) {
		o.Path = o.Path[1:]
		o.M = 4
	})
}

func (v *hashVectors) addMixes() {
	for i, table := range []string{"table-7", "t", spec.Letters(64)} {
		r := spec.BytesOf(fmt.Sprint("slot ", i), 32)
		v.Slots = append(v.Slots, slotVector{"table " + table, spec.SampleOrigin, table, r,
			spec.SlotHash(spec.SampleOrigin, table, r)})
	}
	commit := spec.With(spec.SampleCommit(spec.SampleContext()), func(c *spec.Commit) {
		c.Context.Plan = append(spec.Slots(2), spec.Beacon(1), spec.Source{Source: 3})
	})
	entry := spec.Entry{Time: spec.SampleTime, Identity: "dealer-1", Credential: "token-1", Commit: &commit}.Bytes()
	slot := func(i int) spec.Value { return spec.Value{Source: 1, Value: spec.BytesOf(fmt.Sprint("slot ", i), 32)} }
	light := spec.Value{Source: 2, Value: spec.BytesOf("beacon", 48)}
	for _, c := range []struct {
		name   string
		values []spec.Value
	}{
		{"two slots", []spec.Value{slot(0), slot(1)}}, {"two slots in the other order", []spec.Value{slot(1), slot(0)}},
		{"a beacon", []spec.Value{light}},
		{"slots, beacon and cut", []spec.Value{slot(0), slot(1), light, {Source: 3, Cut: 17}}},
		{"slots, beacon and another cut: the same seed", []spec.Value{slot(0), slot(1), light, {Source: 3, Cut: 18}}},
		{"a cut alone", []spec.Value{{Source: 3, Cut: 1}}},
	} {
		v.Seeds = append(v.Seeds, seedVector{c.name, entry, inFile(c.values), spec.Seed(entry, c.values)})
	}
	seed := spec.Hexed(spec.Seed(entry, []spec.Value{slot(0)}))
	for _, c := range [][2]int{{1, 0}, {2, 0}, {2, 1}, {9, 0}, {52, 0}, {52, 1}, {52, 51}, {416, 0}, {416, 100}} {
		v.Places = append(v.Places, spec.PlaceVector{Name: fmt.Sprintf("%d positions, cut at %d", c[0], c[1]),
			Seed: seed, M: c[0], Cut: c[1], Positions: spec.Positions(seed, c[0], c[1])})
	}
	for i, ranges := range [][]uint32{{6}, {1}, {6, 6, 37}, {64, 65, 1 << 14, 1<<14 + 1, 1 << 30},
		slices.Repeat([]uint32{100}, 40)} {
		values := spec.DrawnValues(ranges)
		v.Shifts = append(v.Shifts, spec.ShiftVector{Name: fmt.Sprintf("%d draws, list %d", len(ranges), i),
			Seed: seed, Of: 0, Ranges: ranges, Values: values, Shown: spec.Shift(seed, ranges, values)})
	}
	for _, c := range [][2]uint64{{2, 2}, {80, 20}, {1 << 30, 50}} {
		ranges := spec.Ranges(&spec.Context{Kind: 3, Of: c[0], Take: c[1]})
		values := spec.DrawnValues(ranges)
		v.Shifts = append(v.Shifts, spec.ShiftVector{Name: fmt.Sprintf("%d of %d numbers", c[1], c[0]), Seed: seed,
			Of: uint32(c[0]), Ranges: ranges, Values: values, Shown: spec.Numbers(spec.Shift(seed, ranges, values))})
	}
}

func (v *hashVectors) addNames() {
	for _, c := range spec.KeyTagCases() {
		v.KeyTags = append(v.KeyTags, keyTagVector{c.Name, spec.SampleOrigin, "dealer-1", "table-7", c.Key,
			spec.KeyTag(spec.SampleOrigin, "dealer-1", "table-7", c.Key)})
	}
	v.KeyTags = append(v.KeyTags, keyTagVector{"the same key at another table", spec.SampleOrigin, "dealer-1",
		"table-8", "k", spec.KeyTag(spec.SampleOrigin, "dealer-1", "table-8", "k")},
		keyTagVector{"the same key of another identity", spec.SampleOrigin, "dealer-2", "table-7", "k",
			spec.KeyTag(spec.SampleOrigin, "dealer-2", "table-7", "k")},
		keyTagVector{"the same key in another ledger", "o", "dealer-1", "table-7", "k",
			spec.KeyTag("o", "dealer-1", "table-7", "k")})
	for _, k := range []struct {
		name string
		key  spec.Hexed
	}{{"Ed25519", spec.SigningKey("1")}, {"P-256", spec.AuditorKey("1")},
		{"ML-KEM-768 with P-256", spec.AuditorKey("hybrid 1")}, {"two bytes", spec.Hexed{1, 2}}} {
		v.KeyIDs = append(v.KeyIDs, keyIDVector{k.name, k.key, spec.KeyID(k.key)})
	}
	for _, c := range []struct {
		name, value string
		salt        int
	}{{"a person", "Erika Mustermann", 16}, {"UTF-8", "Jürgen Groß", 32}, {"an empty value", "", 16},
		{"the longest salt", "x", 255}} {
		salt := spec.BytesOf("salt", c.salt)
		v.References = append(v.References, referenceVector{c.name, salt, c.value, spec.Reference(salt, c.value)})
	}
	parent := []uint32{9, 4, 0, 7, 7, 3, 2, 51, 11, 5}
	for _, c := range []childVector{
		{Name: "a stub in order", Positions: []uint16{7, 8, 9}, Indexes: []uint32{2, 0, 1}},
		{Name: "cards in no order, a value twice", Positions: []uint16{9, 3, 0, 4}, Indexes: []uint32{3, 1, 0, 2}},
		{Name: "two of five", Positions: []uint16{5, 6, 7, 8, 9}, Indexes: []uint32{4, 0}},
	} {
		c.Parent, c.Values = parent, spec.Child(parent, c.Positions, c.Indexes)
		v.Children = append(v.Children, c)
	}
}

func (v *hashVectors) addActs() {
	for _, c := range []struct {
		name   string
		change func(*spec.Holder)
	}{
		{"a dealer's token", func(*spec.Holder) {}},
		{"an administrator's certificate, for two tables, with an expiry", func(h *spec.Holder) {
			h.Form, h.Role, h.Identity, h.Tables, h.Expires = 2, 3, "admin-1", []string{"a", "b"}, spec.SampleTime
		}},
		{"another id", func(h *spec.Holder) { h.ID = "token-2" }},
	} {
		h, hash := spec.SampleHolder(c.change), spec.Sum([]byte(spec.BytesOf("secret", 32)))
		v.Credentials = append(v.Credentials, credentialVector{c.name, *h, hash, spec.CredentialHash(h, hash)})
	}
	takeover := spec.Entry{Identity: "dealer-2", Credential: "token-2", Time: 1, Takeover: &spec.Takeover{Shuffle: 2,
		Extent: 2, Reason: "r"}}
	other := takeover
	other.Credential, other.Time = "token-3", 2
	third := takeover
	third.Identity = "dealer-3"
	for name, e := range []spec.Entry{takeover, other, third,
		{Identity: "operator", Credential: "operator", Key: &spec.Key{Subject: 4, Policy: "quorum none\n"}}} {
		v.Approvals = append(v.Approvals,
			approvalVector{[]string{"a takeover", "at another time, with another credential: the same digest",
				"by another identity", "a policy"}[name], e.Bytes(), spec.Approved(e)})
	}
	g := spec.With(spec.SampleGenesis(), spec.TwoAdmins)
	genesis := spec.Entry{Identity: "operator", Credential: "operator", Genesis: &g}.Bytes()
	fields := spec.Act{Act: 10, Digest: spec.Approved(takeover), Previous: 3, HeadSize: 9,
		HeadRoot: spec.BytesOf("root", 32), Expires: spec.SampleTime}
	add := func(name string, a *spec.Act, key spec.Hexed, good bool) {
		w := new(spec.Writer)
		a.WriteSigned(w)
		e := spec.Entry{Identity: "dealer-2", Credential: "token-2", Act: a}
		v.Acts = append(v.Acts, actVector{name, genesis, e.Bytes(),
			spec.Join("shuffled/v1/act\000", spec.Sum(genesis), w.B), key, good})
	}
	add("two signatures", spec.SignedAct(genesis, fields, "alice", "bob"), spec.AdminKey("alice"), true)
	add("another administrator's key", spec.SignedAct(genesis, fields, "alice"), spec.AdminKey("bob"), false)
	add("signed for another ledger", spec.SignedAct([]byte{1}, fields, "alice"), spec.AdminKey("alice"), false)
	for i, name := range []string{"another act", "another previous act", "another head", "another root",
		"another expiry", "another digest"} {
		a := spec.SignedAct(genesis, fields, "alice")
		[]func(){func() { a.Act = 11 }, func() { a.Previous++ }, func() { a.HeadSize++ },
			func() { a.HeadRoot = spec.BytesOf("r", 32) },
			func() { a.Expires++ }, func() { a.Digest = spec.BytesOf("d", 32) }}[i]()
		add(name+" than was signed", a, spec.AdminKey("alice"), false)
	}
}

func (v *hashVectors) members() []any {
	return []any{"commitments", v.Commitments, "salts", v.Salts, "leaves", v.Leaves, "shuffles", v.Shuffles, "openings",
		v.Openings,
		"slots", v.Slots, "seeds", v.Seeds, "places", v.Places, "shifts", v.Shifts, "key_tags", v.KeyTags, "key_ids",
		v.KeyIDs,
		"references", v.References, "children", v.Children, "credentials", v.Credentials, "approvals", v.Approvals,
		"acts", v.Acts, "asks", v.Asks, "states", v.States, "records", v.Records}
}

func TestHashVectorsAreTheReferences(t *testing.T) {
	v := makeHashVectors()
	spec.HoldVectors(t, "hashes", spec.EncodeVectors(t, v.VectorHead, v.members()...))
}

func loadHashes(t testing.TB) (v hashVectors) {
	t.Helper()
	spec.LoadVectors(t, "hashes", &v.VectorHead, &v)
	spec.WantCases(t, "commitments", 5, v.Commitments, func(c commitmentVector) string { return c.Name })
	spec.WantCases(t, "salts", 3, v.Salts, func(c saltVector) string { return c.Name })
	spec.WantCases(t, "leaves", 5, v.Leaves, func(c spec.LeafVector) string { return c.Name })
	spec.WantCases(t, "shuffles", 5, v.Shuffles, func(c shuffleVector) string { return c.Name })
	spec.WantCases(t, "openings", 20, v.Openings, func(c openingVector) string { return c.Name })
	spec.WantCases(t, "slots", 3, v.Slots, func(c slotVector) string { return c.Name })
	spec.WantCases(t, "seeds", 5, v.Seeds, func(c seedVector) string { return c.Name })
	spec.WantCases(t, "places", 8, v.Places, func(c spec.PlaceVector) string { return c.Name })
	spec.WantCases(t, "shifts", 5, v.Shifts, func(c spec.ShiftVector) string { return c.Name })
	spec.WantCases(t, "key tags", 10, v.KeyTags, func(c keyTagVector) string { return c.Name })
	spec.WantCases(t, "key ids", 3, v.KeyIDs, func(c keyIDVector) string { return c.Name })
	spec.WantCases(t, "references", 4, v.References, func(c referenceVector) string { return c.Name })
	spec.WantCases(t, "credentials", 3, v.Credentials, func(c credentialVector) string { return c.Name })
	spec.WantCases(t, "approvals", 4, v.Approvals, func(c approvalVector) string { return c.Name })
	spec.WantCases(t, "acts", 9, v.Acts, func(c actVector) string { return c.Name })
	spec.WantCases(t, "asks", 2, v.Asks, func(c askVector) string { return c.Name })
	spec.WantCases(t, "states", 2, v.States, func(c stateVector) string { return c.Name })
	spec.WantCases(t, "records", 2, v.Records, func(c recordVector) string { return c.Name })
	spec.WantCases(t, "children", 3, v.Children, func(c childVector) string { return c.Name })
	return v
}

func holdBytes(t *testing.T, name string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %x, want %x", name, got, want)
	}
}

// TestHashVectors runs the package on testdata/hashes.json.
func TestHashVectors(t *testing.T) {
	v := loadHashes(t)
	for _, c := range v.Commitments {
		h := openings.Commitment(c.Context, c.Tape)
		holdBytes(t, c.Name, h[:], c.Commitment)
	}
	run := vectors{Salts: v.Salts, Shuffles: v.Shuffles, Openings: v.Openings, Slots: v.Slots, Seeds: v.Seeds,
		KeyTags: v.KeyTags,
		KeyIDs:  v.KeyIDs, References: v.References, Children: v.Children}
	holdSelfTests(t, &run, "commitment", "salts", "deck-root", "opening", "context", "slot-hash", "mix-seed", "key-tag",
		"key-id", "reference", "child")
	opened := 0
	for _, c := range v.Openings {
		if c.Opens == strings.HasPrefix(c.Name, "damaged") {
			t.Errorf("%s: opens %t", c.Name, c.Opens)
		}
		if c.Opens {
			opened++
		}
	}
	if opened < 10 {
		t.Errorf("only %d openings open", opened)
	}
}

// holdSelfTests runs known-answer tests on all of the data files, where the binary runs them on some of each.
func holdSelfTests(t *testing.T, v *vectors, names ...string) {
	t.Helper()
	for _, name := range names {
		a := known.Answers{Test: name}
		if selfTests[name](&a, v); len(a.Wrong) > 0 || len(a.Names) < 3 {
			t.Errorf("%s: %d answers, wrong: %q", name, len(a.Names), a.Wrong)
		}
	}
}

// TestActVectors: digests of credentials and approvals, and what administrators sign.
func TestActVectors(t *testing.T) {
	v := loadHashes(t)
	parse := func(b spec.Hexed) audit.Entry {
		e, err := audit.ParseEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range v.Credentials {
		credential := spec.Entry{Holder: &c.Fields}.Value().Body.(*audit.Credential)
		digest := credential.Opens([32]byte(c.Hash))
		holdBytes(t, c.Name, digest[:], c.Digest)
	}
	for _, c := range v.Approvals {
		e := parse(c.Entry)
		digest := audit.Approved(e.Actor.Identity, e.Body)
		holdBytes(t, c.Name, digest[:], c.Digest)
	}
	for _, c := range v.Acts {
		act := parse(c.Entry).Body.(*audit.ActEntry)
		signed := act.Signed(parse(c.Genesis).Hash())
		holdBytes(t, c.Name, signed, c.Signed)
		if got := audit.VerifyEd25519(c.Key[1:], signed, act.Signatures[0].Signature[:]); got != c.Good {
			t.Errorf("%s: the signature is good: %t", c.Name, got)
		}
	}
}

// inFile are values as the data file has them.
func inFile(values []spec.Value) (out []valueVector) {
	for _, v := range values {
		out = append(out, valueVector(v))
	}
	return out
}

// TestTranscriptAnswers runs the known-answer test on all of testdata/transcripts.json.
func TestTranscriptAnswers(t *testing.T) {
	var v struct {
		spec.VectorHead
		Good []transcriptVector `json:"good"`
		Bad  []transcriptVector `json:"bad"`
	}
	spec.LoadVectors(t, "transcripts", &v.VectorHead, &v)
	holdSelfTests(t, &vectors{Transcripts: v.Good}, "transcript")
}
