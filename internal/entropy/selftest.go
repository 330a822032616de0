package entropy

import (
	"bytes"
	"fmt"

	"shuffled/internal/known"
)

// SelfTest runs the known-answer test of that name. It panics if there is none. The
// tests take bytes from here and none from the generator.
func SelfTest(name string, a *known.Answers) { selfTests[name](a) }

var selfTests = map[string]func(*known.Answers){
	"health-cutoffs": cutoffsTest,
	"stuck-stream":   stuckTest,
	"biased-stream":  biasedTest,
}

func cutoffsTest(a *known.Answers) {
	for _, c := range []struct {
		alphaExp int
		want     string
	}{{20, "4 14"}, {40, "6 20"}, {60, "9 26"}} {
		repetition, proportion := Cutoffs(c.alphaExp)
		a.Is(fmt.Sprintf("2^-%d", c.alphaExp), fmt.Sprint(repetition, " ", proportion), nil, c.want)
	}
	a.Values("in force", AlphaExp, nil, 60)
}

// stuckTest repeats a byte 8 times, which passes, and 9 times, which halts.
func stuckTest(a *known.Answers) {
	for _, c := range []struct {
		name string
		run  int
		want Reason
	}{{"8 times", 8, 0}, {"9 times", 9, ReasonRepetition}, {"for ever", 1024, ReasonRepetition}} {
		stream := append(known.Count(0, 100), bytes.Repeat([]byte{0xa5}, c.run)...)
		stream = append(stream, known.Count(0, 100)...)
		a.Values(c.name, NewHealth(AlphaExp).Test(stream), nil, c.want)
	}
	// Byte by byte, as if each were a tape of its own.
	h, got := NewHealth(AlphaExp), []Reason(nil)
	for range 9 {
		got = append(got, h.Test([]byte{0xa5}))
	}
	a.Values("over nine reads", got, nil, []Reason{8: ReasonRepetition})
}

// biasedTest puts the first byte of a window of 512 into it 25 times, which
// passes, and 26 times, which halts; 26 times over two windows pass.
func biasedTest(a *known.Answers) {
	stream := func(at ...int) []byte {
		b := make([]byte, 1024)
		for i := range b {
			b[i] = 1 + byte(i%251)
		}
		for _, i := range at {
			b[i] = 0
		}
		return b
	}
	every := func(n, step int) (at []int) {
		for i := range n {
			at = append(at, i*step)
		}
		return at
	}
	for _, c := range []struct {
		name string
		at   []int
		want Reason
	}{
		{"25 in a window", every(25, 20), 0},
		{"26 in a window", every(26, 19), ReasonProportion},
		{"26 over two windows", every(26, 39), 0},
	} {
		a.Values(c.name, NewHealth(AlphaExp).Test(stream(c.at...)), nil, c.want)
	}
}
