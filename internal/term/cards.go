package term

import (
	"slices"
	"strings"

	"shuffled/internal/shuffle"
)

// Style says how the cards of a deck are drawn. It depends on the whole deck, because the name of one card does
// not tell it: 7c is of clubs in a French deck, and of copas in a Spanish one.
type Style int

// The styles.
const (
	Plain   Style = iota // the name, in a box
	French               // ♠ ♥ ♦ ♣
	Spanish              // oros, bastos, espadas, copas
)

var (
	frenchSuits  = map[string]string{"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
	spanishSuits = map[string]string{"o": "oros", "b": "bastos", "e": "espadas", "c": "copas"}
)

const (
	frenchRanks  = "A23456789TJQK"
	spanishRanks = "1234567SCR"
)

// StyleOf returns the style of a deck. It is French or Spanish if every name is one of the published decks of
// that style.
func StyleOf(deck []string) Style {
	all := func(ranks string, suits map[string]string, others ...string) bool {
		return len(deck) > 0 && !slices.ContainsFunc(deck, func(name string) bool {
			_, _, ok := split(name, ranks, suits)
			return !ok && !slices.Contains(others, name)
		})
	}
	switch {
	case all(frenchRanks, frenchSuits, "Jr", "Jb"):
		return French
	case all(spanishRanks, spanishSuits):
		return Spanish
	}
	return Plain
}

// StyleOfHash returns the style of the published deck with this hash, Plain if there is none.
func StyleOfHash(hash [32]byte) Style {
	deck, _ := shuffle.Published(hash)
	return StyleOf(deck.Cards())
}

// split divides a name of a published deck into rank and suit.
func split(name, ranks string, suits map[string]string) (rank, suit string, ok bool) {
	if len(name) != 2 || !strings.Contains(ranks, name[:1]) {
		return "", "", false
	}
	suit, ok = suits[name[1:]]
	return name[:1], suit, ok
}

// Face is one card as it is drawn.
type Face struct {
	Text string // in the middle
	Name string // in the lower edge, if it is not the text
	Red  bool   // drawn red on a terminal with colours
}

// Back is a card that lies face down.
var Back = Face{Text: "░░░░"}

// MaxFace is the widest text of a card, in columns.
const MaxFace = 32

// Face returns the card with this name. The name need not be trusted.
func (s Style) Face(name string) Face {
	switch s {
	case French:
		if name == "Jr" || name == "Jb" {
			return Face{Text: "joker", Name: name, Red: name == "Jr"}
		}
		if rank, suit, ok := split(name, frenchRanks, frenchSuits); ok {
			if rank == "T" {
				rank = "10"
			}
			return Face{Text: rank + suit, Name: name, Red: suit == "♥" || suit == "♦"}
		}
	case Spanish:
		if rank, suit, ok := split(name, spanishRanks, spanishSuits); ok {
			return Face{Text: rank + " " + suit, Name: name}
		}
	}
	return Face{Text: Fit(Visible(name), MaxFace)}
}

// Faces returns the cards with these names.
func (s Style) Faces(names []string) []Face {
	faces := make([]Face, len(names))
	for i, n := range names {
		faces[i] = s.Face(n)
	}
	return faces
}

// lines draws the card in three lines.
func (f Face) lines(p Painter) (lines [3]string, columns int) {
	inside := 4
	if n := Cells(f.Text); n > inside {
		inside = n + 2
	}
	left := (inside - Cells(f.Text) + 1) / 2
	text := Pad(strings.Repeat(" ", left)+f.Text, inside)
	if f.Red {
		text = p.paint("31", text)
	}
	edge := strings.Repeat("─", inside)
	lower := edge
	if f.Name != "" {
		lower = "─" + f.Name + strings.Repeat("─", inside-1-Cells(f.Name))
	}
	return [3]string{"╭" + edge + "╮", "│" + text + "│", "╰" + lower + "╯"}, inside + 2
}

// drawCards draws cards side by side in rows of at most n columns.
func drawCards(p Painter, cards []Face, n int) (lines []string) {
	used := n // so that the first card opens a row
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

// Hand is the cards of one recipient.
type Hand struct {
	Label string
	Cards []Face
}

// DrawHands draws each hand next to its label, in at most n columns.
func DrawHands(p Painter, hands []Hand, n int) string {
	wide := 0
	for _, h := range hands {
		wide = max(wide, Cells(h.Label))
	}
	var b strings.Builder
	for _, h := range hands {
		for i, line := range drawCards(p, h.Cards, n-wide-4) {
			label := ""
			if i == 1 { // the middle of the first row
				label = h.Label
			}
			b.WriteString("  " + Pad(label, wide) + "  " + line + "\n")
		}
	}
	return b.String()
}
