package selftest

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/beacon"
	"shuffled/internal/shuffle"
)

// Outside randomness: docs/SPEC.md section 4.
var mixes = []test{
	{"slot-hash", "promise of a player's slot", "SPEC 4.1", "internal/audit/testdata/hashes.json", slotsTest},
	{"mix-seed", "seed from commit and values", "SPEC 4.2", "internal/audit/testdata/hashes.json", seedsTest},
	{"mix", "public order of places", "SPEC 4.3", "internal/shuffle/testdata/shuffle.json", mixTest},
	{"cut", "a player's cut", "SPEC 4.3", "internal/shuffle/testdata/shuffle.json", cutTest},
	{"draw-shift", "a mixed draw list", "SPEC 4.3", "internal/shuffle/testdata/shuffle.json", shiftsTest},
	{"beacon", "rounds of drand's quicknet, BLS12-381", "SPEC 4.4", "round 1 as the beacon published it", beaconTest},
}

func slotsTest(a *answers, v *vectors) {
	for _, c := range v.Slots {
		h := audit.SlotHash(c.Origin, c.Table, hash32(c.R))
		a.bytes(c.Name, h[:], nil, c.Hash)
	}
}

func seedsTest(a *answers, v *vectors) {
	for _, c := range v.Seeds {
		values := make([]audit.MixValue, len(c.Values))
		for i, x := range c.Values {
			values[i].Source, values[i].Cut = audit.Source(x.Source), x.Cut
			switch values[i].Source {
			case audit.SourceSlot:
				values[i].Slot = hash32(x.Value)
			case audit.SourceBeacon:
				values[i].Beacon = [48]byte(unhex(x.Value))
			}
		}
		seed := audit.MixSeed(tlog.RecordHash(unhex(c.Commit)), values)
		a.bytes(c.Name, seed[:], nil, c.Seed)
	}
}

func mixTest(a *answers, v *vectors) {
	for _, c := range v.Mixes {
		p, err := shuffle.Mix(hash32(c.Seed), c.Positions)
		a.values(fmt.Sprintf("%d positions", c.Positions), p, err, c.P)
	}
}

func cutTest(a *answers, v *vectors) {
	for _, c := range v.Mixes {
		p, err := shuffle.Cut(c.P, c.Cut)
		a.values(fmt.Sprintf("%d positions at %d", c.Positions, c.Cut), p, err, c.PCut)
	}
}

func shiftsTest(a *answers, v *vectors) {
	for _, c := range v.Shifts {
		shown, err := shuffle.Shift(hash32(c.Seed), c.Ranges, c.Values)
		a.values(fmt.Sprintf("%d draws", len(c.Ranges)), shown, err, c.Shifted)
	}
}

// beaconTest takes half of the time of all tests: two pairings an answer.
func beaconTest(a *answers, v *vectors) {
	chain := beacon.Quicknet()
	h := chain.Hash()
	a.bytes("chain hash", h[:], nil, "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
	a.values("time of round 1000", chain.TimeOf(1000), nil, 1692803367+3*999)
	for _, c := range v.Rounds {
		sig := [beacon.Size]byte(unhex(c.Signature))
		a.is(fmt.Sprintf("round %d", c.Round), "the chain's", chain.Verify(c.Round, sig), "the chain's")
		a.refused(fmt.Sprintf("signature of round %d for the next", c.Round), chain.Verify(c.Round+1, sig), beacon.ErrSignature)
	}
}
