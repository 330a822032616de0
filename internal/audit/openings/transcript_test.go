package openings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

func sampleTranscript() *Transcript {
	h := spec.NewHouse()
	return &Transcript{Format: TranscriptFormat, ID: 2, Recipient: "seat-1",
		Deck:       []string{"As", "2s", "Jr <&>", "Dame \"é\" \\ 🂭"},
		Checkpoint: h.Signed(3), Receipts: []string{h.Receipt(0, 3, ""), h.Receipt(2, 3, "")},
		Cards: []Card{sampleCard(0, 3, "As"), sampleCard(4095, 4, "")}}
}

// sampleCard is a card of five, by the reference.
func sampleCard(place, position int, name string) Card {
	c := spec.NewCommitted(5)
	card := Card{Place: place, Position: position, Value: c.Values[position], Card: name,
		Salt: spec.Base64(c.Salts[32*position : 32*position+32]), Proof: []string{}}
	for _, h := range spec.Path(position, c.Leaves) {
		card.Proof = append(card.Proof, spec.Base64(h))
	}
	return card
}

// TestNewCard: an opening as JSON is the reference's.
func TestNewCard(t *testing.T) {
	tree := treeOf(spec.NewCommitted(5), 5)
	for p := range 5 {
		if diff := cmp.Diff(sampleCard(7, p, "As"), NewCard(7, tree.Open(p), "As")); diff != "" {
			t.Errorf("position %d (-want +got):\n%s", p, diff)
		}
	}
}

// TestTranscriptAgreesWithReference: any transcript has the reference's form and reads back as it was.
func TestTranscriptAgreesWithReference(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(0, 20, 60)
	card := rapid.Custom(func(t *rapid.T) Card {
		o := Opening{Position: rapid.IntRange(0, 4095).Draw(t, "position"), Value: rapid.Uint32().Draw(t, "value"),
			Salt: [32]byte(spec.GenHash().Draw(t, "salt"))}
		for _, h := range rapid.SliceOfN(spec.GenHash(), 0, 12).Draw(t, "proof") {
			o.Proof = append(o.Proof, tlog.Hash(h))
		}
		c := NewCard(rapid.IntRange(0, 4095).Draw(t, "place"), o, text.Draw(t, "card"))
		back, err := c.Opening()
		if diff := cmp.Diff(o, back, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("the opening is another: %v\n%s", err, diff)
		}
		return c
	})
	prefix := rapid.Custom(func(t *rapid.T) Prefix {
		last := audit.Last{Leaf: tlog.Hash(spec.GenHash().Draw(t, "leaf")), Proof: tlog.RecordProof{}}
		for range rapid.IntRange(0, 3).Draw(t, "hashes") {
			last.Proof = append(last.Proof, tlog.Hash(spec.GenHash().Draw(t, "hash")))
		}
		return Prefix{text.Draw(t, "checkpoint"), last}
	})
	key := rapid.Custom(func(t *rapid.T) audit.Handover {
		return audit.Handover{Receipt: text.Draw(t, "receipt"), Checkpoint: text.Draw(t, "checkpoint")}
	})
	rapid.Check(t, func(t *rapid.T) {
		tr := &Transcript{Format: TranscriptFormat, ID: spec.GenIndex(0).Draw(t, "id"), Recipient: text.Draw(t,
			"recipient"), Deck: rapid.SliceOfN(text, 0, 5).Draw(t, "deck"), Checkpoint: text.Draw(t, "checkpoint"),
			Receipts:   rapid.SliceOfN(text, 0, 5).Draw(t, "receipts"),
			Witnessed:  rapid.Ptr(prefix, true).Draw(t, "witnessed"),
			Keys:       rapid.SliceOfN(key, 0, 3).Draw(t, "keys"),
			Statements: rapid.SliceOfN(text, 0, 3).Draw(t, "statements"),
			Cards:      rapid.SliceOfN(card, 0, 5).Draw(t, "cards")}
		b, err := tr.Marshal()
		if err != nil || string(b) != refTranscript(tr) {
			t.Fatalf("%s, %v, want\n%s", b, err, refTranscript(tr))
		}
		back, err := ParseTranscript(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tr, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("read otherwise (-want +got):\n%s", diff)
		}
	})
}

// TestTranscriptCharacters: every character below U+0300, and some beyond, has the reference's form and no other.
func TestTranscriptCharacters(t *testing.T) {
	t.Parallel()
	tr := sampleTranscript()
	for r := rune(0); r < 0x300; r++ {
		tr.Deck[0] = string(r)
		b := refTranscript(tr)
		if got, err := tr.Marshal(); err != nil || string(got) != b {
			t.Fatalf("%U: %s, %v", r, got, err)
		}
		if _, err := ParseTranscript([]byte(b)); err != nil {
			t.Fatalf("%U: %v", r, err)
		}
		one := refString(string(r))
		for _, other := range []string{fmt.Sprintf(`"\u%04x"`, r), fmt.Sprintf(`"\u%04X"`, r), `"\/"`, `"` + string(r) +
			`"`} {
			if other == one || strings.ContainsRune(`"\`, r) && len(other) < 6 || other == `"\/"` && r != '/' {
				continue
			}
			if _, err := ParseTranscript([]byte(strings.Replace(b, `"deck":[`+one, `"deck":[`+other,
				1))); spec.FaultOf(err) != spec.Malformed {
				t.Errorf("%U as %s: %v", r, other, err)
			}
		}
	}
	for _, s := range []string{"\u2028\u2029", "\ufeff", "🂡", "\U0010ffff", "\ufffd"} {
		tr.Deck[0] = s
		if _, err := ParseTranscript([]byte(refTranscript(tr))); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	tr.Deck[0] = "\xff"
	if b, err := tr.Marshal(); err == nil {
		t.Errorf("a name that is not UTF-8 is written: %q", b)
	}
}

// structure is where a JSON text is not inside a string: the offsets of and behind its tokens.
func structure(b string) (offsets []int) {
	inString := false
	for i := 0; i < len(b); i++ {
		if !inString {
			offsets = append(offsets, i)
		}
		switch {
		case b[i] == '"':
			inString = !inString
		case b[i] == '\\' && inString:
			i++
		}
	}
	return append(offsets, len(b))
}

// TestTranscriptSpaces: no space anywhere outside strings, nor behind the end.
func TestTranscriptSpaces(t *testing.T) {
	b := refTranscript(sampleTranscript())
	if _, err := ParseTranscript([]byte(b)); err != nil {
		t.Fatal(err)
	}
	for _, at := range structure(b) {
		for _, space := range []string{" ", "\n", "\t", "\r", "\x00", "\ufeff", "\u00a0", ","} {
			if _, err := ParseTranscript([]byte(b[:at] + space + b[at:])); spec.FaultOf(err) != spec.Malformed {
				t.Fatalf("%q at %d of %d: %v", space, at, len(b), err)
			}
		}
	}
}

// TestTranscriptDamaged: cut at every byte it is refused, and with any byte
// changed it is refused or says something else.
func TestTranscriptDamaged(t *testing.T) {
	t.Parallel()
	tr := sampleTranscript()
	tr.Receipts = []string{"r0\n", "r1"}
	b := refTranscript(tr)
	for n := range b {
		if _, err := ParseTranscript([]byte(b[:n])); spec.FaultOf(err) != spec.Malformed {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	for i := range b {
		for _, flip := range []byte{1, 4, 0x20, 0x80} {
			damaged := []byte(b)
			damaged[i] ^= flip
			got, err := ParseTranscript(damaged)
			if err == nil && cmp.Equal(got, tr, cmpopts.EquateEmpty()) {
				t.Fatalf("with byte %d as %q it says the same", i, damaged[i])
			}
			if err == nil && refTranscript(got) != string(damaged) {
				t.Fatalf("with byte %d as %q it has another form", i, damaged[i])
			}
		}
	}
}

// TestTranscriptMembers: every member in every other place, twice, in another
// case, missing, null, or alongside an unknown one.
func TestTranscriptMembers(t *testing.T) {
	tr := sampleTranscript()
	card := tr.Cards[0]
	top := []string{`"format":` + refString(tr.Format), `"id":2`, `"recipient":"seat-1"`, `"deck":` +
		refStrings(tr.Deck),
		`"checkpoint":` + refString(tr.Checkpoint),
		`"receipts":` + refStrings(tr.Receipts), `"cards":[` + cardOf(card) + `]`}
	cardMembers := []string{`"place":0`, `"position":3`, fmt.Sprintf(`"value":%d`, card.Value), `"card":"As"`,
		`"salt":` + refString(card.Salt), `"proof":` + refStrings(card.Proof)}
	inCard := func(members []string) string {
		return "{" + strings.Join(append(slices.Clone(top[:6]), `"cards":[{`+strings.Join(members, ",")+`}]`), ",") +
			"}"
	}
	holdMembers(t, top, []int{2, 3}, func(members []string) string { return "{" + strings.Join(members, ",") + "}" })
	holdMembers(t, cardMembers, []int{3}, inCard)
}

func cardOf(c Card) string {
	all := refTranscript(&Transcript{Format: TranscriptFormat, Cards: []Card{c}})
	_, card, _ := strings.Cut(all, `"cards":[`)
	return strings.TrimSuffix(card, "]}")
}

// holdMembers tries the members of one object; those at optional may be absent.
func holdMembers(t *testing.T, members []string, optional []int, whole func([]string) string) {
	t.Helper()
	if _, err := ParseTranscript([]byte(whole(members))); err != nil {
		t.Fatalf("%s: %v", whole(members), err)
	}
	bad := func(what string, changed []string) {
		t.Helper()
		if _, err := ParseTranscript([]byte(whole(changed))); spec.FaultOf(err) != spec.Malformed {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, m := range members {
		name, value, _ := strings.Cut(m, ":")
		for j := range members {
			if j != i {
				bad(fmt.Sprintf("%s moved to %d", name, j),
					slices.Insert(slices.Delete(slices.Clone(members), i, i+1), j, m))
			}
		}
		with := func(s string) []string { c := slices.Clone(members); c[i] = s; return c }
		bad(name+" twice", with(m+","+m))
		bad(name+" twice, the second null", with(m+","+name+":null"))
		bad(name+" in capitals", with(strings.ToUpper(name)+":"+value))
		bad(name+" with a capital", with(`"`+strings.ToUpper(name[1:2])+name[2:]+":"+value))
		bad(name+" with an escape", with(fmt.Sprintf(`"\u%04x%s:%s`, name[1], name[2:], value)))
		bad(name+" null", with(name+":null"))
		bad(name+" true", with(name+":true"))
		bad(name+" an object", with(name+":{}"))
		bad(name+" in a list", with(name+":["+value+"]"))
		bad("an unknown member after "+name, with(m+`,"note":1`))
		bad("an empty member name after "+name, with(m+`,"":1`))
		bad(name+" with a comma more", with(m+","))
		if !slices.Contains(optional, i) {
			bad(name+" missing", slices.Delete(slices.Clone(members), i, i+1))
		} else if _, err := ParseTranscript([]byte(whole(slices.Delete(slices.Clone(members), i, i+1)))); err != nil {
			t.Errorf("%s missing: %v", name, err)
		}
		switch value[0] {
		case '"':
			if slices.Contains(optional, i) {
				bad(name+" empty", with(name+`:""`))
			}
			bad(name+" a number", with(name+":1"))
			bad(name+" in single quotes", with(name+":'"+strings.Trim(value, `"`)+"'"))
			bad(name+" with a lone surrogate", with(name+`:"\ud800"`))
		case '[':
			if slices.Contains(optional, i) {
				bad(name+" empty", with(name+":[]"))
			}
			bad(name+" with null", with(name+":[null]"))
			bad(name+" with a comma at the end", with(name+":"+value[:len(value)-1]+",]"))
		default:
			for _, n := range []string{value + ".0", value + "e0", value + "E0", "0" + value, "+" + value, `"` + value +
				`"`, "-0", "0x1", value + "0e-1",
				"1.5", "NaN", "18446744073709551616", "-9223372036854775809"} {
				bad(name+" as "+n, with(name+":"+n))
			}
		}
	}
}

// TestTranscriptFormats: a later format is unknown whatever its members are; a file without a format is no transcript.
func TestTranscriptFormats(t *testing.T) {
	good := refTranscript(sampleTranscript())
	for _, c := range []struct{ name, text, want string }{
		{"version 2 cut short", `{"format":"shuffled/v2/transcript","id":`, spec.Unknown},
		{"a version of ten digits", `{"format":"shuffled/v1234567890/transcript"`, spec.Unknown},
		{"a version of eleven", `{"format":"shuffled/v12345678901/transcript"`, spec.Malformed},
		{"no version", strings.Replace(good, "/v1/", "/v/", 1), spec.Malformed},
		{"another word", strings.Replace(good, "/v1/transcript", "/v2/transcripts", 1), spec.Malformed},
		{"another format altogether", strings.Replace(good, "shuffled/v1", "shuffler/v2", 1), spec.Malformed},
		{"version 2 behind a space", strings.Replace(good, `{"format":"shuffled/v1`, `{"format": "shuffled/v2`, 1),
			spec.Malformed},
		{"null for a format", `{"format":null,"id":1,"receipts":[],"cards":[]}`, spec.Malformed},
		{"an empty object", `{}`, spec.Malformed},
		{"nothing", ``, spec.Malformed},
		{"deeply nested", strings.Repeat("[", 20_000), spec.Malformed},
	} {
		if tr, err := ParseTranscript([]byte(c.text)); spec.FaultOf(err) != c.want || tr != nil {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestCountParts: commas count outside strings only.
func TestCountParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `[1,2,3]`: 2, `[",",","]`: 1, `["\",",","]`: 1, `["\\",",",1]`: 2, `["\\\",",1]`: 1, `"`: 0, `"\`: 0,
		`\,,`: 2,
	} {
		if got := countParts([]byte(text)); got != want {
			t.Errorf("%s: %d parts, want %d", text, got, want)
		}
	}
}

// TestTranscriptLimit: 32 MiB and a byte more.
func TestTranscriptLimit(t *testing.T) {
	t.Parallel()
	start, end, _ := strings.Cut(refTranscript(&Transcript{Format: TranscriptFormat, ID: 1, Receipts: []string{"RRR"}}),
		"RRR")
	for n, want := range map[int]string{32 << 20: "", 32<<20 + 1: spec.Malformed} {
		b := []byte(start + strings.Repeat("x", n-len(start)-len(end)) + end)
		if _, err := ParseTranscript(b); spec.FaultOf(err) != want || len(b) != n {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestCardOpening: salts and hashes are 32 bytes of padded base64 in one form.
func TestCardOpening(t *testing.T) {
	c := sampleTranscript().Cards[0]
	if _, err := c.Opening(); err != nil {
		t.Fatal(err)
	}
	good := c.Salt
	stray := good[:42] + string(good[42]+1) + "="
	for name, s := range map[string]string{
		"empty": "", "no padding": good[:43], "31 bytes": spec.Base64(make([]byte, 31)),
		"33 bytes": spec.Base64(make([]byte, 33)), "a newline": good[:20] + "\n" + good[20:],
		"a newline at the end": good + "\n", "a carriage return": good[:43] + "\r" + "=", "stray bits": stray,
		"another alphabet": strings.Repeat("-", 43) + "=", "hexadecimal": spec.Hexed(make([]byte, 32)).String(),
		"a space": " " + good[1:], "more padding": good + "=", "padding in the middle": good[:21] + "=" + good[22:],
	} {
		salted, proved := c, c
		salted.Salt = s
		proved.Proof = append(slices.Clone(c.Proof), s)
		for what, c := range map[string]Card{"salt": salted, "proof": proved} {
			if o, err := c.Opening(); spec.FaultOf(err) != spec.Malformed || o.Proof != nil {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
	}
	c.Proof = slices.Repeat([]string{good}, 63)
	if _, err := c.Opening(); err != nil {
		t.Errorf("63 hashes: %v", err)
	}
	c.Proof = append(c.Proof, good)
	if _, err := c.Opening(); spec.FaultOf(err) != spec.Malformed {
		t.Errorf("64 hashes: %v", err)
	}
}

// TestTranscriptErrorsArePrintable: what a damaged file says does not reach a terminal raw.
func TestTranscriptErrorsArePrintable(t *testing.T) {
	for _, text := range []string{"{\"\x1b\":1}", "{\"format\":\"\\u001b[2J\"}",
		"{\"format\":\"shuffled/v1/transcript\",\"\\u0007\":1}"} {
		if _, err := ParseTranscript([]byte(text)); err == nil ||
			strings.ContainsFunc(err.Error(), func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			t.Errorf("%q: %q", text, err)
		}
	}
}

// refStatement is the text of docs/SPEC.md section 8.1, written by hand.
func refStatement(origin string, id uint64, commit, disclosed []byte) string {
	return fmt.Sprintf("shuffled/v1/statement\n%s\n%d\n%s\n%s\norder ok\n", origin, id, spec.Base64(commit),
		spec.Base64(disclosed))
}

// sampleStatement is signed by two auditors.
func sampleStatement() string {
	h := spec.NewHouse()
	text := refStatement(spec.SampleOrigin, 2, h.Leaves[2], h.Leaves[4])
	return spec.Note(text, spec.Sign(text, "lab.example", spec.Signer("lab")), spec.Sign(text, "regulator",
		spec.Signer("regulator")))
}

// TestStatementAgreesWithReference: any statement has the reference's text, is read back
// as it was, and is signed by whom signed it.
func TestStatementAgreesWithReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Statement{Origin: spec.GenOrigin().Draw(t, "origin"),
			ID: spec.GenIndex(1).Draw(t, "id"), Commit: tlog.Hash(spec.GenHash().Draw(t, "commit")),
			Disclosed: tlog.Hash(spec.GenHash().Draw(t, "disclosed"))}
		if want := refStatement(s.Origin, s.ID, s.Commit[:], s.Disclosed[:]); s.Text() != want {
			t.Fatalf("%q, want %q", s.Text(), want)
		}
		name := rapid.StringMatching(`[\x21-\x2a\x2c-\x7e]{1,128}`).Draw(t, "name")
		private, vkey, err := note.GenerateKey(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		key, err := audit.ParseVKey(vkey)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := s.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseStatement(signed)
		if err != nil || got.Statement != s || len(got.By) != 1 ||
			got.By[0] != (audit.Signer{Name: name, ID: key.KeyHash()}) {
			t.Fatalf("%q reads as %+v, %v", signed, got, err)
		}
		if !got.SignedBy(key) {
			t.Fatalf("%q has not the signature of its signer", signed)
		}
		other := s
		other.Commit[0] ^= 1
		signed = []byte(strings.Replace(string(signed), s.Text(), other.Text(), 1))
		if got, err := ParseStatement(signed); err != nil || got.SignedBy(key) {
			t.Fatalf("%q has the signature of another text: %v", signed, err)
		}
	})
}

// TestStatementSigners: what no auditor's key is called signs nothing.
func TestStatementSigners(t *testing.T) {
	for _, name := range []string{"läb", strings.Repeat("a", 129), "a\u007f"} {
		private, _, err := note.GenerateKey(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Statement{Origin: spec.SampleOrigin, ID: 2}).Sign(signer); err == nil {
			t.Errorf("%q signs", name)
		}
	}
}

// FuzzParseStatement: whatever parses has the same text in front of its signatures.
func FuzzParseStatement(f *testing.F) {
	good := sampleStatement()
	spec.Seeds(f, 4, []string{good, strings.Replace(good, "/v1/", "/v2/", 1), strings.Replace(good, "\n2\n", "\n02\n",
		1), strings.Replace(good, "—", "-", 1), spec.NewHouse().Signed(11)})
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStatement([]byte(text))
		if err != nil {
			if f := spec.FaultOf(err); f != spec.Malformed &&
				(f != spec.Unknown || !strings.HasPrefix(text, "shuffled/v")) {
				t.Fatal(err)
			}
			return
		}
		if !strings.HasPrefix(text, s.Text()+"\n— "+s.By[0].Name+" ") || len(s.By) > 64 || len(text) > 16_384 {
			t.Fatalf("%q reads as %+v", text, s)
		}
	})
}
