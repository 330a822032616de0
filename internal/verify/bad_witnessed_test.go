package verify

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// wrongWitnessed are files whose early checkpoint does not hold. That fails even
// where the file would be recorded without it.
func wrongWitnessed(b *badAdder) {
	w := newTrio(b.T)
	begin := func() *game { return witnessedGame(b.T, w) }
	file := func(step, name, about string, g *game, change ...func(*vector)) {
		b.file(step, "witnessed-"+name, about, g.played().file(""), append([]func(*vector){w.want2of3()}, change...)...)
	}
	early := func(step, name, about string, change func(*openings.Prefix)) {
		f := begin().played().transcript("")
		change(f.Witnessed)
		b.file(step, "witnessed-"+name, about, marshal(b.T, f), w.want2of3())
	}
	head := func(step, name, about string, change func(signed string) string) {
		early(step, name, about, func(p *openings.Prefix) { p.Checkpoint = change(p.Checkpoint) })
	}
	text := func(name, about, old, with string) {
		b.text(stepFormat, "witnessed-"+name, about, string(begin().played().file("")), old, with)
	}

	// format
	whole := string(begin().played().file(""))
	member := `,"witnessed":` + whole[strings.Index(whole, `,"witnessed":`)+len(`,"witnessed":`):strings.Index(whole,
		`,"cards":`)]
	text("empty", "an empty member, where it is to be absent", member, `,"witnessed":""`)
	text("null", "a member that is null", member, `,"witnessed":null`)
	text("array", "a member that is an array", member, `,"witnessed":["x"]`)
	text("no-object", "an object without members", member, `,"witnessed":{}`)
	text("no-proof", "no list of hashes, not even an empty one", member,
		member[:strings.Index(member, `,"proof":`)]+"}")
	text("more", "a member that has no place there", member, member[:len(member)-1]+`,"index":4}`)
	text("twice", "the member twice", member, member+member)
	text("after-cards", "members in another order", whole[strings.Index(whole, member):], `,"cards":[]`+member+"}")
	text("crlf", "CRLF in the checkpoint", member, strings.ReplaceAll(member, `\n`, `\r\n`))
	head(stepFormat, "extension", "an extension line in the early checkpoint",
		func(s string) string { return strings.Replace(s, "\n\n", "\nmore\n\n", 1) })
	head(stepFormat, "spare-bits", "stray bits in a signature of the early checkpoint", func(s string) string {
		lines := strings.Split(s, "\n")
		fields := strings.Split(lines[4], " ")
		raw, err := base64.StdEncoding.DecodeString(fields[2])
		must(b.T, err)
		lines[4] = fields[0] + " " + fields[1] + " " + spareBits(raw)
		return strings.Join(lines, "\n")
	})
	head(stepFormat, "one-key-twice", "a witness that signs twice", func(s string) string {
		text, _, _ := strings.Cut(s, "\n\n")
		return s + w.a.cosignAt(text+"\n", witnessTime+1)
	})
	head(stepFormat, "65-signatures", "more signature lines than a checkpoint may have",
		func(s string) string { return string(crowd([]byte(s), 65)) })
	head(stepFormat, "witness-first", "a cosignature in front of the ledger's signature", func(s string) string {
		lines := strings.Split(s, "\n")
		lines[4], lines[5] = lines[5], lines[4]
		return strings.Join(lines, "\n")
	})
	leaf := encode(begin().played().transcript("").Witnessed.Leaf)
	text("leaf-31", "a leaf hash of 31 bytes", leaf, base64.StdEncoding.EncodeToString(seeded("leaf", 31)))
	text("leaf-spare-bits", "stray bits in a leaf hash", leaf, spareBits(seeded("leaf", 32)))
	early(stepFormat, "path-64", "a path of 64 hashes",
		func(p *openings.Prefix) { p.Proof = slices.Repeat(tlog.RecordProof{p.Leaf}, 64) })
	g := begin()
	other := openAs(b.T, newKey(b.T, "example.com/other", "other key"))
	other.witnesses = g.h.witnesses
	g.early = string(other.head())
	file(stepFormat, "of-another-ledger", "an early checkpoint of another ledger that the policy has as well", g,
		trusted1("log "+other.key.vkey+"\n"+w.policy(twoOfThree)))

	// signature
	stranger := newKey(b.T, w.key.name, "a key of the same name")
	resigned := func(s string) string {
		text, sigs, _ := strings.Cut(s, "\n\n")
		_, cosigned, _ := strings.Cut(sigs, "\n")
		return string(signed(b.T, text+"\n", stranger)) + cosigned
	}
	head(stepSignature, "resigned", "signed by another key of the same name", resigned)
	g = begin()
	g.early = resigned(g.early)
	file(stepSignature, "resigned-key-only", "the same, where nobody asks for witnesses", g,
		func(v *vector) { v.Trust = vectorTrust{VKey: w.key.vkey} })
	b.file(stepSignature, "witnessed-resigned-nothing-pinned", "the same, where the genesis brings the key", g.file(""),
		func(v *vector) { v.Trust = vectorTrust{} })
	head(stepSignature, "root", "a root that was not signed", func(s string) string {
		lines := strings.Split(s, "\n")
		lines[2] = encode(hash32("root"))
		return strings.Join(lines, "\n")
	})

	// inclusion
	another := tlog.Hash(hash32("another"))
	early(stepInclusion, "path-other-hash", "another hash in the path",
		func(p *openings.Prefix) { p.Proof[0] = another })
	early(stepInclusion, "path-empty", "no path", func(p *openings.Prefix) { p.Proof = nil })
	early(stepInclusion, "path-longer", "a hash too many",
		func(p *openings.Prefix) { p.Proof = append(p.Proof, another) })
	early(stepInclusion, "path-reversed", "from the root down", func(p *openings.Prefix) { slices.Reverse(p.Proof) })
	early(stepInclusion, "leaf-other", "another leaf", func(p *openings.Prefix) { p.Leaf = another })
	early(stepInclusion, "path-of-early", "leaf and path in the early tree itself",
		func(p *openings.Prefix) { *p = *begin().h.prefix(p.Checkpoint) })
	file2 := func(name, about string, g *game, more ...func(*vector)) {
		b.file(stepInclusion, "witnessed-"+name, about, g.file(""), more...)
	}
	before := open(b.T)
	before.witnesses = begin().h.witnesses
	g = begin().played()
	g.early = string(before.head())
	file2("size-is-id", "a checkpoint that ends in front of the commit", g, w.want2of3())
	later := begin().played()
	later.h.add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: "something behind"})
	g = begin().played()
	g.early = string(later.h.head())
	file2("larger", "a checkpoint of more entries than the file's", g, w.want2of3())

	// A fork: the witnesses saw another tree, in which the commit stands as well.
	forked := func(why string) *game {
		g := begin()
		g.h.cheating().add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: why})
		return g
	}
	fork := forked("in the place of the deal")
	g = begin()
	g.early = string(fork.h.head())
	g.deal(board(1)).deal(board(1))
	file2("fork", "a signed and cosigned checkpoint of another tree, in which the commit stands as well", g, w.want2of3())
	file2("fork-key-only", "the same, where nobody asks for witnesses", g)
	fork.early = string(forked("another reason").h.head())
	file2("fork-one-size", "two signed and cosigned checkpoints of one size with different roots", fork, w.want2of3())
	fork.h.add(&audit.Event{Kind: audit.EventTableOpen, Name: "table-1"}) // now of the file's size
	f := g.transcript("")
	f.Witnessed = fork.h.prefix(g.early)
	b.file(stepInclusion, "witnessed-fork-own-path", "leaf and path of the other tree", marshal(b.T, f), w.want2of3())

	wrongCosignatures(b, w)
}

// wrongCosignatures fail at the quorum of the newest checkpoint.
func wrongCosignatures(b *badAdder, w trio) {
	cosignedFiles(b.T, w, func(name, about string, file []byte, newest bool) {
		if newest {
			b.file(stepWitnesses, name, about, file, w.want2of3())
		}
	})
	g := witnessedGame(b.T, w).played()
	g.h.witnesses = []keyPair{w.b}
	b.file(stepWitnesses, "receipt-cosigned-once", "a receipt alone, one of the two witnesses",
		[]byte(g.h.receipt(g.id).Text()), w.want2of3())
	small := g.h.receiptUnder(g.id, append(g.h.head(),
		smallR(b.T, w.a, fmt.Sprintf("cosignature/v1\ntime %d\n%s", witnessTime, g.h.text()), func(sig []byte) string {
			return w.a.cosignLine(witnessTime, sig)
		})...))
	b.file(stepWitnesses, "receipt-cosigned-small-r", "a cosignature whose R is of small order", []byte(small.Text()),
		w.want2of3())
}

// wrongSignatures are signatures that one implementation takes and another does not, unless both keep to section 7.1.
func wrongSignatures(b *badAdder) {
	h := open(b.T)
	line := func(sig []byte) string {
		text := h.text()
		signed := string(signed(b.T, text, h.key))
		id, err := base64.StdEncoding.DecodeString(strings.Fields(signed[len(text):])[2])
		must(b.T, err)
		return text + "\n— " + h.key.name + " " + base64.StdEncoding.EncodeToString(append(id[:4:4], sig...)) + "\n"
	}
	receipt := func(name, about, checkpoint string) {
		b.file(stepSignature, "receipt-"+name, about, []byte(h.receiptUnder(0, []byte(checkpoint)).Text()))
	}
	receipt("small-r", "a signature whose R is the neutral point, which only the key's owner can make",
		smallR(b.T, h.key, h.text(), line))
	honest, err := base64.StdEncoding.DecodeString(strings.Fields(string(h.head())[len(h.text()):])[2])
	must(b.T, err)
	sig := honest[4:]
	large := slices.Clone(sig)
	copy(large[32:], littleEndian(new(big.Int).Add(scalar(sig[32:]), groupOrder)))
	receipt("large-s", "a signature whose S is not below the group's order", line(large))
	receipt("signature-63", "a signature of 63 bytes", line(sig[:63]))
	receipt("signature-65", "a signature of 65 bytes", line(append(slices.Clone(sig), 0)))
	head := string(crowd(h.head(), 65))
	b.file(stepFormat, "receipt-65-signatures", "more signature lines than a checkpoint may have",
		[]byte(h.receiptUnder(0, []byte(head)).Text()))
}

// groupOrder is that of Ed25519's base point (RFC 8032 section 5.1).
var groupOrder, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

func scalar(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

func littleEndian(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

// smallR returns a line with the signature that an owner of k makes with the nonce 0: R is the neutral point, S = H(R,
// A, message)·a. Go's verification takes it.
func smallR(t testing.TB, k keyPair, message string, line func(sig []byte) string) string {
	t.Helper()
	digest := sha512.Sum512(k.private.Seed())
	digest[0] &= 248
	digest[31] = digest[31]&63 | 64
	r := append([]byte{1}, make([]byte, 31)...)
	hash := sha512.Sum512(slices.Concat(r, k.private[32:], []byte(message)))
	s := new(big.Int).Mul(scalar(hash[:]), scalar(digest[:32]))
	sig := append(r, littleEndian(s.Mod(s, groupOrder))...)
	if v, err := note.NewVerifier(k.vkey); err != nil || !v.Verify([]byte(message), sig) {
		t.Fatalf("the equation does not hold: %v", err)
	}
	return line(sig)
}

// unreadablePolicies are no fault of any file, and no file holds or fails under them.
func unreadablePolicies(b *badAdder) {
	w := newTrio(b.T)
	file := witnessedGame(b.T, w).played().file("")
	v1, _ := w.a.witnessKey()
	id := strings.Split(v1, "+")[1]
	policy := func(name, about, text string) {
		b.file(unjudged, "policy-"+name, about, file, trusted1(text))
	}
	edit := func(name, about, old, with string) {
		text := w.policy(twoOfThree)
		if !strings.Contains(text, old) {
			b.T.Fatalf("%s: no %q", name, old)
		}
		policy(name, about, strings.Replace(text, old, with, 1))
	}
	edit("crlf", "a line that ends in a carriage return", "quorum g\n", "quorum g\r\n")
	edit("comment-control", "a control character in a comment", "quorum", "# a\x07\nquorum")
	edit("comment-behind", "a comment behind a quorum", "quorum g", "quorum g # two of three")
	edit("hash-in-name", "a # inside a name", "c\nquorum", "#c\nquorum")
	policy("not-ascii", "a name beyond ASCII", strings.ReplaceAll(w.policy(twoOfThree), " g", " é"))
	edit("threshold-zero", "a threshold of 0", "g 2 a", "g 0 a")
	edit("threshold-leading-zero", "a threshold with a leading zero", "g 2 a", "g 02 a")
	edit("threshold-above", "a threshold above the number of members", "g 2 a", "g 4 a")
	edit("member-twice", "a member twice", "a b c", "a b b")
	edit("member-below", "a group above its members", "witness a", "group f any c\nwitness a")
	edit("member-unknown", "a member that stands nowhere", "a b c", "a b d")
	edit("name-taken", "two witnesses of one name", "witness b", "witness a")
	edit("name-word", "a name that means something else", "witness b", "witness any")
	edit("quorum-unknown", "a quorum that stands nowhere", "quorum g", "quorum h")
	edit("quorum-twice", "two quorums", "quorum g\n", "quorum g\nquorum g\n")
	edit("quorum-absent", "no quorum", "quorum g\n", "")
	edit("word", "a line that begins with another word", "quorum", "require a\nquorum")
	edit("witness-id", "a witness key with another id", id, "00000000")
	edit("witness-id-capital", "a witness key with its id in capitals", id, strings.ToUpper(id))
	b.file(stepWitnesses, "policy-witness-plain-key", "a witness key of type 0x01, which signs notes and no time: unknown",
		file, trusted1(strings.Replace(w.policy(twoOfThree), v1, w.a.vkey, 1)))
	edit("witness-mldsa-id", "a witness key of ML-DSA-44 with another id", v1,
		w.a.name+"+01020304+"+base64.StdEncoding.EncodeToString(append([]byte{6}, make([]byte, 1312)...)))
	for _, n := range []int{255, 256} {
		k := newKey(b.T, strings.Repeat("w", n), "witness 1")
		short, _ := k.witnessKey()
		unknown, _ := later(k.name)
		if n == 256 {
			edit("witness-name-256", "a witness key whose name has 256 bytes", v1, short)
			edit("witness-name-256-later-type", "one of an unknown type", "group", "witness d "+unknown+"\ngroup")
			continue
		}
		b.file(stepWitnesses, "policy-witness-name-255", "witness keys whose names have 255 bytes: nothing of them is there",
			file, trusted1(strings.Replace(strings.Replace(w.policy("group g all a c\nquorum g\n"), v1, short, 1), "group",
				"witness d "+unknown+"\ngroup", 1)))
	}
	weak, _ := keyPair{w.a.name, "", append(make(ed25519.PrivateKey, 32),
		append([]byte{1}, make([]byte, 31)...)...)}.witnessKey()
	edit("witness-weak", "a witness key of small order", v1, weak)
	alias, _ := keyPair{"witness.example/alias", "", w.a.private}.witnessKey()
	edit("witness-alias", "one witness under two names", strings.Split(w.policy(""), "\n")[2], "witness b "+alias)
	edit("line-too-long", "a line of 8,193 bytes", "quorum", "#"+strings.Repeat("x", 8192)+"\nquorum")
	b.file(unjudged, "policy-unreadable-file-broken",
		"what is trusted cannot be read, and the file is damaged: the trust comes first", []byte("{"),
		trusted1("quorum\n"))
	b.file(unjudged, "policy-unreadable-file-foreign",
		"what is trusted cannot be read, and the file is neither transcript nor receipt", []byte("%PDF-1.7"),
		trusted1("quorum\n"))
}

// twoFaults are files with two things wrong: what comes first decides.
func twoFaults(b *badAdder) {
	edited := func(step, name, about string, first, second func(*openings.Transcript)) {
		b.edited(step, "first-"+name, about, rich(b.T), func(f *openings.Transcript) { first(f); second(f) })
	}
	set := func(i, at int, v byte) func(*openings.Transcript) {
		return func(f *openings.Transcript) {
			reentry(b.T, f, i, func(e []byte) []byte { e[at] = v; return e })
		}
	}
	version := func(i int) func(*openings.Transcript) {
		return func(f *openings.Transcript) { f.Receipts[i] = strings.Replace(f.Receipts[i], "@v1", "@v2", 1) }
	}
	damaged := func(i int) func(*openings.Transcript) {
		return func(f *openings.Transcript) { f.Receipts[i] += "x" }
	}
	edited(unjudged, "receipt-unknown", "a receipt of a later version, and a damaged one behind it", version(atDeal),
		damaged(atClose))
	edited(stepFormat, "receipt-damaged", "a damaged receipt, and one of a later version behind it", damaged(atDeal),
		version(atClose))
	edited(stepFormat, "step-format", "a damaged receipt, and an unknown code in an entry", damaged(atClose),
		set(atCommit, algorithm, 2))
	edited(unjudged, "entry-unknown", "an unknown code in an entry, and a malformed entry behind it",
		set(atMix, inBody+17, 5), set(atClose, inBody+12, 0))
	edited(stepEntries, "entry-malformed", "a malformed entry, and an unknown code behind it", set(atMix, inBody+16, 0),
		set(atClose, inBody+10, 6))
	edited(stepEntries, "field-malformed", "an origin that is none, and an unknown algorithm behind it",
		set(atCommit, inContext+1, 'E'), set(atCommit, algorithm, 2))
	edited(unjudged, "field-unknown", "an unknown algorithm, and a number of cards that none can be behind it",
		set(atCommit, algorithm, 2), set(atCommit, recipe+36, 7))
	edited(stepEntries, "recipe-malformed", "more cards taken than there are, and an unknown source behind it",
		set(atCommit, recipe+36, 7), set(atCommit, planned, 4))
	edited(stepEntries, "reason-malformed", "a reason without void, and an unknown form behind it",
		set(atClose, inBody+11, 1), set(atClose, inBody+12, 3))
	edited(unjudged, "purpose-unknown", "an unknown purpose, and a flag of 2 behind it", set(atDeal, inBody+23, 7),
		set(atDeal, inBody+31, 2))
	edited(unjudged, "unknown-before-signature", "an unknown code, in a file that nobody signed",
		set(atClose, inBody+10, 6), func(f *openings.Transcript) {
			f.Checkpoint = strings.Replace(f.Checkpoint, "\n"+fmt.Sprint(len(rich(b.T).h.entries))+"\n", "\n1000\n", 1)
		})

	receipt := func(i int, change func(*audit.Receipt)) func(*openings.Transcript) {
		return func(f *openings.Transcript) {
			r, err := audit.ParseReceipt(f.Receipts[i])
			must(b.T, err)
			change(&r)
			f.Receipts[i] = r.Text()
		}
	}
	event := func(i int) func(*openings.Transcript) {
		return func(f *openings.Transcript) { f.Receipts[i] = rich(b.T).h.bare(1) }
	}
	elsewhere := receipt(atMix, func(r *audit.Receipt) { r.Checkpoint = rich(b.T).h.head() })
	ofAnother := receipt(atDeal, func(r *audit.Receipt) { r.Entry[inBody+7]++ })
	edited(stepEntries, "event", "an entry that belongs to no shuffle, and one of an unknown type behind it",
		event(atMix), set(atClose, 1, 15))
	edited(unjudged, "event-behind", "an entry of an unknown type, and one that belongs to no shuffle behind it",
		set(atMix, 1, 15), event(atClose))
	edited(stepEntries, "shuffle", "an entry of another shuffle, and one of an unknown type behind it", ofAnother,
		set(atClose, 1, 15))
	edited(stepEntries, "no-mix", "a deal before the mix, and an entry of an unknown type behind it",
		func(f *openings.Transcript) { f.Receipts = slices.Delete(f.Receipts, atMix, atMix+1) }, set(atClose-1, 1, 15))
	edited(stepFormat, "checkpoint", "a second checkpoint, and a receipt of a later version behind it", elsewhere,
		version(atClose))
	edited(unjudged, "checkpoint-behind", "a receipt of a later version, and a second checkpoint behind it", elsewhere,
		version(atCommit))
	for name, change := range map[string]func(*openings.Card){
		"salt":     func(c *openings.Card) { c.Salt = "no salt" },
		"place":    func(c *openings.Card) { c.Place = 4096 },
		"position": func(c *openings.Card) { c.Position = -1 },
		"proof":    func(c *openings.Card) { c.Proof = slices.Repeat([]string{c.Salt}, 13) },
	} {
		edited(stepFormat, "card-"+name,
			"a receipt of a later version, and a card that is none: the JSON comes before the texts in it",
			version(atCommit), func(f *openings.Transcript) { change(&f.Cards[0]) })
	}
	mine := func(text string) string { return strings.ReplaceAll(text, "example.com/main", "example.com/mine") }
	later := func(text string) string { return strings.Replace(text, "@v1", "@v2", 1) }
	twiceRotated := func() *game {
		early := witnessedGame(b.T, newTrio(b.T))
		early.h.rotate("second ledger key").rotate("third ledger key")
		return early.played()
	}
	handed := func(step, name, about string, change func(*openings.Transcript)) {
		b.edited(step, "first-"+name, about, twiceRotated(), change)
	}
	handed(stepFormat, "witnessed-origin",
		"what the witnesses saw is of another origin, and a key's receipt of a later version",
		func(f *openings.Transcript) {
			f.Witnessed.Checkpoint, f.Keys[0].Receipt = mine(f.Witnessed.Checkpoint), later(f.Keys[0].Receipt)
		})
	two := twiceRotated().transcript("")
	two.Keys[0].Receipt = later(two.Keys[0].Receipt)
	b.text(stepFormat, "first-witnessed-leaf", "a leaf that is none, and a key's receipt of a later version",
		string(marshal(b.T, two)), encode(two.Witnessed.Leaf), "x")
	handed(unjudged, "key-version", "a key's receipt of a later version, and its checkpoint of another origin",
		func(f *openings.Transcript) {
			f.Keys[0] = audit.Handover{Receipt: later(f.Keys[0].Receipt), Checkpoint: mine(f.Keys[0].Checkpoint)}
		})
	handed(stepFormat, "key-origin", "a key's checkpoint of another origin, and the next one's receipt of a later version",
		func(f *openings.Transcript) {
			f.Keys[0].Checkpoint, f.Keys[1].Receipt = mine(f.Keys[0].Checkpoint), later(f.Keys[1].Receipt)
		})

	cheatingGeneses(b)

	// A receipt alone: a genesis is entry 0, and no other is.
	h := open(b.T).cheating()
	again := h.addBytes(h.entries[0])
	b.file(stepEntries, "receipt-genesis-again", "a genesis at another index, proved", []byte(h.receipt(again).Text()))
	r := h.receipt(1)
	r.Index = 0
	b.file(stepEntries, "receipt-event-at-0", "another entry at index 0", []byte(r.Text()))
}

// cheatingGeneses begin ledgers with keys that nobody can trust or use. The key
// that is trusted is sound, so that the signature holds.
func cheatingGeneses(b *badAdder) {
	genesis := func(step, name, about string, edit func([]byte) []byte) {
		h := openEdited(b.T, edit)
		b.file(step, "cheat-genesis-"+name, about, h.commitTo(h.cards(sixCards), sixCards).deal(board(1)).file(""))
	}
	replaced := func(old, with []byte) func([]byte) []byte {
		return func(e []byte) []byte {
			if !bytes.Contains(e, old) {
				b.T.Fatalf("no %x in the genesis", old)
			}
			return bytes.Replace(e, old, with, 1)
		}
	}
	// The policy follows the signing key and is empty.
	policy := func(text string) func([]byte) []byte {
		key := b.key.public()
		return replaced(append(slices.Clone(key), 0, 0),
			append(append(slices.Clone(key), byte(len(text)>>8), byte(len(text))), text...))
	}
	genesis(stepLegality, "key-weak", "its signing key is of small order, and another key is trusted",
		replaced(b.key.public(), append([]byte{1, 1}, make([]byte, 31)...)))
	off := hybrid("auditor key")
	off[len(off)-1] ^= 1
	genesis(stepLegality, "auditor-off-curve", "an auditor key whose point is none of the curve",
		replaced(hybrid("auditor key"), off))
	above := hybrid("auditor key")
	above[1], above[2] = 0x01, above[2]&0xf0|0x0d // a coefficient of 3329
	genesis(stepLegality, "auditor-not-canonical", "an auditor key with a number that is not below the field's size",
		replaced(hybrid("auditor key"), above))
	old, err := ecdh.P256().NewPrivateKey(seeded("auditor key", 32))
	must(b.T, err)
	was, point := hybrid("auditor key"), append([]byte{1}, old.PublicKey().Bytes()...)
	size := func(k []byte) []byte { return append([]byte{byte(len(k) >> 8), byte(len(k))}, k...) }
	genesis(stepLegality, "auditor-of-p256", "a production ledger with an auditor key of P-256 alone",
		replaced(size(was), size(point)))
	genesis(stepLegality, "administrator-signs", "an administrator who holds the signing key",
		replaced(adminKey("bob").public(), b.key.public()))
	genesis(stepLegality, "policy-unreadable", "a policy without a quorum", policy("# later\n"))
	w := newTrio(b.T)
	unknown, _ := later(b.key.name)
	genesis(stepLegality, "policy-own-later", "a quorum that needs a witness key of a later type, with the name of its log",
		policy("log "+b.key.vkey+"\nwitness w "+unknown+"\nquorum w\n"))
	genesis(unjudged, "policy-later", "a policy with a witness key of a later type",
		policy("witness a "+w.a.vkey+"\nquorum a\n"))
	b.file(stepLegality, "cheat-genesis-policy-none", "deals that wait for witnesses, and a policy that asks for none",
		func() []byte {
			h := open(b.T).cheating()
			g := honest(h.key)
			g.Deals, g.Policy = audit.DealsCosigned, []byte("quorum none\n")
			e, err := audit.Entry{Time: start + 1000, Actor: audit.Daemon, Body: g}.Encode()
			must(b.T, err)
			h = openEdited(b.T, func([]byte) []byte { return e })
			return h.commitTo(h.cards(sixCards), sixCards).file("")
		}())
	h := open(b.T, cosignedDeals, func(g *audit.Genesis) { g.MixModes = 7 }).cheating()
	ctx := h.cards(sixCards)
	ctx.Plan = []audit.Planned{{Source: audit.SourceCut}}
	b.file(stepLegality, "cheat-mix-not-cosigned", "a mix before a cosigned checkpoint covers the commit",
		func() []byte {
			g := h.commitTo(ctx, sixCards)
			return g.mixAs(&audit.Mix{Shuffle: g.id, Checkpoint: g.id,
				Values: []audit.MixValue{{Source: audit.SourceCut, Cut: 1}}}).file("")
		}())
}

// cosignedFiles makes files with one checkpoint that lacks the quorum: newest says which.
func cosignedFiles(t testing.TB, w trio, emit func(name, about string, file []byte, newest bool)) {
	file := func(name, about string, early, late func(h *house) []byte, play func(*game) *game) {
		g := witnessedGame(t, w)
		g = play(g)
		g.early = string(early(g.h))
		g.deal(board(1))
		f := g.transcript("")
		f.Checkpoint = string(late(g.h))
		emit("witnessed-"+name, about, marshal(t, f), name == "newest-too-few")
	}
	by := func(lines ...func(text string) string) func(*house) []byte {
		return func(h *house) []byte {
			h.witnesses = nil
			head := h.head()
			for _, line := range lines {
				head = append(head, line(h.text())...)
			}
			return head
		}
	}
	at := func(k keyPair, seconds uint64) func(string) string {
		return func(text string) string { return k.cosignAt(text, seconds) }
	}
	undealt := func(g *game) *game { return g }
	dealt := func(g *game) *game { return g.deal(board(1)) }
	file("too-few", "one witness over the early checkpoint, two over the newest", by(w.a.cosign),
		by(w.a.cosign, w.b.cosign), undealt)
	file("nobody", "no witness over the early checkpoint", by(), by(w.a.cosign, w.b.cosign), undealt)
	file("newest-too-few", "two witnesses over the early checkpoint, one over the newest", by(w.a.cosign, w.b.cosign),
		by(w.b.cosign), undealt)
	file("too-late-too-few", "too late, and one witness", by(w.a.cosign), by(w.a.cosign, w.b.cosign), dealt)
	file("time-0", "a cosignature without a time", by(w.a.cosign, at(w.b, 0)), by(w.a.cosign, w.b.cosign), undealt)
	file("time-10000", "a cosignature of the year 10000", by(w.a.cosign, at(w.b, lastSecond+1)),
		by(w.a.cosign, w.b.cosign), undealt)
	file("time-64-bits", "a time of 64 bits, which is not one before 1970", by(w.a.cosign, at(w.b, 1<<63)),
		by(w.a.cosign, w.b.cosign), undealt)
	file("time-changed", "a time that was not signed", by(w.a.cosign, func(text string) string {
		line := w.b.cosign(text)
		_, sig, _ := strings.Cut(strings.TrimPrefix(line, "— "), " ")
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(sig, "\n"))
		must(t, err)
		return w.b.cosignLine(witnessTime-60, raw[12:])
	}), by(w.a.cosign, w.b.cosign), undealt)
	file("cosigned-another", "a cosignature of another checkpoint", by(w.a.cosign, func(text string) string {
		return w.b.cosign(strings.Replace(text, w.key.name, "example.com/other", 1))
	}), by(w.a.cosign, w.b.cosign), undealt)
	file("signed-plainly", "a witness's signature of the note itself, by a key of type 0x01",
		by(w.a.cosign, func(text string) string {
			_, line, _ := strings.Cut(string(signed(t, text, w.b)), "\n\n")
			return line
		}), by(w.a.cosign, w.b.cosign), undealt)

}
