package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"shuffled/client"
)

// A back end makes one client and keeps it.
func ExampleNew() {
	token, err := os.ReadFile("dealer.token")
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(client.Config{
		URL:    "https://shuffle.example.com",
		Ledger: "main",
		Token:  strings.TrimSpace(string(token)),
		// From the licence or the lab, not from the daemon. With witnesses: Policy.
		VKey:       os.Getenv("LEDGER_VKEY"),
		Production: true,
		State:      client.FileState("/var/lib/game/shuffled.state"),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.CloseIdleConnections()
}

// A hand of poker. Two players move the cards with secrets that nobody had when
// the order was committed to, and two of three witnesses hold the commit before
// either secret is shown.
func Example() {
	c, done := sandbox(3)
	defer done()
	ctx := context.Background()

	// In the players' programs. Only the hashes leave them.
	alice, bob := client.NewSlot("example.com/test", "poker-7"), client.NewSlot("example.com/test", "poker-7")

	// Keep the key with the game before it is used: after a crash the same key and
	// request give the same shuffle.
	key := client.NewKey()
	deck := "standard-52"
	hand, err := c.Commit(ctx, key, client.ShuffleRequest{Table: "poker-7", Deck: &deck,
		Mix: &client.MixPlan{Slots: []client.Hash{alice.Hash, bob.Hash}}})
	check(err)
	// Now the players see hand.Plan, and give their values.
	_, err = c.Mix(ctx, hand, client.MixRequest{Slots: []client.Hash{alice.Value, bob.Value}})
	check(err)

	seat1, seat2, faceUp := "seat-1", "seat-2", true
	holes, err := c.Deal(ctx, hand, client.DealRequest{First: 0, Runs: []client.Run{
		{Count: 2, Purpose: client.PurposeSeat, Recipient: &seat1},
		{Count: 2, Purpose: client.PurposeSeat, Recipient: &seat2},
	}})
	check(err) // a *client.Fault is a reason to stop the table
	board, err := c.Deal(ctx, hand, client.DealRequest{First: holes.Next, Runs: []client.Run{
		{Count: 1, Purpose: client.PurposeBurn},
		{Count: 3, Purpose: client.PurposeBoard, Public: &faceUp},
		{Count: 1, Purpose: client.PurposeBurn},
		{Count: 1, Purpose: client.PurposeBoard, Public: &faceUp},
		{Count: 1, Purpose: client.PurposeBurn},
		{Count: 1, Purpose: client.PurposeBoard, Public: &faceUp},
	}})
	check(err)
	_, err = c.Close(ctx, hand, client.CloseRequest{Outcome: client.OutcomeCompleted})
	check(err)

	// The player's proof, to be passed on byte for byte.
	file, err := c.Transcript(ctx, hand.ID, seat1)
	check(err)
	fmt.Println(len(names(holes)), "hole cards,", len(names(board)), "for the board, a transcript:",
		len(file) > 0)
	// Output: 4 hole cards, 5 for the board, a transcript: true
}

// A back end that starts anew in the middle of a hand: what was dealt, and where the hand
// goes on, is read from the proved transcript, and not from notes of its own.
func Example_restart() {
	c, done := sandbox(0)
	defer done()
	ctx := context.Background()

	hand, err := c.Commit(ctx, client.NewKey(), client.ShuffleRequest{Table: "poker-7", Deck: new("standard-52")})
	check(err)
	_, err = c.Deal(ctx, hand, client.DealRequest{Runs: []client.Run{
		{Count: 2, Purpose: client.PurposeSeat, Recipient: new("seat-1")},
		{Count: 1, Purpose: client.PurposeBurn},
	}})
	check(err)

	// The program was killed here. It starts, and asks for what is open at the table.
	hand, err = c.LoadAt(ctx, "poker-7", 0)
	check(err)
	for _, card := range hand.Dealt() {
		fmt.Println("place", card.Place, "of", card.Recipient, "has a name:", card.Name != "")
	}
	board, err := c.Deal(ctx, hand, client.DealRequest{First: hand.Next(), Runs: []client.Run{
		{Count: 3, Purpose: client.PurposeBoard, Public: new(true)},
	}})
	check(err)
	fmt.Println("the board is places", board.Cards[0].Place, "to", hand.Next()-1, "of", len(hand.Dealt()), "seen")
	// Output:
	// place 0 of seat-1 has a name: true
	// place 1 of seat-1 has a name: true
	// the board is places 3 to 5 of 5 seen
}

// A baccarat shoe whose cut card is drawn with it. The hand in which it comes out
// is the last; then there is a new shoe.
func Example_baccarat() {
	c, done := sandbox(0)
	defer done()
	ctx := context.Background()
	shoe8, faceUp := "shoe-8", true
	for range 2 {
		shoe, err := c.Commit(ctx, client.NewKey(),
			client.ShuffleRequest{Table: "bac-1", Deck: &shoe8, EndAt: &client.EndAt{Lo: 30, Hi: 40}})
		check(err)
		first, err := c.Deal(ctx, shoe, client.DealRequest{Runs: []client.Run{{Count: 1, Purpose: client.PurposeBurn,
			Public: &faceUp}}})
		check(err)
		next := first.Next
		for last := false; !last; {
			coup, err := c.Deal(ctx, shoe,
				client.DealRequest{First: next,
					Runs: []client.Run{{Count: 4, Purpose: client.PurposeBoard, Public: &faceUp}}})
			check(err)
			next, last = coup.Next, coup.LastHand != nil && *coup.LastHand
			// Third cards, if there are any, are another deal of this coup.
		}
		// The tape shows everybody, this client first, where the cut card lay.
		_, err = c.Close(ctx, shoe, client.CloseRequest{Outcome: client.OutcomeCompleted})
		check(err)
		fmt.Println("shoe", shoe.Serial, "ended with the cut card:", next >= 30 && next < 40+4)
	}
	// Output:
	// shoe 1 ended with the cut card: true
	// shoe 2 ended with the cut card: true
}

// Blackjack from a continuous shuffler: after each round all cards go back, and
// the whole shoe is shuffled again as a child of the one before.
func Example_continuousShuffler() {
	c, done := sandbox(0)
	defer done()
	ctx := context.Background()
	shoe6, faceUp := "shoe-6", true
	shoe, err := c.Commit(ctx, client.NewKey(), client.ShuffleRequest{Table: "bj-3", Deck: &shoe6})
	check(err)
	for range 3 {
		round, err := c.Deal(ctx, shoe, client.DealRequest{Runs: []client.Run{{Count: 6, Purpose: client.PurposeBoard,
			Public: &faceUp}}})
		check(err)
		// All go back; shoe.Positions(0, 1) would keep the first two out.
		back, err := shoe.Positions()
		check(err)
		shoe, err = c.Child(ctx, client.NewKey(), shoe,
			client.ShuffleRequest{Table: "bj-3", Parent: &client.Parent{ID: shoe.ID, Positions: back}})
		check(err)
		fmt.Println(len(round.Cards), "cards dealt,", shoe.Places(), "shuffled again")
	}
	_, err = c.Close(ctx, shoe, client.CloseRequest{Outcome: client.OutcomeCompleted})
	check(err)
	// Output:
	// 6 cards dealt, 312 shuffled again
	// 6 cards dealt, 312 shuffled again
	// 6 cards dealt, 312 shuffled again
}

// A raffle: five of a million tickets win, none twice.
func Example_raffle() {
	c, done := sandbox(0)
	defer done()
	ctx := context.Background()
	draw, err := c.Draws(ctx, client.NewKey(),
		client.DrawsRequest{Table: "raffle", Numbers: &client.Numbers{Of: 1_000_000, Take: 5}})
	check(err)
	faceUp := true
	prizes, err := c.Deal(ctx, draw, client.DealRequest{
		Runs:  []client.Run{{Count: 5, Purpose: client.PurposeBoard, Public: &faceUp}},
		Close: &client.CloseRequest{Outcome: client.OutcomeCompleted},
	})
	check(err)
	won := make(map[uint32]bool)
	for _, ticket := range prizes.Shows {
		won[ticket] = true
	}
	fmt.Println(len(won), "tickets win")
	// Output: 5 tickets win
}

// Dice, roulette, keno and a wheel with weighted stops.
func Example_draws() {
	c, done := sandbox(0)
	defer done()
	ctx := context.Background()
	faceUp := true
	play := func(count int, req client.DrawsRequest) *client.Deal {
		draw, err := c.Draws(ctx, client.NewKey(), req)
		check(err)
		// Bets are closed before this: the draw was committed to, and is told now.
		told, err := c.Deal(ctx, draw, client.DealRequest{
			Runs:  []client.Run{{Count: count, Purpose: client.PurposeBoard, Public: &faceUp}},
			Close: &client.CloseRequest{Outcome: client.OutcomeCompleted},
		})
		check(err)
		return told
	}
	dice := play(2, client.DrawsRequest{Table: "craps", Ranges: []uint32{6, 6}})
	fmt.Println("two dice show 2 to 12:", sum(dice.Shows) >= 2 && sum(dice.Shows) <= 12)

	spin := play(1, client.DrawsRequest{Table: "roulette", Wheel: client.Roulette("0")})
	pocket, err := strconv.Atoi(names(spin)[0]) // the label of the stop, and no drawn value: 37 is none
	fmt.Println("the ball lies in one of 37 pockets:", err == nil && pocket >= 0 && pocket <= 36)

	keno := play(20, client.DrawsRequest{Table: "keno", Numbers: &client.Numbers{Of: 80, Take: 20}})
	fmt.Println(len(keno.Shows), "of 80 numbers")

	wheel := play(1, client.DrawsRequest{Table: "wheel",
		Wheel: []client.Stop{{Label: "1", Weight: 24}, {Label: "2", Weight: 15},
			{Label: "5", Weight: 7}, {Label: "10", Weight: 4}, {Label: "20", Weight: 2}, {Label: "joker", Weight: 2}}})
	fmt.Println("the wheel shows a stop:", len(names(wheel)[0]) > 0)
	// Output:
	// two dice show 2 to 12: true
	// the ball lies in one of 37 pockets: true
	// 20 of 80 numbers
	// the wheel shows a stop: true
}

// Every shuffle of a table, newest first, each proved and none left out; and who
// asks for one that is long ago.
func Example_history() {
	c, done := sandbox(0)
	defer done()
	ctx := context.Background()
	deck := "short-36"
	var newest *client.Committed
	for i := range 3 {
		ref := fmt.Sprint("game-", i+1)
		s, err := c.Commit(ctx, client.NewKey(), client.ShuffleRequest{Table: "t", Deck: &deck, GameRef: &ref})
		check(err)
		newest = s
	}
	for past, err := range c.History(ctx, newest.ID) {
		check(err)
		fmt.Println(past.Serial, past.GameRef)
	}
	game := "game-2"
	for found, err := range c.Shuffles(ctx, client.ListShufflesParams{GameRef: &game}) {
		check(err)
		check(c.ProveSummary(ctx, found))
		fmt.Println("found", found.Serial)
	}
	check(c.Check(ctx)) // the ledger has only grown since this client began
	// Output:
	// 3 game-3
	// 2 game-2
	// 1 game-1
	// found 2
}
