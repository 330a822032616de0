package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
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

// A hand of poker. Two players move the cards with secrets that nobody had when the order was committed to, and two of
// three witnesses hold the commit before either secret is shown.
func Example() {
	c, done := sandbox(3)
	defer done()
	ctx := context.Background()

	// In the players' programs. Only the hashes leave them.
	alice, bob := client.NewSlot("example.com/test", "poker-7"), client.NewSlot("example.com/test", "poker-7")

	// Keep the key with the game before it is used: after a crash the same key and request give the same shuffle.
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
	fmt.Println(len(names(holes)), "hole cards,", len(names(board)), "for the board, a transcript:", len(file) > 0)
	// Output: 4 hole cards, 5 for the board, a transcript: true
}

// Every shuffle of a table, newest first, each proved and none left out; and who asks for one that is long ago.
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
