package client

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
)

// AddStatement gives the house an auditor's signed statement about a closed shuffle, as shuffled audit attest writes
// it. The shuffle's transcripts carry it from then on. It takes an auditor's token, and returns how many statements the
// transcripts carry then. A statement that was given before gets the same answer.
func (c *Client) AddStatement(ctx context.Context, statement string) (int, error) {
	s, err := audit.ParseStatement([]byte(statement))
	if err != nil {
		return 0, fmt.Errorf("reading a statement: %w", err)
	}
	if s.Origin != c.origin {
		return 0, fmt.Errorf("the statement is about a shuffle of %s, and this client is of %s", s.Origin, c.origin)
	}
	answer, err := c.addStatement(ctx, s.ID, StatementRequest{Statement: statement})
	taken, err := decoded[StatementTaken](answer, err)
	if err != nil {
		return 0, err
	}
	return taken.Statements, nil
}
