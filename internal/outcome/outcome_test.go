package outcome

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

var deck52 = shuffle.Recipe{Cards: 52, Take: 52}

// then is a generator that passes the start-up test and whose later tapes are what it says.
type then struct {
	started bool
	tape    func(b []byte)
}

func (g *then) Read(b []byte) (int, error) {
	if !g.started {
		g.started = true
		return rand.Read(b)
	}
	g.tape(b)
	return len(b), nil
}

func source(t *testing.T, r io.Reader) *entropy.Source {
	t.Helper()
	src, err := entropy.NewFrom(r, entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestMake: the tape is the one that was read, once, and gives the outcome.
func TestMake(t *testing.T) {
	for name, r := range map[string]shuffle.Recipe{
		"deck":      deck52,
		"largest":   {Cards: 4096, Take: 4096},
		"stub":      {Cards: 52, Take: 5},
		"cut card":  {Cards: 416, Take: 416, EndLo: 380, EndHi: 400},
		"draws":     {Ranges: []uint32{6, 6, 37, 1, 1 << 30}},
		"no choice": {Ranges: []uint32{1}},
	} {
		t.Run(name, func(t *testing.T) {
			var read [][]byte
			src := source(t, &then{tape: func(b []byte) {
				rand.Read(b)
				read = append(read, slices.Clone(b))
			}})
			tape, out, err := Make(src, r)
			if err != nil {
				t.Fatal(err)
			}
			if len(read) != 1 || !bytes.Equal(read[0], tape) || len(tape) != r.TapeLen() {
				t.Fatalf("%d reads, a tape of %d bytes for %d", len(read), len(tape), r.TapeLen())
			}
			want, err := r.Run(tape)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out.Values, want.Values) || out.EndAt != want.EndAt {
				t.Errorf("the outcome is %v, the tape gives %v", out, want)
			}
		})
	}
}

// TestMakeExhausted: a tape that runs out sets the latch, though its bytes pass the health tests.
func TestMakeExhausted(t *testing.T) {
	next := byte(208) // 208 … 255 are rejected for k = 52
	src := source(t, &then{tape: func(b []byte) {
		for i := range b {
			b[i] = next
			next = max(208, next+1)
		}
	}})
	tape, out, err := Make(src, deck52)
	if !errors.Is(err, entropy.ErrLatched) || !errors.Is(err, shuffle.ErrTapeExhausted) {
		t.Fatalf("error %v", err)
	}
	if tape != nil || out.Values != nil {
		t.Error("a doubted tape was handed out")
	}
	if c, set := src.Latched(); !set || c.Reason != entropy.ReasonTapeExhausted {
		t.Errorf("latch %v, %+v", set, c)
	}
	if _, _, err := Make(src, deck52); !errors.Is(err, entropy.ErrLatched) {
		t.Errorf("the next outcome: %v", err)
	}
}

func TestMakeRefused(t *testing.T) {
	src := source(t, rand.Reader)
	if _, _, err := Make(src, shuffle.Recipe{Cards: 1, Take: 1}); err == nil || errors.Is(err, entropy.ErrLatched) {
		t.Errorf("an invalid recipe: %v", err)
	}
	if _, set := src.Latched(); set {
		t.Error("an invalid recipe set the latch")
	}
	src.Trip(entropy.ReasonOperator)
	if _, _, err := Make(src, deck52); !errors.Is(err, entropy.ErrLatched) {
		t.Errorf("a latched source: %v", err)
	}
	if _, err := Raw(src, 1); !errors.Is(err, entropy.ErrLatched) {
		t.Errorf("raw output of a latched source: %v", err)
	}
}

func TestFoul(t *testing.T) {
	order := func(n int) (v []uint32) {
		for i := range n {
			v = append(v, uint32(i))
		}
		return v
	}
	with := func(v []uint32, i int, x uint32) []uint32 { v[i] = x; return v }
	dice := shuffle.Recipe{Ranges: []uint32{6, 37}}
	cut := shuffle.Recipe{Cards: 52, Take: 52, EndLo: 30, EndHi: 40}
	for _, c := range []struct {
		name   string
		recipe shuffle.Recipe
		out    shuffle.Outcome
		want   string // "" for a good one
	}{
		{"deck", deck52, shuffle.Outcome{Values: order(52)}, ""},
		{"largest deck", shuffle.Recipe{Cards: 4096, Take: 4096}, shuffle.Outcome{Values: order(4096)}, ""},
		{"highest card", shuffle.Recipe{Cards: 52, Take: 1}, shuffle.Outcome{Values: []uint32{51}}, ""},
		{"twice", deck52, shuffle.Outcome{Values: with(order(52), 0, 51)}, "twice"},
		{"64 apart", shuffle.Recipe{Cards: 416, Take: 2}, shuffle.Outcome{Values: []uint32{1, 65}}, ""},
		{"not of the deck", deck52, shuffle.Outcome{Values: with(order(52), 51, 52)}, "not of the deck"},
		{"beyond any deck", deck52, shuffle.Outcome{Values: with(order(52), 0, 4096)}, "not of the deck"},
		{"one short", deck52, shuffle.Outcome{Values: order(51)}, "51 values for 52 positions"},
		{"cut card", cut, shuffle.Outcome{Values: order(52), EndAt: 30}, ""},
		{"cut card early", cut, shuffle.Outcome{Values: order(52), EndAt: 29}, "cut card"},
		{"cut card late", cut, shuffle.Outcome{Values: order(52), EndAt: 41}, "cut card"},
		{"no cut card was asked for", deck52, shuffle.Outcome{Values: order(52), EndAt: 1}, "cut card"},
		{"dice", dice, shuffle.Outcome{Values: []uint32{6, 37}}, ""},
		{"zero", dice, shuffle.Outcome{Values: []uint32{0, 1}}, "range"},
		{"above", dice, shuffle.Outcome{Values: []uint32{1, 38}}, "range"},
		{"a die short", dice, shuffle.Outcome{Values: []uint32{1}}, "1 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(c.recipe, c.out)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, ErrFoul) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			src := source(t, rand.Reader)
			var spent []byte
			tape, out, err := makeBy(func(_ shuffle.Recipe, tape []byte) (shuffle.Outcome, error) {
				spent = tape
				return c.out, nil
			}, src, c.recipe)
			if !errors.Is(err, entropy.ErrLatched) || !errors.Is(err, ErrFoul) {
				t.Errorf("made: %v", err)
			}
			if tape != nil || out.Values != nil || slices.ContainsFunc(spent, func(b byte) bool { return b != 0 }) {
				t.Error("a doubted tape was kept")
			}
			if c, set := src.Latched(); !set || c.Reason != entropy.ReasonFoulDeck {
				t.Errorf("latch %v, %+v", set, c)
			}
		})
	}
}
