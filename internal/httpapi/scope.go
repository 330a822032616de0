package httpapi

import (
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/ledger"
)

// The values of x-scope in the contract.
const (
	scopeTable = "table" // the request names a table, or a shuffle of one
	scopeNone  = "none"  // the answer holds no card of any table
	scopeOwn   = "own"   // the answer holds what belongs to the credential's tables
)

// mayScope checks what a token for some tables may do (docs/operations/run.md, "Tokens for some tables"): at other
// tables it does nothing, and reads what a stranger reads. A route without a scope counts as one of the whole ledger. A
// table that a body or a query names is checked after it is read: by reads, readEach and recallQuery.
func (c *call) mayScope() error {
	if c.caller.tables == nil {
		return nil
	}
	if c.caller.role == audit.RoleAdmin {
		return &refusal{code: CodeForbidden, detail: "an admin acts for all tables, and the credential is for some tables only"}
	}
	switch {
	case c.route.scope == scopeNone || c.route.scope == scopeOwn:
		return nil
	case c.route.scope == scopeTable && !c.route.ofShuffle():
		return nil
	case c.route.scope == scopeTable:
		table, err := c.addressed(c.r.PathValue("id"))
		if err != nil {
			return err
		}
		if table == "" || c.mayTable(table) == nil { // the operation refuses an id that is none
			return nil
		}
	}
	if len(c.route.roles) > 0 || !c.ledger.public {
		return c.otherTables()
	}
	c.caller.role = 0 // and so the caller reads nothing that takes a role
	return nil
}

// addressed returns the table of the shuffle that an address names, "" for an address that names none.
func (c *call) addressed(text string) (table string, err error) {
	if at, ok, err := parseAt(text); ok {
		if err != nil {
			return "", nil
		}
		return at.table, nil
	}
	id, err := parseIndex(text)
	if err != nil {
		return "", nil
	}
	return c.ledger.Dealer.Shuffles().Table(c.r.Context(), id)
}

// reads returns what the body of a call asks for, if the caller may ask it of the table that the body names.
func reads[T, D any](c *call, read func(*T) (D, error)) (asked D, err error) {
	var req T
	if err := c.decode(&req); err != nil {
		return asked, err
	}
	if asked, err = read(&req); err != nil {
		return asked, err
	}
	return asked, c.mayAsk(asked)
}

// asks is reads for a request of the dealer, which is given as it is before its members are read.
func asks[D any](c *call, asked D) (D, error) {
	err := c.decode(&asked, dealerJSON)
	if err == nil {
		err = c.mayAsk(asked)
	}
	return asked, err
}

// mayAsk is mayTable for every request whose body names a table, or a shuffle of one.
func (c *call) mayAsk(asked any) error {
	switch asked := asked.(type) {
	case api.ShuffleRequest:
		return c.mayTable(asked.Table)
	case api.DrawsRequest:
		return c.mayTable(asked.Table)
	case *TableRequest:
		return c.mayTable(asked.Table)
	case submittedAct:
		if takeover, ok := asked.body.(*audit.Takeover); ok && c.caller.tables != nil {
			table, err := c.ledger.Dealer.Shuffles().Table(c.r.Context(), takeover.Shuffle)
			if err != nil {
				return err
			}
			return c.mayTable(table)
		}
	}
	if c.caller.tables != nil && c.route.scope == scopeTable && !c.route.ofShuffle() { // not reached: all are above
		return c.otherTables()
	}
	return nil
}

// readEach is reads for the operations of a batch, each of which fails alone.
func readEach(c *call, of []Operation) []batch.Operation {
	ops := make([]batch.Operation, len(of))
	for i := range ops {
		op := &ops[i]
		op.Of = -1
		if op.Err = readOperation(ops[:i+1], &of[i]); op.Err == nil && op.Of < 0 {
			op.Err = c.mayOperate(op)
		}
	}
	return ops
}

// mayOperate is mayTable for an operation of a batch. It also sets the table of an operation that names its shuffle by
// an id. If an earlier operation made the shuffle, the table was checked with that operation.
func (c *call) mayOperate(op *batch.Operation) (err error) {
	if op.Shuffle != 0 {
		if op.Table, err = c.ledger.Dealer.Shuffles().Table(c.r.Context(), op.Shuffle); err != nil {
			return err
		}
	}
	return c.mayTable(op.Table)
}

// recallQuery is what a list of shuffles is asked for, narrowed to the caller's tables.
func (c *call) recallQuery(p *ListShufflesParams) (ledger.RecallQuery, error) {
	q := ledger.RecallQuery{
		Table: value(p.Table), Tables: c.caller.tables, GameRef: value(p.GameRef), State: string(value(p.State)),
		From: int64(value(p.From)), To: before(p.To), Serial: value(p.Serial), Owner: value(p.Owner),
		Outcome: audit.ParseOutcome(string(value(p.Outcome))), Reason: audit.ParseReason(string(value(p.Reason))),
	}
	if p.Deck != nil {
		var rule string
		if q.Deck, rule = api.DeckHash(*p.Deck); rule != "" {
			return q, refuseValue("deck", rule)
		}
	}
	switch {
	case p.Outcome != nil && q.Outcome == 0:
		return q, refuseWord("outcome", string(*p.Outcome), "completed", "ended_early", "continued", "void", "expired")
	case p.Reason != nil && q.Reason == 0:
		return q, refuseValue("reason", "must be a reason for which a shuffle is void, such as misdeal")
	case q.State != "" && q.State != ledger.RecallOpen && q.State != ledger.RecallClosed:
		return q, refuseWord("state", q.State, "open", "closed")
	case p.Serial != nil && q.Serial == 0:
		return q, refuseValue("serial", "must be 1 or more")
	case p.Serial != nil && p.Table == nil:
		return q, refuseValue("serial", "must come with table")
	}
	if p.Table != nil {
		if err := c.mayTable(q.Table); err != nil {
			return q, err
		}
	}
	if p.Cursor != nil {
		after, err := parseIndex(*p.Cursor)
		if err != nil {
			return q, refuseValue("cursor", "must be the member next of an earlier page")
		}
		q.After = after
	}
	return q, nil
}

// mayTable reports whether the caller's token is for the table.
func (c *call) mayTable(table string) error {
	if c.caller.tables == nil || slices.Contains(c.caller.tables, table) {
		return nil
	}
	return c.otherTables()
}

// otherTables is the refusal of a token for some tables.
func (c *call) otherTables() error {
	return &refusal{code: CodeForbidden, detail: "the credential is for these tables only: " +
		strings.Join(c.caller.tables, ", ")}
}
