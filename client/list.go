package client

import (
	"context"
	"iter"

	"shuffled/internal/shuffle"
)

// List returns a page of the shuffles that fit, by id, as the daemon tells them.
// It proves nothing: Load proves a commit, Transcript the rest. A list whose Next is
// set, be it without shuffles, goes on with that as Cursor.
func (c *Client) List(ctx context.Context, params ListShufflesParams) (*ShuffleList, error) {
	answer, err := c.listShuffles(ctx, params)
	if err != nil {
		return nil, err
	}
	var list ShuffleList
	if err := decode(answer, &list); err != nil {
		return nil, err
	}
	return &list, nil
}

// Tables finds the tables that the token is for, by name, with their open shuffles,
// asking for a page at a time as it goes. It is the daemon's word.
func (c *Client) Tables(ctx context.Context) iter.Seq2[TableState, error] {
	return func(yield func(TableState, error) bool) {
		params := ListTablesParams{}
		for last := ""; ; {
			answer, err := c.listTables(ctx, params)
			list, err := decoded[TableList](answer, err)
			if err == nil && list.Next != nil && params.After != nil && *list.Next <= *params.After {
				err = &Fault{What: "the page after a page is the same page", Answer: answer}
			}
			if err != nil {
				yield(TableState{}, err)
				return
			}
			for _, t := range list.Tables {
				if t.Table <= last {
					yield(TableState{}, &Fault{What: "the tables are out of order", Answer: answer})
					return
				}
				if last = t.Table; !yield(t, nil) {
					return
				}
			}
			if list.Next == nil {
				return
			}
			params.After = list.Next
		}
	}
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
