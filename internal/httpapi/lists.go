package httpapi

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
)

// The number of members of a page, by default and at most.
const (
	pageDefault = 100
	pageMost    = 500
)

// pageLimit reads the parameter limit.
func pageLimit(asked *Index) (int, error) {
	switch {
	case asked == nil:
		return pageDefault, nil
	case *asked < 1 || *asked > pageMost:
		return 0, refuseValue("limit", fmt.Sprintf("must be 1 to %d", pageMost))
	}
	return int(*asked), nil
}

// before is the end of a range of times, or of a credential; 0 is no end. An end in 1970's first millisecond
// becomes the next one, since nothing happened in that time.
func before(to *Timestamp) int64 {
	if to == nil {
		return 0
	}
	return max(1, int64(*to))
}

// ListShuffles answers with the shuffles that fit, a page at a time.
func (s *Server) ListShuffles(c *call, params ListShufflesParams) error {
	limit, err := pageLimit(params.Limit)
	if err != nil {
		return err
	}
	query, err := c.recallQuery(&params)
	if err != nil {
		return err
	}
	query.Limit = limit
	page, err := c.ledger.Recall.Find(c.r.Context(), query)
	if err != nil {
		return err
	}
	answer := ShuffleList{Shuffles: make([]ShuffleSummary, 0, len(page.Shuffles))}
	if page.Next != 0 {
		answer.Next = optional(strconv.FormatUint(page.Next, 10))
	}
	now := s.cfg.Now().UnixMilli()
	for _, f := range page.Shuffles {
		a := summaryAnswer(f, now)
		a.Deck = cmp.Or(params.Deck, a.Deck) // a deck may have another name
		answer.Shuffles = append(answer.Shuffles, a)
	}
	return c.json(answer)
}

func summaryAnswer(r ledger.Recalled, now int64) ShuffleSummary {
	a := ShuffleSummary{
		ID: r.ID, Table: r.Table, Serial: r.Serial, Kind: ShuffleSummaryKindCards, GameRef: optional(r.GameRef),
		Owner: r.Owner, Deck: optional(api.DeckName(r.Deck)), Parent: optional(r.Parent),
		CommittedAt: Timestamp(r.Committed), CloseBy: Timestamp(r.CloseBy), State: ShuffleSummaryStateOpen,
	}
	if r.Draw {
		a.Kind = ShuffleSummaryKindDraws
	}
	switch {
	case r.Outcome != 0:
		a.State = ShuffleSummaryStateClosed
		if r.Continued {
			a.State = ShuffleSummaryStateContinued
		}
		a.ClosedAt, a.Outcome = new(Timestamp(r.Closed)), new(Outcome(r.Outcome.String()))
		a.Reason = optional(Reason(r.Reason.String()))
	case now >= r.CloseBy:
		a.State = ShuffleSummaryStateOverdue
	}
	return a
}

// ListAccess answers with what regulators and administrators asked for, a page at a time.
func (s *Server) ListAccess(c *call, params ListAccessParams) error {
	limit, err := pageLimit(params.Limit)
	if err != nil {
		return err
	}
	query := ledger.AccessQuery{From: int64(value(params.From)), To: before(params.To), Limit: limit + 1}
	if params.Cursor != nil {
		if query.After, err = parseAccessCursor(*params.Cursor); err != nil {
			return err
		}
	}
	records, err := c.ledger.Access.AccessRecords(c.r.Context(), c.ledger.id, query)
	if err != nil {
		return ledger.Unavailable(err)
	}
	answer := AccessList{Records: make([]AccessRecord, 0, min(limit, len(records)))}
	if len(records) > limit {
		records = records[:limit]
		last := records[limit-1]
		answer.Next = optional(fmt.Sprintf("%d-%s", last.Time, last.Request))
	}
	for _, r := range records {
		answer.Records = append(answer.Records, AccessRecord{
			Time: Timestamp(r.Time), Request: r.Request, Token: r.Token, Method: r.Method, Path: r.Path,
		})
	}
	return c.json(answer)
}

// parseAccessCursor reads the place after which a page of access records begins.
func parseAccessCursor(s string) (ledger.AccessCursor, error) {
	at, request, ok := strings.Cut(s, "-")
	time, err := parseIndex(at)
	if !ok || err != nil || request == "" {
		return ledger.AccessCursor{}, refuseValue("cursor", "must be the member next of an earlier page")
	}
	return ledger.AccessCursor{Time: int64(time), Request: request}, nil
}

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
		if err != nil {
			return 0, err
		}
		if len(page.Shuffles) > 0 { // the list proves nothing
			id := page.Shuffles[0].ID
			if table, err := c.addressed(strconv.FormatUint(id, 10)); err != nil || table == at.table {
				return id, err
			}
		}
		none.detail += fmt.Sprintf(" with the serial %d", at.serial)
		return 0, none
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
		detail: fmt.Sprintf("table %s has %d open shuffles or more", at.table, len(tables[0].Open))}
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
		one := TableState{Table: t.Table, State: TableStateStateOpen, Serial: t.Serial, Shuffles: []Index{},
			More: optional(TableStateMore(t.More))}
		if t.Closed {
			one.State = TableStateStateClosed
		}
		if t.Serial != 0 {
			one.Newest = &t.Newest
		}
		one.Shuffles = append(one.Shuffles, t.Open...)
		answer.Tables = append(answer.Tables, one)
	}
	answer.Next = optional(next)
	return c.json(answer)
}

// ListDecks answers with the published decks.
func (s *Server) ListDecks(c *call) error {
	answer := DeckList{Decks: []PublishedDeck{}}
	for _, deck := range api.PublishedDecks() {
		answer.Decks = append(answer.Decks, PublishedDeck{Name: deck.Name(), Hash: encodeHash(deck.Hash()),
			Cards: deck.Len()})
	}
	return c.json(answer)
}
