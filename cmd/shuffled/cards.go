package main

import (
	"slices"
	"strings"

	"shuffled/internal/shuffle"
)

// style says how the cards of a deck are drawn. It follows from the whole deck,
// for the name of a card alone does not give it: 7c is of clubs in a French deck
// and of copas in a Spanish one.
type style int

const (
	plain   style = iota // the name, in a box
	french               // ♠ ♥ ♦ ♣
	spanish              // oros, bastos, espadas, copas
)

var (
	frenchSuits  = map[string]string{"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
	spanishSuits = map[string]string{"o": "oros", "b": "bastos", "e": "espadas", "c": "copas"}
)

const (
	frenchRanks  = "A23456789TJQK"
	spanishRanks = "1234567SCR"
)

// styleOf returns the style of a deck: that of the published decks when every
// name in it is one of theirs.
func styleOf(deck []string) style {
	all := func(ranks string, suits map[string]string, others ...string) bool {
		return len(deck) > 0 && !slices.ContainsFunc(deck, func(name string) bool {
			_, _, ok := split(name, ranks, suits)
			return !ok && !slices.Contains(others, name)
		})
	}
	switch {
	case all(frenchRanks, frenchSuits, "Jr", "Jb"):
		return french
	case all(spanishRanks, spanishSuits):
		return spanish
	}
	return plain
}

// styleOfHash returns the style of the published deck with this hash.
func styleOfHash(hash [32]byte) style {
	for _, name := range shuffle.Names() {
		if d, ok := shuffle.Named(name); ok && d.Hash() == hash {
			return styleOf(d.Cards())
		}
	}
	return plain
}

// split takes a name of a published deck apart.
func split(name, ranks string, suits map[string]string) (rank, suit string, ok bool) {
	if len(name) != 2 || !strings.Contains(ranks, name[:1]) {
		return "", "", false
	}
	suit, ok = suits[name[1:]]
	return name[:1], suit, ok
}

// face is one card as it is drawn.
type face struct {
	text string // in the middle
	name string // in the lower edge, where it is not the text itself
	red  bool
}

// back is a card that lies face down.
var back = face{text: "░░░░"}

// maxFace is the widest text of a card in columns.
const maxFace = 32

// face returns the card with this name, which may come from anywhere.
func (s style) face(name string) face {
	switch s {
	case french:
		if name == "Jr" || name == "Jb" {
			return face{text: "joker", name: name, red: name == "Jr"}
		}
		if rank, suit, ok := split(name, frenchRanks, frenchSuits); ok {
			if rank == "T" {
				rank = "10"
			}
			return face{text: rank + suit, name: name, red: suit == "♥" || suit == "♦"}
		}
	case spanish:
		if rank, suit, ok := split(name, spanishRanks, spanishSuits); ok {
			return face{text: rank + " " + suit, name: name}
		}
	}
	return face{text: fit(visible(name), maxFace)}
}

func (s style) faces(names []string) []face {
	faces := make([]face, len(names))
	for i, n := range names {
		faces[i] = s.face(n)
	}
	return faces
}

// lines draws f, three lines high and two columns wider than its inside.
func (f face) lines(p painter) (lines [3]string, columns int) {
	inside := 4
	if n := cells(f.text); n > inside {
		inside = n + 2
	}
	left := (inside - cells(f.text) + 1) / 2
	text := pad(strings.Repeat(" ", left)+f.text, inside)
	if f.red {
		text = p.paint("31", text)
	}
	edge := strings.Repeat("─", inside)
	lower := edge
	if f.name != "" {
		lower = "─" + f.name + strings.Repeat("─", inside-1-cells(f.name))
	}
	return [3]string{"╭" + edge + "╮", "│" + text + "│", "╰" + lower + "╯"}, inside + 2
}

// drawCards draws cards side by side in rows of at most n columns.
func drawCards(p painter, cards []face, n int) (lines []string) {
	used := n // the first card opens a row
	for _, c := range cards {
		drawn, wide := c.lines(p)
		if used+1+wide > n {
			lines, used = append(lines, drawn[:]...), wide
			continue
		}
		for i, d := range drawn {
			lines[len(lines)-3+i] += " " + d
		}
		used += 1 + wide
	}
	return lines
}

// hand is the cards of one recipient.
type hand struct {
	label string
	cards []face
}

// drawHands draws each hand beside its label, the labels in one column.
func drawHands(p painter, hands []hand, n int) string {
	wide := 0
	for _, h := range hands {
		wide = max(wide, cells(h.label))
	}
	var b strings.Builder
	for _, h := range hands {
		for i, line := range drawCards(p, h.cards, n-wide-4) {
			label := ""
			if i == 1 { // the middle of the first row
				label = h.label
			}
			b.WriteString("  " + pad(label, wide) + "  " + line + "\n")
		}
	}
	return b.String()
}
