package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// The demonstration's files.
const (
	playerFile     = "player.json"
	transcriptFile = "transcript.json"
	mixFile        = "mix.json"
)

// demoActor is the actor in the header of the entries.
var demoActor = audit.Actor{Identity: "demo", Credential: "demo"}

func (d *demo) commit(ctx context.Context) error {
	made, err := d.house.dealer.Shuffle(ctx, demoActor, client.NewKey(),
		api.ShuffleRequest{Table: demoTable, Deck: "standard-52"})
	if err != nil {
		return err
	}
	d.id = made.ID
	receipt, err := audit.ParseReceipt(made.Receipt)
	if err != nil {
		return err
	}
	d.act("1. Commit: the order is fixed before the first card")
	d.say("The house reads 129 random bytes for this hand alone, the tape, and shuffles 52 cards with them. The order is fixed now, and secret. What everybody gets is a commitment to it, in a signed ledger:")
	facts := []string{
		"shuffle", fmt.Sprintf("%d, number %d of table %s", made.ID, made.Serial, made.Table),
		"commitment", fmt.Sprint(client.Hash(made.Commitment)),
		"deck root", fmt.Sprint(client.Hash(made.DeckRoot)),
	}
	label := "checkpoint"
	for line := range strings.Lines(string(receipt.Checkpoint)) {
		facts = append(facts, label, strings.TrimSuffix(line, "\n"))
		label = ""
	}
	d.facts(facts...)
	d.say("The deck root covers every card behind a secret salt of its own, so that one card can be proved without the others. The checkpoint is the signed head of the ledger: anybody who has it can hold the house to it.")
	return nil
}

// The runs of the hand, in the order in which they are dealt.
var (
	demoSeats = []audit.Run{
		{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"},
		{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-2"},
	}
	demoBoard = []audit.Run{
		{Count: 1, Purpose: audit.PurposeBurn},
		{Count: 5, Purpose: audit.PurposeBoard, Public: true},
	}
)

func (d *demo) deal(ctx context.Context) error {
	d.act("2. Deal: two hands and a board")
	next, cards := 0, []openings.Card(nil)
	for _, runs := range [][]audit.Run{demoSeats, demoBoard} {
		dealt, err := d.house.dealer.Deal(ctx, demoActor, d.id, api.DealRequest{First: next, Runs: runs})
		if err != nil {
			return err
		}
		next, cards = dealt.Next, append(cards, dealt.Cards...)
	}
	d.show(term.DrawHands(d.P, hands(slices.Concat(demoSeats, demoBoard), shown(cards)), d.W))
	d.say("Each deal was in the ledger before its cards were given out. Each card came with an opening: its value, its salt and a path of %d hashes to the deck root.", len(cards[0].Proof))
	return nil
}

// shown are opened cards as a verdict has them.
func shown(cards []openings.Card) (all []verify.CardShown) {
	for _, c := range cards {
		all = append(all, verify.CardShown{Place: c.Place, Name: c.Card})
	}
	return all
}

// hands draws the places of runs from 0 on: the cards that are shown, and the other ones face down.
func hands(runs []audit.Run, shown []verify.CardShown) (all []term.Hand) {
	place := 0
	for _, r := range runs {
		h := term.Hand{Label: cmp.Or(r.Recipient, r.Purpose.String())}
		for range r.Count {
			f := term.Back
			if i := slices.IndexFunc(shown, func(c verify.CardShown) bool { return c.Place == place }); i >= 0 {
				f = term.French.Face(shown[i].Name)
			}
			h.Cards = append(h.Cards, f)
			place++
		}
		all = append(all, h)
	}
	return all
}

// onePlayer proves the cards of seat-1, and that the file of seat-1 tells nothing of the other cards.
func (d *demo) onePlayer(ctx context.Context) error {
	d.act("3. Prove one player's cards, and nobody else's")
	player, err := d.house.dealer.Transcript(ctx, d.id, api.View{Identity: demoActor.Identity, Recipient: "seat-1"})
	if err != nil {
		return err
	}
	v, err := d.expect(playerFile, player, "")
	if err != nil {
		return err
	}
	if err := d.keepsSecrets(ctx, player, v); err != nil {
		return err
	}
	d.say("The hand is still on. %s is the file that seat-1 takes home. Checked offline, under the key above, it proves seat-1's cards and the board:", playerFile)
	d.show(term.DrawHands(d.P, hands(slices.Concat(demoSeats, demoBoard), v.Cards), d.W))
	d.show(d.Steps(pick(v.Steps, "signature", "inclusion", "openings", "tape")))
	d.show(d.Proved(v))
	d.say("No salt and no value of the cards that lie face down is in the file, and a hash of a card behind a salt of 256 bits tells nothing of it.")
	return nil
}

// keepsSecrets checks the player's file, whose verdict is v. The house opens two places more, those of seat-2,
// and the file must not have their salts. Nobody has opened the burn yet.
func (d *demo) keepsSecrets(ctx context.Context, player []byte, v *verify.Verdict) error {
	shown := make(map[int]bool)
	for _, c := range v.Cards {
		shown[c.Place] = true
	}
	all, err := d.house.dealer.Transcript(ctx, d.id, api.View{Identity: demoActor.Identity})
	if err != nil {
		return err
	}
	t, err := openings.ParseTranscript(all)
	if err != nil {
		return err
	}
	hidden := 0
	for _, c := range t.Cards {
		if shown[c.Place] {
			continue
		}
		if hidden++; bytes.Contains(player, []byte(c.Salt)) {
			return fmt.Errorf("%s holds the salt of place %d", playerFile, c.Place)
		}
	}
	if hidden != 2 {
		return fmt.Errorf("%d places are hidden from seat-1, and 2 must be", hidden)
	}
	return nil
}

func pick(steps []verify.Step, names ...string) (picked []verify.Step) {
	for _, s := range steps {
		if slices.Contains(names, s.Name) {
			picked = append(picked, s)
		}
	}
	return picked
}

func (d *demo) closeHand(ctx context.Context) error {
	closed, err := d.house.dealer.Close(ctx, demoActor, d.id, api.CloseRequest{Outcome: audit.OutcomeCompleted})
	if err != nil {
		return err
	}
	d.act("4. Close: the tape becomes public")
	d.say("The hand is over. The close writes the tape into the ledger:")
	d.facts("outcome", audit.OutcomeCompleted.String(), "tape", hex.EncodeToString(closed.Tape))
	d.say("Now anybody can shuffle again: i and j change places, 52 times. The first draws on paper:")
	data, err := d.house.dealer.Transcript(ctx, d.id, api.View{})
	if err != nil {
		return err
	}
	paper := auditcli.NewDryRun(data)
	if len(paper.Order) != 52 {
		return fmt.Errorf("the tape does not give 52 cards: %s", paper.Why)
	}
	d.show(term.Table(paper.Rows()[:5]))
	return nil
}

func (d *demo) stranger(ctx context.Context) error {
	data, err := d.house.dealer.Transcript(ctx, d.id, api.View{})
	if err != nil {
		return err
	}
	v, err := d.expect(transcriptFile, data, "")
	if err != nil {
		return err
	}
	d.act("5. Verify: a stranger, offline, with nothing but the key")
	d.say("%s holds the receipts of all entries, the openings and the tape. No network, no house:", transcriptFile)
	d.show(d.Steps(v.Steps))
	d.show(d.Proved(v))
	d.say("What this level leaves open, shuffled verify says below its verdict.")
	return nil
}

// mix plays a hand that the values of two players mix, and verifies it for one of them.
func (d *demo) mix(ctx context.Context) error {
	d.act("6. Mix: players who do not take the house's word")
	d.say("The tape could still be one of a thousand that the house tried. So in the next hand each of two players draws 32 bytes of their own, and gives a hash of them before the house commits, the bytes only after it:")
	anna, bert := client.NewSlot(demoOrigin, demoTable), client.NewSlot(demoOrigin, demoTable)
	made, err := d.house.dealer.Shuffle(ctx, demoActor, client.NewKey(), api.ShuffleRequest{
		Table: demoTable, Deck: "standard-52", Plan: &api.MixPlan{Slots: [][32]byte{anna.Hash, bert.Hash}}})
	if err != nil {
		return err
	}
	if _, err := d.house.dealer.Mix(ctx, demoActor, made.ID,
		api.MixRequest{Slots: [][32]byte{anna.Value, bert.Value}}); err != nil {
		return err
	}
	dealt, err := d.house.dealer.Deal(ctx, demoActor, made.ID, api.DealRequest{
		Runs:  []audit.Run{{Count: 5, Purpose: audit.PurposeBoard, Public: true}},
		Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}})
	if err != nil {
		return err
	}
	data, err := d.house.dealer.Transcript(ctx, made.ID, api.View{})
	if err != nil {
		return err
	}
	paper := auditcli.NewDryRun(data)
	if len(paper.Order) != 52 {
		return fmt.Errorf("the tape does not give 52 cards: %s", paper.Why)
	}
	d.facts("anna", "hash "+anna.Hash.String(), "", "then "+anna.Value.String(), "bert", "hash "+bert.Hash.String(), "",
		"then "+bert.Value.String())
	hands := append([]term.Hand{{Label: "the tape", Cards: term.French.Faces(paper.Order[:5])}},
		hands([]audit.Run{{Count: 5, Purpose: audit.PurposeBoard, Recipient: "the table"}}, shown(dealt.Cards))...)
	d.show(term.DrawHands(d.P, hands, d.W))
	var positions []string
	for _, c := range dealt.Cards {
		positions = append(positions, fmt.Sprint(c.Position))
	}
	d.say("The first five places show the positions %s of what the house committed to. Both players' bytes decide which positions these are, and the house did not have those bytes. %s, as anna checks it, with her bytes:", strings.Join(positions, ", "), mixFile)
	return d.holdsFor(mixFile, data, anna)
}

// holdsFor verifies a file for the holder of a slot.
func (d *demo) holdsFor(name string, data []byte, slot client.Slot) error {
	all := d.trust
	defer func() { d.trust = all }()
	d.trust.Slots = [][32]byte{slot.Value}
	v, err := d.expect(name, data, "")
	if err != nil {
		return err
	}
	steps := pick(v.Steps, "slots", "tape", "order", "cards")
	if slices.ContainsFunc(steps, func(s verify.Step) bool { return s.Result != verify.StepOK }) {
		return fmt.Errorf("%s: not all of it was checked for the holder of the slot", name)
	}
	d.show(d.Steps(steps))
	d.say("With witnesses who saw the commit before she gave them, this is the level \"mixed\", for her.")
	return nil
}
