package audit

// Takeover makes the identity of its entry the owner of a shuffle (docs/SPEC.md section 5.9).
type Takeover struct {
	Shuffle uint64
	Extent  Extent
	Reason  string // in an operator's words
}

// Type returns TypeTakeover.
func (*Takeover) Type() Type { return TypeTakeover }

func (t *Takeover) fields(k *coder) {
	k.u64("shuffle", &t.Shuffle)
	code(k, "extent", &t.Extent, &codesOfExtent)
	k.reason(&t.Reason)
}
