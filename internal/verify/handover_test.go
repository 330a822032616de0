package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// rotate hands the ledger on to a key from a seed, in a checkpoint that both sign.
func (h *house) rotate(seed string) *house {
	h.t.Helper()
	next := newKey(h.t, h.key.name, seed)
	return h.rotateAs(next, h.key, next)
}

// rotateAs hands on in a checkpoint that these keys sign.
func (h *house) rotateAs(next keyPair, by ...keyPair) *house {
	h.t.Helper()
	index := h.add(&audit.Key{Subject: audit.SubjectSigning, Public: next.public()})
	h.handed = append(h.handed, h.receiptUnder(index, signedBy(h.t, h.text(), by...)).Text())
	h.key = next
	return h
}

func signedBy(t testing.TB, text string, keys ...keyPair) []byte {
	t.Helper()
	var signers []note.Signer
	for _, k := range keys {
		signers = append(signers, k.signer(t))
	}
	b, err := note.Sign(&note.Note{Text: text}, signers...)
	must(t, err)
	return b
}

// handedGame is a shuffle that was committed under the first of three keys, dealt
// under the second and closed under the third.
func handedGame(t testing.TB) *game {
	h := open(t)
	g := h.commitTo(h.cards(sixCards), sixCards)
	h.rotate("second ledger key")
	g.deal(seat("seat-1", 2), board(1))
	h.rotate("third ledger key")
	return g.close(audit.OutcomeEndedEarly, 0)
}

func pinned(vkey string) func(*vector) {
	return func(v *vector) { v.Trust = vectorTrust{VKey: vkey} }
}

// smallOrder is the neutral point as an Ed25519 key, type byte first.
var smallOrder = append([]byte{1, 1}, make([]byte, 31)...)

func handedFiles(t testing.TB, add adder) {
	consistent := func(v *vector) {
		v.Trust, v.Want = vectorTrust{}, want{Verdict: Consistent, Level: LevelKeyNotPinned}
	}
	g := handedGame(t)
	file := g.file("")
	add("rotated-first-key", "the genesis's key is pinned, and handed on twice", file)
	add("rotated-second-key", "the second key is pinned", file,
		pinned(newKey(t, g.h.key.name, "second ledger key").vkey))
	add("rotated-newest-key", "the newest key is pinned", file, pinned(g.h.key.vkey))
	add("rotated-nothing-pinned", "nothing is pinned: the key of the genesis, and those that it handed on to", file,
		consistent)
	add("rotated-recipient", "one recipient's file", g.file("seat-1"))
	add("rotated-receipt", "the entry of a new key alone, under the checkpoint that both keys signed", []byte(g.h.handed[0]))
	weak := open(t).cheating()
	index := weak.add(&audit.Key{Subject: audit.SubjectSigning, Public: smallOrder})
	weak.add(&audit.Key{Subject: audit.SubjectSigning, Public: newKey(t, weak.key.name, "second ledger key").public()})
	add("rotated-receipt-weak-key-larger", "the entry of a key of small order alone, under a larger checkpoint",
		[]byte(weak.receipt(index).Text()))

	w := newTrio(t)
	early := witnessedGame(t, w)
	early.h.rotate("second ledger key")
	add("rotated-witnessed", "witnesses saw the commit under the key of before", early.played().file(""), w.want2of3(),
		proves(LevelWitnessed, "a", "c"))
}

func wrongHandovers(b *badAdder) {
	g := handedGame(b.T)
	second := newKey(b.T, g.h.key.name, "second ledger key")
	keys := func(step, name, about string, change func([]string) []string, more ...func(*vector)) {
		b.T.Helper()
		f := g.transcript("")
		f.Keys = change(slices.Clone(f.Keys))
		b.file(step, "rotated-"+name, about, marshal(b.T, f), more...)
	}
	one := func(step, name, about string, change func(*audit.Receipt), more ...func(*vector)) {
		b.T.Helper()
		keys(step, name, about, func(all []string) []string {
			r, err := audit.ParseReceipt(all[0])
			must(b.T, err)
			change(&r)
			all[0] = r.Text()
			return all
		}, more...)
	}
	whole := string(g.file(""))
	member := whole[strings.Index(whole, `,"keys":`):strings.Index(whole, `,"cards":`)]

	// format
	b.text(stepFormat, "rotated-empty", "an empty list, where it is to be absent", whole, member, `,"keys":[]`)
	b.text(stepFormat, "rotated-null", "a list that is null", whole, member, `,"keys":null`)
	b.text(stepFormat, "rotated-string", "a text in place of the list", whole, member, `,"keys":"x"`)
	b.text(stepFormat, "rotated-no-receipt", "an element that is no receipt", whole, member, `,"keys":["x"]`)
	b.text(stepFormat, "rotated-twice", "the member twice", whole, member, member+member)
	b.text(stepFormat, "rotated-after-cards", "members in another order", whole, whole[strings.Index(whole, member):],
		whole[strings.Index(whole, `,"cards":`):len(whole)-1]+member+"}")
	b.text(unjudged, "rotated-receipt-version", "a receipt of a later version", whole,
		`"keys":["c2sp.org/tlog-proof@v1`, `"keys":["c2sp.org/tlog-proof@v2`)
	one(stepFormat, "other-origin", "the checkpoint of another ledger", func(r *audit.Receipt) {
		other := newKey(b.T, "example.com/other", "other key")
		r.Checkpoint = signedBy(b.T, strings.Replace(checkpointOf(b.T, r), g.h.key.name, other.name, 1), other)
	})
	one(stepFormat, "stray-line", "a line between text and signatures", func(r *audit.Receipt) {
		r.Checkpoint = []byte(strings.Replace(string(r.Checkpoint), "\n\n", "\nmore\n\n", 1))
	})

	// entries
	added := open(b.T)
	addedTo := added.commitTo(added.cards(sixCards), sixCards)
	index := added.add(&audit.Key{Subject: audit.SubjectAuditor, Public: hybrid("another auditor")})
	added.handed = []string{added.receipt(index).Text()}
	b.file(stepEntries, "rotated-not-a-signing-key", "the entry of an auditor key, the last of its checkpoint",
		addedTo.file(""))
	keys(stepEntries, "not-a-key", "the entry of an instance_start", func(all []string) []string {
		return append([]string{g.h.receipt(1).Text()}, all...)
	})
	keys(stepEntries, "descending", "in another order", func(all []string) []string { return []string{all[1], all[0]} })
	keys(stepEntries, "one-twice", "the same entry twice",
		func(all []string) []string { return []string{all[0], all[0]} })
	one(stepEntries, "larger-checkpoint", "under a checkpoint with entries behind it",
		func(r *audit.Receipt) { *r = g.h.receipt(r.Index) })
	one(unjudged, "unknown-key-type", "a key of a later type", func(r *audit.Receipt) {
		r.Entry = []byte(strings.Replace(string(r.Entry), string(second.public()),
			string(append([]byte{9}, second.public()[1:]...)), 1))
	})
	short := handedGame(b.T)
	early := short.transcript("")
	late := short.h.rotate("fourth ledger key").handed
	early.Keys = late
	b.file(stepEntries, "rotated-above-the-file", "a key from above the file's checkpoint", marshal(b.T, early))

	// signature
	thief := newKey(b.T, g.h.key.name, "thief")
	keys(stepSignature, "left-out", "no keys: the pinned one does not sign any more",
		func([]string) []string { return nil })
	keys(stepSignature, "last-left-out", "the last hand-over is missing",
		func(all []string) []string { return all[:1] })
	keys(stepSignature, "first-left-out", "the chain does not begin at the genesis's key",
		func(all []string) []string { return all[1:] })
	for _, c := range []struct {
		name, about string
		by          []keyPair
	}{
		{"old-only", "the new key did not sign", []keyPair{mainKey(b.T)}},
		{"new-only", "the old key did not sign", []keyPair{second}},
		{"thief-signs", "a stranger's key in place of the old one", []keyPair{thief, second}},
	} {
		one(stepSignature, c.name, c.about,
			func(r *audit.Receipt) { r.Checkpoint = signedBy(b.T, checkpointOf(b.T, r), c.by...) })
	}
	one(stepSignature, "other-key", "the entry names another key than the one that signed", func(r *audit.Receipt) {
		r.Entry = []byte(strings.Replace(string(r.Entry), string(second.public()), string(thief.public()), 1))
	})
	one(stepSignature, "weak-key", "a key of small order", func(r *audit.Receipt) {
		r.Entry = []byte(strings.Replace(string(r.Entry), string(second.public()), string(smallOrder), 1))
	})
	stolen := open(b.T).cheating() // the first key is in other hands, after it was replaced
	forged := stolen.commitTo(stolen.cards(sixCards), sixCards)
	stolen.rotate("thief")
	b.file(stepSignature, "rotated-to-a-thief",
		"the thief of a key that was replaced hands on to one of theirs, and the newest key is pinned",
		forged.played().file(""), pinned(g.h.key.vkey))
	before := plain(b.T)
	b.file(stepSignature, "rotated-backwards",
		"signed with the key of before, which the pinned newest one does not vouch for", before.file(""),
		pinned(second.vkey))
	w := newTrio(b.T)
	seen := witnessedGame(b.T, w)
	seen.h.rotate("second ledger key")
	b.file(stepSignature, "rotated-witnessed-backwards",
		"what witnesses saw is signed with the key of before, and only the newest is pinned",
		seen.played().file(""), pinned(second.vkey))

	alone := func(name, about string, change func(*audit.Receipt)) {
		r, err := audit.ParseReceipt(g.h.handed[0])
		must(b.T, err)
		change(&r)
		b.file(stepSignature, "rotated-receipt-"+name, about, []byte(r.Text()))
	}
	alone("old-only", "the entry of a new key alone, the last of a checkpoint that this key did not sign",
		func(r *audit.Receipt) { r.Checkpoint = signedBy(b.T, checkpointOf(b.T, r), mainKey(b.T)) })
	alone("weak-key", "the same with a key of small order", func(r *audit.Receipt) {
		r.Entry = []byte(strings.Replace(string(r.Entry), string(second.public()), string(smallOrder), 1))
	})

	// inclusion
	one(stepInclusion, "another-proof", "a proof of another entry", func(r *audit.Receipt) { r.Proof[0][0] ^= 1 })
	one(stepInclusion, "another-root", "a root that both signed, of another history", func(r *audit.Receipt) {
		c, err := audit.CheckpointText(r.Checkpoint)
		must(b.T, err)
		c.Root[0] ^= 1
		r.Checkpoint = signedBy(b.T, c.Text(), mainKey(b.T), second)
	})
}

// handedFar is a shuffle whose file has as many hand-overs as a file may have, and
// the key before the first of them.
func handedFar(t testing.TB) (f *audit.Transcript, first keyPair) {
	h := open(t)
	g, first := h.commitTo(h.cards(sixCards), sixCards), h.key
	for i := range maxKeys {
		h.rotate(fmt.Sprintf("ledger key %d", i+2))
	}
	return g.played().transcript(""), first
}

// TestManyHandovers: a file with as many hand-overs as it may have holds under the
// first key and under the newest, one more is malformed, and both implementations
// say so.
func TestManyHandovers(t *testing.T) {
	t.Parallel()
	f, first := handedFar(t)
	newest := newKey(t, first.name, fmt.Sprintf("ledger key %d", maxKeys+1))
	js := javaScriptIfAny(t)
	judge := func(name string, trust Trust, want want) {
		t.Helper()
		file, got, diff := marshal(t, f), (*Verdict)(nil), ""
		if got = File(file, trust); js != nil {
			got, diff = js.differ(file, trust)
		}
		if d := cmp.Diff(want, found(got)); d != "" || diff != "" {
			t.Errorf("%s, %d bytes (-want +got): %s\n%s%+v", name, len(file), d, diff, got.Steps)
		}
	}
	proved := want{Verdict: Proved, Level: LevelRecorded}
	judge("the first key", Trust{VKey: first.vkey}, proved)
	judge("the newest key", Trust{VKey: newest.vkey}, proved)
	judge("no key", Trust{}, want{Verdict: Consistent, Level: LevelKeyNotPinned})
	last := f.Keys
	f.Keys = f.Keys[:maxKeys-1]
	judge("the last left out", Trust{VKey: first.vkey}, want{Verdict: Failed, Failed: stepSignature})
	f.Keys = append(slices.Clone(last), last[0])
	judge("one more", Trust{VKey: first.vkey}, want{Verdict: Failed, Failed: stepFormat})
}

// BenchmarkManyHandovers judges the file under the first key and under none of its.
func BenchmarkManyHandovers(b *testing.B) {
	f, first := handedFar(b)
	file := marshal(b, f)
	for _, key := range []keyPair{first, newKey(b, first.name, "thief")} {
		b.Run(fmt.Sprint(File(file, Trust{VKey: key.vkey}).Verdict), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				File(file, Trust{VKey: key.vkey})
			}
		})
	}
}

// checkpointOf is what the receipt's checkpoint signs.
func checkpointOf(t testing.TB, r *audit.Receipt) string {
	t.Helper()
	c, err := audit.CheckpointText(r.Checkpoint)
	must(t, err)
	return c.Text()
}
