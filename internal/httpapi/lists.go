package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"shuffled/internal/ledger"
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

// before is the end of a range of times; 0 is no end. An end in 1970's first millisecond
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
		answer.Shuffles = append(answer.Shuffles, summaryAnswer(f, now))
	}
	return c.json(answer)
}

func summaryAnswer(r ledger.Recalled, now int64) ShuffleSummary {
	a := ShuffleSummary{
		ID: r.ID, Table: r.Table, Serial: r.Serial, Kind: ShuffleSummaryKindCards, GameRef: optional(r.GameRef),
		CommittedAt: Timestamp(r.Committed), CloseBy: Timestamp(r.CloseBy), State: ShuffleSummaryStateOpen,
	}
	if r.Draw {
		a.Kind = ShuffleSummaryKindDraws
	}
	if r.Parent != 0 {
		a.Parent = &r.Parent
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
