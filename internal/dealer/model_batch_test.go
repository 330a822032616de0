package dealer_test

import (
	"context"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// player asks a daemon for a request alone, or in a batch: twice there, and the second is answered as the first.
type player struct {
	*table
	inBatch bool
}

// asked is the answer to an operation, or that to its single request.
func asked[T any](p player, op dealer.Operation, alone func() (T, error)) (answer T, err error) {
	if !p.inBatch {
		return alone()
	}
	op.Of = -1
	results, err := p.batch(context.Background(), []dealer.Operation{op, op}, false)
	if err != nil {
		return answer, err
	}
	first, again := results[0], results[1]
	if first.Err != nil {
		if told(first) != told(again) {
			p.t.Errorf("%+v is refused with %v, and again with %v", op, first.Err, again.Err)
		}
		return answer, first.Err
	}
	if again.Err != nil || !cmp.Equal(first.Answer, again.Answer, sameAnswer) {
		p.t.Errorf("%+v again: %v %s", op, again.Err, cmp.Diff(first.Answer, again.Answer, sameAnswer))
	}
	return first.Answer.(T), nil
}

func (p player) Shuffle(ctx context.Context, by audit.Actor, key string, req dealer.ShuffleRequest) (dealer.Shuffle,
	error) {
	return asked(p, dealer.Operation{Table: req.Table, Key: key, Cards: &req},
		func() (dealer.Shuffle, error) { return p.Dealer.Shuffle(ctx, by, key, req) })
}

func (p player) Draws(ctx context.Context, by audit.Actor, key string, req dealer.DrawsRequest) (dealer.Shuffle,
	error) {
	return asked(p, dealer.Operation{Table: req.Table, Key: key, Draws: &req},
		func() (dealer.Shuffle, error) { return p.Dealer.Draws(ctx, by, key, req) })
}

func (p player) Mix(ctx context.Context, by audit.Actor, id uint64, req dealer.MixRequest) (dealer.Mix, error) {
	return asked(p, dealer.Operation{Shuffle: id, Mix: &req},
		func() (dealer.Mix, error) { return p.Dealer.Mix(ctx, by, id, req) })
}

func (p player) Deal(ctx context.Context, by audit.Actor, id uint64, req dealer.DealRequest) (dealer.Deal, error) {
	return asked(p, dealer.Operation{Shuffle: id, Deal: &req},
		func() (dealer.Deal, error) { return p.Dealer.Deal(ctx, by, id, req) })
}

func (p player) Close(ctx context.Context, by audit.Actor, id uint64, req dealer.CloseRequest) (dealer.Close, error) {
	return asked(p, dealer.Operation{Shuffle: id, Close: &req},
		func() (dealer.Close, error) { return p.Dealer.Close(ctx, by, id, req) })
}
