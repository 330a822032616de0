package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// admit decides who calls, what may be done, and how often. What a regulator or an
// administrator asks for is on record before anything else is said, also that it was
// refused.
func (s *Server) admit(c *call) (err error) {
	if c.caller, err = s.identities.identify(c.r.Context(), c.ledger, c.r); err != nil {
		if r, ok := errors.AsType[*refusal](err); ok && r.code == CodeRateLimited {
			s.metrics.refuse(c.ledger, refusedUnknown)
		}
		return err
	}
	c.w.actor = c.caller.actor.Credential
	if c.caller.role == audit.RoleRegulator || c.caller.role == audit.RoleAdmin {
		if err := s.keepAccess(c); err != nil {
			s.metrics.refuse(c.ledger, refusedRecord)
			return err
		}
	}
	if err := c.may(c.route.roles...); err != nil {
		return err
	}
	if c.caller.known() && !s.tokenRates.allow(tokenKey{c.ledger.id, c.caller.actor.Credential}, s.cfg.Now()) {
		s.metrics.refuse(c.ledger, refusedToken)
		return refuse(CodeRateLimited)
	}
	if c.caller.role == audit.RoleAdmin && c.caller.tables != nil {
		return &refusal{code: CodeForbidden, detail: "what an admin does is for all tables, and the credential is not"}
	}
	return c.mayScope()
}

// may reports whether the caller has one of the roles; none is all who may read.
func (c *call) may(roles ...string) error {
	anybody := len(roles) == 0 && c.ledger.public
	switch {
	case !c.caller.known() && !anybody:
		return unauthorized("the request has no credential")
	case c.caller.known() && c.caller.role == 0:
		return c.otherTables()
	case len(roles) > 0 && !slices.Contains(roles, c.caller.role.String()):
		return &refusal{code: CodeForbidden, detail: "this takes the role " + strings.Join(roles, " or ") + ", and " +
			c.caller.actor.Credential + " has the role " + c.caller.role.String()}
	}
	return nil
}

// mayTable reports whether the caller's token is for the table. Every operation
// whose request names one asks.
func (c *call) mayTable(table string) error {
	if c.caller.tables == nil || slices.Contains(c.caller.tables, table) {
		return nil
	}
	return c.otherTables()
}

// mayOperate is mayTable for an operation of a batch, and tells it the table of its shuffle.
func (c *call) mayOperate(op *dealer.Operation) (err error) {
	if op.Shuffle != 0 {
		if op.Table, err = c.ledger.table(c.r.Context(), op.Shuffle); err != nil {
			return err
		}
	}
	return c.mayTable(op.Table)
}

// otherTables is the refusal of a token for some tables.
func (c *call) otherTables() error {
	return &refusal{code: CodeForbidden, detail: "the credential is for these tables only: " +
		strings.Join(c.caller.tables, ", ")}
}

// The values of x-scope in the contract.
const (
	scopeTable = "table" // the request names a table, or a shuffle of one
	scopeNone  = "none"  // the answer holds no card of any table
	scopeOwn   = "own"   // the answer holds what is of the credential's tables
)

// mayScope holds a token for some tables to docs/OPERATIONS.md, "Tokens for some
// tables". Of what is not of its tables it reads what a stranger reads, and does
// nothing. A route without a scope counts as one of the whole ledger.
func (c *call) mayScope() error {
	if c.caller.tables == nil || c.route.scope == scopeNone || c.route.scope == scopeOwn {
		return nil
	}
	if c.route.scope == scopeTable {
		if !strings.Contains(c.route.path, "/shuffles/{id}") {
			return nil // the operation calls mayTable with what the request names
		}
		table, err := c.addressed(c.r.PathValue("id"))
		if err != nil {
			return err
		}
		if table == "" {
			return nil // the operation says what is wrong with it
		}
		if slices.Contains(c.caller.tables, table) {
			return nil
		}
	}
	if len(c.route.roles) > 0 || !c.ledger.public {
		return c.otherTables()
	}
	c.caller.role = 0 // and nothing that a role may read
	return nil
}

// addressed returns the table that the id of a shuffle in an address is of, "" for an
// id that is none.
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
	return c.ledger.table(c.r.Context(), id)
}

// stillIs reports whether the credential still gives what it gave when the stream began.
func (s *Server) stillIs(ctx context.Context, c *call) bool {
	now, err := s.identities.identify(ctx, c.ledger, c.r)
	return err == nil && now.role == c.caller.role && now.actor == c.caller.actor
}

// keepAccess puts the request on record. Without a record there is no answer.
func (s *Server) keepAccess(c *call) error {
	err := c.ledger.Access.PutAccess(c.r.Context(), c.ledger.id, ledger.Access{
		Time: s.cfg.Now().UnixMilli(), Request: c.w.id, Token: c.caller.actor.Credential,
		Method: c.r.Method, Path: recordedPath(c.r.URL),
	})
	if err != nil {
		return &refusal{code: CodeUnavailable, detail: "the access could not be recorded",
			cause: fmt.Errorf("recording an access: %w", err)}
	}
	return nil
}

// recordedPath is the address as it is kept: printable, cut to its limit, and
// without a query that may hold a token, which does not belong there.
func recordedPath(u *url.URL) string {
	path := u.EscapedPath()
	if u.RawQuery != "" {
		query, err := url.QueryUnescape(u.RawQuery)
		if err != nil || strings.Contains(strings.ToLower(query), "tok_") {
			path += "?withheld"
		} else {
			path += "?" + u.RawQuery
		}
	}
	path = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, path)
	return path[:min(len(path), ledger.MaxAccessPath)]
}
