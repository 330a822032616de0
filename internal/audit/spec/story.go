package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// Story is a ledger in the making, by the fields of its entries. Its methods
// make the entry that may come next; then puts it in.
type Story struct {
	Entries []Entry
	Now     uint64
	tapes   map[uint64]Hexed
	serials map[string][]uint64
}

const StoryCap = 3600 // seconds

// NewStory is a genesis and the start of a daemon, entry 1.
func NewStory(changes ...func(*Genesis)) *Story {
	s := &Story{Now: SampleTime, tapes: make(map[uint64]Hexed), serials: make(map[string][]uint64)}
	g := With(Genesis{Revision: 1, Origin: SampleOrigin, SigningKey: SigningKey("1"), Deals: 1, MixModes: 7,
		Disclosure: 1, DefaultCloseBy: 60, MaxCloseBy: StoryCap, Access: 1}, changes...)
	s.Then(Entry{Genesis: &g})
	s.Then(s.Start())
	return s
}

// Then adds e as the next entry and returns its index.
func (s *Story) Then(e Entry) uint64 {
	e = s.Dated(e)
	id := uint64(len(s.Entries))
	if c := e.Commit; c != nil {
		s.serials[c.Context.Table] = append(s.serials[c.Context.Table], id)
		s.tapes[id] = s.tape(&c.Context)
	}
	s.Entries = append(s.Entries, e)
	s.Now = e.Time
	return id
}

// Dated is e with the time and names that it lacks.
func (s *Story) Dated(e Entry) Entry {
	if e.Time == 0 {
		e.Time = s.Now
	}
	if e.Identity == "" {
		e.Identity, e.Credential = e.writer()
	}
	if e.Close != nil && e.Close.Entries == 0 {
		e.Close = &[]Close{*e.Close}[0]
		e.Close.Entries = uint16(EntriesOf(s.Values(), e.Close.Shuffle))
	}
	if e.Disclose != nil && e.Disclose.Entries == 0 {
		e.Disclose = &[]Disclose{*e.Disclose}[0]
		e.Disclose.Entries = uint16(EntriesOf(s.Values(), e.Disclose.Shuffle))
	}
	return e
}

// Genesis is the body of entry 0.
func (s *Story) Genesis() *Genesis { return s.Entries[0].Genesis }

// tape is the tape of the next commit.
func (s *Story) tape(c *Context) Hexed {
	return BytesOf(fmt.Sprint("tape ", len(s.Entries)), TapeLen(c))
}

// Start is the start of a daemon.
func (s *Story) Start() Entry {
	return Entry{Event: &Event{Kind: 1, Build: BytesOf("executable", 32), Config: BytesOf("configuration", 32),
		Version: "1.0.0", Kernel: "6.8.0", VDSO: 2}}
}

// Commit is the next commit of a table: four cards of a deck unless changed.
func (s *Story) Commit(table string, changes ...func(*Context)) Entry {
	ctx := With(Context{Origin: SampleOrigin, Genesis: Sum(s.Entries[0].Bytes()),
		Production: s.Genesis().Production, Table: table, Algorithm: 1, Kind: 1,
		DeckHash: BytesOf("deck", 32), Cards: 4, Take: 4, Disclosure: 1}, changes...)
	c := &Commit{Context: ctx, Serial: 1, CloseBy: s.Now + 60_000, Request: BytesOf("request", 32), Instance: 1,
		KeyTag: KeyTag(ctx.Origin, "dealer-1", ctx.Table, fmt.Sprint("key-", len(s.Entries)))}
	if below := s.serials[ctx.Table]; len(below) > 0 {
		c.Serial, c.Previous = uint64(len(below))+1, below[len(below)-1]
	}
	tape := s.tape(&ctx)
	c.Commitment = Commitment(ctx.Bytes(), tape)
	values, _ := Spend(&ctx, tape)
	c.DeckRoot = DeckRoot(ctx.Bytes(), tape, values)
	return Entry{Commit: c}
}

// Draws makes a context one of a draw list.
func Draws(ranges ...uint32) func(*Context) {
	return func(c *Context) { c.Kind, c.DeckHash, c.Cards, c.Take, c.Ranges = 2, nil, 0, 0, ranges }
}

// NumbersOf makes a context one of m of n numbers.
func NumbersOf(n, m uint64) func(*Context) {
	return func(c *Context) { c.Kind, c.DeckHash, c.Cards, c.Of, c.Take = 3, nil, 0, n, m }
}

// InPublic shows every run of a deal to everybody.
func InPublic(d *Deal) {
	d.Runs = slices.Clone(d.Runs)
	for i := range d.Runs {
		d.Runs[i].Public = true
	}
}

// Planned gives a context its plan.
func Planned(plan ...Source) func(*Context) { return func(c *Context) { c.Plan = plan } }

// ChildOf makes a context one of a child of id.
func ChildOf(id uint64, positions ...uint16) func(*Context) {
	return func(c *Context) {
		c.Parent = &Parent{ID: id, Positions: positions}
		c.Cards, c.Take = uint64(len(positions)), uint64(len(positions))
	}
}

// ToAuditors makes a context one whose tape is for auditors.
func ToAuditors(c *Context) { c.Disclosure = 2 }

// StorySlot is slot number i at a table: its bytes and their hash.
func StorySlot(table string, i int) (Value, Source) {
	r := BytesOf(fmt.Sprint("slot ", table, i), 32)
	return Value{Source: 1, Value: r}, Source{Source: 1, Slot: SlotHash(SampleOrigin, table, r)}
}

// Deal burns cards of a shuffle from place first on.
func (s *Story) Deal(id, firstPlace, cards uint64, changes ...func(*Deal)) Entry {
	d := With(Deal{Shuffle: id, First: firstPlace, Checkpoint: id + 1,
		Runs: []Run{{Cards: cards, Purpose: 3}}}, changes...)
	return Entry{Deal: &d}
}

// Reveal makes places of a shuffle public.
func (s *Story) Reveal(id uint64, places []uint64, changes ...func(*Reveal)) Entry {
	r := With(Reveal{Shuffle: id, Places: places}, changes...)
	return Entry{Reveal: &r}
}

// FinalReveal makes a reveal the last entry in front of the close.
func FinalReveal(r *Reveal) { r.Final = true }

// Exposed makes a reveal one of a card that was seen by mistake.
func Exposed(r *Reveal) { r.Exposed = true }

// Runs are what a deal deals.
func Runs(list ...Run) func(*Deal) { return func(d *Deal) { d.Runs = list } }

// Final makes a deal the last entry in front of the close.
func Final(d *Deal) { d.Final = true }

// Under has a deal name the checkpoint of this size.
func Under(n uint64) func(*Deal) { return func(d *Deal) { d.Checkpoint = n } }

// Mix reveals the values of a plan.
func (s *Story) Mix(id uint64, values ...Value) Entry {
	return Entry{Mix: &Mix{Shuffle: id, Checkpoint: id + 1, Values: values}}
}

// Close ends a shuffle with its tape, in the clear.
func (s *Story) Close(id uint64, outcome uint8, changes ...func(*Close)) Entry {
	c := Close{Shuffle: id, Outcome: outcome, Form: 1, Tape: s.tapes[id]}
	if of := s.Entries[min(id, uint64(len(s.Entries))-1)].Commit; of != nil && len(of.Context.Plan) > 0 &&
		of.Context.Plan[0].Source == 4 {
		c.Blind = &Blind{NoDeal, ForeignHead, nil}
	}
	c = With(c, changes...)
	if outcome == 3 && c.Form == 1 {
		c.Form, c.Tape = 0, nil
	}
	if c.Tape == nil && c.Form != 0 {
		c.Tape = BytesOf("no tape", 57)
	}
	return Entry{Close: &c}
}

// Disclose discloses an ancestor, with its tape in the clear.
func (s *Story) Disclose(id uint64, changes ...func(*Disclose)) Entry {
	d := Disclose{Shuffle: id, Form: 1, Tape: s.tapes[id]}
	if d.Tape == nil {
		d.Tape = BytesOf("no tape", 57)
	}
	d = With(d, changes...)
	return Entry{Disclose: &d}
}

// Sealed makes a close one for auditors, under P-256: 65 bytes of encapsulated key, the
// tape, 16 bytes of tag. What is in them is no question of legality.
func Sealed(key uint64) func(*Close) { return sealedUnder(key, 81) }

// SealedHybrid is sealed with an encapsulated key that has 1,088 bytes of ML-KEM in front.
func SealedHybrid(key uint64) func(*Close) { return sealedUnder(key, 1169) }

func sealedUnder(key uint64, more int) func(*Close) {
	return func(c *Close) { c.Form, c.Key, c.Tape = 2, key, BytesOf("sealed", len(c.Tape)+more) }
}

// Void gives a close its reason.
func Void(reason uint8) func(*Close) { return func(c *Close) { c.Reason = reason } }

// TapeLost makes a close one without its tape.
func TapeLost(c *Close) { c.Reason, c.Form, c.Tape = 10, 0, nil }

// Encoded is the story so far as encodings.
func (s *Story) Encoded() (ledger [][]byte) {
	for _, e := range s.Entries {
		ledger = append(ledger, e.Bytes())
	}
	return ledger
}

// Key is a key entry, by an operator's command.
func (s *Story) Key(k Key) Entry {
	return Entry{Identity: "operator", Credential: "operator", Key: &k}
}

// Disclosure is a disclosure key wrapped to auditors, by name.
func (s *Story) Disclosure(name string, auditors ...string) Entry {
	k := Key{Subject: 2, Public: AuditorKey("disclosure " + name)}
	for _, a := range auditors {
		k.Wraps = append(k.Wraps, Wrap{KeyID(AuditorKey(a)), BytesOf("wrap for "+a, added(k.Public)+32)})
	}
	sortWraps(k.Wraps)
	return s.Key(k)
}

// Auditor puts the auditor key of that name into force.
func (s *Story) Auditor(name string) Entry {
	return s.Key(Key{Subject: 3, Public: AuditorKey(name)})
}

// Retire retires a key.
func (s *Story) Retire(subject uint8, key Hexed) Entry {
	return s.Key(Key{Subject: 5, Retired: subject, ID: KeyID(key), From: s.Now})
}

// WithAuditors gives a genesis the auditor keys of these names.
func WithAuditors(names ...string) func(*Genesis) {
	return func(g *Genesis) {
		for _, n := range names {
			g.Auditors = append(g.Auditors, AuditorKey(n))
		}
	}
}

// Operator is an event by an operator's command.
func Operator(e Event) Entry {
	return Of("operator", EventOf(e))
}

// Of is e by an identity that is reserved, or by one with its first credential.
func Of(identity string, e Entry) Entry {
	e.Identity, e.Credential = identity, identity
	if identity != "daemon" && identity != "operator" {
		e.Credential = firstToken(identity)
	}
	return e
}

func firstToken(identity string) string { return strings.Replace(identity, "dealer", "token", 1) }

// Takeover is one by an identity, to close (1) or to play (2).
func (s *Story) Takeover(id uint64, by string, extent uint8) Entry {
	return Of(by, Entry{Takeover: &Takeover{id, extent, "does not answer"}})
}

// Credential creates the first credential of an identity.
func (s *Story) Credential(identity string, role uint8, changes ...func(*Holder)) Entry {
	return Entry{Holder: SampleHolder(append([]func(*Holder){func(h *Holder) {
		h.ID, h.Identity, h.Role = firstToken(identity), identity, role
	}}, changes...)...)}
}

// Revoke revokes a credential.
func (s *Story) Revoke(id string) Entry {
	return Entry{Holder: &Holder{Kind: 2, ID: id, Reason: "lost"}}
}

// Act approves e, signed by administrators, as the next entry.
func (s *Story) Act(act uint8, e Entry, names ...string) Entry {
	return s.Signed(Act{Act: act, Digest: Approved(s.Dated(e))}, names...)
}

// Signed is an act with the fields that it lacks, as the next entry.
func (s *Story) Signed(a Act, names ...string) Entry {
	for i, e := range s.Entries {
		if e.Act != nil {
			a.Previous = uint64(i)
		}
	}
	if a.HeadRoot == nil {
		a.HeadSize, a.HeadRoot = uint64(len(s.Entries)), BytesOf("head", 32)
	}
	if a.Expires == 0 {
		a.Expires = s.Now + 60_000
	}
	return Entry{Act: SignedAct(s.Entries[0].Bytes(), a, names...)}
}

// Approved puts in an act of two administrators and the entry.
func (s *Story) Approved(act uint8, e Entry) uint64 {
	s.Then(s.Act(act, e, "alice", "bob"))
	return s.Then(e)
}

// Administrator changes one: 1 add, 2 remove, 3 replace.
func (s *Story) Administrator(change uint8, name, key string) Entry {
	k := Key{Subject: 6, Change: change, Name: name}
	if change != 2 {
		k.Public = AdminKey(key)
	}
	return s.Key(k)
}

// TwoPersons changes which acts need two administrators.
func (s *Story) TwoPersons(delay uint32, acts ...uint16) Entry {
	return s.Key(Key{Subject: 7, Acts: acts, Delay: delay})
}

// WithTwo asks for two administrators for acts, in a sandbox.
func WithTwo(acts ...uint16) func(*Genesis) {
	return func(g *Genesis) { g.Admins, g.TwoPersons, g.Delay = Admins("alice", "bob"), acts, 10 }
}

// Production makes a genesis one of production.
func Production(g *Genesis) {
	g.Production = true
	TwoAdmins(g)
}

// KillSwitch sets or clears a kill switch.
func KillSwitch(set bool, scope uint8, table string, deck Hexed) Entry {
	k := Event{Kind: 5, Scope: scope, Table: table, Deck: deck, Reason: "checked"}
	if set {
		k.Kind = 4
	}
	return Operator(k)
}

// Pin names the ledger that commits may name as co-dealer.
func (s *Story) Pin(changes ...func(*Key)) Entry {
	return s.Key(With(Key{Subject: 8, Origin: "lab.example/orders", Public: SigningKey("lab"),
		Policy: WitnessPolicy("w1", "w2")}, changes...))
}

// EntriesOf is how many entries took effect on a shuffle. Behind its close as continued only reveals do.
func EntriesOf(m []audit.Entry, id uint64) (n int) {
	closed := false
	for i, e := range m {
		_, commit := e.Body.(*audit.Commit)
		_, reveal := e.Body.(*audit.Reveal)
		if (commit && uint64(i) == id || !commit && audit.ShuffleOf(e.Body) == id) && (reveal || !closed) {
			n++
		}
		c, ends := e.Body.(*audit.Close)
		closed = closed || ends && c.Shuffle == id
	}
	return n
}

// Values are the entries of the story as the package has them.
func (s *Story) Values() (m []audit.Entry) {
	for _, e := range s.Entries {
		m = append(m, e.Value())
	}
	return m
}

// Revokable is a credential whose id is its identity.
func (s *Story) Revokable(identity string, role uint8) Entry {
	return s.Credential(identity, role, func(h *Holder) { h.ID = identity })
}

// SignedRaw is an act as it is.
func (s *Story) SignedRaw(a Act, names ...string) Entry {
	return Entry{Act: SignedAct(s.Entries[0].Bytes(), a, names...)}
}

// Continued puts in a child and the close of its parent.
func (s *Story) Continued(parent uint64, positions ...uint16) (id uint64) {
	id = s.Then(s.Commit("t", ChildOf(parent, positions...), func(c *Context) {
		c.Disclosure = s.Entries[parent].Commit.Context.Disclosure
	}))
	s.Then(s.Close(parent, 3))
	return id
}

// MLDSASize is the size of the checkpoint of MLDSANote.
const MLDSASize = 11

// MLDSARoot is its root.
var MLDSARoot = make([]byte, 32)

// MLDSANote is a signed checkpoint of the house with lines that follow its own.
func MLDSANote(lines ...string) []byte {
	text := Checkpoint(SampleOrigin, MLDSASize, MLDSARoot)
	own := Sign(text, SampleOrigin, Signer(HouseKey))
	return []byte(Note(text, append([]string{own}, lines...)...))
}

// WitnessLine is the cosignature of that checkpoint by the ML-DSA-44 key of an owner.
func WitnessLine(owner string, time uint64) string {
	return MLDSALine("witness.example/"+owner, owner, time, SampleOrigin, MLDSASize, MLDSARoot)
}

// Flipped has another character of base64 at i.
func Flipped(line string, i int) string {
	c := "A"
	if line[i] == 'A' {
		c = "B"
	}
	return line[:i] + c + line[i+1:]
}

// House is a ledger with its key: the entries of a story, signed by the reference.
type House struct {
	Entries [][]byte
	Leaves  [][]byte
}

const HouseKey = "1" // its signing key, as in NewStory

// NewHouse is a ledger of two shuffles, eleven entries.
func NewHouse() *House {
	s := NewStory()
	id := s.Then(s.Commit("t"))
	s.Then(s.Deal(id, 0, 2))
	next := s.Then(s.Commit("t"))
	s.Then(s.Deal(id, 2, 2, Final))
	s.Then(s.Close(id, 1))
	s.Then(s.Deal(next, 0, 1))
	s.Then(s.Deal(next, 1, 3))
	s.Then(s.Close(next, 2))
	s.Then(Operator(Event{Kind: 3, Table: "t"}))
	h := new(House)
	for _, e := range s.Entries {
		h.Entries = append(h.Entries, e.Bytes())
		h.Leaves = append(h.Leaves, EntryLeaf(e.Bytes()))
	}
	return h
}

// Text is the checkpoint over the first n entries.
func (h *House) Text(n int) string {
	return Checkpoint(SampleOrigin, uint64(n), Root(h.Leaves[:n]))
}

// Signed is the signed checkpoint over the first n entries.
func (h *House) Signed(n int) string {
	return Note(h.Text(n), Sign(h.Text(n), SampleOrigin, Signer(HouseKey)))
}

// Cosigned is Signed with the lines of two witnesses.
func (h *House) Cosigned(n int) string {
	return h.Signed(n) + Cosign(h.Text(n), "witness.example/w1", Signer("w1"), 1_790_000_000) +
		Cosign(h.Text(n), "witness.example/w2", Signer("w2"), 1_790_000_001)
}

// Receipt is the receipt of entry i under a signed checkpoint of size n.
func (h *House) Receipt(i, n int, signed string) string {
	return Receipt(h.Entries[i], uint64(i), Path(i, h.Leaves[:n]), signed)
}

// HouseVerifier is the verifier of a verifier key, by the library of signed notes.
func HouseVerifier(t testing.TB, vkey string) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// LongCheckpoint is a signed checkpoint of n bytes: of the house, and one more signature line that nobody knows.
func LongCheckpoint(n int) string {
	signed := NewHouse().Signed(11)
	for _, name := range []string{"w", "ww", "www", "wwww"} {
		line := "— " + name + " "
		if left := n - len(signed) - len(line) - 1; left%4 == 0 {
			return signed + line + Base64(make([]byte, left/4*3)) + "\n"
		}
	}
	panic("no such length")
}

// CosignedAt is the checkpoint over n entries with a cosignature of each witness at its time.
func (h *House) CosignedAt(n int, times map[string]uint64) string {
	signed := h.Signed(n)
	for _, w := range []string{"w1", "w2", "w3"} {
		if at, ok := times[w]; ok {
			signed += Cosign(h.Text(n), "witness.example/"+w, Signer(w), at)
		}
	}
	return signed
}
