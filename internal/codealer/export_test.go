package codealer

import (
	"testing"

	"shuffled/client"
)

// Trip has the latch of a co-dealer set, as two checkpoints do that contradict each other.
func Trip(c *CoDealers, origin string) {
	c.peers[origin].said(&client.Fault{What: "a fork", Answer: []byte("one"), Other: []byte("other")})
}

// TestPoolEndsEarly: an order that ends before the shuffle does is dropped, and the next one is taken.
func TestPoolEndsEarly(t *testing.T) {
	p := &peer{all: &CoDealers{cfg: Config{Pool: 1}}, pools: map[string]*pool{"k": {
		ready: []made{{"early", 10}, {"late", 20}}}}}
	for _, want := range []string{"late", ""} {
		if receipt, _ := p.take("k", 15); receipt != want {
			t.Errorf("the order %q was taken, not %q", receipt, want)
		}
	}
}
