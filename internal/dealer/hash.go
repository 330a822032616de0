package dealer

import (
	"crypto/sha256"

	"golang.org/x/crypto/cryptobyte"
)

// requestLabel starts the hash of a request (docs/SPEC.md section 5.3).
const requestLabel = "shuffled/v1/request\x00"

// A request's hash names it as it was parsed: absent members are marked absent and
// defaults are not filled in, so that the same request gives the same hash though
// a ledger's defaults change.

func (r *ShuffleRequest) hash() [32]byte {
	h := newHasher("shuffle")
	r.members(h)
	return h.sum()
}

// hashOf is the hash of a request for count shuffles.
func (r *ShuffleRequest) hashOf(count int) [32]byte {
	h := newHasher("shuffles")
	h.number(count)
	r.members(h)
	return h.sum()
}

func (r *ShuffleRequest) members(h hasher) {
	h.text(r.Table)
	h.text(r.Deck)
	h.number(len(r.Cards))
	for _, c := range r.Cards {
		h.text(c)
	}
	if h.present(r.Take != nil) {
		h.number(*r.Take)
	}
	if h.present(r.EndAt != nil) {
		h.number(r.EndAt.Lo)
		h.number(r.EndAt.Hi)
	}
	if h.present(r.Parent != nil) {
		h.number(int(r.Parent.ID))
		if h.present(r.Parent.Positions != nil) {
			h.number(len(r.Parent.Positions))
			for _, p := range r.Parent.Positions {
				h.number(int(p))
			}
		}
	}
	h.common(common{r.Table, r.Plan, r.Disclosure, r.CloseBy, r.GameRef, r.Terms})
}

func (r *DrawsRequest) hash() [32]byte {
	h := newHasher("draws")
	h.text(r.Table)
	h.number(len(r.Ranges))
	for _, k := range r.Ranges {
		h.number(int(k))
	}
	if h.present(r.Numbers != nil) {
		h.number(r.Numbers.Of)
		h.number(r.Numbers.Take)
	}
	h.number(len(r.Wheel))
	for _, s := range r.Wheel {
		h.text(s.Label)
		h.number(s.Weight)
	}
	h.common(common{r.Table, r.Plan, r.Disclosure, r.CloseBy, r.GameRef, r.Terms})
	return h.sum()
}

// hasher collects the members of a request, each in a form with one reading.
type hasher struct{ b *cryptobyte.Builder }

func newHasher(kind string) hasher {
	h := hasher{cryptobyte.NewBuilder([]byte(requestLabel))}
	h.text(kind)
	return h
}

func (h hasher) text(s string) {
	h.b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(s)) })
}

func (h hasher) number(n int) { h.b.AddUint64(uint64(n)) }

// present marks a member as there or absent, and returns which.
func (h hasher) present(there bool) bool {
	if there {
		h.b.AddUint8(1)
	} else {
		h.b.AddUint8(0)
	}
	return there
}

func (h hasher) common(t common) {
	if h.present(t.plan != nil) {
		h.number(len(t.plan.Slots))
		for _, s := range t.plan.Slots {
			h.b.AddBytes(s[:])
		}
		if h.present(t.plan.Beacon) {
			h.number(int(t.plan.Round))
		}
		h.present(t.plan.Cut)
	}
	h.b.AddUint8(uint8(t.disclosure))
	if h.present(t.closeBy != nil) {
		h.number(int(*t.closeBy))
	}
	h.text(t.gameRef)
	if h.present(t.terms != nil) {
		h.b.AddUint8(uint8(t.terms.Kind))
		h.number(int(t.terms.Count))
		h.b.AddBytes(t.terms.Hash[:])
	}
}

func (h hasher) sum() [32]byte { return sha256.Sum256(h.b.BytesOrPanic()) }
