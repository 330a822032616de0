package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/lab"
	"shuffled/lab/exact"
)

type labProveCmd struct {
	Only    []string `placeholder:"PROOF" help:"Only these proofs: lanes, orders, decks, exhaustion, budget."`
	Workers int      `placeholder:"N" help:"Work with N goroutines. Default: one for each processor."`
	JSON    bool     `name:"json" help:"Print JSON."`
}

func (labProveCmd) Help() string {
	return `Proves that draws and orders are exactly uniform. If there are few enough cases, it tries every case of the function that the daemon deals with. If there are more, it gives an argument, and tries the cases in which the argument could fail. Every part says which of the two it is. No random byte is read, so every run tries the same cases and prints the same.

  - lanes: every value of every lane for every k up to 16,384 (1,070 million): each value 1..k comes equally often. For larger k, an argument, and the lanes at which a draw can go wrong; for nine k also every high and every low half of a lane.
  - orders: every vector of draws for up to nine cards, and for the first m of them: each order comes once.
  - decks: every size of a deck, compared with swaps that other code computes. Up to 64 cards every lane at every place, alone; up to 54 cards every pair of draws; 1,000,000 fixed orders of 52 cards and 20,000 of each other published deck, with lanes to reject in front of their draws. Of sizes that are not published, fewer. Not every order, because 52 cards have 8·10^67.
  - exhaustion: how rarely a tape runs out, counted with integers for every named deck, and bounded for every list of draws.
  - budget: the bits that a tape has, the bits that the orders need, and the share of orders that a generator with little state could reach.

Examples:

    shuffled lab prove
    shuffled lab prove --only exhaustion,budget --json

Exit codes: 0 all is proved, 1 a case fails, 2 usage, 3 could not run.`
}

// proofs is what --json prints.
type proofs struct {
	Proved     bool                    `json:"proved"`
	Seconds    float64                 `json:"seconds"`
	Lanes      *exact.LanesReport      `json:"lanes,omitempty"`
	Orders     *exact.OrdersReport     `json:"orders,omitempty"`
	Decks      *exact.DecksReport      `json:"decks,omitempty"`
	Exhaustion *exact.ExhaustionReport `json:"exhaustion,omitempty"`
	Budget     *exact.BudgetReport     `json:"budget,omitempty"`
}

// proofNames are the proofs, in the order in which they are made.
var proofNames = []string{"lanes", "orders", "decks", "exhaustion", "budget"}

func (c *labProveCmd) Run(ctx context.Context, s term.Streams) error {
	return c.prove(ctx, s, exact.Daemon)
}

// prove is Run for any shuffle, so that a test can make it fail.
func (c *labProveCmd) prove(ctx context.Context, s term.Streams, run exact.Run) error {
	if err := c.check(); err != nil {
		return err
	}
	began, r := time.Now(), proofs{Proved: true}
	for _, name := range proofNames {
		if !slices.Contains(c.Only, name) {
			continue
		}
		v, text, err := c.one(ctx, s, run, name, &r)
		if err != nil {
			return errors.New("interrupted")
		}
		r.Proved = r.Proved && v.Proved
		if !c.JSON {
			if _, err := io.WriteString(s.Out, text); err != nil {
				return err
			}
		}
	}
	r.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	if err := c.print(s, &r); err != nil {
		return err
	}
	if !r.Proved {
		return term.ErrFails
	}
	return nil
}

func (c *labProveCmd) check() error {
	if c.Workers != 0 {
		if err := lab.CheckWorkers(c.Workers); err != nil {
			return wrongField(err)
		}
	}
	for _, name := range c.Only {
		if !slices.Contains(proofNames, name) {
			return term.Usage("--only must be one of %s, not %q", strings.Join(proofNames, ", "), term.Visible(name))
		}
	}
	if len(c.Only) == 0 {
		c.Only = proofNames
	}
	return nil
}

// one makes the named proof, puts it in r and returns it as text.
func (c *labProveCmd) one(ctx context.Context, s term.Streams, run exact.Run, name string, r *proofs) (v exact.Verdict,
	text string, err error) {
	unit := map[string]string{"lanes": "lanes", "orders": "vectors of draws", "decks": "shuffles",
		"exhaustion": "lists", "budget": "decks"}[name]
	p := term.NewProgress(s.Err, unit)
	defer p.End()
	o, sh := exact.Options{Workers: c.Workers, Progress: p.At}, sheetOf(s)
	switch name {
	case "lanes":
		if r.Lanes, err = exact.Lanes(ctx, run, exact.EveryK(), exact.WideK(), exact.HalvesK(), o); err == nil {
			v, text = r.Lanes.Verdict, sh.lanesProof(r.Lanes)
		}
	case "orders":
		if r.Orders, err = exact.AllOrders(ctx, run, exact.MaxOrderCards, o); err == nil {
			v, text = r.Orders.Verdict, sh.ordersProof(r.Orders)
		}
	case "decks":
		if r.Decks, err = exact.Decks(ctx, run, exact.AllDecks(), o); err == nil {
			v, text = r.Decks.Verdict, sh.decksProof(r.Decks)
		}
	case "exhaustion":
		if r.Exhaustion, err = exact.Exhausted(ctx, run, o); err == nil {
			v, text = r.Exhaustion.Verdict, sh.exhaustionProof(r.Exhaustion)
		}
	case "budget":
		r.Budget = exact.Budgets(shuffle.Recipe.Need)
		v, text = r.Budget.Verdict, sh.budgetProof(r.Budget)
	}
	return v, text, err
}

func (c *labProveCmd) print(s term.Streams, r *proofs) error {
	if c.JSON {
		return term.PrintJSON(s.Out, r)
	}
	sh := sheetOf(s)
	text := sh.P.Good("Proved")
	if !r.Proved {
		text = sh.P.Bad("Not proved")
	}
	_, err := fmt.Fprintf(s.Out, "%s in %.1f s\n", text, r.Seconds)
	return err
}
