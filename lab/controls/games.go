package controls

import (
	"slices"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
)

// repeated deals in every m-th game the deck of m−1 games before, as a circular queue of prepared decks
// does, or two generators cloned from one. Every single deck is perfectly shuffled.
func repeated(m int) maker {
	return func(src *entropy.Source) lab.Maker {
		deals, first, game := lab.NewMaker(src, wholeDeck), []uint32(nil), 0
		return next(func() ([]uint32, error) {
			game++
			if game%m == 0 {
				return first, nil
			}
			deck, err := deals.Next()
			if game%m == 1 {
				first = slices.Clone(deck)
			}
			return deck, err
		})
	}
}

// notTwice shuffles again if the first card would be that of the last game, because that "does not look random". A
// player who knows this knows more about the first card than chance allows. Every single deck is perfect.
func notTwice(src *entropy.Source) lab.Maker {
	deals, last := lab.NewMaker(src, wholeDeck), uint32(cards)
	return next(func() ([]uint32, error) {
		for {
			deck, err := deals.Next()
			if err != nil {
				return nil, err
			}
			if deck[0] != last {
				last = deck[0]
				return deck, nil
			}
		}
	})
}

// carried riffles the cards as an earlier game left them, as a table does that is short of time; several
// decks are dealt in turn. The first deck is perfect. So is every later one if it is tested alone, or
// together with any deck except the one from which it was made.
func carried(rounds, decks int) maker {
	return func(src *entropy.Source) lab.Maker {
		m := riffles(rounds)
		first, draws := lab.NewMaker(src, wholeDeck), lab.NewMaker(src, shuffle.Recipe{Ranges: m.ranges(cards)})
		var all [][]uint32
		return next(func() ([]uint32, error) {
			if len(all) < decks {
				got, err := first.Next()
				all = append(all, slices.Clone(got))
				return got, err
			}
			deck := all[0]
			all = append(all[1:], deck)
			drawn, err := draws.Next()
			if err != nil {
				return nil, err
			}
			m.move(deck, drawn)
			return slices.Clone(deck), nil
		})
	}
}

// fitted moves, in every m-th game, one card to place 20: the card whose sum with those at places 3 and 11
// is a multiple of the deck's size. Every card is equally likely at every place, and any two at any two
// places; only the three together are not.
func fitted(m int) maker {
	return func(src *entropy.Source) lab.Maker {
		deals, game := lab.NewMaker(src, wholeDeck), 0
		return next(func() ([]uint32, error) {
			deck, err := deals.Next()
			if game++; err != nil || game%m != 0 {
				return deck, err
			}
			fits := (2*cards - deck[3] - deck[11]) % cards
			if at := slices.Index(deck, fits); at != 3 && at != 11 {
				swap(deck, at, 20)
			}
			return deck, nil
		})
	}
}

// dropped loses a card in every m-th game, and replaces it with a copy of the card next to it. The dealer
// refuses such an order before it becomes a commit (outcome.ErrFoul).
func dropped(m int) maker {
	return func(src *entropy.Source) lab.Maker {
		deals, game := lab.NewMaker(src, wholeDeck), 0
		return next(func() ([]uint32, error) {
			deck, err := deals.Next()
			if game++; err == nil && game%m == 0 {
				deck[0] = deck[1]
			}
			return deck, err
		})
	}
}

// stacked makes a shoe of decks that were shuffled one by one and put on each other. Every card is equally
// likely at every place of the shoe, but 52 consecutive places of a deck hold no card twice. The order of
// the copies of a card is drawn too, because it would show otherwise, and at a table copies look the same.
func stacked(decks int) maker {
	return func(src *entropy.Source) lab.Maker {
		deals := lab.NewMaker(src, wholeDeck)
		copies := lab.NewMaker(src, shuffle.Recipe{Ranges: slices.Repeat(down(decks, 1), cards)})
		shoe, order := make([]uint32, cards*decks), make([]uint32, decks)
		return next(func() ([]uint32, error) {
			for d := range decks {
				deck, err := deals.Next()
				if err != nil {
					return nil, err
				}
				copy(shoe[cards*d:], deck)
			}
			drawn, err := copies.Next()
			if err != nil {
				return nil, err
			}
			number := make([][]uint32, cards) // of the copies of each card still to come
			for card := range number {
				newOrder(order)
				shortRange.move(order, drawn[decks*card:][:decks])
				number[card] = slices.Clone(order)
			}
			for p, card := range shoe {
				shoe[p], number[card] = card+cards*number[card][0], number[card][1:]
			}
			return shoe, nil
		})
	}
}

// wheel spins 1..k by the remainder of a byte.
func wheel(k uint32) maker {
	return func(src *entropy.Source) lab.Maker {
		r, spin := &raw{src: src}, make([]uint32, 1)
		pick := byteModulo(r)
		return next(func() ([]uint32, error) {
			spin[0] = 1 + pick(k)
			return spin, r.err
		})
	}
}
