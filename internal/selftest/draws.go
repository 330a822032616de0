package selftest

import (
	"errors"
	"fmt"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// From bytes to cards: docs/SPEC.md sections 2 and 3.
var draws = []test{
	{"draw-lanes", "one draw: width, limit, rejection", "SPEC 2.1", "docs/SPEC.md 2.1, by hand", lanesTest},
	{"tape-length", "bytes of a tape", "SPEC 2.3", "docs/SPEC.md 2.3, by hand", tapeLengthTest},
	{"shuffle", "order of all cards", "SPEC 2.2", "internal/shuffle/testdata/shuffle.json", runsTest(func(r runVector) bool {
		return r.Error == "" && r.Cards > 0 && r.Take == r.Cards && r.EndHi == 0
	})},
	{"custom-take", "order of some cards", "SPEC 2.2", "internal/shuffle/testdata/shuffle.json", runsTest(func(r runVector) bool {
		return r.Error == "" && r.Take < r.Cards && r.EndHi == 0
	})},
	{"end-at", "drawn place of the cut card", "SPEC 2.2", "internal/shuffle/testdata/shuffle.json", runsTest(func(r runVector) bool {
		return r.Error == "" && r.EndHi > 0
	})},
	{"draw-list", "dice, numbers, wheels", "SPEC 2.2", "internal/shuffle/testdata/shuffle.json", runsTest(func(r runVector) bool {
		return r.Error == "" && r.Cards == 0
	})},
	{"tape-refused", "no result from a tape that runs out or has another length", "SPEC 2.3, 2.4", "internal/shuffle/testdata/shuffle.json", refusedTapesTest},
	{"decks", "deck hashes", "SPEC 3.1, 3.2", "internal/shuffle/testdata/decks.txt", decksTest},
	{"child", "cards of a child", "SPEC 3.3", "internal/audit/testdata/hashes.json", childrenTest},
}

// lanesTest shows draws about their limits: the last accepted lane, the first
// rejected one, the last there is.
func lanesTest(a *answers, _ *vectors) {
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
		r := shuffle.Recipe{Ranges: []uint32{c.k}}
		tape := make([]byte, r.TapeLen())
		copy(tape, unhex(c.tape))
		var got string
		_, err := r.Explain(tape, func(s shuffle.Step) {
			lane := fmt.Sprintf("%x", s.Lane)
			if lane == "" {
				lane = "-"
			}
			got = fmt.Sprintf("%x %s %d", s.Rejected, lane, s.Value)
		})
		a.is(fmt.Sprintf("draw 1..%d", c.k), got, err, c.want)
	}
}

func tapeLengthTest(a *answers, _ *vectors) {
	for _, c := range []struct {
		name   string
		recipe shuffle.Recipe
		want   int // S + ⌈S/2⌉ + 52·max(1, W)
	}{
		{"2 cards", shuffle.Recipe{Cards: 2, Take: 2}, 54},                                          // S = 1
		{"52 cards", shuffle.Recipe{Cards: 52, Take: 52}, 129},                                      // S = 51
		{"9 of 52 cards", shuffle.Recipe{Cards: 52, Take: 9}, 66},                                   // S = 9
		{"52 cards, end_at", shuffle.Recipe{Cards: 52, Take: 52, EndLo: 1, EndHi: 52}, 130},         // S = 52
		{"eight decks", shuffle.Recipe{Cards: 416, Take: 416}, 1255},                                // S = 2·352 + 63 = 767
		{"4096 cards", shuffle.Recipe{Cards: 4096, Take: 4096}, 12295},                              // S = 2·4032 + 63 = 8127
		{"three ranges", shuffle.Recipe{Ranges: []uint32{1, 6, 1 << 30}}, 5 + 3 + 208},              // S = 0 + 1 + 4
		{"the longest", shuffle.Recipe{Ranges: repeat(1<<30, shuffle.MaxRanges)}, 16384*3/2 + 4*52}, // S = 4·4096
	} {
		a.values(c.name, c.recipe.TapeLen(), c.recipe.Validate(), c.want)
	}
}

func repeat(k uint32, n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = k
	}
	return all
}

// runsTest spends the tapes of the vectors that belong to it, by the fast path
// that deals and by the one that explains.
func runsTest(mine func(runVector) bool) func(*answers, *vectors) {
	return func(a *answers, v *vectors) {
		for _, c := range v.Runs {
			if !mine(c) {
				continue
			}
			r, want := c.recipe(), shuffle.Outcome{Values: c.Values, EndAt: c.EndAt}
			out, err := r.Run(unhex(c.Tape))
			a.values(c.Name, out, err, want)
			var drawn []uint32
			out, err = r.Explain(unhex(c.Tape), func(s shuffle.Step) { drawn = append(drawn, s.Value) })
			a.values(c.Name+", explained", out, err, want)
			a.values(c.Name+", draw by draw", drawn, nil, c.Draws)
		}
	}
}

func (c runVector) recipe() shuffle.Recipe {
	return shuffle.Recipe{Cards: c.Cards, Take: c.Take, Ranges: c.Ranges, EndLo: c.EndLo, EndHi: c.EndHi}
}

func refusedTapesTest(a *answers, v *vectors) {
	reasons := map[string]error{"tape_exhausted": shuffle.ErrTapeExhausted, "tape_length": shuffle.ErrTapeLength}
	for _, c := range v.Runs {
		if c.Error == "" {
			continue
		}
		out, err := c.recipe().Run(unhex(c.Tape))
		a.refused(c.Name, err, reasons[c.Error])
		a.values(c.Name+": no values", len(out.Values), nil, 0)
	}
}

func decksTest(a *answers, v *vectors) {
	var names []string
	for _, c := range v.Decks {
		names = append(names, c.Name)
		d, known := shuffle.Named(c.Name)
		if !known {
			a.is(c.Name, "", errors.New("no such deck"), c.Hash)
			continue
		}
		h := d.Hash()
		a.is(c.Name, fmt.Sprintf("%d %x", d.Len(), h), nil, fmt.Sprintf("%d %s", c.Cards, c.Hash))
	}
	a.is("the names", strings.Join(shuffle.Names(), " "), nil, strings.Join(names, " "))
	d, _ := shuffle.Named("standard-52")
	a.is("cards of standard-52", strings.Join(d.Cards(), " "), nil, "As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh "+
		"Ad 2d 3d 4d 5d 6d 7d 8d 9d Td Jd Qd Kd Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc")
}

func childrenTest(a *answers, v *vectors) {
	for _, c := range v.Children {
		values, err := audit.ChildValues(c.Parent, c.Positions, c.Indexes)
		a.values(c.Name, values, err, c.Values)
	}
}
