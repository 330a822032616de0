package client

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
)

// AddStatement hands the house an auditor's signed statement about a closed shuffle, as
// shuffled audit attest writes it, for the shuffle's transcripts to carry. It takes an
// auditor's token, and returns how many statements they carry then. A statement that was
// handed in before is answered alike.
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
