package codealer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
)

// pool has orders of one kind that were made in advance.
type pool struct {
	ready  []made
	making int // orders that are being made
}

// made is an order that no commit names.
type made struct {
	receipt string
	closeBy int64 // UTC milliseconds
}

const (
	// spare is how much longer an order is open than the shuffle for which it was made.
	spare = 30 * time.Minute
	// maxPools is how many pools a co-dealer has at most. Orders of other kinds are made when they are needed.
	maxPools = 64
)

// kindOf names what the orders of one pool have in common.
func kindOf(like *audit.Context) string {
	return fmt.Sprint(like.Recipe.Cards, like.Recipe.Ranges, like.Disclosure)
}

// Order returns the receipt of an order from the pool. If there is none, it has one made.
func (c *CoDealers) Order(ctx context.Context, origin string, like *audit.Context, closeBy int64) (string, error) {
	p, to, err := c.at(origin)
	if err != nil {
		return "", err
	}
	until := closeBy + spare.Milliseconds()
	receipt, short := p.take(kindOf(like), closeBy)
	if short > 0 {
		like := *like
		c.group.Go(func() { p.fill(to, &like, until, short) })
	}
	if receipt != "" {
		return receipt, nil
	}
	one, err := p.make(ctx, to, like, until)
	return one.receipt, err
}

// take returns an order that is open for long enough, "" if there is none, and how many orders
// the caller is to make in advance.
func (p *peer) take(kind string, closeBy int64) (receipt string, short int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.pools[kind]
	if of == nil {
		if p.all.cfg.Pool == 0 || len(p.pools) >= maxPools {
			return "", 0
		}
		of = new(pool)
		p.pools[kind] = of
	}
	for receipt == "" && len(of.ready) > 0 {
		if of.ready[0].closeBy >= closeBy {
			receipt = of.ready[0].receipt
		}
		of.ready = of.ready[1:] // one that closes too early expires
	}
	// Only if half of the pool is missing, so that few goroutines make many orders each.
	if low := p.all.cfg.Pool - len(of.ready) - of.making; low > p.all.cfg.Pool/2 || low > 0 && p.all.cfg.Pool == 1 {
		of.making += low
		short = low
	}
	return receipt, short
}

// fill makes n orders in advance.
func (p *peer) fill(to *client.Client, like *audit.Context, until int64, n int) {
	kind := kindOf(like)
	for left := n; left > 0; left-- {
		ctx, cancel := context.WithTimeout(p.all.running, callTimeout)
		one, err := p.make(ctx, to, like, until)
		cancel()
		p.mu.Lock()
		of := p.pools[kind]
		if of.making--; err == nil {
			of.ready = append(of.ready, one)
		} else {
			of.making -= left - 1
		}
		p.mu.Unlock()
		if err != nil {
			if p.all.running.Err() == nil {
				p.all.cfg.Log.Warn("orders could not be made ahead", "co_dealer", p.Origin, "error", err)
			}
			return
		}
	}
}

// Unused puts an order back into its pool.
func (c *CoDealers) Unused(origin, receipt string) {
	p := c.peers[origin]
	_, e, err := audit.ReceiptEntry(receipt)
	commit, ok := e.Body.(*audit.Commit)
	if p == nil || err != nil || !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if of := p.pools[kindOf(commit.Context)]; of != nil && len(of.ready) < p.all.cfg.Pool {
		of.ready = append(of.ready, made{receipt, commit.CloseBy})
	}
}

// make has the co-dealer commit to an order, and returns when the commit is cosigned.
func (p *peer) make(ctx context.Context, to *client.Client, like *audit.Context, until int64) (made, error) {
	house := p.all.cfg.Origin
	name := strings.ReplaceAll(house, "/", ".")
	table := client.Name(name[:min(len(name), 64)]) // of the house at its co-dealer
	by := client.Timestamp{Time: time.UnixMilli(until).UTC()}
	disclosure := client.Disclosure(like.Disclosure.String())
	var s *client.Committed
	var err error
	if like.IsDraw() {
		s, err = to.Draws(ctx, client.NewKey(), client.DrawsRequest{Table: table, Ranges: like.Recipe.Ranges,
			ForLedger: &house, CloseBy: &by, Disclosure: &disclosure})
	} else {
		s, err = to.Commit(ctx, client.NewKey(), client.ShuffleRequest{Table: table,
			Deck: new(fmt.Sprintf("positions-%d", like.Recipe.Cards)), ForLedger: &house, CloseBy: &by,
			Disclosure: &disclosure})
	}
	var receipt string
	if err == nil {
		receipt, err = to.Cosigned(ctx, s.ID)
	}
	if err != nil {
		return made{}, p.tried(err)
	}
	return made{receipt, until}, nil
}
