package verify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"filippo.io/mldsa"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// longKey is an ML-DSA-44 key of a ledger or witness, from a fixed seed.
type longKey struct {
	name, vkey string
	private    *mldsa.PrivateKey
}

func newLongKey(t testing.TB, name, seed string) longKey {
	t.Helper()
	private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seeded(seed, 32))
	must(t, err)
	k := longKey{name: name, private: private}
	k.vkey = fmt.Sprintf("%s+%x+%s", name, k.id(), base64.StdEncoding.EncodeToString(k.public()))
	return k
}

// public returns the key as entries carry it.
func (k longKey) public() []byte { return append([]byte{0x06}, k.private.PublicKey().Bytes()...) }

func (k longKey) id() []byte {
	h := sha256.Sum256(append([]byte(k.name+"\n"), k.public()...))
	return h[:4]
}

// line signs a checkpoint by the text of C2SP tlog-cosignature.
func (k longKey) line(t testing.TB, text string, seconds uint64) string {
	t.Helper()
	c, err := audit.ParseCheckpoint(text)
	must(t, err)
	m := append([]byte("subtree/v1\n\x00"), byte(len(k.name)))
	m = binary.BigEndian.AppendUint64(append(m, k.name...), seconds)
	m = append(append(m, byte(len(c.Origin))), c.Origin...)
	m = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(m, 0), c.Size)
	sig, err := k.private.SignDeterministic(append(m, c.Root[:]...), nil)
	must(t, err)
	b := append(binary.BigEndian.AppendUint64(k.id(), seconds), sig...)
	return fmt.Sprintf("— %s %s\n", k.name, base64.StdEncoding.EncodeToString(b))
}

// add brings the key into the ledger: its entry's checkpoint has these lines of ML-DSA-44.
func (k longKey) add(h *house, by ...longKey) {
	h.t.Helper()
	index := h.add(&audit.Key{Subject: audit.SubjectSigning, Public: k.public()})
	head := signedBy(h.t, h.text(), h.key)
	for _, b := range by {
		head = append(head, b.line(h.t, h.text(), 0)...)
	}
	h.handed = append(h.handed, h.receiptUnder(index, head))
	h.long = []longKey{k}
}

// longGame is a shuffle that was committed under the Ed25519 key alone, dealt when the
// first of two keys of ML-DSA-44 signed as well, and closed under the second.
func longGame(t testing.TB, change ...func(h *house)) (g *game, first, second longKey) {
	h := open(t)
	for _, f := range change {
		f(h)
	}
	first, second = newLongKey(t, h.key.name, "first long key"), newLongKey(t, h.key.name, "second long key")
	g = h.commitTo(h.cards(sixCards), sixCards)
	first.add(h, first)
	g.deal(seat("seat-1", 2), board(1))
	second.add(h, first, second)
	return g.close(audit.OutcomeEndedEarly, 0), first, second
}

// logs is a policy that pins keys and asks nobody.
func logs(vkeys ...string) func(*vector) {
	text := ""
	for _, v := range vkeys {
		text += "log " + v + "\n"
	}
	return trusted1(text + "quorum none\n")
}

// longRotated is longGame, after which the Ed25519 key was replaced.
func longRotated(t testing.TB) (g *game, second longKey) {
	g, _, second = longGame(t)
	third := newKey(t, g.h.key.name, "another ledger key")
	index := g.h.add(&audit.Key{Subject: audit.SubjectSigning, Public: third.public()})
	head := append(signedBy(t, g.h.text(), g.h.key, third), second.line(t, g.h.text(), 0)...)
	g.h.handed = append(g.h.handed, g.h.receiptUnder(index, head))
	g.h.key = third
	return g, second
}

// longTrio is trio, of which a has a key of each algorithm and c one of ML-DSA-44.
type longTrio struct {
	trio
	am, cm longKey
}

func newLongTrio(t testing.TB) longTrio {
	w := newTrio(t)
	return longTrio{w, newLongKey(t, w.a.name, "w1 long"), newLongKey(t, w.c.name, "w3 long")}
}

func (w longTrio) policy(rule string) string {
	a, _ := w.a.witnessKey()
	b, _ := w.b.witnessKey()
	return fmt.Sprintf("log %s\nwitness a %s\nwitness am %s\nwitness b %s\nwitness cm %s\n%s", w.key.vkey, a, w.am.vkey, b,
		w.cm.vkey, rule)
}

const twoOfLong = "group g 2 a am b cm\nquorum g\n"

// long is witnessedGame, cosigned by these keys of ML-DSA-44 alone.
func (w longTrio) long(t testing.TB, by ...longKey) *game {
	h := open(t)
	h.cosigners = by
	g := h.commitTo(h.cards(sixCards), sixCards)
	h.add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: "something between"})
	return g.witness().played()
}

// later is a witness key of a type that this version does not know, and a line of it.
func later(name string) (vkey, line string) {
	return name + "+01020304+" + base64.StdEncoding.EncodeToString([]byte{7, 8, 9}),
		"— " + name + " " + base64.StdEncoding.EncodeToString([]byte{1, 2, 3, 4, 5, 6}) + "\n"
}

// withLine adds a signature line to the file's checkpoints.
func withLine(t testing.TB, f *openings.Transcript, line string) *openings.Transcript {
	t.Helper()
	f.Checkpoint += line
	if f.Witnessed != nil {
		f.Witnessed.Checkpoint += line
	}
	return f
}

func longFiles(t testing.TB, add adder) {
	g, _, second := longGame(t)
	file := g.file("")
	add("mldsa-ed25519-pinned", "the Ed25519 key is pinned: the file shows the keys of ML-DSA-44, which sign, too", file)
	add("mldsa-pinned", "the key of ML-DSA-44 is pinned alone", file, pinned(second.vkey))
	add("mldsa-both-pinned", "keys of both algorithms are pinned", file, logs(g.h.key.vkey, second.vkey))
	add("mldsa-nothing-pinned", "nothing is pinned", file, func(v *vector) {
		v.Trust, v.Want = vectorTrust{}, want{Verdict: Consistent, Level: LevelKeyNotPinned}
	})
	add("mldsa-receipt", "a receipt alone, both keys pinned", []byte(g.h.receipt(g.id).Text()),
		logs(g.h.key.vkey, second.vkey))
	own := g.h.handed[0]
	add("mldsa-receipt-own-entry", "the entry of a key of ML-DSA-44 alone, under the checkpoint that the key signed first",
		[]byte(own.Text()))
	add("mldsa-receipt-own-entry-replaced", "the same under a checkpoint that the key after it signed, and Ed25519 is pinned",
		[]byte(g.h.receipt(own.Index).Text()))
	rotated, _ := longRotated(t)
	add("mldsa-ed25519-rotated", "the Ed25519 key is replaced, and that of ML-DSA-44 stays", rotated.file(""),
		logs(g.h.key.vkey))
	other := newLongKey(t, "other.example/ledger", "first long key").vkey
	add("mldsa-other-log", "a key of ML-DSA-44 of another ledger is pinned, too", handedGame(t).file(""),
		logs(handedGame(t).h.key.vkey, other))

	w := newLongTrio(t)
	policy := trusted1(w.policy(twoOfLong))
	add("mldsa-witnessed", "two witnesses cosigned with ML-DSA-44 alone", w.long(t, w.am, w.cm).file(""), policy,
		proves(LevelWitnessed, "am", "cm"))
	both := w.long(t, w.am, w.cm)
	both.h.witnesses = []keyPair{w.a}
	add("mldsa-witnessed-twice", "one of them with both its keys on the newest checkpoint", both.file(""), policy,
		proves(LevelWitnessed, "am", "cm"))
	slow := open(t)
	slow.witnesses, slow.cosigners = []keyPair{w.b}, []longKey{w.cm}
	seen := slow.commitTo(slow.cards(sixCards), sixCards).witness()
	slow.witnesses, slow.cosigners = []keyPair{w.a, w.b}, []longKey{w.am, w.cm}
	add("mldsa-late-twice", "a witness cosigned the newest checkpoint alone, with both its keys", seen.played().file(""),
		policy, proves(LevelWitnessed, "b", "cm"))
	early := witnessedGame(t, w.trio)
	first2 := newLongKey(t, early.h.key.name, "first long key")
	first2.add(early.h, first2)
	add("mldsa-witnessed-before", "witnesses saw the commit before there was a key of ML-DSA-44",
		early.played().file(""), w.want2of3(), proves(LevelWitnessed, "a", "c"))

	add("mldsa-witnessed-before-pinned", "the same, and keys of both algorithms are pinned", early.file(""),
		trusted1("log "+first2.vkey+"\n"+w.trio.policy(twoOfThree)), proves(LevelWitnessed, "a", "c"))
	order := open(t)
	dealt := order.commitTo(order.cards(sixCards), sixCards)
	order.rotate("second ledger key")
	oldest, at := g.h.key.vkey, newLongKey(t, order.key.name, "first long key")
	at.add(order, at)
	add("mldsa-after-rotation", "pinned are the first Ed25519 key and one of ML-DSA-44 that came when the former was replaced",
		dealt.deal(seat("seat-1", 2), board(1)).file(""), logs(oldest, at.vkey))

	vkey, line := later("witness.example/9")
	plain := witnessedGame(t, w.trio).played()
	with := func(rule string) func(*vector) { return trusted1(w.trio.policy("witness d " + vkey + "\n" + rule)) }
	add("later-type-not-needed", "a witness key of an unknown type, and a quorum without it",
		marshal(t, withLine(t, plain.transcript(""), line)), with("group g 2 a b c d\nquorum g\n"),
		proves(LevelRecorded))
	add("later-type-not-asked", "a witness key of an unknown type that the quorum does not ask", plain.file(""),
		with(twoOfThree), proves(LevelWitnessed, "a", "c"))
}

func wrongLongFiles(b *badAdder) {
	g, first, second := longGame(b.T)
	own := g.h.key.vkey
	strip := func(by longKey) func(*openings.Transcript) {
		return func(f *openings.Transcript) {
			f.Checkpoint = strings.Replace(f.Checkpoint, by.line(b.T, g.h.text(), 0), "", 1)
		}
	}
	file := func(step, name, about string, change func(*openings.Transcript), more ...func(*vector)) {
		f := g.transcript("")
		f.Keys = slices.Clone(f.Keys)
		change(f)
		b.file(step, "mldsa-"+name, about, marshal(b.T, f), more...)
	}
	file(stepSignature, "stripped", "the line of ML-DSA-44 is left out, and the Ed25519 key is pinned", strip(second))
	file(stepSignature, "stripped-both", "the same with both keys pinned", strip(second), logs(own, second.vkey))
	file(stepSignature, "stripped-nothing-pinned", "the same with nothing pinned", strip(second),
		func(v *vector) { v.Trust = vectorTrust{} })
	file(stepSignature, "stripped-no-keys", "and the member keys as well, both keys pinned", func(f *openings.Transcript) {
		strip(second)(f)
		f.Keys = nil
	}, logs(own, second.vkey))
	file(stepSignature, "older-signs", "the key before signs in place of the newest", func(f *openings.Transcript) {
		f.Checkpoint = strings.Replace(f.Checkpoint, second.line(b.T, g.h.text(), 0), first.line(b.T, g.h.text(), 0), 1)
	}, pinned(second.vkey))
	file(stepSignature, "damaged", "a bit of the signature", func(f *openings.Transcript) {
		line := second.line(b.T, g.h.text(), 0)
		f.Checkpoint = strings.Replace(f.Checkpoint, line, flip(line, 1000), 1)
	})
	file(stepSignature, "time", "another time than the one that was signed", func(f *openings.Transcript) {
		line := second.line(b.T, g.h.text(), 0)
		f.Checkpoint = strings.Replace(f.Checkpoint, line, flip(line, len("— "+second.name+" ")+14), 1)
	})
	file(stepSignature, "other-pinned", "another key of ML-DSA-44 is pinned", func(*openings.Transcript) {},
		logs(own, newLongKey(b.T, g.h.key.name, "foreign long key").vkey))
	alone := func(name, about string, r audit.Receipt, by longKey, more ...func(*vector)) {
		r.Checkpoint = []byte(strings.Replace(string(r.Checkpoint), by.line(b.T, checkpointOf(b.T, &r), 0), "", 1))
		b.file(stepSignature, "mldsa-receipt-"+name, about, []byte(r.Text()), more...)
	}
	alone("own-entry-stripped", "the entry of a key of ML-DSA-44 alone, the last of a checkpoint that Ed25519 alone signed",
		g.h.handed[0], first)
	alone("own-entry-other-signs", "the same, and the key of ML-DSA-44 before is pinned and signed", g.h.handed[1], second,
		logs(own, first.vkey))
	alone("own-entry-pinned", "the key is pinned, and signed no checkpoint above its entry", g.h.receipt(g.indexes[0]),
		second, logs(own, second.vkey))
	rotated, still := longRotated(b.T)
	bare := rotated.transcript("")
	bare.Checkpoint = strings.Replace(bare.Checkpoint, still.line(b.T, rotated.h.text(), 0), "", 1)
	b.file(stepSignature, "mldsa-stripped-other-log",
		"the line of ML-DSA-44 is left out, and the newest Ed25519 key and one of ML-DSA-44 of another ledger are pinned",
		marshal(b.T, bare), logs(rotated.h.key.vkey, newLongKey(b.T, "other.example/ledger", "foreign long key").vkey))
	plain := handedGame(b.T)
	b.file(stepSignature, "mldsa-absent", "both keys are pinned, and the file is from before", plain.file(""),
		logs(own, second.vkey))
	b.file(stepSignature, "mldsa-absent-alone", "the key of ML-DSA-44 is pinned, and the file is from before",
		plain.file(""), pinned(second.vkey))

	handed := func(name, about string, at int, by ...longKey) {
		h := open(b.T)
		g := h.commitTo(h.cards(sixCards), sixCards)
		heads := [][]longKey{{first}, {first, second}}
		heads[at] = by
		first.add(h, heads[0]...)
		second.add(h, heads[1]...)
		b.file(stepSignature, "mldsa-"+name, about, g.deal(board(1)).file(""))
	}
	handed("handed-without-new", "a first key of ML-DSA-44 that did not sign its entry's checkpoint", 0)
	handed("handed-without-old", "a second one, without the signature of the first", 1, second)
	handed("handed-without-second", "a second one that did not sign", 1, first)

	// Who has the Ed25519 key alone hands on to keys of their own below the trusted one of ML-DSA-44.
	below := func(name string, hand func(h *house), by ...longKey) {
		h := open(b.T)
		g := h.commitTo(h.cards(sixCards), sixCards)
		hand(h)
		second.add(h, append(slices.Clone(by), second)...)
		h.long = by
		b.file(stepSignature, "mldsa-below-"+name, "keys of both algorithms are pinned, another stands below, and signs alone",
			g.deal(board(1)).file(""), logs(own, second.vkey))
	}
	thief := newLongKey(b.T, g.h.key.name, "long key of a thief")
	below("long", func(h *house) { thief.add(h, thief) }, thief)
	below("ed25519", func(h *house) { h.rotate("ledger key of a thief") })
	above := witnessedGame(b.T, newTrio(b.T))
	second.add(above.h, second)
	unlined := above.witness().played().transcript("")
	unlined.Witnessed.Checkpoint = strings.Join(slices.DeleteFunc(strings.SplitAfter(unlined.Witnessed.Checkpoint, "\n"),
		func(line string) bool { return len(line) > 3000 }), "")
	b.file(stepSignature, "mldsa-witnessed-above", "both keys are pinned, and the checkpoint of witnessed above the entry lacks one",
		marshal(b.T, unlined), trusted1("log "+second.vkey+"\n"+newTrio(b.T).policy(twoOfThree)))

	short := open(b.T)
	entry := short.commitTo(short.cards(sixCards), sixCards)
	first.add(short, first)
	f := entry.deal(board(1)).transcript("")
	r, err := audit.ParseReceipt(f.Keys[0].Receipt)
	must(b.T, err)
	at := strings.Index(string(r.Entry), string(first.public()))
	cut := slices.Concat(r.Entry[:at-2], binary.BigEndian.AppendUint16(nil, 1312), r.Entry[at:len(r.Entry)-1])
	r.Entry = cut
	f.Keys[0].Receipt = r.Text()
	b.file(stepEntries, "mldsa-short-key", "a key of ML-DSA-44 of 1,311 bytes", marshal(b.T, f))

	w := newLongTrio(b.T)
	policy := trusted1(w.policy(twoOfLong))
	one := w.long(b.T, w.am)
	one.h.witnesses = []keyPair{w.a}
	b.file(stepWitnesses, "mldsa-one-witness", "two keys of one witness are one witness", one.file(""), policy)
	timed := w.long(b.T, w.am)
	none := timed.transcript("")
	none.Checkpoint += w.cm.line(b.T, timed.h.text(), 0)
	none.Witnessed = nil
	b.file(stepWitnesses, "mldsa-cosigned-at-0", "a cosignature of time 0 counts for nothing", marshal(b.T, none), policy)
	bent := w.long(b.T, w.am, w.cm).transcript("")
	bent.Checkpoint = flip(bent.Checkpoint, len(bent.Checkpoint)-100)
	b.file(stepWitnesses, "mldsa-cosignature-damaged", "a bit of a cosignature", marshal(b.T, bent), policy)

	vkey, line := later("witness.example/9")
	game := witnessedGame(b.T, w.trio)
	game.h.witnesses = []keyPair{w.a}
	game.played()
	needs := trusted1(w.trio.policy("witness d " + vkey + "\ngroup g 2 a b c d\nquorum g\n"))
	b.file(unjudged, "later-type-decides", "a line of an unknown type would complete the quorum",
		marshal(b.T, withLine(b.T, game.transcript(""), line)), needs)
	b.file(stepWitnesses, "later-type-absent", "there is no line of it", game.file(""), needs)
	b.file(stepWitnesses, "later-type-not-enough", "a line of an unknown type, and too few others",
		marshal(b.T, withLine(b.T, game.transcript(""), line)),
		trusted1(w.trio.policy("witness d "+vkey+"\ngroup g 3 a b c d\nquorum g\n")))
	b.file(unjudged, "policy-later-type-needed", "a quorum that needs a witness key of an unknown type", game.file(""),
		trusted1(w.trio.policy("witness d "+vkey+"\ngroup g all a d\nquorum g\n")))
}

// TestAlgorithms: the verdict names those whose signatures were checked.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]string{"mldsa-ed25519-pinned": "Ed25519 and ML-DSA-44",
		"mldsa-both-pinned":                "Ed25519 and ML-DSA-44",
		"mldsa-receipt-own-entry":          "Ed25519 and ML-DSA-44",
		"mldsa-receipt-own-entry-replaced": "Ed25519 alone", "mldsa-pinned": "ML-DSA-44 alone",
		"rotated-first-key": "Ed25519 alone", "mldsa-other-log": "Ed25519 alone"} {
		all := load(t, "good")
		v := all[slices.IndexFunc(all, func(v vector) bool { return v.Name == name })]
		steps := File(v.bytes(), v.trust()).Steps
		s := steps[slices.IndexFunc(steps, func(s Step) bool { return s.Name == stepSignature })]
		if !strings.HasSuffix(s.Detail, ", with "+with) {
			t.Errorf("%s: %q, with %s is wanted", name, s.Detail, with)
		}
	}
}

// flip has another character of base64 at i.
func flip(text string, i int) string {
	c := "A"
	if text[i] == 'A' {
		c = "B"
	}
	return text[:i] + c + text[i+1:]
}
