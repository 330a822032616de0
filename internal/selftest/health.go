package selftest

import (
	"bytes"
	"fmt"

	"shuffled/internal/entropy"
)

// The health tests of the generator. They take bytes from here and none from the
// generator.
var health = []test{
	{"health-cutoffs", "when the generator is halted", "SP 800-90B 4.4", "SP 800-90B 4.4.1, 4.4.2 with the published correction; H = 8, W = 512", cutoffsTest},
	{"stuck-stream", "a generator that repeats a value", "SP 800-90B 4.4", "SP 800-90B 4.4.1, by hand", stuckTest},
	{"biased-stream", "a generator that prefers a value", "SP 800-90B 4.4", "SP 800-90B 4.4.2, by hand", biasedTest},
}

func cutoffsTest(a *answers, _ *vectors) {
	for _, c := range []struct {
		alphaExp int
		want     string
	}{{20, "4 14"}, {40, "6 20"}, {60, "9 26"}} {
		repetition, proportion := entropy.Cutoffs(c.alphaExp)
		a.is(fmt.Sprintf("2^-%d", c.alphaExp), fmt.Sprint(repetition, " ", proportion), nil, c.want)
	}
	a.values("in force", entropy.AlphaExp, nil, 60)
}

// stuckTest repeats a byte 8 times, which passes, and 9 times, which halts.
func stuckTest(a *answers, _ *vectors) {
	for _, c := range []struct {
		name string
		run  int
		want entropy.Reason
	}{{"8 times", 8, 0}, {"9 times", 9, entropy.ReasonRepetition}, {"for ever", 1024, entropy.ReasonRepetition}} {
		stream := append(count(0, 100), bytes.Repeat([]byte{0xa5}, c.run)...)
		stream = append(stream, count(0, 100)...)
		a.values(c.name, entropy.NewHealth(entropy.AlphaExp).Test(stream), nil, c.want)
	}
	// Byte by byte, as if each were a tape of its own.
	h, got := entropy.NewHealth(entropy.AlphaExp), []entropy.Reason(nil)
	for range 9 {
		got = append(got, h.Test([]byte{0xa5}))
	}
	a.values("over nine reads", got, nil, []entropy.Reason{8: entropy.ReasonRepetition})
}

// biasedTest puts the first byte of a window of 512 into it 25 times, which
// passes, and 26 times, which halts; 26 times over two windows pass.
func biasedTest(a *answers, _ *vectors) {
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
		want entropy.Reason
	}{
		{"25 in a window", every(25, 20), 0},
		{"26 in a window", every(26, 19), entropy.ReasonProportion},
		{"26 over two windows", every(26, 39), 0},
	} {
		a.values(c.name, entropy.NewHealth(entropy.AlphaExp).Test(stream(c.at...)), nil, c.want)
	}
}
