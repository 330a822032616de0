package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
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
	h.handed = append(h.handed, h.receiptUnder(index, signedBy(h.t, h.text(), by...)))
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
	last := open(t)
	ends := last.commitTo(last.cards(sixCards), sixCards)
	last.rotate("second ledger key")
	end := ends.transcript("")
	end.Checkpoint = end.Keys[0].Checkpoint
	add("rotated-last", "the new key's entry is the last one: the key before it signs as well", marshal(t, end))
	add("rotated-last-new-key", "the same, and the new key is pinned", marshal(t, end), pinned(last.key.vkey))
	add("rotated-recipient", "one recipient's file", g.file("seat-1"))
	add("rotated-receipt", "the entry of a new key alone, under the checkpoint that both keys signed", []byte(g.h.handed[0].Text()))
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
	keys := func(step, name, about string, change func([]audit.Handover) []audit.Handover, more ...func(*vector)) {
		b.T.Helper()
		f := g.transcript("")
		f.Keys = change(slices.Clone(f.Keys))
		b.file(step, "rotated-"+name, about, marshal(b.T, f), more...)
	}
	// one changes the first element, whose receipt stands there with the element's checkpoint.
	one := func(step, name, about string, change func(*audit.Receipt), more ...func(*vector)) {
		b.T.Helper()
		keys(step, name, about, func(all []audit.Handover) []audit.Handover {
			r, err := audit.ParseReceipt(all[0].Receipt)
			must(b.T, err)
			r.Checkpoint = []byte(all[0].Checkpoint)
			change(&r)
			head := string(r.Checkpoint)
			r.Checkpoint = nil
			all[0] = audit.Handover{Receipt: r.Text(), Checkpoint: head}
			return all
		}, more...)
	}
	whole := string(g.file(""))
	member := whole[strings.Index(whole, `,"keys":`):strings.Index(whole, `,"cards":`)]

	// format
	b.text(stepFormat, "rotated-empty", "an empty list, where it is to be absent", whole, member, `,"keys":[]`)
	b.text(stepFormat, "rotated-null", "a list that is null", whole, member, `,"keys":null`)
	b.text(stepFormat, "rotated-string", "a text in place of the list", whole, member, `,"keys":"x"`)
	b.text(stepFormat, "rotated-no-object", "an element that is a text", whole, member, `,"keys":["x"]`)
	b.text(stepFormat, "rotated-no-checkpoint", "an element without its checkpoint", whole, `,"checkpoint":"example`,
		`,"other":"example`)
	b.text(stepFormat, "rotated-twice", "the member twice", whole, member, member+member)
	b.text(stepFormat, "rotated-after-cards", "members in another order", whole, whole[strings.Index(whole, member):],
		whole[strings.Index(whole, `,"cards":`):len(whole)-1]+member+"}")
	b.text(unjudged, "rotated-receipt-version", "a receipt of a later version", whole,
		`"keys":[{"receipt":"c2sp.org/tlog-proof@v1`, `"keys":[{"receipt":"c2sp.org/tlog-proof@v2`)
	keys(stepFormat, "own-checkpoint", "a receipt with a checkpoint", func(all []audit.Handover) []audit.Handover {
		all[0].Receipt += all[0].Checkpoint
		return all
	})
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
	added.handed = []audit.Receipt{added.receipt(index)}
	b.file(stepEntries, "rotated-not-a-signing-key", "the entry of an auditor key, the last of its checkpoint",
		addedTo.file(""))
	keys(stepEntries, "not-a-key", "the entry of an instance_start", func(all []audit.Handover) []audit.Handover {
		return append([]audit.Handover{{Receipt: g.h.bare(1), Checkpoint: all[0].Checkpoint}}, all...)
	})
	keys(stepEntries, "descending", "in another order",
		func(all []audit.Handover) []audit.Handover { return []audit.Handover{all[1], all[0]} })
	keys(stepEntries, "one-twice", "the same entry twice",
		func(all []audit.Handover) []audit.Handover { return []audit.Handover{all[0], all[0]} })
	one(stepEntries, "larger-checkpoint", "with a checkpoint that has entries behind it",
		func(r *audit.Receipt) { r.Checkpoint = g.h.head() })
	one(unjudged, "unknown-key-type", "a key of a later type", func(r *audit.Receipt) {
		r.Entry = []byte(strings.Replace(string(r.Entry), string(second.public()),
			string(append([]byte{9}, second.public()[1:]...)), 1))
	})

	// signature
	thief := newKey(b.T, g.h.key.name, "thief")
	keys(stepSignature, "left-out", "no keys: the pinned one does not sign any more",
		func([]audit.Handover) []audit.Handover { return nil })
	keys(stepSignature, "last-left-out", "the last hand-over is missing",
		func(all []audit.Handover) []audit.Handover { return all[:1] })
	keys(stepSignature, "first-left-out", "the chain does not begin at the genesis's key",
		func(all []audit.Handover) []audit.Handover { return all[1:] })
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
		r := g.h.handed[0]
		change(&r)
		b.file(stepSignature, "rotated-receipt-"+name, about, []byte(r.Text()))
	}
	alone("old-only", "the entry of a new key alone, the last of a checkpoint that this key did not sign",
		func(r *audit.Receipt) { r.Checkpoint = signedBy(b.T, checkpointOf(b.T, r), mainKey(b.T)) })
	root, err := tlog.TreeHash(3, g.h.reader())
	must(b.T, err)
	smaller := g.h.handed[0]
	smaller.Checkpoint = signedBy(b.T, audit.Checkpoint{Origin: g.h.key.name, Size: 3, Root: root}.Text(), mainKey(b.T))
	b.file(stepInclusion, "rotated-receipt-smaller", "the entry of a new key alone, under a checkpoint from before it",
		[]byte(smaller.Text()))
	alone("weak-key", "the same with a key of small order", func(r *audit.Receipt) {
		r.Entry = []byte(strings.Replace(string(r.Entry), string(second.public()), string(smallOrder), 1))
	})

	// inclusion
	one(stepInclusion, "another-proof", "a proof of another entry", func(r *audit.Receipt) { r.Proof[0][0] ^= 1 })
	one(stepInclusion, "proof-of-its-checkpoint", "the proof in the checkpoint of which the entry is the last",
		func(r *audit.Receipt) { r.Proof = g.h.handed[0].Proof })
	one(stepInclusion, "another-root", "a root that both signed, of another history", func(r *audit.Receipt) {
		c, err := audit.CheckpointText(r.Checkpoint)
		must(b.T, err)
		c.Root[0] ^= 1
		r.Checkpoint = signedBy(b.T, c.Text(), mainKey(b.T), second)
	})
	short := handedGame(b.T)
	early := short.transcript("")
	short.h.rotate("fourth ledger key")
	early.Keys = short.transcript("").Keys
	b.file(stepInclusion, "rotated-above-the-file", "a key from above the file's checkpoint", marshal(b.T, early))
	rewritten(b)
}

// rewritten are files of a holder of one key, the replaced one or the new one, who writes another history.
func rewritten(b *badAdder) {
	w := newTrio(b.T)
	first, second := mainKey(b.T), newKey(b.T, mainKey(b.T).name, "second ledger key")
	rotated := witnessedGame(b.T, w)
	at := len(rotated.h.entries)
	rotated.h.rotate("second ledger key")

	// The new key alone rewrites what stands in front of its entry.
	other := witnessedGame(b.T, w, func(g *audit.Genesis) { g.DefaultCloseBy++ })
	other.h.cheating().addBytes(rotated.h.entries[at])
	other.h.key, other.h.handed, other.early = second, rotated.h.handed, ""
	b.file(stepInclusion, "rotated-rewritten", "the new key rewrote the history, with its own entry at the same index",
		other.played().file(""), pinned(first.vkey))
	b.file(stepInclusion, "rotated-rewritten-newest-pinned", "the same, and the new key is pinned", other.file(""),
		pinned(second.vkey))

	// Findings: the hand-over of another history.
	spliced := witnessedGame(b.T, w).played()
	file := func(step, name, about string, more ...func(*vector)) {
		f := spliced.transcript("")
		for _, r := range rotated.h.handed {
			f.Keys = append(f.Keys, audit.Handover{Receipt: rotated.h.bare(r.Index), Checkpoint: string(r.Checkpoint)})
		}
		b.file(step, name, about, marshal(b.T, f), append([]func(*vector){w.want2of3()}, more...)...)
	}
	file(stepSignature, "rotated-spliced",
		"the hand-over of another history: its key is replaced there, and signs here")
	spliced.h.key = second
	file(stepInclusion, "rotated-spliced-new-key",
		"the same, signed by the key that the other history brings: one index has two entries")

	// The replaced key forks above its replacement.
	rotated.h.key = first
	forked := rotated.played()
	for name, of := range map[string]func(*vector){"": pinned(first.vkey), "-witnessed": w.want2of3(),
		"-both-pinned": logs(first.vkey, second.vkey)} {
		b.file(stepSignature, "rotated-old-key-signs"+name, "the replaced key signs alone above the entry of the new one",
			forked.file(""), of)
	}
	g, one, two := longGame(b.T)
	g.h.long = []longKey{one}
	for name, of := range map[string]func(*vector){"": pinned(g.h.key.vkey),
		"-pinned": logs(g.h.key.vkey, one.vkey), "-both-pinned": logs(g.h.key.vkey, one.vkey, two.vkey)} {
		b.file(stepSignature, "mldsa-old-key-signs"+name,
			"the replaced key of ML-DSA-44 signs above the entry of the new one, with that of Ed25519", g.file(""), of)
	}
}

// handedFar is a shuffle whose file has as many hand-overs as a file may have, and the key before the first of them.
func handedFar(t testing.TB) (f *openings.Transcript, first keyPair) {
	h := open(t)
	g, first := h.commitTo(h.cards(sixCards), sixCards), h.key
	for i := range maxKeys {
		h.rotate(fmt.Sprintf("ledger key %d", i+2))
	}
	return g.played().transcript(""), first
}

// TestManyHandovers: a file with as many hand-overs as it may have holds under the first key and under the newest, one
// more is malformed, and both implementations say so.
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

// checkpointOf is what the receipt's checkpoint signs.
func checkpointOf(t testing.TB, r *audit.Receipt) string {
	t.Helper()
	c, err := audit.CheckpointText(r.Checkpoint)
	must(t, err)
	return c.Text()
}
