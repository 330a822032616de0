package verify

import (
	"cmp"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/shuffle"
)

// start is the time of every test ledger's genesis, 2026-03-14T15:09:26.535Z.
const start = 1773500966535

// seeded returns n bytes that look random and are always the same.
func seeded(label string, n int) []byte {
	var b []byte
	for i := uint64(0); len(b) < n; i++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(label), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}

// hybrid returns a key that is sealed to, as entries carry it.
func hybrid(label string) []byte {
	key, err := hpke.MLKEM768P256().NewPrivateKey(seeded(label, 32))
	if err != nil {
		panic(err)
	}
	return append([]byte{0x02}, key.PublicKey().Bytes()...)
}

func hash32(label string) [32]byte { return [32]byte(seeded(label, 32)) }

// keyPair is an Ed25519 key of a signed note, from a fixed seed.
type keyPair struct {
	name, vkey string
	private    ed25519.PrivateKey
}

func newKey(t testing.TB, name, seed string) keyPair {
	t.Helper()
	private := ed25519.NewKeyFromSeed(seeded(seed, 32))
	vkey, err := note.NewEd25519VerifierKey(name, private.Public().(ed25519.PublicKey))
	must(t, err)
	return keyPair{name, vkey, private}
}

// public returns the key as entries carry it.
func (k keyPair) public() []byte {
	return append([]byte{0x01}, k.private.Public().(ed25519.PublicKey)...)
}

func (k keyPair) signer(t testing.TB) note.Signer {
	t.Helper()
	hash := strings.Split(k.vkey, "+")[1]
	seed := append([]byte{0x01}, k.private.Seed()...)
	s, err := note.NewSigner("PRIVATE+KEY+" + k.name + "+" + hash + "+" + base64.StdEncoding.EncodeToString(seed))
	must(t, err)
	return s
}

// witnessKey returns the key as a witness line of a policy has it, and its hash.
func (k keyPair) witnessKey() (vkey string, hash uint32) {
	public := append([]byte{0x04}, k.private.Public().(ed25519.PublicKey)...)
	h := sha256.Sum256(append([]byte(k.name+"\n"), public...))
	hash = binary.BigEndian.Uint32(h[:])
	return fmt.Sprintf("%s+%08x+%s", k.name, hash, base64.StdEncoding.EncodeToString(public)), hash
}

// witnessTime is when witnesses cosign, 2026-03-14T15:09:31Z.
const witnessTime = start/1000 + 5

// cosign returns the signature line of a C2SP cosignature/v1 at witnessTime.
func (k keyPair) cosign(text string) string { return k.cosignAt(text, witnessTime) }

func (k keyPair) cosignAt(text string, seconds uint64) string {
	return k.cosignLine(seconds, ed25519.Sign(k.private,
		fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, text)))
}

func (k keyPair) cosignLine(seconds uint64, sig []byte) string {
	_, hash := k.witnessKey()
	b := binary.BigEndian.AppendUint32(nil, hash)
	b = binary.BigEndian.AppendUint64(b, seconds)
	return fmt.Sprintf("— %s %s\n", k.name, base64.StdEncoding.EncodeToString(append(b, sig...)))
}

// house is a ledger in a test: everything an operator has, honest or not.
type house struct {
	t         testing.TB
	key       keyPair
	long      []longKey // of ML-DSA-44 in force: one or none
	witnesses []keyPair
	cosigners []longKey    // witnesses that cosign with ML-DSA-44
	state     *rules.State // refuses what is illegal; nil: a house that cheats
	now       int64
	entries   [][]byte
	hashes    []tlog.Hash // stored hashes, in tlog's order
	instance  uint64
	handed    []audit.Receipt // member keys of its files
	dealer    audit.Actor     // who writes what is of shuffles
	act       uint64          // index of the newest act, 0 for none
	hired     map[audit.Actor]bool
}

// honest is the genesis that the cases start from.
func honest(key keyPair) *audit.Genesis {
	return &audit.Genesis{
		Revision: audit.Revision, Origin: key.name, Production: true, SigningKey: key.public(),
		AuditorKeys: [][]byte{hybrid("auditor key")},
		Deals:       audit.DealsSigned, MixModes: 7, Disclosure: audit.DisclosurePublic,
		DefaultCloseBy: 3600, MaxCloseBy: 86400, Access: audit.AccessPublic,
		Administrators: []audit.Administrator{{Name: "alice", Key: adminKey("alice").public()},
			{Name: "bob", Key: adminKey("bob").public()}},
		TwoPersons: []audit.Act{audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover,
			audit.ActTwoPersons, audit.ActCoDealer},
		Delay: 86400,
	}
}

// adminKey is an administrator's, who signs no notes.
func adminKey(name string) keyPair {
	return keyPair{name: name, private: ed25519.NewKeyFromSeed(seeded("administrator "+name, 32))}
}

// open starts a ledger with genesis, instance, disclosure key and the credential of its dealer.
func open(t testing.TB, change ...func(*audit.Genesis)) *house {
	t.Helper()
	return openAs(t, mainKey(t), change...)
}

func openAs(t testing.TB, key keyPair, change ...func(*audit.Genesis)) *house {
	t.Helper()
	h := &house{t: t, key: key, state: rules.NewState(), now: start, dealer: service("dealer"),
		hired: map[audit.Actor]bool{}}
	g := honest(h.key)
	for _, f := range change {
		f(g)
	}
	h.add(g)
	h.instance = h.add(&audit.Event{Kind: audit.EventInstanceStart, Build: hash32("build"), Config: hash32("config"),
		Name: "1.0.0"})
	if len(g.AuditorKeys) > 0 {
		h.add(&audit.Key{Subject: audit.SubjectDisclosure, Public: hybrid("disclosure key"),
			Wraps: []audit.Wrap{{Auditor: audit.KeyID(g.AuditorKeys[0]), Sealed: seeded("wrap", 1201)}}})
	}
	h.hire(h.dealer)
	return h
}

// admin voids what lost its tape.
var admin = service("admin")

// service is an identity with one credential.
func service(name string) audit.Actor {
	return audit.Actor{Identity: name, Credential: name + "-1"}
}

// hire makes the credential of an actor, unless it has one, at the time of the entry before.
func (h *house) hire(who audit.Actor) {
	h.t.Helper()
	if h.hired[who] {
		return
	}
	h.hired[who] = true
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: who.Credential, Form: audit.FormToken,
		Role: audit.RoleDealer, Identity: who.Identity}
	if who == admin {
		c.Role = audit.RoleAdmin
	}
	c.Digest = c.Opens(hash32("secret of " + who.Credential))
	if who == admin {
		h.approve(audit.ActAdminCredential, audit.Daemon, c)
	}
	h.now -= 1000
	h.add(c)
}

// approve writes the act by which both administrators approve what who adds next.
func (h *house) approve(act audit.Act, who audit.Actor, body audit.Body) {
	h.t.Helper()
	a := &audit.ActEntry{Act: act, Digest: audit.Approved(who.Identity, body), Previous: h.act, HeadSize: 1,
		HeadRoot: tlog.RecordHash(h.entries[0]), Expires: h.now + 3600_000}
	signed := a.Signed(sha256.Sum256(h.entries[0]))
	for _, name := range []string{"alice", "bob"} {
		s := audit.ActSignature{Administrator: name}
		copy(s.Signature[:], ed25519.Sign(adminKey(name).private, signed))
		a.Signatures = append(a.Signatures, s)
	}
	h.act = h.add(a)
}

// openEdited starts a ledger whose genesis no writer makes.
func openEdited(t testing.TB, edit func(genesis []byte) []byte) *house {
	t.Helper()
	h := open(t).cheating()
	entries := h.entries
	h.entries, h.hashes = nil, nil
	h.addBytes(edit(entries[0]))
	for _, e := range entries[1:] {
		h.addBytes(e)
	}
	return h
}

// cheating makes the house write what its sequencer would refuse.
func (h *house) cheating() *house {
	h.state = nil
	return h
}

// add appends an entry one second after the last and returns its index.
func (h *house) add(body audit.Body) uint64 {
	h.t.Helper()
	if h.actorOf(body) == admin && h.state != nil {
		h.hire(admin)
	}
	h.now += 1000
	e := audit.Entry{Time: h.now, Actor: h.actorOf(body), Body: body}
	b, err := e.Encode()
	must(h.t, err)
	if h.state != nil {
		must(h.t, h.state.Apply(e))
	}
	return h.addBytes(b)
}

func (h *house) addBytes(entry []byte) uint64 {
	h.t.Helper()
	index := uint64(len(h.entries))
	stored, err := tlog.StoredHashesForRecordHash(int64(index), tlog.RecordHash(entry), h.reader())
	must(h.t, err)
	h.entries, h.hashes = append(h.entries, entry), append(h.hashes, stored...)
	return index
}

func (h *house) reader() tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, h.hashes[i])
		}
		return out, nil
	})
}

// text returns the checkpoint of all entries.
func (h *house) text() string {
	h.t.Helper()
	root, err := tlog.TreeHash(int64(len(h.entries)), h.reader())
	must(h.t, err)
	return audit.Checkpoint{Origin: h.key.name, Size: uint64(len(h.entries)), Root: root}.Text()
}

// head returns the signed checkpoint of all entries, cosigned by the witnesses.
func (h *house) head() []byte {
	h.t.Helper()
	text := h.text()
	head := signed(h.t, text, h.key)
	for _, k := range h.long {
		head = append(head, k.line(h.t, text, 0)...)
	}
	for _, k := range h.cosigners {
		head = append(head, k.line(h.t, text, witnessTime)...)
	}
	for _, w := range h.witnesses {
		head = append(head, w.cosign(text)...)
	}
	return head
}

func (h *house) receipt(index uint64) audit.Receipt {
	h.t.Helper()
	return h.receiptUnder(index, h.head())
}

// receiptUnder is the receipt of an entry under a checkpoint of all entries.
func (h *house) receiptUnder(index uint64, head []byte) audit.Receipt {
	h.t.Helper()
	proof := h.path(index, uint64(len(h.entries)))
	return audit.Receipt{Index: index, Entry: h.entries[index], Proof: proof, Checkpoint: head}
}

func mainKey(t testing.TB) keyPair { return newKey(t, "example.com/main", "ledger key") }

// game is one shuffle of a house, with everything it keeps secret.
type game struct {
	h         *house
	id        uint64
	commit    *audit.Commit
	deck      []string
	tape      []byte
	values    []uint32
	tree      *openings.DeckTree
	order     openings.Order
	indexes   []uint64 // its entries
	deals     []*audit.Deal
	closed    *audit.Close
	disclosed bool   // after it was continued
	early     string // checkpoint of the member witnessed of its files
	stated    []string

	revealed []int // places

	other func() audit.Head // of a co-dealer, for the close
}

var sixCards = []string{"Ace", "King", "Queen", "Jack", "Ten", "Nine"}

// cards returns the context of a whole custom deck.
func (h *house) cards(deck []string) *audit.Context {
	h.t.Helper()
	d, err := shuffle.NewDeck(deck)
	must(h.t, err)
	return &audit.Context{Origin: h.key.name, Genesis: sha256.Sum256(h.entries[0]), Production: true, Table: "table-1",
		DeckHash: d.Hash(),
		Recipe:   shuffle.Recipe{Cards: len(deck), Take: len(deck)}, Disclosure: audit.DisclosurePublic}
}

// draws returns the context of a draw list.
func (h *house) draws(ranges ...uint32) *audit.Context {
	return &audit.Context{Origin: h.key.name, Genesis: sha256.Sum256(h.entries[0]), Production: true, Table: "table-1",
		Recipe: shuffle.Recipe{Ranges: ranges}, Disclosure: audit.DisclosurePublic}
}

// numbers are m of n without repeats.
func (h *house) numbers(n, m int) *audit.Context {
	ctx := h.draws()
	must(h.t, ctx.TakeNumbers(n, m))
	return ctx
}

// commitTo draws a tape and commits to it. change may make the commit dishonest.
func (h *house) commitTo(ctx *audit.Context, deck []string, change ...func(*audit.Commit, *game)) *game {
	h.t.Helper()
	g := &game{h: h, deck: deck, tape: seeded(fmt.Sprintf("tape %d", len(h.entries)), ctx.Recipe.TapeLen())}
	g.id = uint64(len(h.entries))
	serial, previous := h.next(ctx.Table)
	c := &audit.Commit{Context: ctx, Serial: serial, Previous: previous, CloseBy: h.now + 1000 + 3600_000,
		GameRef: "hand-1", KeyTag: hash32(fmt.Sprintf("key %d", g.id)), Request: hash32("request"),
		Instance: h.instance}
	g.lay(c)
	for _, f := range change {
		f(c, g)
	}
	g.commit = c
	g.indexes = append(g.indexes, h.add(c))
	return g
}

// lay computes commitment, order and tree from the tape. A child's values are
// indexes of its parent here; child puts in the cards.
func (g *game) lay(c *audit.Commit) {
	g.h.t.Helper()
	c.Commitment = openings.Commitment(c.Context.Encode(), g.tape)
	out, err := c.Context.Recipe.Run(g.tape)
	must(g.h.t, err)
	g.plant(c, out.Values)
}

// plant builds the tree over values.
func (g *game) plant(c *audit.Commit, values []uint32) {
	g.values = values
	g.tree = openings.NewDeckTree(openings.TagOf(c), values, openings.Salts(c.Commitment, g.tape, len(values)))
	c.DeckRoot = g.tree.Root()
}

func (h *house) next(table string) (serial, previous uint64) {
	if h.state != nil {
		return h.state.Next(table)
	}
	return 1, 0
}

// add writes a mix or deal that names no checkpoint under the first that covers the commit.
func (g *game) add(body audit.Body) {
	g.h.t.Helper()
	switch b := body.(type) {
	case *audit.Mix:
		b.Checkpoint = cmp.Or(b.Checkpoint, g.id+1)
	case *audit.Deal:
		b.Checkpoint = cmp.Or(b.Checkpoint, g.id+1)
	case *audit.Close:
		b.Entries = cmp.Or(b.Entries, len(g.indexes))
	case *audit.DisclosureEntry:
		b.Entries = cmp.Or(b.Entries, len(g.indexes))
	}
	g.indexes = append(g.indexes, g.h.add(body))
}

func (g *game) mix(values ...audit.MixValue) *game {
	g.h.t.Helper()
	return g.mixAs(&audit.Mix{Shuffle: g.id, Values: values})
}

func (g *game) mixAs(m *audit.Mix) *game {
	g.h.t.Helper()
	g.add(m)
	order, err := openings.NewOrder(tlog.RecordHash(g.h.entries[g.id]), g.commit, m)
	must(g.h.t, err)
	g.order = order
	return g
}

// deal deals the runs at the next place.
func (g *game) deal(runs ...audit.Run) *game {
	g.h.t.Helper()
	return g.dealAs(&audit.Deal{Shuffle: g.id, First: g.next(), Runs: runs})
}

func (g *game) dealAs(d *audit.Deal) *game {
	g.h.t.Helper()
	g.add(d)
	g.deals = append(g.deals, d)
	return g
}

// witness puts the head of now into the game's files.
func (g *game) witness() *game {
	g.h.t.Helper()
	g.early = string(g.h.head())
	return g
}

// takeOver makes another dealer the one who writes, and the shuffle's owner.
func (g *game) takeOver(by string, extent audit.Extent) *game {
	g.h.t.Helper()
	t := &audit.Takeover{Shuffle: g.id, Extent: extent, Reason: "the dealer does not answer"}
	who := service(by)
	if g.h.state != nil {
		g.h.hire(who)
		if extent == audit.ExtentPlay {
			g.h.approve(audit.ActTakeover, who, t)
		}
	}
	g.h.dealer = who
	g.add(t)
	return g
}

func (g *game) next() (n int) {
	for _, d := range g.deals {
		n += d.Count()
	}
	return n
}

func (g *game) close(outcome audit.Outcome, reason audit.Reason) *game {
	g.h.t.Helper()
	c := &audit.Close{Shuffle: g.id, Outcome: outcome, Reason: reason, Form: audit.FormTape, Tape: g.tape}
	if g.commit.Context.Disclosure == audit.DisclosureAuditor {
		c.Form, c.Key, c.Tape = audit.FormSealed, 2, seeded("sealed", len(g.tape)+1169)
	}
	if reason == audit.ReasonTapeLost || outcome == audit.OutcomeContinued {
		c.Form, c.Key, c.Tape = audit.FormNone, 0, nil
	}
	return g.closeAs(c)
}

// disclose discloses the tape of a shuffle that was continued.
func (g *game) disclose() *game {
	g.h.t.Helper()
	d := &audit.DisclosureEntry{Shuffle: g.id, Form: audit.FormTape, Tape: g.tape}
	if g.commit.Context.Disclosure == audit.DisclosureAuditor {
		d.Form, d.Key, d.Tape = audit.FormSealed, 2, seeded("sealed", len(g.tape)+1169)
	}
	g.add(d)
	g.disclosed = true
	return g
}

func (g *game) closeAs(c *audit.Close) *game {
	g.h.t.Helper()
	if g.other != nil && c.Blind == nil {
		c.Blind = &audit.Blind{Head: g.other()}
	}
	g.add(c)
	g.closed = c
	return g
}

// transcript returns the file that the house would serve to its dealer: all
// dealt cards; with a recipient, those and the public ones.
func (g *game) transcript(recipient string) *openings.Transcript {
	g.h.t.Helper()
	f := &openings.Transcript{Format: openings.TranscriptFormat, ID: g.id, Recipient: recipient, Deck: g.deck,
		Checkpoint: string(g.h.head()), Receipts: []string{g.h.bare(0)},
		Witnessed: g.h.prefix(g.early), Statements: g.stated, Cards: []openings.Card{}}
	for _, r := range g.h.handed {
		f.Keys = append(f.Keys, audit.Handover{Receipt: g.h.bare(r.Index), Checkpoint: string(r.Checkpoint)})
	}
	for _, i := range g.indexes {
		f.Receipts = append(f.Receipts, g.h.bare(i))
	}
	place := 0
	for _, d := range g.deals {
		for _, r := range d.Runs {
			for range r.Count {
				revealed := slices.Contains(g.revealed, place)
				mine := recipient == "" || r.Public || r.Recipient == recipient
				if (revealed || mine && (!r.Aside() || g.taped())) && g.order.Position(place) >= 0 {
					f.Cards = append(f.Cards, g.card(place))
				}
				place++
			}
		}
	}
	return f
}

// bare is a receipt as a transcript has it, without the checkpoint of all.
func (h *house) bare(index uint64) string { return h.receiptUnder(index, nil).Text() }

// prefix proves an earlier head in the tree of now; nil for "".
func (h *house) prefix(head string) *openings.Prefix {
	h.t.Helper()
	if head == "" {
		return nil
	}
	c, err := audit.CheckpointText([]byte(head))
	must(h.t, err)
	return &openings.Prefix{Checkpoint: head, Last: h.receiptUnder(min(c.Size, uint64(len(h.entries)))-1, nil).Last()}
}

// card opens what a place shows.
func (g *game) card(place int) openings.Card {
	o := g.tree.Open(g.order.Position(place))
	name := ""
	if int(o.Value) < len(g.deck) { // a cheating house may plant others
		name = g.deck[o.Value]
	}
	return openings.NewCard(place, o, name)
}

// taped reports whether the close discloses the tape to somebody.
func (g *game) taped() bool {
	return g.disclosed || g.closed != nil && g.closed.Form != audit.FormNone
}

func (g *game) file(recipient string) []byte {
	g.h.t.Helper()
	return marshal(g.h.t, g.transcript(recipient))
}

func marshal(t testing.TB, f *openings.Transcript) []byte {
	t.Helper()
	b, err := f.Marshal()
	must(t, err)
	return b
}

func seat(name string, n int) audit.Run {
	return audit.Run{Count: n, Purpose: audit.PurposeSeat, Recipient: name}
}

// shown is for everybody to see, as numbers are.
func shown(r audit.Run) audit.Run {
	r.Public = true
	return r
}

// ofRound makes a run one of a round.
func ofRound(n uint16, r audit.Run) audit.Run {
	r.Round = n
	return r
}

func board(n int) audit.Run {
	return audit.Run{Count: n, Purpose: audit.PurposeBoard, Public: true}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// signed returns a note of text, signed by key.
func signed(t testing.TB, text string, key keyPair) []byte {
	t.Helper()
	b, err := note.Sign(&note.Note{Text: text}, key.signer(t))
	must(t, err)
	return b
}

// storedCount is the number of stored hashes of a tree of n leaves.
func storedCount(n uint64) int64 { return tlog.StoredHashCount(int64(n)) }

// actorOf is who writes an entry with this body: the dealer what is of shuffles, except that the daemon closes what
// expired and an administrator what lost its tape, and the daemon everything else.
func (h *house) actorOf(body audit.Body) audit.Actor {
	switch b := body.(type) {
	case *audit.Close:
		switch {
		case b.Outcome == audit.OutcomeExpired:
			return audit.Daemon
		case b.Reason == audit.ReasonTapeLost:
			return admin
		}
		return h.dealer
	case *audit.Commit, *audit.Mix, *audit.Deal, *audit.Takeover, *audit.Reveal, *audit.DisclosureEntry:
		return h.dealer
	}
	return audit.Daemon
}
