package codealer

import (
	"shuffled/client"
)

// Trip has the latch of a co-dealer set, as two checkpoints do that contradict each other.
func Trip(c *CoDealers, origin string) {
	c.peers[origin].said(&client.Fault{What: "a fork", Answer: []byte("one"), Other: []byte("other")})
}
