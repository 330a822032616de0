package audit

// Extent is what a takeover lets its owner do.
type Extent uint8

func (e Extent) String() string { return codesOfExtent.word(uint8(e)) }

// ParseExtent returns the Extent with the word s, 0 for none.
func ParseExtent(s string) Extent { return Extent(codesOfExtent.parse(s)) }

// Takeover makes the identity of its entry the owner of a shuffle (docs/SPEC.md
// section 5.9).
type Takeover struct {
	Shuffle uint64
	Extent  Extent
	Reason  string // in an operator's words
}

// Type returns TypeTakeover.
func (*Takeover) Type() Type { return TypeTakeover }

func (t *Takeover) encode(w *writer) {
	w.u64(t.Shuffle)
	w.u8(uint8(t.Extent))
	w.str(t.Reason)
}

func (t *Takeover) parse(r *reader) {
	t.Shuffle = r.u64("shuffle")
	t.Extent = Extent(r.code("extent", &codesOfExtent))
	t.Reason = r.reason()
}
