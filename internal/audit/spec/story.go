package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// story is a ledger in the making, by the fields of its entries. Its methods
// make the entry that may come next; then puts it in.
type story struct {
	entries []refEntry
	now     uint64
	tapes   map[uint64]hexed
	serials map[string][]uint64
}

const storyCap = 3600 // seconds

// newStory is a genesis and the start of a daemon, entry 1.
func newStory(changes ...func(*refGenesis)) *story {
	s := &story{now: sampleTime, tapes: make(map[uint64]hexed), serials: make(map[string][]uint64)}
	g := with(refGenesis{Revision: 1, Origin: sampleOrigin, SigningKey: signingKey("1"), Deals: 1, MixModes: 7,
		Disclosure: 1, DefaultCloseBy: 60, MaxCloseBy: storyCap, Access: 1}, changes...)
	s.then(refEntry{Genesis: &g})
	s.then(s.start())
	return s
}

// then adds e as the next entry and returns its index.
func (s *story) then(e refEntry) uint64 {
	e = s.dated(e)
	id := uint64(len(s.entries))
	if c := e.Commit; c != nil {
		s.serials[c.Context.Table] = append(s.serials[c.Context.Table], id)
		s.tapes[id] = s.tape(&c.Context)
	}
	s.entries = append(s.entries, e)
	s.now = e.Time
	return id
}

// dated is e with the time and names that it lacks.
func (s *story) dated(e refEntry) refEntry {
	if e.Time == 0 {
		e.Time = s.now
	}
	if e.Identity == "" {
		e.Identity, e.Credential = e.writer()
	}
	if e.Close != nil && e.Close.Entries == 0 {
		e.Close = &[]refClose{*e.Close}[0]
		e.Close.Entries = uint16(entriesOf(s.values(), e.Close.Shuffle))
	}
	if e.Disclose != nil && e.Disclose.Entries == 0 {
		e.Disclose = &[]refDisclose{*e.Disclose}[0]
		e.Disclose.Entries = uint16(entriesOf(s.values(), e.Disclose.Shuffle))
	}
	return e
}

func (s *story) genesis() *refGenesis { return s.entries[0].Genesis }

// tape is the tape of the next commit.
func (s *story) tape(c *refContext) hexed {
	return bytesOf(fmt.Sprint("tape ", len(s.entries)), refTapeLen(c))
}

func (s *story) start() refEntry {
	return refEntry{Event: &refEvent{Kind: 1, Build: bytesOf("executable", 32), Config: bytesOf("configuration", 32),
		Version: "1.0.0", Kernel: "6.8.0", VDSO: 2}}
}

// commit is the next commit of a table: four cards of a deck unless changed.
func (s *story) commit(table string, changes ...func(*refContext)) refEntry {
	ctx := with(refContext{Origin: sampleOrigin, Genesis: refSum(s.entries[0].bytes()),
		Production: s.genesis().Production, Table: table, Algorithm: 1, Kind: 1,
		DeckHash: bytesOf("deck", 32), Cards: 4, Take: 4, Disclosure: 1}, changes...)
	c := &refCommit{Context: ctx, Serial: 1, CloseBy: s.now + 60_000, Request: bytesOf("request", 32), Instance: 1,
		KeyTag: refKeyTag(ctx.Origin, "dealer-1", ctx.Table, fmt.Sprint("key-", len(s.entries)))}
	if below := s.serials[ctx.Table]; len(below) > 0 {
		c.Serial, c.Previous = uint64(len(below))+1, below[len(below)-1]
	}
	tape := s.tape(&ctx)
	c.Commitment = refCommitment(ctx.bytes(), tape)
	values, _ := refSpend(&ctx, tape)
	c.DeckRoot = refDeckRoot(ctx.bytes(), tape, values)
	return refEntry{Commit: c}
}

// draws makes a context one of a draw list.
func draws(ranges ...uint32) func(*refContext) {
	return func(c *refContext) { c.Kind, c.DeckHash, c.Cards, c.Take, c.Ranges = 2, nil, 0, 0, ranges }
}

// numbers makes a context one of m of n numbers.
func numbers(n, m uint64) func(*refContext) {
	return func(c *refContext) { c.Kind, c.DeckHash, c.Cards, c.Of, c.Take = 3, nil, 0, n, m }
}

// inPublic shows every run of a deal to everybody.
func inPublic(d *refDeal) {
	d.Runs = slices.Clone(d.Runs)
	for i := range d.Runs {
		d.Runs[i].Public = true
	}
}

func planned(plan ...refSource) func(*refContext) { return func(c *refContext) { c.Plan = plan } }

// child makes a context one of a child of id.
func child(id uint64, positions ...uint16) func(*refContext) {
	return func(c *refContext) {
		c.Parent = &refParent{ID: id, Positions: positions}
		c.Cards, c.Take = uint64(len(positions)), uint64(len(positions))
	}
}

func toAuditors(c *refContext) { c.Disclosure = 2 }

// storySlot is slot number i at a table: its bytes and their hash.
func storySlot(table string, i int) (refValue, refSource) {
	r := bytesOf(fmt.Sprint("slot ", table, i), 32)
	return refValue{Source: 1, Value: r}, refSource{Source: 1, Slot: refSlotHash(sampleOrigin, table, r)}
}

// deal burns cards of a shuffle from place first on.
func (s *story) deal(id, firstPlace, cards uint64, changes ...func(*refDeal)) refEntry {
	d := with(refDeal{Shuffle: id, First: firstPlace, Checkpoint: id + 1,
		Runs: []refRun{{Cards: cards, Purpose: 3}}}, changes...)
	return refEntry{Deal: &d}
}

// reveal makes places of a shuffle public.
func (s *story) reveal(id uint64, places []uint64, changes ...func(*refReveal)) refEntry {
	r := with(refReveal{Shuffle: id, Places: places}, changes...)
	return refEntry{Reveal: &r}
}

func finalReveal(r *refReveal) { r.Final = true }

func exposed(r *refReveal) { r.Exposed = true }

// runs are what a deal deals.
func runs(list ...refRun) func(*refDeal) { return func(d *refDeal) { d.Runs = list } }

func final(d *refDeal) { d.Final = true }

func under(n uint64) func(*refDeal) { return func(d *refDeal) { d.Checkpoint = n } }

func (s *story) mix(id uint64, values ...refValue) refEntry {
	return refEntry{Mix: &refMix{Shuffle: id, Checkpoint: id + 1, Values: values}}
}

// close ends a shuffle with its tape, in the clear.
func (s *story) close(id uint64, outcome uint8, changes ...func(*refClose)) refEntry {
	c := refClose{Shuffle: id, Outcome: outcome, Form: 1, Tape: s.tapes[id]}
	if of := s.entries[min(id, uint64(len(s.entries))-1)].Commit; of != nil && len(of.Context.Plan) > 0 &&
		of.Context.Plan[0].Source == 4 {
		c.Blind = &refBlind{noDeal, foreignHead, nil}
	}
	c = with(c, changes...)
	if outcome == 3 && c.Form == 1 {
		c.Form, c.Tape = 0, nil
	}
	if c.Tape == nil && c.Form != 0 {
		c.Tape = bytesOf("no tape", 57)
	}
	return refEntry{Close: &c}
}

// disclose discloses an ancestor, with its tape in the clear.
func (s *story) disclose(id uint64, changes ...func(*refDisclose)) refEntry {
	d := refDisclose{Shuffle: id, Form: 1, Tape: s.tapes[id]}
	if d.Tape == nil {
		d.Tape = bytesOf("no tape", 57)
	}
	d = with(d, changes...)
	return refEntry{Disclose: &d}
}

// sealed makes a close one for auditors, under P-256: 65 bytes of encapsulated key, the
// tape, 16 bytes of tag. What is in them is no question of legality.
func sealed(key uint64) func(*refClose) { return sealedUnder(key, 81) }

// sealedHybrid is sealed with an encapsulated key that has 1,088 bytes of ML-KEM in front.
func sealedHybrid(key uint64) func(*refClose) { return sealedUnder(key, 1169) }

func sealedUnder(key uint64, more int) func(*refClose) {
	return func(c *refClose) { c.Form, c.Key, c.Tape = 2, key, bytesOf("sealed", len(c.Tape)+more) }
}

func void(reason uint8) func(*refClose) { return func(c *refClose) { c.Reason = reason } }

func tapeLost(c *refClose) { c.Reason, c.Form, c.Tape = 10, 0, nil }

// encoded is the story so far as encodings.
func (s *story) encoded() (ledger [][]byte) {
	for _, e := range s.entries {
		ledger = append(ledger, e.bytes())
	}
	return ledger
}

func (s *story) key(k refKey) refEntry {
	return refEntry{Identity: "operator", Credential: "operator", Key: &k}
}

// disclosure is a disclosure key wrapped to auditors, by name.
func (s *story) disclosure(name string, auditors ...string) refEntry {
	k := refKey{Subject: 2, Public: auditorKey("disclosure " + name)}
	for _, a := range auditors {
		k.Wraps = append(k.Wraps, refWrap{refKeyID(auditorKey(a)), bytesOf("wrap for "+a, added(k.Public)+32)})
	}
	sortWraps(k.Wraps)
	return s.key(k)
}

func (s *story) auditor(name string) refEntry {
	return s.key(refKey{Subject: 3, Public: auditorKey(name)})
}

func (s *story) retire(subject uint8, key hexed) refEntry {
	return s.key(refKey{Subject: 5, Retired: subject, ID: refKeyID(key), From: s.now})
}

func withAuditors(names ...string) func(*refGenesis) {
	return func(g *refGenesis) {
		for _, n := range names {
			g.Auditors = append(g.Auditors, auditorKey(n))
		}
	}
}

func operator(e refEvent) refEntry {
	return of("operator", event(e))
}

// of is e by an identity that is reserved, or by one with its first credential.
func of(identity string, e refEntry) refEntry {
	e.Identity, e.Credential = identity, identity
	if identity != "daemon" && identity != "operator" {
		e.Credential = firstToken(identity)
	}
	return e
}

func firstToken(identity string) string { return strings.Replace(identity, "dealer", "token", 1) }

// takeover is one by an identity, to close (1) or to play (2).
func (s *story) takeover(id uint64, by string, extent uint8) refEntry {
	return of(by, refEntry{Takeover: &refTakeover{id, extent, "does not answer"}})
}

// credential creates the first credential of an identity.
func (s *story) credential(identity string, role uint8, changes ...func(*refHolder)) refEntry {
	return refEntry{Holder: sampleHolder(append([]func(*refHolder){func(h *refHolder) {
		h.ID, h.Identity, h.Role = firstToken(identity), identity, role
	}}, changes...)...)}
}

func (s *story) revoke(id string) refEntry {
	return refEntry{Holder: &refHolder{Kind: 2, ID: id, Reason: "lost"}}
}

// act approves e, signed by administrators, as the next entry.
func (s *story) act(act uint8, e refEntry, names ...string) refEntry {
	return s.signed(refAct{Act: act, Digest: refApproved(s.dated(e))}, names...)
}

// signed is an act with the fields that it lacks, as the next entry.
func (s *story) signed(a refAct, names ...string) refEntry {
	for i, e := range s.entries {
		if e.Act != nil {
			a.Previous = uint64(i)
		}
	}
	if a.HeadRoot == nil {
		a.HeadSize, a.HeadRoot = uint64(len(s.entries)), bytesOf("head", 32)
	}
	if a.Expires == 0 {
		a.Expires = s.now + 60_000
	}
	return refEntry{Act: signedAct(s.entries[0].bytes(), a, names...)}
}

// approved puts in an act of two administrators and the entry.
func (s *story) approved(act uint8, e refEntry) uint64 {
	s.then(s.act(act, e, "alice", "bob"))
	return s.then(e)
}

// administrator changes one: 1 add, 2 remove, 3 replace.
func (s *story) administrator(change uint8, name, key string) refEntry {
	k := refKey{Subject: 6, Change: change, Name: name}
	if change != 2 {
		k.Public = adminKey(key)
	}
	return s.key(k)
}

func (s *story) twoPersons(delay uint32, acts ...uint16) refEntry {
	return s.key(refKey{Subject: 7, Acts: acts, Delay: delay})
}

// withTwo asks for two administrators for acts, in a sandbox.
func withTwo(acts ...uint16) func(*refGenesis) {
	return func(g *refGenesis) { g.Admins, g.TwoPersons, g.Delay = admins("alice", "bob"), acts, 10 }
}

func production(g *refGenesis) {
	g.Production = true
	twoAdmins(g)
}

func killSwitch(set bool, scope uint8, table string, deck hexed) refEntry {
	k := refEvent{Kind: 5, Scope: scope, Table: table, Deck: deck, Reason: "checked"}
	if set {
		k.Kind = 4
	}
	return operator(k)
}

// pin names the ledger that commits may name as co-dealer.
func (s *story) pin(changes ...func(*refKey)) refEntry {
	return s.key(with(refKey{Subject: 8, Origin: "lab.example/orders", Public: signingKey("lab"),
		Policy: witnessPolicy("w1", "w2")}, changes...))
}

// entriesOf is how many entries took effect on a shuffle. Behind its close as continued only reveals do.
func entriesOf(m []Entry, id uint64) (n int) {
	closed := false
	for i, e := range m {
		_, commit := e.Body.(*Commit)
		_, reveal := e.Body.(*Reveal)
		if (commit && uint64(i) == id || !commit && ShuffleOf(e.Body) == id) && (reveal || !closed) {
			n++
		}
		c, ends := e.Body.(*Close)
		closed = closed || ends && c.Shuffle == id
	}
	return n
}

// values are the entries of the story as the package has them.
func (s *story) values() (m []Entry) {
	for _, e := range s.entries {
		m = append(m, e.entry())
	}
	return m
}

// revokable is a credential whose id is its identity.
func (s *story) revokable(identity string, role uint8) refEntry {
	return s.credential(identity, role, func(h *refHolder) { h.ID = identity })
}

// signedRaw is an act as it is.
func (s *story) signedRaw(a refAct, names ...string) refEntry {
	return refEntry{Act: signedAct(s.entries[0].bytes(), a, names...)}
}

// continued puts in a child and the close of its parent.
func (s *story) continued(parent uint64, positions ...uint16) (id uint64) {
	id = s.then(s.commit("t", child(parent, positions...), func(c *refContext) {
		c.Disclosure = s.entries[parent].Commit.Context.Disclosure
	}))
	s.then(s.close(parent, 3))
	return id
}

const mldsaSize = 11

var mldsaRoot = make([]byte, 32)

// mldsaNote is a signed checkpoint of the house with lines that follow its own.
func mldsaNote(lines ...string) []byte {
	text := refCheckpoint(sampleOrigin, mldsaSize, mldsaRoot)
	own := refSign(text, sampleOrigin, signer(houseKey))
	return []byte(refNote(text, append([]string{own}, lines...)...))
}

func witnessLine(owner string, time uint64) string {
	return refMLDSALine("witness.example/"+owner, owner, time, sampleOrigin, mldsaSize, mldsaRoot)
}

// flipped has another character of base64 at i.
func flipped(line string, i int) string {
	c := "A"
	if line[i] == 'A' {
		c = "B"
	}
	return line[:i] + c + line[i+1:]
}

// house is a ledger with its key: the entries of a story, signed by the reference.
type house struct {
	entries [][]byte
	leaves  [][]byte
}

const houseKey = "1" // its signing key, as in newStory

// newHouse is a ledger of two shuffles, eleven entries.
func newHouse() *house {
	s := newStory()
	id := s.then(s.commit("t"))
	s.then(s.deal(id, 0, 2))
	next := s.then(s.commit("t"))
	s.then(s.deal(id, 2, 2, final))
	s.then(s.close(id, 1))
	s.then(s.deal(next, 0, 1))
	s.then(s.deal(next, 1, 3))
	s.then(s.close(next, 2))
	s.then(operator(refEvent{Kind: 3, Table: "t"}))
	h := new(house)
	for _, e := range s.entries {
		h.entries = append(h.entries, e.bytes())
		h.leaves = append(h.leaves, refEntryLeaf(e.bytes()))
	}
	return h
}

// text is the checkpoint over the first n entries.
func (h *house) text(n int) string {
	return refCheckpoint(sampleOrigin, uint64(n), refRoot(h.leaves[:n]))
}

func (h *house) signed(n int) string {
	return refNote(h.text(n), refSign(h.text(n), sampleOrigin, signer(houseKey)))
}

func (h *house) cosigned(n int) string {
	return h.signed(n) + refCosign(h.text(n), "witness.example/w1", signer("w1"), 1_790_000_000) +
		refCosign(h.text(n), "witness.example/w2", signer("w2"), 1_790_000_001)
}

// receipt is the receipt of entry i under a signed checkpoint of size n.
func (h *house) receipt(i, n int, signed string) string {
	return refReceipt(h.entries[i], uint64(i), refPath(i, h.leaves[:n]), signed)
}

func houseVerifier(t testing.TB, vkey string) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// longCheckpoint is a signed checkpoint of n bytes: of the house, and one more signature line that nobody knows.
func longCheckpoint(n int) string {
	signed := newHouse().signed(11)
	for _, name := range []string{"w", "ww", "www", "wwww"} {
		line := "— " + name + " "
		if left := n - len(signed) - len(line) - 1; left%4 == 0 {
			return signed + line + refBase64(make([]byte, left/4*3)) + "\n"
		}
	}
	panic("no such length")
}

// cosignedAt is the checkpoint over n entries with a cosignature of each witness at its time.
func (h *house) cosignedAt(n int, times map[string]uint64) string {
	signed := h.signed(n)
	for _, w := range []string{"w1", "w2", "w3"} {
		if at, ok := times[w]; ok {
			signed += refCosign(h.text(n), "witness.example/"+w, signer(w), at)
		}
	}
	return signed
}
