package main

import (
	"context"
	"fmt"
	"strings"

	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/lab"
)

type labDecksCmd struct {
	Deck   string `placeholder:"DECK" xor:"cards" help:"A published deck: standard-52, standard-54, short-36, pinochle-48, spanish-40, shoe-1 to shoe-16."`
	Cards  string `placeholder:"FILE" xor:"cards" help:"A deck of your own: a file with the name of a card on each line, in the order before the shuffle."`
	Take   *int   `placeholder:"M" help:"Write only the first M cards of each order, as in a commit to M cards. Default: all."`
	Count  uint64 `required:"" placeholder:"N" help:"Number of decks, 1 to 10^12."`
	Format string `default:"csv" enum:"csv,bin,jsonl" help:"csv, bin or jsonl."`
	labOutput
}

func (labDecksCmd) Help() string {
	return `Writes shuffled decks, made by the function that the daemon deals with. Each deck has a tape of its own. docs/LAB.md says how to read the formats, and the manifest says how to read its file.

Examples:

    shuffled lab decks --deck standard-52 --count 1000000 --out decks.csv
    shuffled lab decks --deck shoe-8 --count 100000 --format bin --out shoes.bin
    shuffled lab decks --cards my-deck.txt --take 5 --count 10 --format jsonl`
}

func (c *labDecksCmd) Run(ctx context.Context, s term.Streams) error {
	deck, err := c.deck()
	if err != nil {
		return err
	}
	take := deck.Len()
	if c.Take != nil {
		take = *c.Take
	}
	sample, err := lab.Decks(deck, take, c.Count, lab.Format(c.Format))
	if err != nil {
		return wrongField(err)
	}
	parameters := map[string]any{"take": take, "count": c.Count, "format": c.Format}
	if c.Deck != "" {
		parameters["deck"] = c.Deck
	} else {
		parameters["cards"] = c.Cards
	}
	return c.run(ctx, s, outcomesOf("decks", sample, parameters))
}

// outcomesOf makes the writing of a sample.
func outcomesOf(unit string, sample lab.Sample, parameters map[string]any) writing {
	return writing{
		binary: sample.Format == lab.Binary, unit: unit, total: sample.Count,
		parameters: parameters, write: sample.Write, manifest: sample.Manifest,
	}
}

func (c *labDecksCmd) deck() (shuffle.Deck, error) {
	switch {
	case c.Cards != "":
		return readDeck(c.Cards)
	case c.Deck == "":
		return shuffle.Deck{}, term.Usage("--deck or --cards must say what is shuffled")
	}
	deck, ok := shuffle.Named(c.Deck)
	if !ok {
		return deck, term.Usage("--deck must be one of %s, not %s", strings.Join(shuffle.Names(), ", "),
			term.Visible(c.Deck))
	}
	return deck, nil
}

// readDeck reads a deck with the name of a card on each line.
func readDeck(name string) (shuffle.Deck, error) {
	b, err := term.ReadBounded(name, shuffle.MaxCards*(shuffle.MaxCardName+2))
	if err != nil {
		return shuffle.Deck{}, fmt.Errorf("reading the cards: %w", err)
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	deck, err := shuffle.NewDeck(strings.Split(text, "\n"))
	if err != nil {
		return deck, term.Usage("--cards: %s: %s", term.Visible(name), term.Visible(err.Error()))
	}
	return deck, nil
}
