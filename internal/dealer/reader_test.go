package dealer_test

import (
	"context"
	"testing"

	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// askedStore notes for each question for shuffles whether it is a reader's, and how durable the answer is to be.
type askedStore struct {
	ledger.Store
	asked []question
}

type question struct {
	reader   bool
	standing ledger.Standing
}

func (s *askedStore) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, all ...uint64) (
	[][]ledger.Row, error) {
	s.asked = append(s.asked, question{ledger.IsReader(ctx), standing})
	return s.Store.ByShuffles(ctx, id, standing, all...)
}

// TestQuestionsOfReaders: what a reader asks for goes to the store as a reader's question, behind the barrier, and
// what a dealer asks for does not.
func TestQuestionsOfReaders(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	id := tb.commit("k", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}).ID
	s := &askedStore{Store: tb.cfg.Store}
	cfg := tb.cfg
	cfg.Store = s
	d := dealer.New(cfg)
	status := func(ctx context.Context) error { _, err := d.Status(ctx, id); return err }
	table := func(ctx context.Context) error { _, err := d.Table(ctx, id); return err }
	for _, c := range []struct {
		ask  func(context.Context) error
		ctx  context.Context
		want question
	}{
		{status, t.Context(), question{false, ledger.Durable}},
		{table, t.Context(), question{false, ledger.Visible}},
		{status, ledger.AsReader(t.Context()), question{true, ledger.Durable}},
		{table, ledger.AsReader(t.Context()), question{true, ledger.Durable}},
	} {
		s.asked = nil
		if err := c.ask(c.ctx); err != nil || len(s.asked) != 1 || s.asked[0] != c.want {
			t.Errorf("asked %+v, %v; want %+v", s.asked, err, c.want)
		}
	}
}
