package httpapi

import "shuffled/internal/dealer"

// CreateShuffle commits to a new shuffle.
func (s *Server) CreateShuffle(c *call, params CreateShuffleParams) error {
	return do(c, dealer.ShuffleRequest{}, on(params.IdempotencyKey, c.ledger.Dealer.Shuffle))
}

// CreateDraws commits to drawn values.
func (s *Server) CreateDraws(c *call, params CreateDrawsParams) error {
	return do(c, dealer.DrawsRequest{}, on(params.IdempotencyKey, c.ledger.Dealer.Draws))
}

// MixShuffle reveals the values of a plan.
func (s *Server) MixShuffle(c *call, id ID) error {
	return do(c, dealer.MixRequest{}, behind(s, c, id, c.ledger.Dealer.Mix))
}
