package controls

import (
	"slices"

	"shuffled/internal/entropy"
	"shuffled/internal/lab"
	"shuffled/internal/shuffle"
)

// repeated deals in every m-th game the deck of m−1 games before: a queue of
// prepared decks that comes round, or two generators cloned from one. Every deck
// in it is perfectly shuffled.
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

// notTwice shuffles again when the first card would be that of the last game,
// because that "does not look random". Who knows it knows that card better than
// they should. Every deck alone is perfect.
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

// carried riffles the cards as the last game left them, as a table does that is
// short of time. The first deck is perfect, and so is every later one when it is
// looked at alone: it shows only beside the one before it.
func carried(rounds int) maker {
	return func(src *entropy.Source) lab.Maker {
		m := riffles(rounds)
		first, draws := lab.NewMaker(src, wholeDeck), lab.NewMaker(src, shuffle.Recipe{Ranges: m.ranges(cards)})
		var deck []uint32
		return next(func() ([]uint32, error) {
			if deck == nil {
				got, err := first.Next()
				deck = slices.Clone(got)
				return got, err
			}
			drawn, err := draws.Next()
			if err != nil {
				return nil, err
			}
			m.move(deck, drawn)
			return slices.Clone(deck), nil
		})
	}
}

// stacked makes a shoe of decks that were shuffled one by one and put on each
// other. Every card is as likely at every place of the shoe, but 52 places on end
// hold no card twice.
func stacked(decks int) maker {
	return func(src *entropy.Source) lab.Maker {
		deals, shoe := lab.NewMaker(src, wholeDeck), make([]uint32, cards*decks)
		return next(func() ([]uint32, error) {
			for d := range decks {
				deck, err := deals.Next()
				if err != nil {
					return nil, err
				}
				for i, card := range deck {
					shoe[cards*d+i] = card + uint32(cards*d)
				}
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
