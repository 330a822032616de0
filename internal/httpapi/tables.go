package httpapi

import (
	"fmt"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
)

// maxOpenListed is how many open shuffles of a table an answer holds.
const maxOpenListed = 100

// tableAt is what an address may have in place of an id: @TABLE or @TABLE:SERIAL.
type tableAt struct {
	table  string
	serial uint64 // 0: the open shuffle, else the newest
}

// parseAt reads a tableAt; ok is false for a text that does not begin with @.
func parseAt(text string) (at tableAt, ok bool, err error) {
	text, ok = strings.CutPrefix(text, "@")
	if !ok {
		return at, false, nil
	}
	name, serial, numbered := strings.Cut(text, ":")
	if err := audit.CheckName(name); err != nil {
		return at, true, fmt.Errorf("must name a table after the @, and that name %w", err)
	}
	at.table = name
	if numbered {
		if at.serial, err = parseIndex(serial); err != nil || at.serial == 0 {
			return at, true, fmt.Errorf("must have a serial after the colon, which is a number from 1")
		}
	}
	return at, true, nil
}

// shuffleAt returns the id of the shuffle that a tableAt names: the one with the serial or,
// without a serial, the one that is open, else the newest.
func (c *call) shuffleAt(at tableAt) (uint64, error) {
	none := &refusal{code: CodeNotFound, field: "id", detail: "the table " + at.table + " has no shuffle"}
	if at.serial != 0 {
		page, err := c.ledger.Recall.Find(c.r.Context(),
			ledger.RecallQuery{Table: at.table, Serial: at.serial, Limit: 1})
		switch {
		case err != nil:
			return 0, err
		case len(page.Shuffles) == 0:
			none.detail += fmt.Sprintf(" with the serial %d", at.serial)
			return 0, none
		}
		return page.Shuffles[0].ID, nil
	}
	tables, _, err := c.ledger.Recall.Tables(c.r.Context(),
		ledger.TableQuery{Only: []string{at.table}, Limit: 1, Open: maxOpenListed})
	switch {
	case err != nil:
		return 0, err
	case (len(tables) == 0 || tables[0].Serial == 0) && c.caller.role != 0:
		all, _, err := c.ledger.Recall.Tables(c.r.Context(), ledger.TableQuery{Only: c.caller.tables, Limit: pageMost})
		var names []string
		for _, t := range all {
			names = append(names, t.Table)
		}
		if err == nil {
			none.detail += "." + near.Hint(at.table, names)
		}
		return 0, none
	case len(tables) == 0 || tables[0].Serial == 0:
		return 0, none
	case len(tables[0].Open) == 0:
		return tables[0].Newest, nil
	case len(tables[0].Open) == 1:
		return tables[0].Open[0], nil
	}
	return 0, &refusal{code: CodeWhichShuffle, field: "id", ids: tables[0].Open,
		detail: fmt.Sprintf("table %s has %d open shuffles or more: name one by its id, or as @%s:SERIAL",
			at.table, len(tables[0].Open), at.table)}
}

// ListTables answers with the caller's tables, a page at a time.
func (s *Server) ListTables(c *call, params ListTablesParams) error {
	limit, err := pageLimit(params.Limit)
	if err != nil {
		return err
	}
	page, next, err := c.ledger.Recall.Tables(c.r.Context(), ledger.TableQuery{Only: c.caller.tables,
		After: value(params.After), Limit: limit, Open: maxOpenListed})
	if err != nil {
		return err
	}
	answer := TableList{Tables: make([]TableState, 0, len(page))}
	for _, t := range page {
		one := TableState{Table: t.Table, State: TableStateStateOpen, Serial: t.Serial, Shuffles: []Index{}}
		if t.Closed {
			one.State = TableStateStateClosed
		}
		if t.Serial != 0 {
			one.Newest = &t.Newest
		}
		one.Shuffles = append(one.Shuffles, t.Open...)
		if t.More {
			one.More = new(TableStateMoreTrue)
		}
		answer.Tables = append(answer.Tables, one)
	}
	answer.Next = optional(next)
	return c.json(answer)
}

// ListDecks answers with the published decks.
func (s *Server) ListDecks(c *call) error {
	answer := DeckList{Decks: []PublishedDeck{}}
	for _, deck := range dealer.PublishedDecks() {
		answer.Decks = append(answer.Decks, PublishedDeck{Name: deck.Name(), Hash: encodeHash(deck.Hash()),
			Cards: deck.Len()})
	}
	return c.json(answer)
}
