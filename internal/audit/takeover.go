package audit

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
