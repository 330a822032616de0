package client

import (
	"context"
	"iter"

	"shuffled/internal/shuffle"
)

// walk yields the items of all pages of a list in order, from the page that begins at start on. parts returns the items
// of a page and where the next page begins. follows reports whether an item may come after the last one.
func walk[L, T any](start *string, ask func(at *string) ([]byte, error), parts func(*L) ([]T, *string),
	follows func(last, one *T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		var last *T
		for at := start; ; {
			answer, err := ask(at)
			list, err := decoded[L](answer, err)
			if err != nil {
				yield(none, err)
				return
			}
			items, next := parts(list)
			if next != nil && at != nil && *next == *at {
				yield(none, &Fault{What: "the page after a page is the same page", Answer: answer})
				return
			}
			for i := range items {
				if !follows(last, &items[i]) {
					yield(none, &Fault{What: "it is out of order, or was not asked for", Answer: answer})
					return
				}
				if last = &items[i]; !yield(items[i], nil) {
					return
				}
			}
			if at = next; at == nil {
				return
			}
		}
	}
}

// Tables yields the tables that the token is for, by name, with their open shuffles. It asks for a page at a time. The
// answers are the daemon's word.
func (c *Client) Tables(ctx context.Context) iter.Seq2[TableState, error] {
	return walk(nil, func(at *string) ([]byte, error) { return c.listTables(ctx, ListTablesParams{After: at}) },
		func(l *TableList) ([]TableState, *string) { return l.Tables, l.Next },
		func(last, one *TableState) bool { return one.Table > "" && (last == nil || one.Table > last.Table) })
}

// Decks returns the decks that may be asked for by name. Their hashes are checked.
func (c *Client) Decks(ctx context.Context) ([]PublishedDeck, error) {
	answer, err := c.listDecks(ctx)
	list, err := decoded[DeckList](answer, err)
	if err != nil {
		return nil, err
	}
	for _, d := range list.Decks {
		known, ok := shuffle.Named(d.Name) // else one of a later version
		if ok && (Hash(known.Hash()) != d.Hash || known.Len() != d.Cards) {
			return nil, &Fault{What: "the deck " + d.Name + " is another one than is published", Answer: answer}
		}
	}
	return list.Decks, nil
}
