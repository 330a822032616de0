package client

import (
	"crypto/rand"
	"errors"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// house is an operator who holds the signing key and writes whatever it likes.
type house struct {
	t      *testing.T
	signer note.Signer
	vkey   string
	at     int64 // of its entries
	pace   int64 // between two of them
}

// client returns one that has seen nothing of this house yet: each lie is a ledger of its own.
func (h *house) client() *Client {
	h.t.Helper()
	c, err := New(Config{URL: "http://localhost", Ledger: "main", VKey: h.vkey})
	must(h.t, err)
	return c
}

// again returns a shuffle as it was when it was committed.
func (s *Committed) again() *Committed {
	fresh := &Committed{Shuffle: s.Shuffle, Terms: s.Terms, commit: s.commit, entry: s.entry}
	fresh.play = newPlay(fresh)
	fresh.with(func(p *play) { p.bound.Names = fiveNames })
	return fresh
}

func newHouse(t *testing.T) *house {
	t.Helper()
	skey, vkey, err := note.GenerateKey(rand.Reader, "example.com/hostile")
	must(t, err)
	signer, err := note.NewSigner(skey)
	must(t, err)
	return &house{t: t, signer: signer, vkey: vkey, at: 1000}
}

// receipts writes a log of these entries and returns their receipts.
func (h *house) receipts(bodies ...audit.Body) []string {
	h.t.Helper()
	var entries [][]byte
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
		for _, i := range indexes {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	for i, body := range bodies {
		b, err := audit.Entry{Time: h.at + h.pace*int64(i), Actor: as(hostileIdentity), Body: body}.Encode()
		must(h.t, err)
		stored, err := tlog.StoredHashes(int64(i), b, reader)
		must(h.t, err)
		hashes, entries = append(hashes, stored...), append(entries, b)
	}
	n := int64(len(bodies))
	root, err := tlog.TreeHash(n, reader)
	must(h.t, err)
	text := audit.Checkpoint{Origin: h.signer.Name(), Size: uint64(n), Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, h.signer)
	must(h.t, err)
	out := make([]string, n)
	for i := range out {
		proof, err := tlog.ProveRecord(n, int64(i), reader)
		must(h.t, err)
		out[i] = audit.Receipt{Index: uint64(i), Entry: entries[i], Proof: proof, Checkpoint: signed}.Text()
	}
	return out
}

// commit returns a commit to an honest shuffle of three cards, and its tape and tree.
func (h *house) commit() (*audit.Commit, []byte, *openings.DeckTree) {
	h.t.Helper()
	deck, err := shuffle.NewDeck([]string{"a", "b", "c"})
	must(h.t, err)
	c := &audit.Context{Origin: h.signer.Name(), Table: "t", DeckHash: deck.Hash(),
		Recipe: shuffle.Recipe{Cards: 3, Take: 3}, Disclosure: audit.DisclosurePublic}
	tape := make([]byte, c.Recipe.TapeLen())
	rand.Read(tape)
	result, err := c.Recipe.Run(tape)
	must(h.t, err)
	commitment := openings.Commitment(c.Encode(), tape)
	tree := openings.NewDeckTree(openings.LeafTag(commitment, c.Encode()), result.Values, openings.Salts(commitment, tape, 3))
	return &audit.Commit{Context: c, Commitment: commitment, DeckRoot: tree.Root(), Serial: 1, CloseBy: 5000}, tape,
		tree
}

// TestHostileHouse has entries with true signatures and false contents.
func TestHostileHouse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	commit, tape, tree := h.commit()
	s := &Committed{Shuffle: Shuffle{ID: 0, Table: "t", Serial: 1, Commitment: commit.Commitment,
		DeckRoot: Hash(commit.DeckRoot)}, commit: commit}
	other := append([]byte(nil), tape...)
	other[0] ^= 1

	closed := func(c *audit.Close, answer Close, req CloseRequest) error {
		answer.Receipt, answer.Time = h.receipts(commit, c)[1], timestamp(h.at)
		return h.client().proveClose(t.Context(), s.again(), &req, &answer, anyIndex, reply{})
	}
	completed := CloseRequest{Outcome: OutcomeCompleted}
	honest := audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: tape}
	expect(t, "an honest close", closed(&honest, Close{Tape: tape}, completed), false)
	another := honest
	another.Outcome = audit.OutcomeEndedEarly
	expect(t, "another outcome", closed(&another, Close{Tape: tape}, completed), true)
	wrongTape := honest
	wrongTape.Tape = other
	expect(t, "another tape", closed(&wrongTape, Close{Tape: other}, completed), true)
	elsewhere := honest
	elsewhere.Shuffle = 7
	expect(t, "another shuffle's close", closed(&elsewhere, Close{Tape: tape}, completed), true)
	sealed := audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormSealed, Tape: make([]byte, len(tape)+81),
		Key: 1}
	expect(t, "a sealed tape", closed(&sealed, Close{}, completed), true)
	lost := audit.Close{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost}
	void := func(r Reason) CloseRequest { return CloseRequest{Outcome: OutcomeVoid, Reason: &r} }
	expect(t, "a lost tape", closed(&lost, Close{}, void(ReasonTapeLost)), false)
	expect(t, "a lost tape that is told", closed(&lost, Close{Tape: tape}, void(ReasonTapeLost)), true)
	expect(t, "a lost tape that was not asked for", closed(&lost, Close{}, void(ReasonMisdeal)), true)
	h.at = commit.CloseBy
	expect(t, "a lost tape after the time to close", closed(&lost, Close{}, void(ReasonTapeLost)), false)
	expect(t, "a tape after the time to close", closed(&honest, Close{Tape: tape}, completed), true)
	h.at = 1000

	var aside []UnopenedPlace
	dealt := func(d *audit.Deal, req DealRequest, cards ...int) error {
		answer := Deal{Time: timestamp(h.at), Next: req.First + d.Count(), Unopened: aside, Receipt: h.receipts(commit,
			d)[1]}
		for i, position := range cards {
			answer.Cards = append(answer.Cards, cardAt(commit.Context, tree, req.First+i, position))
		}
		_, err := h.client().proveDeal(t.Context(), s.again(), &req, &answer, reply{})
		return err
	}
	two := DealRequest{First: 0, Runs: []Run{{Count: 2, Purpose: PurposeSeat}}}
	runs := []audit.Run{{Count: 2, Purpose: audit.PurposeSeat}}
	expect(t, "an honest deal", dealt(&audit.Deal{Runs: runs}, two, 0, 1), false)
	expect(t, "the second before the first", dealt(&audit.Deal{Runs: runs}, two, 1, 0), true)
	expect(t, "a card less", dealt(&audit.Deal{Runs: runs}, two, 0), true)
	expect(t, "another purpose", dealt(&audit.Deal{Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeBurn}}}, two, 0,
		1), true)
	burnt := DealRequest{First: 0, Runs: []Run{{Count: 1, Purpose: PurposeSeat}, {Count: 1, Purpose: PurposeBurn}}}
	burn := &audit.Deal{Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat}, {Count: 1,
		Purpose: audit.PurposeBurn}}}
	unopened := func(deal *audit.Deal, places ...UnopenedPlace) *audit.Deal { aside = places; return deal }
	expect(t, "a burn", dealt(unopened(burn, UnopenedPlace{Place: 1, Purpose: PurposeBurn}), burnt, 0), false)
	expect(t, "an opened burn", dealt(unopened(burn, UnopenedPlace{Place: 1, Purpose: PurposeBurn}), burnt, 0, 1), true)
	expect(t, "an opened burn that is not told", dealt(unopened(burn), burnt, 0, 1), true)
	expect(t, "a burn that is not told", dealt(unopened(burn), burnt, 0), true)
	expect(t, "a seat for the burn",
		dealt(unopened(burn, UnopenedPlace{Place: 0, Purpose: PurposeSeat}), burnt, 1), true)
	aside = nil
	expect(t, "another recipient", dealt(&audit.Deal{Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat,
		Recipient: "x"}}}, two, 0, 1), true)
	expect(t, "a final deal", dealt(&audit.Deal{Runs: runs, Final: true}, two, 0, 1), true)
	expect(t, "another shuffle's deal", dealt(&audit.Deal{Shuffle: 9, Runs: runs}, two, 0, 1), true)
	expect(t, "another place", dealt(&audit.Deal{First: 1, Runs: runs}, two, 0, 1), true)
}

func expect(t *testing.T, what string, err error, fault bool) {
	t.Helper()
	var f *Fault
	if errors.As(err, &f) != fault || (err == nil) == fault {
		t.Errorf("%s: %v", what, err)
	}
}

// as is the actor of a test: a service with one credential of the same name.
func as(name string) audit.Actor { return audit.Actor{Identity: name, Credential: name} }

// hostileIdentity is of all commits, mixes, deals and closes of a hostile house.
const hostileIdentity = "dealer"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
