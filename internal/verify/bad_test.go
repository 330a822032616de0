package verify

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// badCases are files that are damaged, edited, exchanged, or honestly signed by
// a house that cheats. Each fails at a named step, or cannot be judged.
func badCases(t testing.TB) []vector {
	var cases []vector
	b := &badAdder{T: t, key: mainKey(t), add: func(v vector) { cases = append(cases, v) }}
	editedEntries(b)
	unknownCodes(b)
	malformedEntries(b)
	editedReceipts(b)
	editedCheckpoints(b)
	editedCards(b)
	editedDecks(b)
	otherDecks(b)
	badTerms(b)
	editedNumbers(b)
	otherForms(b)
	otherReceiptForms(b)
	wrongTrust(b)
	wrongWitnessed(b)
	wrongHandovers(b)
	wrongLongFiles(b)
	wrongSignatures(b)
	unreadablePolicies(b)
	twoFaults(b)
	cheatingCommits(b)
	cheatingPlay(b)
	cheatingCloses(b)
	cheatingOrders(b)
	steeredFiles(b)
	takenOver(b)
	wrongStatements(b)
	wrongReveals(b)
	wrongChains(b)
	notBlind(b)
	return cases
}

type badAdder struct {
	T   testing.TB
	key keyPair
	add func(vector)
}

// unjudged is the step name for files that cannot be judged.
const unjudged = ""

// file adds a case under the main ledger's key.
func (b *badAdder) file(step, name, about string, file []byte, change ...func(*vector)) {
	v := vector{Name: name, About: about, Trust: vectorTrust{VKey: b.key.vkey}, File: string(file),
		Want: want{Verdict: Failed, Failed: step}}
	if step == unjudged {
		v.Want = want{Verdict: CannotJudge}
	}
	for _, f := range change {
		f(&v)
	}
	v.keyInForce()
	b.add(v)
}

// edited adds an honest transcript after change.
func (b *badAdder) edited(step, name, about string, g *game, change func(*openings.Transcript)) {
	f := g.transcript("")
	change(f)
	b.file(step, name, about, marshal(b.T, f))
}

// text adds an honest transcript with the first old replaced.
func (b *badAdder) text(step, name, about, file, old, with string) {
	if !strings.Contains(file, old) {
		b.T.Fatalf("%s: no %q in the file", name, old)
	}
	b.file(step, name, about, []byte(strings.Replace(file, old, with, 1)))
}

// rich is a closed shuffle with every kind of entry.
func rich(t testing.TB) *game {
	return mixed(t).deal(seat("seat-1", 2), board(1)).
		deal(audit.Run{Count: 1, Purpose: audit.PurposeBurn}, board(1)).close(audit.OutcomeEndedEarly, 0)
}

// plain is a closed shuffle without a plan.
func plain(t testing.TB) *game {
	h := open(t)
	return h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2), board(1)).
		deal(board(2)).close(audit.OutcomeEndedEarly, 0)
}

// Receipts of rich, by position in its file.
const (
	atGenesis = iota
	atCommit
	atMix
	atDeal
	atDeal2
	atClose
)

// reentry puts another entry into the i-th receipt and leaves its proof alone.
func reentry(t testing.TB, f *openings.Transcript, i int, change func([]byte) []byte) {
	r, err := audit.ParseReceipt(f.Receipts[i])
	must(t, err)
	r.Entry = change(r.Entry)
	f.Receipts[i] = r.Text()
}

// editedEntries changes every field of every entry of a shuffle in turn. An
// outsider can do no better: the entry stays well-formed, and no proof leads to it.
func editedEntries(b *badAdder) {
	field := func(step string, i int, name string, change func(*audit.Entry)) {
		b.edited(step, "field-"+name, "one field of an entry is another", rich(b.T), func(f *openings.Transcript) {
			reentry(b.T, f, i, func(entry []byte) []byte {
				e, err := audit.ParseEntry(entry)
				must(b.T, err)
				change(&e)
				out, err := e.Encode()
				must(b.T, err)
				if bytes.Equal(out, entry) {
					b.T.Fatalf("%s: nothing changed", name)
				}
				return out
			})
		})
	}
	for name, change := range map[string]func(*audit.Entry){
		"entry-time":  func(e *audit.Entry) { e.Time++ },
		"entry-actor": func(e *audit.Entry) { e.Actor = audit.Operator },
	} {
		field(stepInclusion, atDeal, name, change)
	}
	for name, change := range genesisFields() {
		field(stepInclusion, atGenesis, "genesis-"+name, func(e *audit.Entry) { change(e.Body.(*audit.Genesis)) })
	}
	for name, change := range commitFields() {
		field(stepInclusion, atCommit, "commit-"+name, func(e *audit.Entry) { change(e.Body.(*audit.Commit)) })
	}
	for name, change := range mixFields() {
		field(stepInclusion, atMix, "mix-"+name, func(e *audit.Entry) { change(e.Body.(*audit.Mix)) })
	}
	for name, change := range dealFields() {
		field(stepInclusion, atDeal, "deal-"+name, func(e *audit.Entry) { change(e.Body.(*audit.Deal)) })
	}
	for name, change := range closeFields() {
		field(stepInclusion, atClose, "close-"+name, func(e *audit.Entry) { change(e.Body.(*audit.Close)) })
	}
	field(stepEntries, atMix, "mix-shuffle", func(e *audit.Entry) { e.Body.(*audit.Mix).Shuffle++ })
	field(stepEntries, atDeal, "deal-shuffle", func(e *audit.Entry) { e.Body.(*audit.Deal).Shuffle-- })
	field(stepEntries, atClose, "close-shuffle", func(e *audit.Entry) { e.Body.(*audit.Close).Shuffle++ })
}

func genesisFields() map[string]func(*audit.Genesis) {
	return map[string]func(*audit.Genesis){
		"origin":           func(g *audit.Genesis) { g.Origin = "example.com/mine" },
		"production":       func(g *audit.Genesis) { g.Production = false },
		"signing-key":      func(g *audit.Genesis) { g.SigningKey[5] ^= 1 },
		"policy":           func(g *audit.Genesis) { g.Policy = []byte("quorum none\n") },
		"auditor-key":      func(g *audit.Genesis) { g.AuditorKeys[0][5] ^= 1 },
		"auditor-keys":     func(g *audit.Genesis) { g.AuditorKeys = nil },
		"deals":            cosignedDeals,
		"mix-modes":        func(g *audit.Genesis) { g.MixModes = 3 },
		"disclosure":       func(g *audit.Genesis) { g.Disclosure = audit.DisclosureAuditor },
		"default-close-by": func(g *audit.Genesis) { g.DefaultCloseBy++ },
		"max-close-by":     func(g *audit.Genesis) { g.MaxCloseBy++ },
		"access":           func(g *audit.Genesis) { g.Access = audit.AccessToken },
		"predecessor":      func(g *audit.Genesis) { g.Predecessor = []byte("x") },
	}
}

func commitFields() map[string]func(*audit.Commit) {
	return map[string]func(*audit.Commit){
		"origin":     func(c *audit.Commit) { c.Context.Origin = "example.com/mine" },
		"production": func(c *audit.Commit) { c.Context.Production = false },
		"genesis":    func(c *audit.Commit) { c.Context.Genesis[31] ^= 1 },
		"table":      func(c *audit.Commit) { c.Context.Table = "table-2" },
		"deck-hash":  func(c *audit.Commit) { c.Context.DeckHash[0] ^= 1 },
		"cards":      func(c *audit.Commit) { c.Context.Recipe.Cards++ },
		"take":       func(c *audit.Commit) { c.Context.Recipe.Take-- },
		"kind":       func(c *audit.Commit) { *c.Context = *drawsInstead(c.Context) },
		"parent": func(c *audit.Commit) {
			c.Context.Parent = &audit.Parent{ID: 1, Positions: []uint16{0, 1, 2, 3, 4, 5}}
		},
		"plan-slot":    func(c *audit.Commit) { c.Context.Plan[1].Slot[31] ^= 1 },
		"plan-chain":   func(c *audit.Commit) { c.Context.Plan[2].Chain[0] ^= 1 },
		"plan-round":   func(c *audit.Commit) { c.Context.Plan[2].Round++ },
		"plan-shorter": func(c *audit.Commit) { c.Context.Plan = c.Context.Plan[:3] },
		"end-at":       func(c *audit.Commit) { c.Context.EndAt = 5 },
		"end-at-drawn": func(c *audit.Commit) { c.Context.Recipe.EndLo, c.Context.Recipe.EndHi = 1, 6 },
		"disclosure":   func(c *audit.Commit) { c.Context.Disclosure = audit.DisclosureAuditor },
		"commitment":   func(c *audit.Commit) { c.Commitment[0] ^= 1 },
		"deck-root":    func(c *audit.Commit) { c.DeckRoot[31] ^= 0x80 },
		"serial":       func(c *audit.Commit) { c.Serial, c.Previous = 2, 1 },
		"close-by":     func(c *audit.Commit) { c.CloseBy++ },
		"game-ref":     func(c *audit.Commit) { c.GameRef = "" },
		"key-tag":      func(c *audit.Commit) { c.KeyTag[0] ^= 1 },
		"request":      func(c *audit.Commit) { c.Request[0] ^= 1 },
		"instance":     func(c *audit.Commit) { c.Instance++ },
	}
}

func drawsInstead(c *audit.Context) *audit.Context {
	d := *c
	d.DeckHash, d.Recipe = [32]byte{}, shuffle.Recipe{Ranges: []uint32{6, 6, 6, 6, 6, 6}}
	d.Plan = c.Plan[:3]
	return &d
}

func mixFields() map[string]func(*audit.Mix) {
	return map[string]func(*audit.Mix){
		"checkpoint": func(m *audit.Mix) { m.Checkpoint++ },
		"slot":       func(m *audit.Mix) { m.Values[0].Slot[0] ^= 1 },
		"beacon":     func(m *audit.Mix) { m.Values[2].Beacon[47] ^= 1 },
		"cut":        func(m *audit.Mix) { m.Values[3].Cut-- },
		"order":      func(m *audit.Mix) { m.Values[0], m.Values[1] = m.Values[1], m.Values[0] },
		"fewer":      func(m *audit.Mix) { m.Values = m.Values[:3] },
	}
}

func dealFields() map[string]func(*audit.Deal) {
	return map[string]func(*audit.Deal){
		"first":      func(d *audit.Deal) { d.First++ },
		"checkpoint": func(d *audit.Deal) { d.Checkpoint++ },
		"final":      func(d *audit.Deal) { d.Final = true },
		"count":      func(d *audit.Deal) { d.Runs[0].Count-- },
		"purpose":    func(d *audit.Deal) { d.Runs[0].Purpose = audit.PurposeRabbit },
		"recipient":  func(d *audit.Deal) { d.Runs[0].Recipient = "seat-2" },
		"public":     func(d *audit.Deal) { d.Runs[1].Public = false },
		"runs":       func(d *audit.Deal) { d.Runs = append(d.Runs, board(1)) },
	}
}

func closeFields() map[string]func(*audit.Close) {
	return map[string]func(*audit.Close){
		"outcome":   func(c *audit.Close) { c.Outcome = audit.OutcomeCompleted },
		"reason":    func(c *audit.Close) { c.Outcome, c.Reason = audit.OutcomeVoid, audit.ReasonMisdeal },
		"form":      func(c *audit.Close) { c.Form, c.Key = audit.FormSealed, 2 },
		"tape-byte": func(c *audit.Close) { c.Tape[0] ^= 1 },
		"tape-last": func(c *audit.Close) { c.Tape[len(c.Tape)-1] ^= 1 }, // a byte that no draw reads
		"tape-cut":  func(c *audit.Close) { c.Tape = c.Tape[:len(c.Tape)-1] },
		"tape-more": func(c *audit.Close) { c.Tape = append(c.Tape, 0) },
	}
}

// Offsets in an entry by the identity "dealer" with the credential "dealer-1", at "example.com/main", "table-1".
const (
	inBody    = 1 + 1 + 8 + 1 + len("dealer") + 1 + len("dealer-1")
	inContext = inBody + 2
	algorithm = inContext + 1 + len("example.com/main") + 32 + 1 + 1 + len("table-1")
	recipe    = algorithm + 1
	parent    = recipe + 1 + 32 + 2 + 2
	planned   = parent + 1 + 1
)

// unknownCodes puts in what a later version may mean by something: no fault, and no verdict.
func unknownCodes(b *badAdder) {
	code := func(i int, name string, at func(entry []byte) int, v byte) {
		b.edited(unjudged, "unknown-"+name, "a code that this version does not know", rich(b.T),
			func(f *openings.Transcript) {
				reentry(b.T, f, i, func(entry []byte) []byte {
					entry[at(entry)] = v
					return entry
				})
			})
	}
	fixed := func(at int) func([]byte) int { return func([]byte) int { return at } }
	endAt := func(e []byte) int {
		// in front of disclosure and the empty list of extensions
		return inContext + (int(e[inBody])<<8 | int(e[inBody+1])) - 3
	}
	code(atDeal, "version", fixed(0), 2)
	code(atDeal, "type", fixed(1), 15)
	code(atCommit, "algorithm", fixed(algorithm), 2)
	code(atCommit, "kind", fixed(recipe), 4)
	code(atCommit, "source", fixed(planned), 5)
	code(atCommit, "end-at-form", endAt, 3)
	code(atCommit, "disclosure", func(e []byte) int { return endAt(e) + 1 }, 3)
	code(atMix, "mix-source", fixed(inBody+17), 5)
	code(atDeal, "purpose", fixed(inBody+23), 7)
	code(atClose, "outcome", fixed(inBody+10), 6)
	b.edited(unjudged, "unknown-reason", "a code that this version does not know", rich(b.T),
		func(f *openings.Transcript) {
			reentry(b.T, f, atClose, func(entry []byte) []byte {
				entry[inBody+10], entry[inBody+11] = byte(audit.OutcomeVoid), 12
				return entry
			})
		})
	code(atClose, "form", fixed(inBody+12), 3)

	g := plain(b.T)
	file := string(g.file(""))
	b.text(unjudged, "unknown-format", "a transcript of a later version", file, "shuffled/v1/", "shuffled/v2/")
	b.file(unjudged, "unknown-format-members", "a later version may have other members",
		[]byte(`{"format":"shuffled/v2/transcript","pages":[1,2]}`))
	b.text(unjudged, "unknown-receipt-version", "a receipt of a later version in a transcript", file, "tlog-proof@v1",
		"tlog-proof@v2")
	b.text(unjudged, "unknown-receipt-version-alone", "a receipt of a later version", g.h.receipt(g.id).Text(),
		"tlog-proof@v1", "tlog-proof@v12")

	h := openEdited(b.T, func(genesis []byte) []byte {
		genesis[bytes.Index(genesis, b.key.public())] = 6
		return genesis
	})
	g = h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
	b.file(unjudged, "unknown-signing-key-type",
		"the genesis has a key of a later type, which stops a reader even where another is trusted", g.file(""))
	b.file(unjudged, "trust-unreadable-key", "what is trusted is no key", plain(b.T).file(""),
		func(v *vector) { v.Trust = vectorTrust{VKey: "example.com/main+00000000+AAAA"} })
}

// malformedEntries are bytes that no writer of this version makes.
func malformedEntries(b *badAdder) {
	entry := func(i int, name string, change func([]byte) []byte) {
		b.edited(stepEntries, "malformed-"+name, "an entry that no writer makes", rich(b.T),
			func(f *openings.Transcript) {
				reentry(b.T, f, i, change)
			})
	}
	set := func(at int, v byte) func([]byte) []byte {
		return func(e []byte) []byte { e[at] = v; return e }
	}
	entry(atDeal, "trailing-byte", func(e []byte) []byte { return append(e, 0) })
	entry(atDeal, "cut-short", func(e []byte) []byte { return e[:len(e)-1] })
	entry(atDeal, "one-byte", func(e []byte) []byte { return e[:1] })
	entry(atDeal, "time-too-large", set(2, 0xff))
	entry(atDeal, "actor-grammar", set(11, ' '))
	entry(atDeal, "flag-2", set(inBody+18, 2))
	entry(atDeal, "no-cards", set(inBody+22, 0))
	entry(atCommit, "origin-grammar", set(inContext+1, 'E'))
	entry(atCommit, "context-length", set(inBody+1, 1))
	entry(atCommit, "more-taken-than-cards", set(recipe+36, 7))
	entry(atCommit, "plan-order", func(e []byte) []byte { // the cut in front of the slots
		const cut = planned + 33 + 33 + 41
		return slices.Insert(slices.Delete(e, cut, cut+1), planned, 3)
	})
	entry(atClose, "reason-without-void", set(inBody+11, 1))
	entry(atClose, "unknown-reason-without-void", set(inBody+11, 12))
	entry(atClose, "no-form-with-tape", set(inBody+12, 0))
	entry(atMix, "no-values", set(inBody+16, 0))
	b.edited(stepFormat, "malformed-too-long", "an entry beyond the limit", rich(b.T), func(f *openings.Transcript) {
		reentry(b.T, f, atDeal, func(e []byte) []byte { return append(e, make([]byte, audit.MaxEntry+1-len(e))...) })
	})
}
