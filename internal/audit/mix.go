package audit

import (
	"crypto/sha256"
	"slices"
)

// Mix reveals every value of a plan (docs/SPEC.md section 5.4).
type Mix struct {
	Shuffle    uint64
	Checkpoint uint64 // size of the newest checkpoint that the house held, cosigned if the genesis asks for it
	Values     []MixValue
}

// MixValue is the value of one source.
type MixValue struct {
	Source Source
	Slot   [32]byte // SourceSlot: the bytes whose hash stood in the plan
	Beacon [48]byte // SourceBeacon: the round's signature
	Cut    uint16   // SourceCut: the offset
}

// Type returns TypeMix.
func (*Mix) Type() Type { return TypeMix }

// Beacon returns the beacon's signature, nil without one. Its place in the plan is another, behind a co-dealer.
func (m *Mix) Beacon() *[48]byte {
	i := slices.IndexFunc(m.Values, func(v MixValue) bool { return v.Source == SourceBeacon })
	if i < 0 {
		return nil
	}
	return &m.Values[i].Beacon
}

func (m *Mix) fields(k *coder) {
	k.u64("shuffle", &m.Shuffle)
	k.u64("checkpoint", &m.Checkpoint)
	n := k.count8("mix values", len(m.Values))
	if n < 1 || n > MaxSources {
		k.fail("mix values", "1 to 32 values")
	}
	list(k, n, &m.Values, func(v, _ *MixValue) {
		code(k, "mix source", &v.Source, &codesOfSource)
		switch v.Source {
		case SourceSlot:
			k.hash("slot value", &v.Slot)
		case SourceBeacon:
			k.raw("beacon value", v.Beacon[:])
		case SourceCut:
			k.u16("cut", &v.Cut)
		case SourceCoDealer:
			k.fail("mix source", "a co-dealer has no value")
		}
	})
}

// SlotHash returns what a commit's plan says of a player's 32 bytes: SHA-256(label ‖ u8-prefixed origin ‖ u8-prefixed
// table ‖ value). Origin and table keep a value from being played a second time elsewhere (docs/SPEC.md section 4.1).
func SlotHash(origin, table string, value [32]byte) [32]byte {
	b := str8(str8([]byte(labelSlot), origin), table)
	return sha256.Sum256(append(b, value[:]...))
}

// Quicknet is the hash of drand's quicknet, the one beacon chain that this version knows. Its other
// parameters are in docs/SPEC.md section 4.4.
var Quicknet = [32]byte{0x52, 0xdb, 0x9b, 0xa7, 0x0e, 0x0c, 0xc0, 0xf6, 0xea, 0xf7, 0x80, 0x3d, 0xd0, 0x74, 0x47, 0xa1,
	0xf5, 0x47, 0x77, 0x35, 0xfd, 0x3f, 0x66, 0x17, 0x92, 0xba, 0x94, 0x60, 0x0c, 0x84, 0xe9, 0x71}

// Times of quicknet's rounds, in seconds.
const (
	quicknetGenesis = 1692803367 // of round 1, since 1970
	quicknetPeriod  = 3
)

// BeaconTime returns when a round, from 1, of a beacon chain comes out, in seconds
// since 1970; known is false for a chain that this version does not know.
func BeaconTime(chain [32]byte, round uint64) (at int64, known bool) {
	if chain != Quicknet {
		return 0, false
	}
	return quicknetGenesis + quicknetPeriod*(int64(round)-1), true
}

// BeaconRound returns the first round of quicknet that comes out after the time in UTC milliseconds.
func BeaconRound(after int64) uint64 {
	if after/1000 < quicknetGenesis {
		return 1
	}
	return uint64(after/1000-quicknetGenesis)/quicknetPeriod + 2
}
