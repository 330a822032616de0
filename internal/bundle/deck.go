package bundle

import (
	"fmt"
	"io/fs"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// A deck is a file of card names, each with a line end, named after the deck's
// hash. No card name has a line end in it. An empty file is a deck that a commit
// names and that the store did not have.

// formatDeck returns the file of a deck that has this hash.
func formatDeck(hash [32]byte, cards []string) ([]byte, error) {
	deck, err := shuffle.NewDeck(cards)
	if err != nil {
		return nil, err
	}
	if deck.Hash() != hash {
		return nil, fmt.Errorf("another deck than %x", hash)
	}
	return []byte(strings.Join(cards, "\n") + "\n"), nil
}

// readDeck reads the deck with this hash.
func readDeck(fsys fs.FS, hash [32]byte) ([]string, error) {
	name := deckPath(hash)
	b, err := readFile(fsys, name, maxDeck)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("reading %s: %w: it is empty, the store did not have this deck", name,
			audit.ErrMalformed)
	}
	text, ok := strings.CutSuffix(string(b), "\n")
	if !ok || strings.Count(text, "\n") >= shuffle.MaxCards {
		return nil, fmt.Errorf("reading %s: %w: at most %d lines, each with its end", name, audit.ErrMalformed,
			shuffle.MaxCards)
	}
	deck, err := shuffle.NewDeck(strings.Split(text, "\n"))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w: %w", name, audit.ErrMalformed, err)
	}
	if deck.Hash() != hash {
		return nil, fmt.Errorf("reading %s: %w: another deck", name, audit.ErrMalformed)
	}
	return deck.Cards(), nil
}
