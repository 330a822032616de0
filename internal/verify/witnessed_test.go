package verify

import (
	"fmt"
	"strings"
	"testing"

	"shuffled/internal/audit"
)

// trio are three witnesses, of which a policy wants two.
type trio struct {
	key     keyPair // the ledger's
	a, b, c keyPair
}

func newTrio(t testing.TB) trio {
	return trio{mainKey(t), newKey(t, "witness.example/1", "w1"), newKey(t, "witness.example/2", "w2"),
		newKey(t, "witness.example/3", "w3")}
}

// policy returns the ledger's log line, the witnesses and a rule.
func (w trio) policy(rule string) string {
	text := "log " + w.key.vkey + "\n"
	for i, k := range []keyPair{w.a, w.b, w.c} {
		vkey, _ := k.witnessKey()
		text += fmt.Sprintf("witness %c %s\n", 'a'+i, vkey)
	}
	return text + rule
}

const twoOfThree = "group g 2 a b c\nquorum g\n"

func (w trio) want2of3() func(*vector) { return trusted1(w.policy(twoOfThree)) }

// proves sets the level of a file that holds, and at the level witnessed who is named for it.
func proves(level Level, names ...string) func(*vector) {
	return func(v *vector) {
		v.Want = want{Verdict: Proved, Level: level}
		if level == LevelWitnessed {
			v.Want.Overlap = 1
		}
		for _, name := range names {
			v.Want.Witnesses = append(v.Want.Witnesses, Cosigned{name, timestamp(witnessTime * 1000)})
		}
	}
}

// witnessedGame is a shuffle whose commit two of three witnesses cosigned when the next entry was to be its first deal.
func witnessedGame(t testing.TB, w trio, change ...func(*audit.Genesis)) *game {
	h := open(t, change...)
	h.witnesses = []keyPair{w.a, w.c}
	g := h.commitTo(h.cards(sixCards), sixCards)
	h.add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: "something between"})
	return g.witness()
}

// played deals and closes.
func (g *game) played() *game {
	return g.deal(seat("seat-1", 2), board(1)).deal(board(1)).close(audit.OutcomeEndedEarly, 0)
}

// witnessedFiles hold with the member witnessed, at every level.
func witnessedFiles(t testing.TB, add adder) {
	w := newTrio(t)
	g := witnessedGame(t, w)
	add("witnessed-undealt", "cosigned, and nothing dealt yet: the early checkpoint may be the file's own", g.file(""),
		w.want2of3(), proves(LevelWitnessed, "a", "c"))
	g.deal(seat("seat-1", 2), board(1))
	add("witnessed-open", "the early checkpoint ends where the first deal begins: its size is that deal's index",
		g.file(""), w.want2of3(), proves(LevelWitnessed, "a", "c"))
	g.deal(board(1)).close(audit.OutcomeEndedEarly, 0)
	add("witnessed", "closed with its tape, two of three witnesses", g.file(""), w.want2of3(),
		proves(LevelWitnessed, "a", "c"))
	add("witnessed-recipient", "one recipient's file", g.file("seat-1"), w.want2of3(), proves(LevelWitnessed, "a", "c"))
	add("witnessed-key-only", "without a policy nobody asks for witnesses", g.file(""), proves(LevelRecorded))
	add("witnessed-quorum-none", "a policy that asks for none", g.file(""), trusted1(w.policy("quorum none\n")),
		proves(LevelRecorded))
	add("witnessed-policy-without-log", "a quorum, and no key: nothing says whose ledger the witnesses saw", g.file(""),
		trusted1(strings.Replace(w.policy(twoOfThree), "log ", "# log ", 1)), func(v *vector) {
			v.Want = want{Verdict: Consistent, Level: LevelKeyNotPinned}
		})
	add("witnessed-nothing-pinned", "nothing is trusted", g.file(""), func(v *vector) {
		v.Trust, v.Want = vectorTrust{}, want{Verdict: Consistent, Level: LevelKeyNotPinned}
	})
	g.h.witnesses = []keyPair{w.b, w.c}
	add("witnessed-by-others", "another two of the three cosigned the newest checkpoint", g.file(""), w.want2of3(),
		proves(LevelWitnessed, "a", "c"))
	g.early = ""
	add("witnessed-absent", "a quorum over the newest checkpoint alone: it may have seen the commit too late",
		g.file(""), w.want2of3(), proves(LevelRecorded))
	add("receipt-witnessed", "a receipt alone: the quorum saw this entry", []byte(g.h.receipt(g.id).Text()),
		w.want2of3(), proves(LevelWitnessed, "b", "c"))
	add("receipt-witnessed-genesis", "of the genesis", []byte(g.h.receipt(0).Text()), w.want2of3(),
		proves(LevelWitnessed, "b", "c"))
	add("receipt-cosigned-key-only", "cosignatures that nobody asks for", []byte(g.h.receipt(g.id).Text()),
		proves(LevelRecorded))

	g = witnessedGame(t, w).deal(board(1)).witness().deal(board(2)).close(audit.OutcomeEndedEarly, 0)
	add("witnessed-too-late", "the early checkpoint covers the first deal", g.file(""), w.want2of3(),
		proves(LevelRecorded))
	cosignedFiles(t, w, func(name, about string, file []byte, newest bool) {
		if !newest {
			add(name, about+": that gives no level, and is no fault, for witnesses change", file, w.want2of3(),
				proves(LevelRecorded))
		}
	})
	g = witnessedGame(t, w).close(audit.OutcomeVoid, audit.ReasonGameCancelled).witness()
	add("witnessed-void", "closed with nothing dealt: the close begins no play", g.file(""), w.want2of3(),
		proves(LevelWitnessed, "a", "c"))

	m := mixed(t, func(g *game) { g.h.witnesses = []keyPair{w.a, w.b}; g.witness() })
	add("witnessed-mixed", "the early checkpoint ends where the mix stands", m.deal(board(3)).file(""), w.want2of3(),
		proves(LevelWitnessed, "a", "b"))
	m = mixed(t, func(g *game) { g.h.witnesses = []keyPair{w.a, w.b} }).witness()
	add("witnessed-after-mix", "the early checkpoint covers the mix, though no deal", m.deal(board(3)).file(""),
		w.want2of3(), proves(LevelRecorded))

	h := open(t)
	h.witnesses = []keyPair{w.a, w.b, w.c}
	g = h.commitTo(h.draws(6, 6, 37), nil).witness().deal(board(3)).close(audit.OutcomeCompleted, 0)
	add("witnessed-draws", "a draw list, three of three, at once after the commit", g.file(""), w.want2of3(),
		proves(LevelWitnessed, "a", "b", "c"))
	add("witnessed-all", "all of three: two histories need three that lie", g.file(""),
		trusted1(w.policy("group g all a b c\nquorum g\n")), proves(LevelWitnessed, "a", "b", "c"), func(v *vector) {
			v.Want.Overlap = 3
		})

	rotated := newKey(t, w.key.name, "next key")
	g = witnessedGame(t, w)
	g.h.add(&audit.Key{Subject: audit.SubjectSigning, Public: rotated.public()})
	g.h.key = rotated
	add("witnessed-rotated", "the early checkpoint is signed by an older key, and the policy has both",
		g.played().file(""),
		trusted1("log "+rotated.vkey+"\n"+w.policy(twoOfThree)), proves(LevelWitnessed, "a", "c"))

	g = witnessedGame(t, w)
	g.h.add(&audit.Key{Subject: audit.SubjectSigning, Public: rotated.public()})
	_, damaged, _ := strings.Cut(string(signed(t, "another text\n", rotated)), "\n\n")
	for name, other := range map[string]string{
		"next": "log " + w.key.vkey + "\nlog " + rotated.vkey, "old": "log " + rotated.vkey + "\nlog " + w.key.vkey,
	} {
		head := string(signed(t, g.h.text(), g.h.key)) + damaged
		add("signed-by-one-of-two-"+name, "one of two trusted keys signed, the other's signature is of another text",
			[]byte(g.h.receiptUnder(0, []byte(head)).Text()),
			trusted1(other+"\nquorum none\n"), proves(LevelRecorded))
	}

	g = witnessedGame(t, w)
	g.early = string(crowd(g.h.head(), audit.MaxSignatures))
	add("witnessed-64-signatures", "as many signature lines as a checkpoint may have", g.played().file(""),
		w.want2of3(), proves(LevelWitnessed, "a", "c"))

	h = open(t)
	g = h.commitTo(h.cards(sixCards), sixCards)
	early := append(h.head(), w.a.cosignAt(h.text(), lastSecond)+w.b.cosignAt(h.text(),
		lastSecond+1)+w.c.cosignAt(h.text(), 1)...)
	g.early = string(early)
	h.witnesses = []keyPair{w.a, w.b}
	add("witnessed-times", "the first second and the last one that count; one beyond does not", g.file(""),
		w.want2of3(), func(v *vector) {
			v.Want = want{Verdict: Proved, Level: LevelWitnessed, Overlap: 1,
				Witnesses: []Cosigned{{"a", "9999-12-31T23:59:59.000Z"}, {"c", "1970-01-01T00:00:01.000Z"}}}
		})
	tabs := "#\ttabs, and Größe\n" + strings.ReplaceAll(w.policy(twoOfThree), " ", "\t  ")
	add("witnessed-policy-tabs", "fields of a policy stand between spaces and tabs", g.file(""), trusted1(tabs),
		func(v *vector) {
			v.Want = want{Verdict: Proved, Level: LevelWitnessed, Overlap: 1,
				Witnesses: []Cosigned{{"a", "9999-12-31T23:59:59.000Z"}, {"c", "1970-01-01T00:00:01.000Z"}}}
		})
}

// meetingFiles hold under policies whose quorums share a witness, or none (docs/SPEC.md section 7.3).
func meetingFiles(t testing.TB, add adder) {
	w := newTrio(t)
	recorded := proves(LevelRecorded)
	file := witnessedGame(t, w).played().file("")
	add("witnessed-any", "one of three is a quorum: another one could cosign another history", file,
		trusted1(w.policy("group g any a b c\nquorum g\n")), recorded)
	add("witnessed-nested-any", "a and (b or c): two quorums share a", file,
		trusted1(w.policy("group x any b c\ngroup g all a x\nquorum g\n")), proves(LevelWitnessed, "a", "c"))
	add("witnessed-nested-apart", "a or (b and c)", file,
		trusted1(w.policy("group x all b c\ngroup g any a x\nquorum g\n")), recorded)

	again := newKey(t, w.a.name, "w1 again")
	vkey, _ := again.witnessKey()
	two := "witness d " + vkey + "\n"
	add("witnessed-two-lines", "two lines of one witness count once: with another it is two", file,
		trusted1(two+w.policy("group g 2 a d c\nquorum g\n")), proves(LevelWitnessed, "a", "c"),
		func(v *vector) { v.Want.Overlap = 2 })
	add("witnessed-two-lines-any", "any line of the one witness: its quorums are the same witness", file,
		trusted1(two+w.policy("group g any a d\nquorum g\n")), proves(LevelWitnessed, "a", "c"))
	add("witnessed-other-line", "the quorum's line did not sign, another of the same witness did", file,
		trusted1(two+w.policy("quorum d\n")), proves(LevelWitnessed, "a", "c"))

	g := witnessedGame(t, w)
	add("receipt-witnessed-any", "a receipt under such a policy", []byte(g.h.receipt(g.id).Text()),
		trusted1(w.policy("group g any a b c\nquorum g\n")), recorded)
	h, shows := open(t), newKey(t, w.key.name, "next key")
	brings := h.add(&audit.Key{Subject: audit.SubjectSigning, Public: shows.public()})
	head := signedBy(t, h.text(), h.key, shows)
	shows.name = "witness.example/own"
	shown, _ := shows.witnessKey()
	add("receipt-witnessed-by-itself", "the witness has the signing key that a receipt alone shows",
		[]byte(h.receiptUnder(brings, append(head, shows.cosign(h.text())...)).Text()),
		trusted1("log "+h.key.vkey+"\nwitness own "+shown+"\nquorum own\n"), recorded)
	own := w.key
	own.name = "witness.example/own"
	ownVKey, _ := own.witnessKey()
	g.h.witnesses = []keyPair{own}
	rotated := newKey(t, w.key.name, "next key")
	next := "log " + rotated.vkey + "\nwitness own " + ownVKey + "\nquorum own\n"
	g.h.add(&audit.Key{Subject: audit.SubjectSigning, Public: rotated.public()})
	g.h.key = rotated
	g.witness()
	add("witnessed-by-itself", "the witness has a signing key of the ledger, which the policy's log lines do not show",
		g.played().file(""), trusted1(next), recorded)
}

// lateFiles were cosigned around the time of the first deal (docs/SPEC.md section 10.2).
func lateFiles(t testing.TB, add adder) {
	w := newTrio(t)
	late := func(name, about string, after int64, level Level) {
		h := open(t)
		g := h.commitTo(h.cards(sixCards), sixCards)
		h.now += 1000 - h.now%1000 // the deal's time is a whole second
		complete := h.now/1000 + 1 + after
		var names []Cosigned
		early := h.head()
		for i, k := range []keyPair{w.a, w.b, w.c} {
			at := complete + 60*int64(i-1)
			early = append(early, k.cosignAt(h.text(), uint64(at))...)
			names = append(names, Cosigned{string(rune('a' + i)), timestamp(at * 1000)})
		}
		g.early = string(early)
		h.witnesses = []keyPair{w.a, w.b}
		add(name, about, g.deal(board(1)).file(""), w.want2of3(), func(v *vector) {
			v.Want = want{Verdict: Proved, Level: level}
			if level == LevelWitnessed {
				v.Want.Witnesses, v.Want.Overlap = names, 1
			}
		})
	}
	late("witnessed-10-s-after", "the second witness of two came 10 s after the deal: clocks differ", 10,
		LevelWitnessed)
	late("witnessed-11-s-after", "11 s after the deal is too late, though the checkpoint is small enough", 11,
		LevelRecorded)

	g := witnessedGame(t, w).played()
	g.h.witnesses = []keyPair{w.c}
	f := g.transcript("")
	f.Checkpoint += w.a.cosignAt(g.h.text(), witnessTime+1800) + w.b.cosignAt(g.h.text(), witnessTime+3600)
	add("witnessed-late-line", "an hour after the quorum, a witness that is asked at an interval", marshal(t, f),
		w.want2of3(), proves(LevelWitnessed, "a", "c"), func(v *vector) {
			v.Want.Late = []Cosigned{{"b", timestamp((witnessTime + 3600) * 1000)}}
		})
}

// lastSecond is that of the year 9999.
const lastSecond = 253402300799

// crowd adds signature lines of strangers until there are n.
func crowd(signed []byte, n int) []byte {
	for i := strings.Count(string(signed), "\n— "); i < n; i++ {
		signed = append(signed, fmt.Sprintf("— stranger.example %s\n", encode(hash32(fmt.Sprint("stranger ", i))))...)
	}
	return signed
}
