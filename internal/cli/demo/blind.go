package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/place"
	"shuffled/internal/keys"
	"shuffled/internal/needle"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// The blind demonstration's files.
const (
	blindFile  = "blind.json"
	lookedFile = "looked.json"
)

// blindly is the demonstration of docs/BLIND.md: two daemons deal, and root at the house searches for the next card.
type blindly struct {
	*demo
	*pair
	game *client.Client // of the house
	way  *client.Client // with the token of the house's daemon at the co-dealer
}

// playBlind plays the blind demonstration.
func (d *demo) playBlind(ctx context.Context, dir string) (err error) {
	fmt.Fprintln(d.out, d.P.Bold("shuffled demo --blind: nobody at the house knows the next card"))
	b := &blindly{demo: d}
	if b.pair, err = openPair(ctx, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	d.trust = verify.Trust{Policy: []byte(b.casino.policy), CoDealer: []byte(b.lab.policy)}
	d.files["house.policy"], d.files["lab.policy"] = []byte(b.casino.policy), []byte(b.lab.policy)
	of := func(d *daemon, token string) (*client.Client, error) {
		return client.New(client.Config{URL: d.url, Ledger: "main", Token: token, Policy: d.policy})
	}
	if b.game, err = of(b.casino, b.pair.game); err == nil {
		b.way, err = of(b.lab, b.pair.way)
	}
	if err != nil {
		return err
	}
	d.say("A house commits to which card lies at each position. Another organisation, its co-dealer, commits to which position comes next. Each runs a daemon with keys and a database of its own; one witness sees both ledgers.")
	d.facts("house", fmt.Sprintf("%s, process %d", b.casino.origin, b.casino.process.Process.Pid),
		"co-dealer", fmt.Sprintf("%s, process %d", b.lab.origin, b.lab.process.Process.Pid))
	if err := b.root(ctx); err != nil {
		return err
	}
	return b.early(ctx)
}

// commit commits to a hand, and deals two cards to each of two players.
func (b *blindly) commit(ctx context.Context) (*client.Committed, error) {
	s, err := b.game.Commit(ctx, client.NewKey(), client.ShuffleRequest{Table: demoTable, Deck: new("standard-52"),
		Mix: &client.MixPlan{CoDealer: new(client.MixPlanCoDealer(true))}})
	if err != nil {
		return nil, err
	}
	if err := b.game.Await(ctx, s); err != nil {
		return nil, err
	}
	_, err = b.game.Deal(ctx, s, client.DealRequest{Runs: []client.Run{
		{Count: 2, Purpose: client.PurposeSeat, Recipient: new("seat-1")},
		{Count: 2, Purpose: client.PurposeSeat, Recipient: new("seat-2")}}})
	return s, err
}

// root searches the house's host for the next card.
func (b *blindly) root(ctx context.Context) error {
	s, err := b.commit(ctx)
	if err != nil {
		return err
	}
	b.act("1. Two players are dealt in. Root at the house looks for the flop")
	a, err := openTape(b.casino, s.ID)
	if err != nil {
		return err
	}
	planned, _ := a.commit.Context.CoDealer()
	of, err := openTape(b.lab, planned.Index)
	if err != nil {
		return err
	}
	b.say("Root has the sealing key, and with it the house's tape: the card at each of 52 positions, the first of them %s. He does not know which position comes next. The demonstration does, from the co-dealer's own disk, and looks for it in every form that a program writes it in: the co-dealer's tape, its order, the cards in that order.",
		strings.Join(a.names(a.values[:3]), ", "))
	if err := b.search(a, of); err != nil {
		return err
	}
	if _, err := b.game.Deal(ctx, s, client.DealRequest{First: handFlop, Runs: askedFlop}); err != nil {
		return err
	}
	v, err := b.finish(ctx, s, client.CloseRequest{Outcome: client.OutcomeCompleted}, blindFile)
	if err != nil {
		return err
	}
	b.say("Then the game asks for the flop. The co-dealer enters the request in its ledger, and opens the positions of three cards and none of the burn:")
	b.show(term.DrawHands(b.P, hands(slices.Concat(demoSeats, demoFlop), v.Cards), b.W))
	b.say("%s, as a player checks it, under one policy for the house and one for the co-dealer:", blindFile)
	b.show(b.Steps(pick(v.Steps, "openings", "asked", "co_dealer")))
	b.show(b.Proved(v))
	return nil
}

// handFlop is where the flop begins: behind two cards each of two players.
const handFlop = 4

// The runs of the flop, as an entry has them and as a request does.
var (
	demoFlop = []audit.Run{{Count: 1, Purpose: audit.PurposeBurn},
		{Count: 3, Purpose: audit.PurposeBoard, Public: true}}
	askedFlop = []client.Run{{Count: 1, Purpose: client.PurposeBurn},
		{Count: 3, Purpose: client.PurposeBoard, Public: new(true)}}
)

// search searches memory, files and log of the house for what only the co-dealer has. It also searches for the
// house's own sealing key, to show that the search finds what is there.
func (b *blindly) search(a, of *openedTape) error {
	n := needle.New()
	n.Bytes("co-dealer's tape", of.tape)
	var cards []uint32
	for _, position := range of.values[handFlop:] {
		cards = append(cards, a.values[position])
	}
	n.Values("co-dealer's order", of.values[handFlop:], 12)
	n.Values("cards to come", cards, 12)
	n.Words("cards to come", a.names(cards), 12)
	n.Bytes(ownKey, a.key)
	leaked, own := "", map[string]int{}
	found := func(one needle.Needle, where string) {
		if kind, _, _ := strings.Cut(where, " "); one.What == ownKey {
			own[kind]++
		} else {
			leaked = fmt.Sprintf("the %s, as %s, in %s", one.What, one.Kind, where)
		}
	}
	disk, err := n.Files(b.casino.dir, found)
	if err != nil {
		return err
	}
	memory, err := n.Memory(b.casino.process.Process.Pid, found)
	unread := errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, errors.ErrUnsupported)
	switch {
	case err != nil && !unread:
		return err
	case leaked != "":
		return fmt.Errorf("root at the house finds %s", leaked)
	case own[b.casino.path("sealing.key")] == 0 || !unread && own["memory"] == 0:
		return errors.New("the search does not find the house's own sealing key, which is there")
	}
	read := fmt.Sprintf("%d MiB of its process", memory>>20)
	if unread {
		read = "not searched: only root on Linux can read the memory of a daemon"
	}
	b.facts("memory", read, "files", fmt.Sprintf("%d KiB: database, log, keys, configuration", disk>>10),
		"needles", fmt.Sprint(n.Len()), "found", "the house's own sealing key, which shows that the search works",
		"not found", "anything that tells the next card")
	return nil
}

const ownKey = "own sealing key"

// early asks the co-dealer for the flop before the game does, and voids the hand.
func (b *blindly) early(ctx context.Context) error {
	s, err := b.commit(ctx)
	if err != nil {
		return err
	}
	b.act("2. Root asks the co-dealer early, with the house's token and tape")
	a, err := openTape(b.casino, s.ID)
	if err != nil {
		return err
	}
	data, err := b.game.Transcript(ctx, s.ID, "")
	if err != nil {
		return err
	}
	cards, err := b.look(ctx, a, s.ID, data)
	if err != nil {
		return err
	}
	b.say("The co-dealer answers. Root knows the flop before the players have bet: %s. His friend would lose, and he has the hand declared void.",
		strings.Join(cards, ", "))
	v, err := b.finish(ctx, s, client.CloseRequest{Outcome: client.OutcomeVoid, Reason: new(client.ReasonCoDealer)},
		lookedFile)
	if err != nil {
		return err
	}
	last := v.Blind.Requests[len(v.Blind.Requests)-1]
	var would []string
	for _, c := range last.Cards {
		would = append(would, c.Name)
	}
	if !last.Unplayed || !slices.Equal(would, cards) {
		return fmt.Errorf("%s does not show what was opened and not played: %+v", lookedFile, last)
	}
	b.say("The request stands in the co-dealer's ledger, which he cannot rewrite, and each player's file shows it:")
	b.facts("asked", last.Time+", by the co-dealer's clock", "for", fmt.Sprintf("places %d to %d", last.Place,
		last.Place+last.Places-1), "history", "none: the request names no act of the game", "played", "never",
		"would show", strings.Join(would, " "))
	b.say("The rules of the game settle the hand by these cards. The audit of both ledgers:")
	said, err := b.audited(ctx)
	if err != nil {
		return err
	}
	b.show(said)
	b.say("One look costs a whole hand, and everybody sees it.")
	return nil
}

// audited exports both ledgers, and audits them as a pair.
func (b *blindly) audited(ctx context.Context) (string, error) {
	for _, d := range []*daemon{b.casino, b.lab} {
		if err := d.commands(ctx, "audit export --config shuffled.toml --out bundle"); err != nil {
			return "", err
		}
	}
	said, err := b.casino.command(ctx, "audit", "verify", "bundle", "../lab/bundle", "--policy", "player.policy",
		"--co-dealer", "../lab/player.policy")
	_, opened, found := strings.Cut(said, "\n\nPlaces that the co-dealer opened")
	if err == nil && !found {
		err = errors.New("the audit of the pair does not name what was opened and not dealt")
	}
	return "Places that the co-dealer opened" + opened + "\n", err
}

// look asks the co-dealer for the flop, as anybody can who has the house's tape and token.
func (b *blindly) look(ctx context.Context, a *openedTape, id uint64, transcript []byte) (names []string, err error) {
	t, err := openings.ParseTranscript(transcript)
	if err != nil {
		return nil, err
	}
	after := t.Receipt(len(t.Receipts) - 1)
	r, err := audit.ParseReceipt(after)
	if err != nil {
		return nil, err
	}
	asked := audit.Asked{Commit: audit.Foreign{Index: id, Leaf: a.leaf}, After: tlog.RecordHash(r.Entry)}
	asked.Sign(audit.AskKey(a.commit.Commitment, a.tape), handFlop, demoFlop)
	planned, _ := a.commit.Context.CoDealer()
	given, err := b.way.Ask(ctx, planned.Index, client.DealRequest{First: handFlop, Runs: askedFlop,
		Asked: &client.Asked{Commit: t.Receipt(1), After: &after, Ask: asked.Ask[:]}})
	if err != nil {
		return nil, err
	}
	var cards []uint32
	for _, c := range given.Cards {
		cards = append(cards, a.values[c.Value])
	}
	return a.names(cards), nil
}

// finish closes a hand, and waits until the witness has cosigned the close. Then it verifies the hand's file, which
// must be proved and blind.
func (b *blindly) finish(ctx context.Context, s *client.Committed, req client.CloseRequest,
	name string) (*verify.Verdict, error) {
	closed, err := b.game.Close(ctx, s, req)
	if err != nil {
		return nil, err
	}
	r, err := audit.ParseReceipt(closed.Receipt)
	if err == nil {
		_, err = b.game.Cosigned(ctx, r.Index)
	}
	if err != nil {
		return nil, err
	}
	data, err := b.game.Transcript(ctx, s.ID, "")
	if err != nil {
		return nil, err
	}
	v, err := b.expect(name, data, "")
	if err == nil && v.Blind == nil {
		err = fmt.Errorf("%s is not blind: %s", name, v.NotBlind)
	}
	return v, err
}

// openedTape is what root can read of a shuffle on the host of its ledger.
type openedTape struct {
	commit *audit.Commit
	leaf   tlog.Hash
	key    []byte // the sealing key
	tape   []byte
	values []uint32
}

// openTape reads a shuffle from a daemon's database, and opens its tape with the sealing key in the daemon's directory.
func openTape(d *daemon, id uint64) (o *openedTape, err error) {
	raw, err := keys.ReadSealing(d.path("sealing.key"), keys.Secret{})
	if err != nil {
		return nil, err
	}
	ring, err := place.ReadKeyring([]string{d.path("sealing.key")}, "")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(d.path("shuffled.db"))+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var entry, kept []byte
	if err := db.QueryRow("SELECT entry, kept FROM entries WHERE idx = $1", id).Scan(&entry, &kept); err != nil {
		return nil, err
	}
	e, err := audit.ParseEntry(entry)
	if err != nil {
		return nil, err
	}
	o = &openedTape{leaf: tlog.RecordHash(entry), key: raw.Bytes(), commit: e.Body.(*audit.Commit)}
	recipe := o.commit.Context.Recipe
	if o.tape, err = ring.Open(d.origin, o.commit.Commitment, kept[:seal.Overhead+recipe.TapeLen()]); err != nil {
		return nil, err
	}
	out, err := recipe.Run(o.tape)
	o.values = out.Values
	return o, err
}

// names returns the names of cards.
func (o *openedTape) names(cards []uint32) (names []string) {
	deck, _ := shuffle.Published(o.commit.Context.DeckHash)
	for _, c := range cards {
		names = append(names, deck.Card(c))
	}
	return names
}
