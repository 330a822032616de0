package verify

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
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
	otherForms(b)
	otherReceiptForms(b)
	wrongTrust(b)
	cheatingCommits(b)
	cheatingPlay(b)
	cheatingCloses(b)
	cheatingOrders(b)
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
	b.add(v)
}

// edited adds an honest transcript after change.
func (b *badAdder) edited(step, name, about string, g *game, change func(*audit.Transcript)) {
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
func reentry(t testing.TB, f *audit.Transcript, i int, change func([]byte) []byte) {
	r, err := audit.ParseReceipt(f.Receipts[i])
	must(t, err)
	r.Entry = change(r.Entry)
	f.Receipts[i] = r.Text()
}

// editedEntries changes every field of every entry of a shuffle in turn. An
// outsider can do no better: the entry stays well-formed, and no proof leads to it.
func editedEntries(b *badAdder) {
	field := func(step string, i int, name string, change func(*audit.Entry)) {
		b.edited(step, "field-"+name, "one field of an entry is another", rich(b.T), func(f *audit.Transcript) {
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
		"entry-actor": func(e *audit.Entry) { e.Actor = "operator" },
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
		"origin":       func(c *audit.Commit) { c.Context.Origin = "example.com/mine" },
		"production":   func(c *audit.Commit) { c.Context.Production = false },
		"table":        func(c *audit.Commit) { c.Context.Table = "table-2" },
		"deck-hash":    func(c *audit.Commit) { c.Context.DeckHash[0] ^= 1 },
		"cards":        func(c *audit.Commit) { c.Context.Recipe.Cards++ },
		"take":         func(c *audit.Commit) { c.Context.Recipe.Take-- },
		"kind":         func(c *audit.Commit) { *c.Context = *drawsInstead(c.Context) },
		"parent":       func(c *audit.Commit) { c.Context.Parent = &audit.Parent{ID: 1, Positions: []uint16{0, 1, 2, 3, 4, 5}} },
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
	h := house{key: keyPair{name: c.Origin}}
	d := h.draws(6, 6, 6, 6, 6, 6)
	d.Plan = c.Plan[:3]
	return d
}

func mixFields() map[string]func(*audit.Mix) {
	return map[string]func(*audit.Mix){
		"cosigned": func(m *audit.Mix) { m.Cosigned++ },
		"slot":     func(m *audit.Mix) { m.Values[0].Slot[0] ^= 1 },
		"beacon":   func(m *audit.Mix) { m.Values[2].Beacon[47] ^= 1 },
		"cut":      func(m *audit.Mix) { m.Values[3].Cut-- },
		"order":    func(m *audit.Mix) { m.Values[0], m.Values[1] = m.Values[1], m.Values[0] },
		"fewer":    func(m *audit.Mix) { m.Values = m.Values[:3] },
	}
}

func dealFields() map[string]func(*audit.Deal) {
	return map[string]func(*audit.Deal){
		"first":     func(d *audit.Deal) { d.First++ },
		"cosigned":  func(d *audit.Deal) { d.Cosigned++ },
		"final":     func(d *audit.Deal) { d.Final = true },
		"count":     func(d *audit.Deal) { d.Runs[0].Count-- },
		"purpose":   func(d *audit.Deal) { d.Runs[0].Purpose = audit.PurposeRabbit },
		"recipient": func(d *audit.Deal) { d.Runs[0].Recipient = "seat-2" },
		"public":    func(d *audit.Deal) { d.Runs[1].Public = false },
		"runs":      func(d *audit.Deal) { d.Runs = append(d.Runs, board(1)) },
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

// Offsets in an entry by the actor "daemon", at "example.com/main", "table-1".
const (
	inBody    = 1 + 1 + 8 + 1 + len("daemon")
	inContext = inBody + 2
	algorithm = inContext + 1 + len("example.com/main") + 1 + 1 + len("table-1")
	recipe    = algorithm + 1
	parent    = recipe + 1 + 32 + 2 + 2
	planned   = parent + 1 + 1
)

// unknownCodes puts in what a later version may mean by something: no fault, and
// no verdict.
func unknownCodes(b *badAdder) {
	code := func(i int, name string, at func(entry []byte) int, v byte) {
		b.edited(unjudged, "unknown-"+name, "a code that this version does not know", rich(b.T), func(f *audit.Transcript) {
			reentry(b.T, f, i, func(entry []byte) []byte {
				entry[at(entry)] = v
				return entry
			})
		})
	}
	fixed := func(at int) func([]byte) int { return func([]byte) int { return at } }
	endAt := func(e []byte) int {
		return inContext + (int(e[inBody])<<8 | int(e[inBody+1])) - 2
	}
	code(atDeal, "version", fixed(0), 2)
	code(atDeal, "type", fixed(1), 8)
	code(atCommit, "algorithm", fixed(algorithm), 2)
	code(atCommit, "kind", fixed(recipe), 3)
	code(atCommit, "source", fixed(planned), 4)
	code(atCommit, "end-at-form", endAt, 3)
	code(atCommit, "disclosure", func(e []byte) int { return endAt(e) + 1 }, 3)
	code(atMix, "mix-source", fixed(inBody+17), 4)
	code(atDeal, "purpose", fixed(inBody+23), 6)
	code(atClose, "outcome", fixed(inBody+8), 6)
	code(atClose, "reason", fixed(inBody+9), 11)
	code(atClose, "form", fixed(inBody+10), 3)

	g := plain(b.T)
	file := string(g.file(""))
	b.text(unjudged, "unknown-format", "a transcript of a later version", file, "shuffled/v1/", "shuffled/v2/")
	b.file(unjudged, "unknown-format-members", "a later version may have other members", []byte(`{"format":"shuffled/v2/transcript","pages":[1,2]}`))
	b.text(unjudged, "unknown-receipt-version", "a receipt of a later version in a transcript", file, "tlog-proof@v1", "tlog-proof@v2")
	b.text(unjudged, "unknown-receipt-version-alone", "a receipt of a later version", g.h.receipt(g.id).Text(), "tlog-proof@v1", "tlog-proof@v12")

	h := open(b.T, func(gen *audit.Genesis) { gen.SigningKey[0] = 6 })
	g = h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
	b.file(unjudged, "unknown-signing-key-type", "nothing is trusted, and the genesis has a key of a later type", g.file(""),
		func(v *vector) { v.Trust = vectorTrust{} })
	b.file(unjudged, "trust-unreadable-key", "what is trusted is no key", plain(b.T).file(""),
		func(v *vector) { v.Trust = vectorTrust{VKey: "example.com/main+00000000+AAAA"} })
}

// malformedEntries are bytes that no writer of this version makes.
func malformedEntries(b *badAdder) {
	entry := func(i int, name string, change func([]byte) []byte) {
		b.edited(stepEntries, "malformed-"+name, "an entry that no writer makes", rich(b.T), func(f *audit.Transcript) {
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
	entry(atClose, "reason-without-void", set(inBody+9, 1))
	entry(atClose, "no-form-with-tape", set(inBody+10, 0))
	entry(atMix, "no-values", set(inBody+16, 0))
	b.edited(stepFormat, "malformed-too-long", "an entry beyond the limit", rich(b.T), func(f *audit.Transcript) {
		reentry(b.T, f, atDeal, func(e []byte) []byte { return append(e, make([]byte, audit.MaxEntry+1-len(e))...) })
	})
}

// editedReceipts moves whole receipts and proofs about.
func editedReceipts(b *badAdder) {
	receipts := func(step, name, about string, change func([]string) []string) {
		b.edited(step, "receipts-"+name, about, rich(b.T), func(f *audit.Transcript) { f.Receipts = change(f.Receipts) })
	}
	swap := func(i, j int) func([]string) []string {
		return func(r []string) []string { r[i], r[j] = r[j], r[i]; return r }
	}
	drop := func(i int) func([]string) []string {
		return func(r []string) []string { return slices.Delete(r, i, i+1) }
	}
	receipts(stepEntries, "deals-swapped", "receipts out of order", swap(atDeal, atDeal2))
	receipts(stepEntries, "commit-first", "the genesis is not first", swap(atGenesis, atCommit))
	receipts(stepEntries, "close-before-deal", "the close is not last", swap(atDeal2, atClose))
	receipts(stepEntries, "no-genesis", "without the genesis", drop(atGenesis))
	receipts(stepEntries, "no-commit", "without the commit", drop(atCommit))
	receipts(stepEntries, "no-mix", "without the mix that the plan asks for", drop(atMix))
	receipts(stepLegality, "no-first-deal", "without a deal, the places have a gap", drop(atDeal))
	receipts(stepEntries, "deal-twice", "the same receipt twice", func(r []string) []string { return slices.Insert(r, atDeal, r[atDeal]) })
	receipts(stepEntries, "genesis-twice", "a second genesis", func(r []string) []string { return slices.Insert(r, 1, r[0]) })
	receipts(stepEntries, "close-twice", "the same close twice", func(r []string) []string { return append(r, r[atClose]) })
	receipts(stepEntries, "event", "an entry that belongs to no shuffle", func(r []string) []string {
		return slices.Insert(r, 1, rich(b.T).h.receipt(1).Text())
	})
	receipts(stepFormat, "too-few", "a genesis alone", func(r []string) []string { return r[:1] })
	receipts(stepFormat, "none", "no receipt at all", func([]string) []string { return []string{} })

	proof := func(step, name, about string, change func(*audit.Receipt)) {
		b.edited(step, "proof-"+name, about, rich(b.T), func(f *audit.Transcript) {
			r, err := audit.ParseReceipt(f.Receipts[atDeal])
			must(b.T, err)
			change(&r)
			f.Receipts[atDeal] = r.Text()
		})
	}
	proof(stepInclusion, "bit", "one bit of a proof", func(r *audit.Receipt) { r.Proof[0][0] ^= 1 })
	proof(stepInclusion, "short", "one hash too few", func(r *audit.Receipt) { r.Proof = r.Proof[:len(r.Proof)-1] })
	proof(stepInclusion, "long", "one hash too many", func(r *audit.Receipt) { r.Proof = append(r.Proof, r.Proof[0]) })
	proof(stepInclusion, "empty", "no proof", func(r *audit.Receipt) { r.Proof = nil })
	proof(stepInclusion, "swapped", "two hashes exchanged", func(r *audit.Receipt) { r.Proof[0], r.Proof[1] = r.Proof[1], r.Proof[0] })
	proof(stepFormat, "64-hashes", "more hashes than any tree has levels", func(r *audit.Receipt) { r.Proof = make([]tlog.Hash, 64) })
	proof(stepFormat, "index-too-large", "an index beyond 2^53−1", func(r *audit.Receipt) { r.Index = 1 << 53 })
	proof(stepEntries, "index-of-commit", "the deal at the commit's place", func(r *audit.Receipt) { r.Index = 3 })

	b.edited(stepEntries, "genesis-at-1", "the genesis at another index", plain(b.T), func(f *audit.Transcript) {
		r, err := audit.ParseReceipt(f.Receipts[atGenesis])
		must(b.T, err)
		r.Index = 1
		f.Receipts[atGenesis] = r.Text()
	})
	h := open(b.T)
	b.edited(stepEntries, "id-of-another", "the id of another shuffle", h.commitTo(h.cards(sixCards), sixCards),
		func(f *audit.Transcript) { f.ID++ })
	b.edited(stepInclusion, "leaf-shifted", "the last entry one index later, under a larger index", rich(b.T), func(f *audit.Transcript) {
		r, err := audit.ParseReceipt(f.Receipts[atClose])
		must(b.T, err)
		r.Index++
		f.Receipts[atClose] = r.Text()
	})
	b.edited(stepInclusion, "leaves-swapped", "two deals exchange their entries", rich(b.T), func(f *audit.Transcript) {
		one, err := audit.ParseReceipt(f.Receipts[atDeal])
		must(b.T, err)
		two, err := audit.ParseReceipt(f.Receipts[atDeal2])
		must(b.T, err)
		one.Entry, two.Entry = two.Entry, one.Entry
		f.Receipts[atDeal], f.Receipts[atDeal2] = one.Text(), two.Text()
	})
	// An inner node as if it were a leaf: its two children stand as the entry.
	h = rich(b.T).h
	children := append(tlogHash(h, 0), tlogHash(h, 1)...)
	node := h.receipt(0)
	node.Entry, node.Proof = children, node.Proof[1:]
	b.file(unjudged, "node-as-leaf", "the children of an inner node in place of an entry: their first byte is no version", []byte(node.Text()))
	node.Entry = append([]byte{1, 7}, children[2:]...)
	b.file(stepEntries, "node-as-entry", "the same, made to look like an event", []byte(node.Text()))
}

func tlogHash(h *house, leaf int64) []byte {
	x := h.hashes[tlog.StoredHashIndex(0, leaf)]
	return x[:]
}

// editedCheckpoints changes the signed checkpoint, in all receipts alike.
func editedCheckpoints(b *badAdder) {
	all := func(step, name, about string, change func(signed string) string) {
		b.edited(step, "checkpoint-"+name, about, plain(b.T), func(f *audit.Transcript) {
			for i, text := range f.Receipts {
				r, err := audit.ParseReceipt(text)
				must(b.T, err)
				r.Checkpoint = []byte(change(string(r.Checkpoint)))
				f.Receipts[i] = r.Text()
			}
		})
	}
	line := func(n int, change func(string) string) func(string) string {
		return func(s string) string {
			lines := strings.Split(s, "\n")
			if lines[n] = change(lines[n]); lines[n] == "" {
				lines = slices.Delete(lines, n, n+1)
			}
			return strings.Join(lines, "\n")
		}
	}
	to := func(s string) func(string) string { return func(string) string { return s } }
	const origin, size, root, sig = 0, 1, 2, 4
	signature := func(change func([]byte) string) func(string) string {
		return line(sig, func(l string) string {
			fields := strings.Split(l, " ")
			raw, err := base64.StdEncoding.DecodeString(fields[2])
			must(b.T, err)
			return fields[0] + " " + fields[1] + " " + change(raw)
		})
	}
	flip := func(i int) func([]byte) string {
		return func(raw []byte) string {
			raw[i] ^= 1
			return base64.StdEncoding.EncodeToString(raw)
		}
	}
	all(stepFormat, "origin", "another origin than the first signature's", line(origin, to("example.com/mine")))
	all(stepFormat, "origin-grammar", "an origin that is none", line(origin, to("example.com/Main")))
	all(stepSignature, "size", "another size", line(size, to("8")))
	all(stepFormat, "size-zeros", "a size with a leading zero", line(size, to("07")))
	all(stepFormat, "size-huge", "a size beyond 2^53−1", line(size, to("9007199254740992")))
	all(stepSignature, "root", "another root", line(root, to(base64.StdEncoding.EncodeToString(seeded("root", 32)))))
	all(stepFormat, "root-spare-bits", "stray bits in the root's base64", line(root, func(l string) string {
		raw, _ := base64.StdEncoding.DecodeString(l)
		return spareBits(raw)
	}))
	all(stepFormat, "root-short", "a root of 31 bytes", line(root, to(base64.StdEncoding.EncodeToString(make([]byte, 31)))))
	all(stepFormat, "extension", "an extension line", line(root, func(l string) string { return l + "\nextension" }))
	all(stepSignature, "signature-bit", "one bit of the signature", signature(flip(40)))
	all(stepSignature, "signature-key-hash", "the signature of another key", signature(flip(0)))
	all(stepFormat, "signature-spare-bits", "stray bits in the signature's base64", signature(spareBits))
	all(stepFormat, "signature-unpadded", "a signature without padding", signature(base64.RawStdEncoding.EncodeToString))
	all(stepFormat, "signature-twice", "the same signature twice", line(sig, func(l string) string { return l + "\n" + l }))
	all(stepFormat, "signature-again", "two different signatures of one key", func(s string) string {
		return s + strings.Split(signature(flip(40))(s), "\n")[sig] + "\n"
	})
	all(stepFormat, "signature-none", "not signed", line(sig, to("")))
	all(stepFormat, "signature-dash", "a hyphen where the dash stands", line(sig, func(l string) string { return "-" + strings.TrimPrefix(l, "—") }))
	all(stepFormat, "signature-other-first", "another name's signature first", line(sig, func(l string) string {
		return strings.Replace(l, "example.com/main", "example.com/mine", 1) + "\n" + l
	}))
	all(stepFormat, "no-newline", "the last newline is missing", func(s string) string { return strings.TrimSuffix(s, "\n") })
	all(stepFormat, "blank-line", "a blank line more", func(s string) string { return s + "\n" })

	other := newKey(b.T, "example.com/main", "a key of the same name")
	all(stepSignature, "resigned", "signed again, by another key of the same name", func(s string) string {
		text, _, _ := strings.Cut(s, "\n\n")
		return string(signed(b.T, text+"\n", other))
	})
	small := plain(b.T)
	small.h.entries, small.h.hashes = small.h.entries[:4], small.h.hashes[:tlog.StoredHashCount(4)]
	all(stepInclusion, "older", "an older checkpoint of this ledger", to(string(small.h.head())))
	b.edited(stepFormat, "checkpoint-one-differs", "one receipt under another checkpoint", plain(b.T), func(f *audit.Transcript) {
		r, err := audit.ParseReceipt(f.Receipts[2])
		must(b.T, err)
		r.Checkpoint = small.h.head()
		f.Receipts[2] = r.Text()
	})
}

// editedCards changes what the cards say.
func editedCards(b *badAdder) {
	cards := func(step, name, about string, change func(f *audit.Transcript)) {
		b.edited(step, "card-"+name, about, plain(b.T), change)
	}
	first := func(change func(c *audit.Card)) func(*audit.Transcript) {
		return func(f *audit.Transcript) { change(&f.Cards[0]) }
	}
	other := func(f *audit.Transcript) uint32 { return f.Cards[1].Value }
	cards(stepOpenings, "name", "another name", first(func(c *audit.Card) { c.Card = "Joker" }))
	cards(stepOpenings, "no-name", "no name", first(func(c *audit.Card) { c.Card = "" }))
	cards(stepOpenings, "value", "another value", func(f *audit.Transcript) { f.Cards[0].Value = other(f) })
	cards(stepOpenings, "value-and-name", "another card altogether", func(f *audit.Transcript) {
		f.Cards = f.Cards[:1]
		f.Cards[0].Value = (f.Cards[0].Value + 1) % 6
		f.Cards[0].Card = sixCards[f.Cards[0].Value]
	})
	cards(stepOpenings, "value-beyond-deck", "a value that no card has", first(func(c *audit.Card) { c.Value = 6 }))
	cards(stepOpenings, "value-largest", "the largest value there is", first(func(c *audit.Card) { c.Value = 1<<32 - 1 }))
	cards(stepOpenings, "position", "another position", first(func(c *audit.Card) { c.Position = 5 }))
	cards(stepOpenings, "place-shifted", "every place one further", func(f *audit.Transcript) {
		for i := range f.Cards {
			f.Cards[i].Place++
		}
	})
	cards(stepOpenings, "places-descend", "cards out of order", func(f *audit.Transcript) { slices.Reverse(f.Cards) })
	cards(stepOpenings, "twice", "the same card twice", func(f *audit.Transcript) { f.Cards = append(f.Cards[:1:1], f.Cards...) })
	cards(stepOpenings, "undealt", "an honest opening of a place that was not dealt", func(f *audit.Transcript) {
		f.Cards = append(f.Cards, plain(b.T).card(5))
	})
	cards(stepOpenings, "salt", "another salt", first(func(c *audit.Card) {
		c.Salt = base64.StdEncoding.EncodeToString(seeded("salt", 32))
	}))
	cards(stepOpenings, "proof-bit", "another proof", first(func(c *audit.Card) {
		c.Proof[0] = base64.StdEncoding.EncodeToString(seeded("proof", 32))
	}))
	cards(stepOpenings, "proof-short", "a proof of one hash fewer", first(func(c *audit.Card) { c.Proof = c.Proof[:len(c.Proof)-1] }))
	cards(stepOpenings, "proof-long", "a proof of one hash more", first(func(c *audit.Card) { c.Proof = append(c.Proof, c.Proof[0]) }))
	cards(stepOpenings, "proof-none", "no proof", first(func(c *audit.Card) { c.Proof = []string{} }))
	cards(stepFormat, "proof-13", "a longer proof than 4,096 cards need", first(func(c *audit.Card) { c.Proof = slices.Repeat(c.Proof[:1], 13) }))
	cards(stepFormat, "place-negative", "a negative place", first(func(c *audit.Card) { c.Place = -1 }))
	cards(stepFormat, "place-4096", "a place that no shuffle has", func(f *audit.Transcript) { f.Cards[4].Place = 4096 })
	cards(stepFormat, "position-4096", "a position that no shuffle has", func(f *audit.Transcript) { f.Cards[4].Position = 4096 })

	b.edited(stepOpenings, "card-of-another", "a card of another recipient in one recipient's file", plain(b.T),
		func(f *audit.Transcript) { f.Recipient = "seat-2" })
	b.edited(stepFormat, "recipient-grammar", "a recipient that is no name", plain(b.T),
		func(f *audit.Transcript) { f.Recipient = "seat 1" })
	b.edited(stepOpenings, "card-other-shuffle", "a card of another shuffle of the same deck", plain(b.T), func(f *audit.Transcript) {
		h := open(b.T)
		h.add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses, Reason: "another index, another tape"})
		f.Cards[0] = h.commitTo(h.cards(sixCards), sixCards).card(0)
	})
	b.edited(stepOpenings, "mixed-as-unmixed", "a mixed shuffle's cards by position", rich(b.T), func(f *audit.Transcript) {
		g := rich(b.T)
		g.order = audit.Order{}
		f.Cards = []audit.Card{g.card(0)}
	})
	g := mixedDraws(b.T).deal(board(3))
	b.edited(stepOpenings, "draw-shown-as-committed", "a mixed draw's value after the shift in place of the committed one", g, func(f *audit.Transcript) {
		f.Cards[2].Value = f.Cards[2].Value%1000 + 1
	})
	b.edited(stepOpenings, "draw-with-name", "a draw with a card's name", g, func(f *audit.Transcript) { f.Cards[0].Card = "Ace" })
	b.edited(stepOpenings, "draw-twice", "the same draw twice", g, func(f *audit.Transcript) { f.Cards = append(f.Cards[:1:1], f.Cards...) })
	b.edited(stepOpenings, "draw-zero", "a draw of 0", g, func(f *audit.Transcript) { f.Cards[0].Value = 0 })
	b.edited(stepOpenings, "draw-above-range", "a draw above its range", g, func(f *audit.Transcript) { f.Cards[0].Value = 7 })
}

func editedDecks(b *badAdder) {
	deck := func(step, name, about string, change func([]string) []string) {
		b.edited(step, "deck-"+name, about, plain(b.T), func(f *audit.Transcript) { f.Deck = change(slices.Clone(f.Deck)) })
	}
	deck(stepDeck, "reordered", "two cards of the deck exchanged", func(d []string) []string { d[0], d[1] = d[1], d[0]; return d })
	deck(stepDeck, "renamed", "another name in the deck", func(d []string) []string { d[5] = "nine"; return d })
	deck(stepDeck, "fewer", "a card fewer", func(d []string) []string { return d[:5] })
	deck(stepDeck, "more", "a card more", func(d []string) []string { return append(d, "Joker") })
	deck(stepDeck, "absent", "no deck", func([]string) []string { return nil })
	deck(stepDeck, "name-too-long", "a name of 65 bytes", func(d []string) []string { d[0] = strings.Repeat("A", 65); return d })
	deck(stepDeck, "control-character", "a name with a control character", func(d []string) []string { d[0] = "A\x07"; return d })
	deck(stepFormat, "too-large", "4,097 cards", func(d []string) []string { return slices.Repeat([]string{"A"}, 4097) })
	b.edited(stepDeck, "deck-with-draws", "a deck in a draw list's file", mixedDraws(b.T).deal(board(1)),
		func(f *audit.Transcript) { f.Deck = sixCards })
}

// wrongTrust judges honest files by what they are not.
func wrongTrust(b *badAdder) {
	g := plain(b.T)
	trust := func(step, name, about string, file []byte, v vectorTrust) {
		b.file(step, "trust-"+name, about, file, func(c *vector) { c.Trust = v })
	}
	other := newKey(b.T, "example.com/other", "other key")
	same := newKey(b.T, "example.com/main", "a key of the same name")
	trust(stepSignature, "other-ledger", "the key of another ledger", g.file(""), vectorTrust{VKey: other.vkey})
	trust(stepSignature, "other-key", "another key of the same name", g.file(""), vectorTrust{VKey: same.vkey})
	trust(stepSignature, "policy-other-ledger", "a policy for another ledger", g.file(""), vectorTrust{Policy: "log " + other.vkey + "\nquorum none\n"})
	trust(stepSignature, "receipt-other-ledger", "a receipt under the key of another ledger", []byte(g.h.receipt(g.id).Text()), vectorTrust{VKey: other.vkey})

	w1, w2, w3 := newKey(b.T, "witness.example/1", "w1"), newKey(b.T, "witness.example/2", "w2"), newKey(b.T, "witness.example/3", "w3")
	v1, _ := w1.witnessKey()
	v2, _ := w2.witnessKey()
	policy := vectorTrust{Policy: fmt.Sprintf("log %s\nwitness a %s\nwitness b %s\ngroup g all a b\nquorum g\n", g.h.key.vkey, v1, v2)}
	trust(stepWitnesses, "quorum-none-cosigned", "a policy with witnesses, and no cosignature", g.file(""), policy)
	g.h.witnesses = []keyPair{w1}
	trust(stepWitnesses, "quorum-one-of-two", "one of two witnesses", g.file(""), policy)
	g.h.witnesses = []keyPair{w1, w3}
	trust(stepWitnesses, "quorum-wrong-witness", "two witnesses, one of them unknown", g.file(""), policy)
	g.h.witnesses = []keyPair{w1, w2}
	trust(stepWitnesses, "quorum-forged", "a cosignature with a damaged signature",
		[]byte(damageCosignature(b.T, string(g.file("")), w2.name)), policy)
	b.file(stepSignature, "genesis-of-another-key", "nothing is trusted, and the genesis has another key than the signature",
		renamedKey(b.T).file(""), func(v *vector) { v.Trust = vectorTrust{} })
	b.file(stepSignature, "genesis-key-short", "nothing is trusted, and the genesis has a key of 31 bytes",
		shortKey(b.T).file(""), func(v *vector) { v.Trust = vectorTrust{} })
	b.file(stepSignature, "genesis-key-weak", "nothing is trusted, and the genesis has a key under which one signature fits every message",
		weakKey(b.T).file(""), func(v *vector) { v.Trust = vectorTrust{} })
}

func weakKey(t testing.TB) *game {
	h := open(t, func(g *audit.Genesis) { g.SigningKey = append([]byte{1, 1}, make([]byte, 31)...) })
	return h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
}

// damageCosignature changes one character in every signature by name.
func damageCosignature(t testing.TB, file, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(file, "— "+name+" ")
	if !ok {
		t.Fatalf("no cosignature of %s", name)
	}
	sig, _, _ := strings.Cut(rest, "\\n")
	damaged := sig[:40] + "AAAA" + sig[44:]
	return strings.ReplaceAll(file, sig, damaged)
}

func renamedKey(t testing.TB) *game {
	h := open(t, func(g *audit.Genesis) { g.SigningKey = newKey(t, "x", "another").public() })
	return h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
}

func shortKey(t testing.TB) *game {
	h := open(t, func(g *audit.Genesis) { g.SigningKey = g.SigningKey[:32] })
	return h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
}
