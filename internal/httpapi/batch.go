package httpapi

import (
	"errors"

	"shuffled/internal/dealer"
)

// createBatch commits to count shuffles under one key.
func (s *Server) createBatch(c *call, key string, asked dealer.ShuffleRequest, count int) error {
	shuffles, err := c.ledger.Dealer.Shuffles(c.r.Context(), c.caller.actor, key, asked, count)
	var wrong *dealer.RequestError
	if errors.As(err, &wrong) && wrong.Field == "count" {
		return refuseValue(wrong.Field, wrong.Rule) // the contract says what count may be
	}
	if err != nil {
		return err
	}
	batch := ShuffleBatch{Shuffles: make([]Shuffle, len(shuffles))}
	for i, shuffle := range shuffles {
		batch.Shuffles[i] = shuffleAnswer(shuffle)
	}
	return c.json(batch)
}
