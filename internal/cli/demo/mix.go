package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"shuffled/client"
	"shuffled/internal/audit"
	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

const mixFile = "mix.json"

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
		runHands(0, []audit.Run{{Count: 5, Purpose: audit.PurposeBoard, Recipient: "the table"}}, dealt.Cards)...)
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
