package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/host"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// sampler makes evidence that is the same in every run: a ledger whose keys and
// tapes are hashes of counters, at a time that stands still.
type sampler struct {
	t       *testing.T
	signer  note.Signer
	public  []byte
	entries [][]byte
}

const (
	sampleOrigin = "cards.example/sample"
	sampleStart  = 1_773_500_000_000 // 2026-03-14
)

// sampleKey returns the signer and the verifier key of an origin.
func sampleKey(t *testing.T, origin string) (note.Signer, string) {
	t.Helper()
	seed := sha256.Sum256([]byte("sample key " + origin))
	key := ed25519.NewKeyFromSeed(seed[:])
	vkey, err := note.NewEd25519VerifierKey(origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	hash := strings.Split(vkey, "+")[1]
	signer, err := note.NewSigner("PRIVATE+KEY+" + origin + "+" + hash + "+" +
		base64.StdEncoding.EncodeToString(append([]byte{1}, seed[:]...)))
	if err != nil {
		t.Fatal(err)
	}
	return signer, vkey
}

func sampleTape(n int) []byte {
	var tape []byte
	for i := uint64(0); len(tape) < n; i++ {
		block := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("sample tape "), i))
		tape = append(tape, block[:]...)
	}
	return tape[:n]
}

func newSampler(t *testing.T, production bool) *sampler {
	t.Helper()
	signer, vkey := sampleKey(t, sampleOrigin)
	public, err := audit.SigningKey(vkey)
	if err != nil {
		t.Fatal(err)
	}
	s := &sampler{t: t, signer: signer, public: public}
	g := &audit.Genesis{Revision: audit.Revision, Origin: sampleOrigin, Production: production, SigningKey: public,
		Deals:      audit.DealsSigned,
		Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 3600, Access: audit.AccessPublic}
	for _, name := range []string{"alice", "bob"} {
		_, vkey := sampleKey(t, name)
		key, err := audit.SigningKey(vkey)
		if err != nil {
			t.Fatal(err)
		}
		if production {
			g.Administrators = append(g.Administrators, audit.Administrator{Name: name, Key: key})
		}
	}
	g.TwoPersons = host.TwoPersons(g.Administrators)
	s.append(g)
	s.append(&audit.Event{Kind: audit.EventInstanceStart, Name: "devel"})
	return s
}

// append adds an entry, a second after the one before.
func (s *sampler) append(b audit.Body) uint64 {
	s.t.Helper()
	index := len(s.entries)
	encoded, err := audit.Entry{Time: sampleStart + 1000*int64(index), Actor: as("sample"), Body: b}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	s.entries = append(s.entries, encoded)
	return uint64(index)
}

// game is one shuffle of a sampler.
type game struct {
	s      *sampler
	id     uint64
	deck   []string
	tape   []byte
	tree   *openings.DeckTree
	dealt  []audit.Run
	places []uint64 // indexes of the shuffle's entries, the genesis first
}

func (s *sampler) commit(deck []string, c audit.Context) *game {
	s.t.Helper()
	c.Origin, c.Genesis, c.Table = sampleOrigin, sha256.Sum256(s.entries[0]), "poker-7"
	if c.Disclosure == 0 {
		c.Disclosure = audit.DisclosurePublic
	}
	if deck != nil {
		d, err := shuffle.NewDeck(deck)
		if err != nil {
			s.t.Fatal(err)
		}
		c.DeckHash = d.Hash()
	}
	g := &game{s: s, deck: deck, tape: sampleTape(c.Recipe.TapeLen())}
	out, err := c.Recipe.Run(g.tape)
	if err != nil {
		s.t.Fatal(err)
	}
	commitment := openings.Commitment(c.Encode(), g.tape)
	g.tree = openings.NewDeckTree(openings.LeafTag(commitment, c.Encode()), out.Values, openings.Salts(commitment, g.tape,
		len(out.Values)))
	g.id = s.append(&audit.Commit{Context: &c, Commitment: commitment, DeckRoot: g.tree.Root(), Serial: 1,
		CloseBy: sampleStart + 3_600_000, GameRef: "hand-42", Instance: 1})
	g.places = []uint64{0, g.id}
	return g
}

func (g *game) deal(runs ...audit.Run) {
	first := 0
	for _, r := range g.dealt {
		first += r.Count
	}
	g.places = append(g.places, g.s.append(&audit.Deal{Shuffle: g.id, Checkpoint: g.id + 1, First: first, Runs: runs}))
	g.dealt = append(g.dealt, runs...)
}

func (g *game) close() {
	g.places = append(g.places, g.s.append(&audit.Close{Shuffle: g.id, Entries: len(g.places) - 1,
		Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: g.tape}))
}

// receipts proves the given entries under one checkpoint of the whole ledger.
func (s *sampler) receipts(indexes ...uint64) []string {
	s.t.Helper()
	var tree stored
	tree.add(s.t, s.entries...)
	head, err := ledger.SignHead(uint64(tree.size), tree.root(s.t, tree.size), s.signer)
	if err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for _, i := range indexes {
		proof, err := tlog.ProveRecord(tree.size, int64(i), &tree)
		if err != nil {
			s.t.Fatal(err)
		}
		texts = append(texts, audit.Receipt{Index: i, Entry: s.entries[i], Proof: proof,
			Checkpoint: head.Checkpoint}.Text())
	}
	return texts
}

// transcript is the game's file: every dealt card, or one recipient's.
func (g *game) transcript(recipient string) *openings.Transcript {
	g.s.t.Helper()
	f := &openings.Transcript{Format: openings.TranscriptFormat, ID: g.id, Recipient: recipient, Deck: g.deck,
		Cards: []openings.Card{}}
	for _, text := range g.s.receipts(g.places...) {
		receipt, checkpoint, _ := strings.Cut(text, "\n\n")
		f.Checkpoint, f.Receipts = checkpoint, append(f.Receipts, receipt+"\n\n")
	}
	place := 0
	for _, r := range g.dealt {
		for range r.Count {
			if recipient == "" || r.Public || r.Recipient == recipient {
				o, name := g.tree.Open(place), ""
				if g.deck != nil {
					name = g.deck[o.Value]
				}
				f.Cards = append(f.Cards, openings.NewCard(place, o, name))
			}
			place++
		}
	}
	return f
}

func marshal(t *testing.T, f *openings.Transcript) []byte {
	t.Helper()
	b, err := f.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// samples are the files that scripts and golden tests look at, by name.
func samples(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	standard, _ := shuffle.Named("standard-52")
	seats := []audit.Run{
		{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"},
		{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-2"},
	}
	board := []audit.Run{{Count: 1, Purpose: audit.PurposeBurn}, {Count: 5, Purpose: audit.PurposeBoard, Public: true}}
	whole := shuffle.Recipe{Cards: 52, Take: 52}

	g := newSampler(t, false).commit(standard.Cards(), audit.Context{Recipe: whole})
	g.deal(seats...)
	g.deal(board...)
	files["open.json"] = marshal(t, g.transcript("seat-1"))
	files["commit.receipt"] = []byte(g.s.receipts(g.id)[0])
	g.close()
	files["good.json"] = marshal(t, g.transcript(""))

	altered := g.transcript("")
	altered.Cards[4].Value, altered.Cards[4].Card = 0, "As"
	if g.deck[g.tree.Open(4).Value] == "As" {
		t.Fatal("the altered card is the true one")
	}
	files["tampered.json"] = marshal(t, altered)
	files["spaces.json"] = append([]byte(" "), files["good.json"]...)
	files["cut.json"] = files["good.json"][:len(files["good.json"])-1]

	g = newSampler(t, true).commit([]string{"red", "black", "green", "Ace of cups"}, audit.Context{Production: true,
		Recipe: shuffle.Recipe{Cards: 4, Take: 3, EndLo: 1, EndHi: 3}})
	g.deal(audit.Run{Count: 3, Purpose: audit.PurposeBoard, Public: true})
	g.close()
	files["custom.json"] = marshal(t, g.transcript(""))

	g = newSampler(t, false).commit(nil, audit.Context{Recipe: shuffle.Recipe{Ranges: []uint32{6, 6, 1, 37, 1 << 20}}})
	g.deal(audit.Run{Count: 5, Purpose: audit.PurposeBoard, Public: true})
	g.close()
	files["draws.json"] = marshal(t, g.transcript(""))

	// What a stranger may put into a file to fool anyone who looks at it.
	evil := g.transcript("")
	evil.Deck = []string{"\x1b[2J\x1b]0;owned\a", "\u009b31m\u202e"}
	files["escape.json"] = marshal(t, evil)
	evil.Recipient = "\x1b[2J"
	files["escape-recipient.json"] = marshal(t, evil)
	files["escape-member.json"] = []byte("{\"\x1b[2J\u009b\":1}")
	files["later.json"] = []byte(strings.Replace(string(files["good.json"]), "shuffled/v1/", "shuffled/v9/", 1))

	_, vkey := sampleKey(t, sampleOrigin)
	files["good.vkey"] = []byte(vkey + "\n")
	_, vkey = sampleKey(t, "other.example")
	files["other.vkey"] = []byte(vkey + "\n")
	witness, err := keys.GenerateWitness("witness.example") // who has cosigned nothing
	if err != nil {
		t.Fatal(err)
	}
	files["policy"] = fmt.Appendf(nil, "log %s\nquorum none\n", strings.TrimSpace(string(files["good.vkey"])))
	files["witness-policy"] = fmt.Appendf(nil, "log %s\nwitness w1 %s\nquorum w1\n",
		strings.TrimSpace(string(files["good.vkey"])), witness.VKey())
	return files
}
