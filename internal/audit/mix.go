package audit

import (
	"crypto/sha256"

	"golang.org/x/mod/sumdb/tlog"
)

// Mix reveals every value of a plan (docs/SPEC.md section 5.4).
type Mix struct {
	Shuffle  uint64
	Cosigned uint64 // size of the newest cosigned checkpoint held, 0 for none
	Values   []MixValue
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

func (m *Mix) encode(w *writer) {
	w.u64(m.Shuffle)
	w.u64(m.Cosigned)
	w.n8(len(m.Values))
	for _, v := range m.Values {
		w.u8(uint8(v.Source))
		switch v.Source {
		case SourceSlot:
			w.raw(v.Slot[:])
		case SourceBeacon:
			w.raw(v.Beacon[:])
		case SourceCut:
			w.u16(v.Cut)
		}
	}
}

func (m *Mix) parse(r *reader) {
	m.Shuffle = r.u64("shuffle")
	m.Cosigned = r.u64("cosigned size")
	n := int(r.u8("mix values"))
	if n < 1 || n > MaxSources {
		r.fail("mix values", "1 to 32 values")
	}
	for i := 0; i < n && r.err == nil; i++ {
		v := MixValue{Source: Source(r.code("mix source", &codesOfSource))}
		switch v.Source {
		case SourceSlot:
			v.Slot = r.hash("slot value")
		case SourceBeacon:
			copy(v.Beacon[:], r.take("beacon value", len(v.Beacon)))
		case SourceCut:
			v.Cut = r.u16("cut")
		}
		m.Values = append(m.Values, v)
	}
}

// SlotHash returns what a commit's plan says of a player's 32 bytes:
// SHA-256(label ‖ u8-prefixed origin ‖ u8-prefixed table ‖ value). Origin and
// table keep a value from being played a second time elsewhere (docs/SPEC.md
// section 4.1).
func SlotHash(origin, table string, value [32]byte) [32]byte {
	w := writer{b: []byte(labelSlot)}
	w.str(origin)
	w.str(table)
	w.raw(value[:])
	return sha256.Sum256(w.b)
}

// MixSeed returns SHA-256(label ‖ leaf hash of the commit entry ‖ values): the
// slots' 32 bytes and the beacon's 48, in plan order, without the cut
// (docs/SPEC.md section 4.2).
func MixSeed(commit tlog.Hash, values []MixValue) [32]byte {
	w := writer{b: []byte(labelMix)}
	w.raw(commit[:])
	for _, v := range values {
		switch v.Source {
		case SourceSlot:
			w.raw(v.Slot[:])
		case SourceBeacon:
			w.raw(v.Beacon[:])
		}
	}
	return sha256.Sum256(w.b)
}

// CutOf returns the cut among values, if there is one.
func CutOf(values []MixValue) (offset uint16, ok bool) {
	if n := len(values); n > 0 && values[n-1].Source == SourceCut {
		return values[n-1].Cut, true
	}
	return 0, false
}
