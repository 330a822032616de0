package audit

import "crypto/sha256"

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
