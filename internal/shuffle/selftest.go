package shuffle

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"shuffled/internal/known"
)

// selfTestJSON has cases of testdata/shuffle.json, word for word; deckHashes is the
// list of decks. Embedded, so that the binary needs no file to test itself.
var (
	//go:embed selftest.json
	selfTestJSON []byte
	//go:embed testdata/decks.txt
	deckHashes string
)

// vectorSet are cases of testdata/shuffle.json.
type vectorSet struct {
	Runs    []runVector     `json:"runs"`
	Mixes   []mixVector     `json:"mixes"`
	Shifts  []shiftVector   `json:"shifts"`
	Numbers []numbersVector `json:"numbers"`
}

type runVector struct {
	Name    string      `json:"name"`
	Cards   int         `json:"cards,omitempty"`
	Take    int         `json:"take,omitempty"`
	EndLo   int         `json:"end_lo,omitempty"`
	EndHi   int         `json:"end_hi,omitempty"`
	Ranges  []uint32    `json:"ranges,omitempty"`
	TapeLen int         `json:"tape_len"`
	Tape    known.Bytes `json:"tape"`
	Error   string      `json:"error,omitempty"`
	Draws   []uint32    `json:"draws,omitempty"`
	Values  []uint32    `json:"values,omitempty"`
	EndAt   int         `json:"end_at,omitempty"`
}

type mixVector struct {
	Seed      known.Bytes `json:"seed"`
	Positions int         `json:"positions"`
	P         []uint32    `json:"p"`
	Cut       int         `json:"cut"`
	PCut      []uint32    `json:"p_cut"`
}

type shiftVector struct {
	Seed    known.Bytes `json:"seed"`
	Ranges  []uint32    `json:"ranges"`
	Values  []uint32    `json:"values"`
	Shifted []uint32    `json:"shifted"`
}

type numbersVector struct {
	Name    string   `json:"name"`
	Of      int      `json:"of"`
	Draws   []uint32 `json:"draws"`
	Numbers []uint32 `json:"numbers"`
}

var embedded = sync.OnceValue(func() *vectorSet { return known.Load[vectorSet](selfTestJSON) })

// SelfTest runs the known-answer test of that name on the embedded vectors. It panics if there is none.
func SelfTest(name string, a *known.Answers) { selfTests[name](a, embedded()) }

// selfTests are the known-answer tests, by name. The tests of this package run them on all of testdata.
var selfTests = map[string]func(*known.Answers, *vectorSet){
	"draw-lanes":  lanesTest,
	"tape-length": tapeLengthTest,
	"shuffle": runsTest(func(r runVector) bool {
		return r.Error == "" && r.Cards > 0 && r.Take == r.Cards && r.EndHi == 0
	}),
	"custom-take": runsTest(func(r runVector) bool {
		return r.Error == "" && r.Take < r.Cards && r.EndHi == 0
	}),
	"end-at": runsTest(func(r runVector) bool {
		return r.Error == "" && r.EndHi > 0
	}),
	"draw-list": runsTest(func(r runVector) bool {
		return r.Error == "" && r.Cards == 0
	}),
	"tape-refused": refusedTapesTest,
	"decks":        decksTest,
	"mix":          mixTest,
	"cut":          cutTest,
	"draw-shift":   shiftsTest,
	"numbers":      numbersTest,
}

// lanesTest shows draws about their limits: the last accepted lane, the first rejected one, the last there is.
func lanesTest(a *known.Answers, _ *vectorSet) {
	for _, c := range []struct {
		k    uint32
		tape string // its beginning; zeros follow
		want string // rejected, lane, value
	}{
		{1, "", " - 1"},
		{2, "ff", " ff 2"},
		{3, "fffe", "ff fe 3"},
		{6, "fcfdfefffb", "fcfdfeff fb 6"},
		{37, "deffdd", "deff dd 37"},
		{52, "d0cf", "d0 cf 52"},
		{64, "ff", " ff 64"},
		{65, "fffffff0ffef", "fffffff0 ffef 65"},
		{416, "ff20ff1f", "ff20 ff1f 416"},
		{16384, "ffff", " ffff 16384"},
		{16385, "fffffff0ffffffef", "fffffff0 ffffffef 16385"},
		{858993460, "ccccccd0cccccccf", "ccccccd0 cccccccf 858993460"},
		{1 << 30, "ffffffff", " ffffffff 1073741824"},
	} {
		r := Recipe{Ranges: []uint32{c.k}}
		tape := make([]byte, r.TapeLen())
		copy(tape, known.Unhex(c.tape))
		var got string
		_, err := r.Explain(tape, func(s Step) {
			lane := fmt.Sprintf("%x", s.Lane)
			if lane == "" {
				lane = "-"
			}
			got = fmt.Sprintf("%x %s %d", s.Rejected, lane, s.Value)
		})
		a.Is(fmt.Sprintf("draw 1..%d", c.k), got, err, c.want)
	}
}

func tapeLengthTest(a *known.Answers, _ *vectorSet) {
	for _, c := range []struct {
		name   string
		recipe Recipe
		want   int // S + ⌈S/2⌉ + 52·max(1, W)
	}{
		{"2 cards", Recipe{Cards: 2, Take: 2}, 54},                                  // S = 1
		{"52 cards", Recipe{Cards: 52, Take: 52}, 129},                              // S = 51
		{"9 of 52 cards", Recipe{Cards: 52, Take: 9}, 66},                           // S = 9
		{"52 cards, end_at", Recipe{Cards: 52, Take: 52, EndLo: 1, EndHi: 52}, 130}, // S = 52
		{"eight decks", Recipe{Cards: 416, Take: 416},
			1255}, // S = 2·352 + 63 = 767
		{"4096 cards", Recipe{Cards: 4096, Take: 4096},
			12295}, // S = 2·4032 + 63 = 8127
		{"three ranges", Recipe{Ranges: []uint32{1, 6, 1 << 30}}, 5 + 3 + 208},                         // S = 0 + 1 + 4
		{"the longest", Recipe{Ranges: slices.Repeat([]uint32{1 << 30}, MaxRanges)}, 16384*3/2 + 4*52}, // S = 4·4096
	} {
		a.Values(c.name, c.recipe.TapeLen(), c.recipe.Validate(), c.want)
	}
}

// runsTest spends the tapes of the vectors that belong to it, as a deal does and with every draw shown.
func runsTest(mine func(runVector) bool) func(*known.Answers, *vectorSet) {
	return func(a *known.Answers, v *vectorSet) {
		for _, c := range v.Runs {
			if !mine(c) {
				continue
			}
			r, want := c.recipe(), Outcome{Values: c.Values, EndAt: c.EndAt}
			out, err := r.Run(c.Tape)
			a.Values(c.Name, out, err, want)
			var drawn []uint32
			out, err = r.Explain(c.Tape, func(s Step) { drawn = append(drawn, s.Value) })
			a.Values(c.Name+", explained", out, err, want)
			a.Values(c.Name+", draw by draw", drawn, nil, c.Draws)
		}
	}
}

func (c runVector) recipe() Recipe {
	return Recipe{Cards: c.Cards, Take: c.Take, Ranges: c.Ranges, EndLo: c.EndLo, EndHi: c.EndHi}
}

func refusedTapesTest(a *known.Answers, v *vectorSet) {
	reasons := map[string]error{"tape_exhausted": ErrTapeExhausted, "tape_length": ErrTapeLength}
	for _, c := range v.Runs {
		if c.Error == "" {
			continue
		}
		out, err := c.recipe().Run(c.Tape)
		a.Refused(c.Name, err, reasons[c.Error])
		a.Values(c.Name+": no values", len(out.Values), nil, 0)
	}
}

func decksTest(a *known.Answers, _ *vectorSet) {
	var names []string
	for line := range strings.Lines(deckHashes) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "#" {
			continue
		}
		names = append(names, name)
		d, ok := Named(name)
		if !ok {
			a.Is(name, "", errors.New("no such deck"), want)
			continue
		}
		h := d.Hash()
		a.Is(name, fmt.Sprintf("%d %x", d.Len(), h), nil, want)
	}
	a.Is("the names", strings.Join(Names(), " "), nil, strings.Join(names, " "))
	d, _ := Named("standard-52")
	a.Is("cards of standard-52", strings.Join(d.Cards(), " "), nil,
		"As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh "+
			"Ad 2d 3d 4d 5d 6d 7d 8d 9d Td Jd Qd Kd Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc")
}

func mixTest(a *known.Answers, v *vectorSet) {
	for _, c := range v.Mixes {
		p, err := Mix([32]byte(c.Seed), c.Positions)
		a.Values(fmt.Sprintf("%d positions", c.Positions), p, err, c.P)
	}
}

func cutTest(a *known.Answers, v *vectorSet) {
	for _, c := range v.Mixes {
		p, err := Cut(c.P, c.Cut)
		a.Values(fmt.Sprintf("%d positions at %d", c.Positions, c.Cut), p, err, c.PCut)
	}
}

func shiftsTest(a *known.Answers, v *vectorSet) {
	for _, c := range v.Shifts {
		shown, err := Shift([32]byte(c.Seed), c.Ranges, c.Values)
		a.Values(fmt.Sprintf("%d draws", len(c.Ranges)), shown, err, c.Shifted)
	}
}

func numbersTest(a *known.Answers, v *vectorSet) {
	for _, c := range v.Numbers {
		numbers, err := Numbers(c.Of, c.Draws)
		a.Values(c.Name, numbers, err, c.Numbers)
	}
}
