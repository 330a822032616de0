package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"shuffled/client"
)

// A hand of poker, as a game back end plays it.
func Example() {
	token, err := os.ReadFile("dealer.token")
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(client.Config{
		URL:    "https://shuffle.example.com",
		Ledger: "main",
		Token:  strings.TrimSpace(string(token)),
		VKey:   os.Getenv("LEDGER_VKEY"), // from the licence, not from the daemon
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	// Keep the key with the game before it is used: after a crash the same key
	// and request give the same shuffle.
	key := client.NewKey()
	deck := "standard-52"
	hand, err := c.Commit(ctx, key, client.ShuffleRequest{Table: "poker-7", Deck: &deck})
	if err != nil {
		log.Fatal(err)
	}
	seat, faceUp := "seat-1", true
	deal, err := c.Deal(ctx, hand, client.DealRequest{First: 0, Runs: []client.Run{
		{Count: 2, Purpose: client.PurposeSeat, Recipient: &seat},
		{Count: 3, Purpose: client.PurposeBoard, Public: &faceUp},
	}})
	if err != nil {
		log.Fatal(err) // a *client.Fault is a reason to stop the table
	}
	for _, card := range deal.Cards {
		fmt.Println(card.Place, *card.Card)
	}
	if _, err := c.Close(ctx, hand, client.CloseRequest{Outcome: client.OutcomeCompleted}); err != nil {
		log.Fatal(err)
	}
	transcript, err := c.Transcript(ctx, hand.ID, "")
	if err != nil {
		log.Fatal(err)
	}
	os.WriteFile("transcript.json", transcript, 0o644)
}
