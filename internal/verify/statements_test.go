package verify

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// lab is the key of an auditor.
func lab(t testing.TB, name string) keyPair { return newKey(t, name, "auditor "+name) }

const (
	firstLab  = "lab.example/shuffles"
	secondLab = "regulator.example"
)

// statement is what an honest auditor signs about a game that was closed.
func (g *game) statement() openings.Statement {
	leaf := func(index uint64) tlog.Hash { return tlog.RecordHash(g.h.entries[index]) }
	return openings.Statement{Origin: g.h.key.name, ID: g.id, Commit: leaf(g.id),
		Disclosed: leaf(g.indexes[len(g.indexes)-1])}
}

// state puts a statement of each name into the game's files.
func (g *game) state(names ...string) *game {
	g.h.t.Helper()
	for _, name := range names {
		g.stated = append(g.stated, string(signedBy(g.h.t, g.statement().Text(), lab(g.h.t, name))))
	}
	return g
}

// sealedGame is a shuffle whose tape only auditors have.
func sealedGame(t testing.TB) *game {
	h := open(t)
	ctx := h.cards(sixCards)
	ctx.Disclosure = audit.DisclosureAuditor
	return h.commitTo(ctx, sixCards).deal(seat("seat-1", 2), board(1)).close(audit.OutcomeEndedEarly, 0)
}

// believing trusts the auditors of these names alongside the ledger's key.
func believing(t testing.TB, names ...string) func(*vector) {
	return func(v *vector) {
		for _, name := range names {
			v.Trust.Auditors = append(v.Trust.Auditors, lab(t, name).vkey)
		}
	}
}

func said(all ...Stated) func(*vector) { return func(v *vector) { v.Want.Statements = all } }

func statedFiles(t testing.TB, add adder) {
	file := sealedGame(t).state(firstLab).file("")
	add("stated", "an auditor who is trusted says that the tape, which is sealed, leads to the deck root", file,
		believing(t, firstLab), said(Stated{firstLab, true}))
	add("stated-recipient", "the same in one recipient's file", sealedGame(t).state(firstLab).file("seat-1"),
		believing(t, firstLab), said(Stated{firstLab, true}))
	add("stated-nobody-trusted", "no auditor is trusted: the statement gives nothing", file,
		said(Stated{firstLab, false}))
	add("stated-another-trusted", "another auditor is trusted", file, believing(t, secondLab),
		said(Stated{firstLab, false}))
	add("stated-another-key", "another key of the auditor's name is trusted", file, func(v *vector) {
		v.Trust.Auditors = []string{newKey(t, firstLab, "another key").vkey}
	}, said(Stated{firstLab, false}))
	add("stated-nothing-pinned", "a statement does not vouch for the ledger", file, believing(t, firstLab),
		func(v *vector) {
			v.Trust.VKey, v.Want = "", want{Verdict: Consistent, Level: LevelKeyNotPinned}
		}, said(Stated{firstLab, true}))
	add("stated-by-two", "two auditors, of whom one is trusted", sealedGame(t).state(secondLab, firstLab).file(""),
		believing(t, firstLab), said(Stated{secondLab, false}, Stated{firstLab, true}))
	add("stated-not-at-all", "an auditor is trusted, and the file holds no statement", sealedGame(t).file(""),
		believing(t, firstLab))
	add("stated-public", "about a tape that everybody has", plain(t).state(firstLab).file(""), believing(t, firstLab),
		said(Stated{firstLab, true}))
	_, child := family(t, 2)
	add("stated-child", "about a child, whose order this file alone does not show", child.state(firstLab).file(""),
		believing(t, firstLab), said(Stated{firstLab, true}))

	g := sealedGame(t)
	g.stated = []string{string(signedBy(t, g.statement().Text(), lab(t, firstLab), lab(t, secondLab)))}
	add("stated-two-lines", "one statement with the signatures of two auditors", g.file(""), believing(t, secondLab),
		said(Stated{firstLab, false}, Stated{secondLab, true}))
	g.stated[0] += "— " + firstLab + " " + base64.StdEncoding.EncodeToString(seeded("ML-DSA-44", 2424)) + "\n"
	add("stated-line-of-another-type", "a line of a type that this version does not know is not looked at", g.file(""),
		believing(t, firstLab), said(Stated{firstLab, true}, Stated{secondLab, false}, Stated{firstLab, false}))
	g = sealedGame(t)
	g.stated = []string{string(crowd([]byte(g.state(firstLab).stated[0]), audit.MaxSignatures))}
	all := slices.Repeat([]Stated{{"stranger.example", false}}, audit.MaxSignatures)
	all[0] = Stated{firstLab, true}
	add("stated-64-lines", "as many lines as a statement may have", g.file(""), believing(t, firstLab), said(all...))

	g, all = sealedGame(t), nil
	for i := range openings.MaxStatements {
		name := fmt.Sprint(i) + strings.Repeat("~", 127)
		g.state(name)
		all = append(all, Stated{name, i == 7})
	}
	add("stated-eight", "as many statements as a file may have, of names as long as may be", g.file(""),
		believing(t, all[7].Name), said(all...))
}

func wrongStatements(b *badAdder) {
	trusting := believing(b.T, firstLab)
	file := func(step, name, about string, g *game, notes ...string) {
		b.T.Helper()
		g.stated = notes
		b.file(step, "stated-"+name, about, g.file(""), trusting)
	}
	by := lab(b.T, firstLab)
	whole := string(sealedGame(b.T).state(firstLab).file(""))
	member := whole[strings.Index(whole, `,"statements":`):strings.Index(whole, `,"cards":`)]
	for _, c := range [][3]string{
		{"empty", "an empty list, where it is to be absent", `,"statements":[]`},
		{"null", "a list that is null", `,"statements":null`},
		{"string", "a text in place of the list", `,"statements":"x"`},
		{"member-twice", "the member twice", member + member},
	} {
		b.text(stepFormat, "stated-"+c[0], c[1], whole, member, c[2])
	}
	b.text(stepFormat, "stated-after-cards", "members in another order", whole, whole[strings.Index(whole, member):],
		whole[strings.Index(whole, `,"cards":`):len(whole)-1]+member+"}")

	g := sealedGame(b.T)
	text := g.statement().Text()
	honest := string(signedBy(b.T, text, by))
	line := honest[len(text)+1:]
	form := func(name, about, note string) { b.T.Helper(); file(stepFormat, name, about, g, note) }
	again := func(name, about, old, with string) {
		b.T.Helper()
		if !strings.Contains(text, old) {
			b.T.Fatalf("%s: no %q", name, old)
		}
		form(name, about, string(signedBy(b.T, strings.Replace(text, old, with, 1), by)))
	}
	form("no-note", "an element that is no note", "x")
	form("no-signature", "a text that nobody signed", text+"\n")
	form("cut", "without its last newline", honest[:len(honest)-1])
	form("newline-more", "a newline more", honest+"\n")
	form("twice-signed", "a line twice", honest+line)
	form("65-lines", "more lines than a statement may have", string(crowd([]byte(honest), 65)))
	form("too-long", "more bytes than a statement may have",
		honest+"— a "+base64.StdEncoding.EncodeToString(make([]byte, 12_300))+"\n")
	form("stray-bits", "a signature with stray bits", strings.Replace(honest, strings.Fields(line)[2],
		spareBits(append([]byte("some id "), seeded("signature", 60)...)), 1))
	form("name-beyond-ascii", "an auditor's name that is not of its grammar",
		strings.Replace(honest, "— lab", "— läb", 1))
	form("name-of-129", "an auditor's name of 129 bytes",
		strings.Replace(honest, "— lab", "— lab"+strings.Repeat("b", 109), 1))
	again("version-0", "no version", "v1", "v0")
	again("another-text", "a text that is no statement", "statement", "sentence")
	again("another-finding", "a finding that version 1 does not have", "order ok", "order bad")
	again("line-missing", "a line missing", "order ok\n", "")
	again("line-more", "a line more", "order ok\n", "order ok\nmore\n")
	again("origin-grammar", "an origin that is none", "example.com/main", "Example.com/main")
	again("id-zero", "no id", fmt.Sprintf("\n%d\n", g.id), "\n0\n")
	again("id-leading-zero", "an id with a leading zero", fmt.Sprintf("\n%d\n", g.id), fmt.Sprintf("\n0%d\n", g.id))
	again("id-too-large", "an id of 2^53", fmt.Sprintf("\n%d\n", g.id), "\n9007199254740992\n")
	hash := strings.Split(text, "\n")[3]
	again("hash-short", "a hash of 31 bytes", hash, base64.StdEncoding.EncodeToString(make([]byte, 31)))
	again("hash-hex", "a hash in hexadecimal", hash, strings.Repeat("00", 32))
	again("hash-stray-bits", "a hash with stray bits", hash, spareBits(seeded("a hash", 32)))
	file(stepFormat, "one-key-twice", "two statements of one key", sealedGame(b.T), honest, honest)
	file(stepFormat, "nine", "more statements than a file may have", sealedGame(b.T),
		slices.Repeat([]string{honest}, 9)...)
	file(unjudged, "version-2", "a statement of a later version", sealedGame(b.T),
		strings.Replace(honest, "/v1/", "/v2/", 1))
	file(unjudged, "version-2-other", "a later version may have another form", sealedGame(b.T),
		"shuffled/v9999999999/statement\n{}")
	file(stepFormat, "version-2-long", "a later version that is longer than this one's may be", sealedGame(b.T),
		"shuffled/v2/statement\n"+strings.Repeat("x", 16_384))

	otherStatements(b, file, by)
	for name, vkeys := range map[string][]string{"no-key": {"x"}, "weak": {neutralKey(b.T, firstLab)},
		"witness": {witnessOf(by)}, "65": slices.Repeat([]string{by.vkey}, 65),
		"name": {newKey(b.T, "läb.example", "auditor").vkey}} {
		b.file(unjudged, "trust-unreadable-auditor-"+name, "what is trusted is no key of an auditor", []byte(whole),
			func(v *vector) { v.Trust.Auditors = vkeys })
	}
}

func witnessOf(k keyPair) string { vkey, _ := k.witnessKey(); return vkey }

// neutralKey is a verifier key of the neutral point.
func neutralKey(t testing.TB, name string) string {
	t.Helper()
	vkey, err := note.NewEd25519VerifierKey(name, append([]byte{1}, make([]byte, 31)...))
	must(t, err)
	return vkey
}

// otherStatements are in good form, and not about this file or not the auditor's.
func otherStatements(b *badAdder, file func(step, name, about string, g *game, notes ...string), by keyPair) {
	wrong := func(name, about string, change func(*openings.Statement)) {
		b.T.Helper()
		g := sealedGame(b.T)
		s := g.statement()
		change(&s)
		file(stepStatements, name, about, g, string(signedBy(b.T, s.Text(), by)))
	}
	wrong("other-origin", "about another ledger", func(s *openings.Statement) { s.Origin = "example.com/other" })
	wrong("other-id", "about another shuffle", func(s *openings.Statement) { s.ID++ })
	wrong("other-commit", "about another commit", func(s *openings.Statement) { s.Commit[0] ^= 1 })
	wrong("other-tape", "about another tape", func(s *openings.Statement) { s.Disclosed[31] ^= 1 })
	wrong("exchanged", "with the hashes exchanged", func(s *openings.Statement) {
		s.Commit, s.Disclosed = s.Disclosed, s.Commit
	})
	g := sealedGame(b.T)
	deal := g.statement()
	deal.Disclosed = tlog.RecordHash(g.h.entries[g.indexes[1]])
	file(stepStatements, "of-the-deal", "with the hash of an entry that holds no tape", g,
		string(signedBy(b.T, deal.Text(), by)))

	h := open(b.T)
	g = h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
	file(stepStatements, "open", "about a shuffle that is open", g, string(signedBy(b.T, g.statement().Text(), by)))
	g = sealedGame(b.T)
	other := g.statement()
	other.ID++
	file(stepStatements, "stranger-about-another", "of an auditor who is not trusted, and about another shuffle", g,
		string(signedBy(b.T, other.Text(), lab(b.T, secondLab))))
	text := g.statement().Text()
	forged := func(signer keyPair, over string) string {
		sig := strings.Fields(string(signedBy(b.T, over, signer))[len(over):])[2]
		raw, err := base64.StdEncoding.DecodeString(sig)
		must(b.T, err)
		id, err := base64.StdEncoding.DecodeString(strings.Fields(string(signedBy(b.T, text, by))[len(text):])[2])
		must(b.T, err)
		return text + "\n— " + by.name + " " + base64.StdEncoding.EncodeToString(append(id[:4:4], raw[4:]...)) + "\n"
	}
	file(stepStatements, "forged", "under the name and id of an auditor who is trusted, by another key", g,
		forged(lab(b.T, secondLab), text))
	file(stepStatements, "other-text", "with the auditor's signature of another text", g, forged(by, other.Text()))
	file(stepStatements, "small-r", "a signature whose R is the neutral point", g,
		smallR(b.T, by, text, func(sig []byte) string {
			return strings.Replace(forged(by, text), strings.Fields(forged(by, text)[len(text):])[2],
				base64.StdEncoding.EncodeToString(append(idOf(b.T, forged(by, text)[len(text):]), sig...)), 1)
		}))
}

// idOf returns the key id of a signature line.
func idOf(t testing.TB, line string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.Fields(line)[2])
	must(t, err)
	return raw[:4:4]
}

// TestEveryByteOfStatement changes every byte of a statement. No change leaves the
// auditor's word: the file fails, or nothing is stated by whom the reader trusts.
func TestEveryByteOfStatement(t *testing.T) {
	t.Parallel()
	g := sealedGame(t).state(firstLab)
	trust := Trust{VKey: g.h.key.vkey, Auditors: []string{lab(t, firstLab).vkey}}
	file := g.file("")
	if v := File(file, trust); v.Verdict != Proved || !slices.Contains(v.Statements, Stated{firstLab, true}) {
		t.Fatalf("the honest file: %+v", v)
	}
	from, to := bytes.Index(file, []byte(`,"statements"`)), bytes.Index(file, []byte(`,"cards"`))
	for i := from; i < to; i++ {
		for _, with := range []byte{file[i] ^ 0x01, file[i] ^ 0x20, file[i] + 1 | 0x80} {
			changed := bytes.Clone(file)
			changed[i] = with
			v := File(changed, trust)
			if v.Verdict == Proved && slices.ContainsFunc(v.Statements, func(s Stated) bool { return s.Trusted }) {
				t.Errorf("byte %d changed from %q to %q: %+v", i, file[i], with, v.Statements)
			}
		}
	}
}
