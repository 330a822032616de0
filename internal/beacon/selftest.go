package beacon

import (
	"shuffled/internal/audit"
	"shuffled/internal/known"
)

// round1 is the signature of quicknet's first round, as the beacon published it.
const round1 = "b55e7cb2d5c613ee0b2e28d6750aabbb78c39dcc96bd9d38c2c2e12198df95571de8e8e402a0cc48871c7089a2b3af4b"

// SelfTest runs the known-answer test of the beacon. It takes half of the time of
// all known-answer tests: two pairings an answer.
func SelfTest(_ string, a *known.Answers) {
	a.Bytes("chain hash", audit.Quicknet[:], nil, "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
	a.Values("time of round 1000", TimeOf(1000), nil, 1692803367+3*999)
	sig := [Size]byte(known.Unhex(round1))
	a.Is("round 1", "the chain's", Verify(1, sig), "the chain's")
	a.Refused("signature of round 1 for the next", Verify(2, sig), ErrSignature)
}
