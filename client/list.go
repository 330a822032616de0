package client

import "context"

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
