package spec

import "slices"

// A second encoder of entries, written from the tables of docs/SPEC.md section
// 5. It takes the fields as the data files show them, checks nothing, and
// remembers where each field lies, so that tests can damage one.

// refSpan is where a field lies. A length span holds the length or count of what follows it.
type refSpan struct {
	Field  string
	At, N  int
	Length bool
}

// Writer has the bytes so far, and where each field lies in them.
type Writer struct {
	B     []byte
	Spans []refSpan
}

func (w *Writer) num(field string, v uint64, width int) {
	w.Spans = append(w.Spans, refSpan{Field: field, At: len(w.B), N: width})
	w.B = append(w.B, Join(v)[8-width:]...)
}

func (w *Writer) count(field string, n, width int) {
	w.num(field, uint64(n), width)
	w.Spans[len(w.Spans)-1].Length = true
}

func (w *Writer) fixed(field string, b []byte) {
	w.Spans = append(w.Spans, refSpan{Field: field, At: len(w.B), N: len(b)})
	w.B = append(w.B, b...)
}

func (w *Writer) str8(field, s string) {
	w.count(field, len(s), 1)
	w.fixed(field, []byte(s))
}

func (w *Writer) blob16(field string, b []byte) {
	w.count(field, len(b), 2)
	w.fixed(field, b)
}

func (w *Writer) flag(field string, v bool) {
	if v {
		w.num(field, 1, 1)
	} else {
		w.num(field, 0, 1)
	}
}

// Bytes is the encoding of e.
func (e Entry) Bytes() []byte { return e.Write().B }

// Write is the encoding with its fields.
func (e Entry) Write() *Writer {
	w := new(Writer)
	body, write := uint64(0), func() {}
	switch {
	case e.Genesis != nil:
		body, write = 1, func() { e.Genesis.write(w) }
	case e.Commit != nil:
		body, write = 2, func() { e.Commit.write(w) }
	case e.Mix != nil:
		body, write = 3, func() { e.Mix.write(w) }
	case e.Deal != nil:
		body, write = 4, func() { e.Deal.write(w) }
	case e.Close != nil:
		body, write = 5, func() { e.Close.write(w) }
	case e.Key != nil:
		body, write = 6, func() { e.Key.write(w) }
	case e.Event != nil:
		body, write = 7, func() { e.Event.write(w) }
	case e.Takeover != nil:
		body, write = 8, func() { e.Takeover.write(w) }
	case e.Holder != nil:
		body, write = 9, func() { e.Holder.write(w) }
	case e.Act != nil:
		body, write = 10, func() { e.Act.write(w) }
	case e.Reveal != nil:
		body, write = 11, func() { e.Reveal.write(w) }
	case e.Disclose != nil:
		body, write = 12, func() { e.Disclose.write(w) }
	case e.Opaque != nil:
		body, write = uint64(e.Opaque.Type), func() { w.fixed("body", e.Opaque.Body) }
	}
	w.num("version", 1, 1)
	w.num("type", body, 1)
	w.num("time", e.Time, 8)
	w.str8("identity", e.Identity)
	w.str8("credential", e.Credential)
	write()
	return w
}

func (w *Writer) extensions(list []Extension) {
	w.count("extensions", len(list), 1)
	for _, e := range list {
		w.num("extension", uint64(e.Code), 1)
		w.blob16("extension", e.Value)
	}
}

func (w *Writer) acts(acts []uint16, delay uint32) {
	w.count("acts", len(acts), 1)
	for _, a := range acts {
		w.num("act", uint64(a), 1)
	}
	w.num("delay", uint64(delay), 4)
}

func (g *Genesis) write(w *Writer) {
	w.num("revision", uint64(g.Revision), 2)
	w.str8("origin", g.Origin)
	w.flag("production", g.Production)
	w.blob16("signing key", g.SigningKey)
	w.blob16("witness policy", []byte(g.Policy))
	w.count("auditor keys", len(g.Auditors), 1)
	for _, k := range g.Auditors {
		w.blob16("auditor key", k)
	}
	w.num("deals", uint64(g.Deals), 1)
	w.num("mix modes", uint64(g.MixModes), 1)
	w.num("disclosure", uint64(g.Disclosure), 1)
	w.num("default close-by", uint64(g.DefaultCloseBy), 4)
	w.num("cap on close-by", uint64(g.MaxCloseBy), 4)
	w.num("access", uint64(g.Access), 1)
	w.blob16("predecessor", g.Predecessor)
	w.count("administrators", len(g.Admins), 1)
	for _, a := range g.Admins {
		w.str8("administrator", a.Name)
		w.blob16("administrator's key", a.Key)
	}
	w.acts(g.TwoPersons, g.Delay)
	w.extensions(g.Extensions)
}

// Bytes is the encoding of the context.
func (c *Context) Bytes() []byte {
	w := new(Writer)
	c.write(w)
	return w.B
}

func (c *Context) write(w *Writer) {
	w.str8("origin", c.Origin)
	w.fixed("genesis hash", c.Genesis)
	w.flag("production", c.Production)
	w.str8("table", c.Table)
	w.num("algorithm", uint64(c.Algorithm), 1)
	w.num("kind", uint64(c.Kind), 1)
	switch c.Kind {
	case 1:
		w.fixed("deck hash", c.DeckHash)
		w.num("cards", c.Cards, 2)
		w.num("take", c.Take, 2)
	case 2:
		w.count("ranges", len(c.Ranges), 2)
		for _, k := range c.Ranges {
			w.num("range", uint64(k), 4)
		}
	case 3:
		w.num("numbers", c.Of, 4)
		w.num("take", c.Take, 2)
	}
	w.flag("parent", c.Parent != nil)
	if c.Parent != nil {
		w.num("parent", c.Parent.ID, 8)
		w.count("parent positions", len(c.Parent.Positions), 2)
		for _, p := range c.Parent.Positions {
			w.num("parent position", uint64(p), 2)
		}
	}
	w.count("mix plan", len(c.Plan), 1)
	for _, p := range c.Plan {
		w.num("mix source", uint64(p.Source), 1)
		switch p.Source {
		case 1:
			w.fixed("slot", p.Slot)
		case 2:
			w.fixed("beacon chain", p.Chain)
			w.num("beacon round", p.Round, 8)
		case 4:
			w.num("co-dealers", 1, 1)
			w.str8("co-dealer's origin", p.Origin)
			w.foreign(*p.Commit)
		}
	}
	w.num("end_at", uint64(c.EndAt.Form), 1)
	switch c.EndAt.Form {
	case 1:
		w.num("end_at place", c.EndAt.Place, 2)
	case 2:
		w.num("end_at lo", c.EndAt.Lo, 2)
		w.num("end_at hi", c.EndAt.Hi, 2)
	}
	w.num("disclosure", uint64(c.Disclosure), 1)
	var forLedger []Extension
	if c.ForLedger != "" {
		forLedger = extensionOf(2, func(w *Writer) { w.str8("ledger that the order is for", c.ForLedger) })
	}
	w.extensions(slices.Concat(c.Terms.extension(), forLedger, c.Extensions))
}

func (w *Writer) foreign(f Foreign) {
	w.num("index in the other ledger", f.Index, 8)
	w.fixed("leaf hash in the other ledger", f.Leaf)
}

func extensionOf(code uint8, write func(*Writer)) []Extension {
	w := new(Writer)
	write(w)
	return []Extension{{code, w.B}}
}

func (a *Asked) extension() []Extension {
	if a == nil {
		return nil
	}
	return extensionOf(1, func(w *Writer) {
		w.foreign(a.Commit)
		w.fixed("entry before", a.After)
		w.foreign(a.Head)
		w.fixed("state", a.State)
		w.fixed("ask", a.Ask)
	})
}

func (b *Blind) extension(code uint8) []Extension {
	if b == nil {
		return nil
	}
	return extensionOf(code, func(w *Writer) {
		w.foreign(b.Deal)
		w.foreign(b.Head)
		w.count("values", len(b.Values), 2)
		for _, v := range b.Values {
			w.num("value", uint64(v), 4)
		}
	})
}

// extension is the terms as an extension of a context, none for nil.
func (t *Terms) extension() []Extension {
	if t == nil {
		return nil
	}
	w := new(Writer)
	w.num("terms", uint64(t.Kind), 1)
	if t.Kind == 3 {
		w.num("tickets", t.Count, 8)
	}
	w.fixed("hash", t.Hash)
	return []Extension{{1, w.B}}
}

func (c *Commit) write(w *Writer) {
	w.count("context", len(c.Context.Bytes()), 2)
	c.Context.write(w)
	w.fixed("commitment", c.Commitment)
	w.fixed("deck root", c.DeckRoot)
	w.num("serial", c.Serial, 8)
	w.num("previous", c.Previous, 8)
	w.num("close-by", c.CloseBy, 8)
	w.str8("game reference", c.GameRef)
	w.fixed("key tag", c.KeyTag)
	w.fixed("request hash", c.Request)
	w.num("instance", c.Instance, 8)
	var key []Extension
	if c.AskKey != nil {
		key = extensionOf(1, func(w *Writer) { w.fixed("ask key", c.AskKey) })
	}
	w.extensions(slices.Concat(key, c.Extensions))
}

func (m *Mix) write(w *Writer) {
	w.num("shuffle", m.Shuffle, 8)
	w.num("checkpoint", m.Checkpoint, 8)
	w.count("mix values", len(m.Values), 1)
	for _, v := range m.Values {
		w.num("mix source", uint64(v.Source), 1)
		switch v.Source {
		case 1:
			w.fixed("slot value", v.Value)
		case 2:
			w.fixed("beacon value", v.Value)
		case 3:
			w.num("cut", v.Cut, 2)
		}
	}
}

func (d *Deal) write(w *Writer) {
	w.num("shuffle", d.Shuffle, 8)
	w.num("first place", d.First, 2)
	w.num("checkpoint", d.Checkpoint, 8)
	w.flag("final", d.Final)
	w.count("runs", len(d.Runs), 2)
	for _, r := range d.Runs {
		w.num("run count", r.Cards, 2)
		w.num("purpose", uint64(r.Purpose), 1)
		w.str8("recipient", r.Recipient)
		w.flag("public", r.Public)
		w.num("round", r.Round, 2)
	}
	w.extensions(slices.Concat(d.Asked.extension(), d.Blind.extension(2), d.Extensions))
}

func (c *Close) write(w *Writer) {
	w.num("shuffle", c.Shuffle, 8)
	w.num("entries", uint64(c.Entries), 2)
	w.num("outcome", uint64(c.Outcome), 1)
	w.num("reason", uint64(c.Reason), 1)
	w.num("form", uint64(c.Form), 1)
	switch c.Form {
	case 1:
		w.blob16("tape", c.Tape)
	case 2:
		w.num("disclosure key", c.Key, 8)
		w.blob16("tape", c.Tape)
	}
	var follows []Extension
	if c.Follows != nil {
		follows = extensionOf(2, func(w *Writer) {
			w.foreign(c.Follows.Foreign)
			w.num("places dealt", uint64(c.Follows.Places), 2)
		})
	}
	w.extensions(slices.Concat(c.Blind.extension(1), follows, c.Extensions))
}

func (k *Key) write(w *Writer) {
	w.num("subject", uint64(k.Subject), 1)
	switch k.Subject {
	case 1:
		w.blob16("signing key", k.Public)
	case 2:
		w.blob16("disclosure key", k.Public)
		w.count("wraps", len(k.Wraps), 1)
		for _, wrap := range k.Wraps {
			w.fixed("auditor", wrap.Auditor)
			w.blob16("wrapped key", wrap.Sealed)
		}
	case 3:
		w.blob16("auditor key", k.Public)
	case 4:
		w.blob16("witness policy", []byte(k.Policy))
	case 5:
		w.num("retired subject", uint64(k.Retired), 1)
		w.fixed("retired key", k.ID)
		w.num("retired from", k.From, 8)
	case 6:
		w.num("change", uint64(k.Change), 1)
		w.str8("administrator", k.Name)
		if k.Change != 2 {
			w.blob16("administrator's key", k.Public)
		}
	case 7:
		w.acts(k.Acts, k.Delay)
	case 8:
		if w.flag("co-dealer", k.Origin != ""); k.Origin != "" {
			w.flag("every commit", k.Every)
			w.str8("co-dealer", k.Origin)
			w.blob16("co-dealer's key", k.Public)
			w.blob16("witness policy", []byte(k.Policy))
		}
	}
}

func (t *Takeover) write(w *Writer) {
	w.num("shuffle", t.Shuffle, 8)
	w.num("extent", uint64(t.Extent), 1)
	w.str8("reason", t.Reason)
}

func (r *Reveal) write(w *Writer) {
	w.num("shuffle", r.Shuffle, 8)
	w.flag("final", r.Final)
	w.flag("exposed", r.Exposed)
	w.count("places", len(r.Places), 2)
	for _, p := range r.Places {
		w.num("place", p, 2)
	}
	w.extensions(r.Extensions)
}

func (d *Disclose) write(w *Writer) {
	w.num("shuffle", d.Shuffle, 8)
	w.num("entries", uint64(d.Entries), 2)
	w.num("form", uint64(d.Form), 1)
	switch d.Form {
	case 1:
		w.blob16("tape", d.Tape)
	case 2:
		w.num("disclosure key", d.Key, 8)
		w.blob16("sealed tape", d.Tape)
	}
	w.extensions(d.Extensions)
}

func (h *Holder) write(w *Writer) {
	w.num("credential", uint64(h.Kind), 1)
	if h.Kind == 2 {
		w.str8("credential", h.ID)
		w.str8("reason", h.Reason)
		return
	}
	h.writeRow(w)
	w.fixed("digest", h.Digest)
}

func (h *Holder) writeRow(w *Writer) {
	w.str8("credential", h.ID)
	w.num("form", uint64(h.Form), 1)
	w.num("role", uint64(h.Role), 1)
	w.str8("identity", h.Identity)
	w.count("tables", len(h.Tables), 2)
	for _, t := range h.Tables {
		w.str8("table", t)
	}
	w.num("expiry", h.Expires, 8)
}

func (a *Act) write(w *Writer) {
	a.WriteSigned(w)
	w.count("signatures", len(a.Signatures), 1)
	for _, s := range a.Signatures {
		w.str8("administrator", s.Administrator)
		w.fixed("signature", s.Signature)
	}
}

// WriteSigned writes the fields that administrators sign.
func (a *Act) WriteSigned(w *Writer) {
	w.num("act", uint64(a.Act), 1)
	w.fixed("digest", a.Digest)
	w.num("previous act", a.Previous, 8)
	w.num("size of the head", a.HeadSize, 8)
	w.fixed("root of the head", a.HeadRoot)
	w.num("expiry", a.Expires, 8)
}

func (e *Event) write(w *Writer) {
	w.num("event", uint64(e.Kind), 1)
	switch e.Kind {
	case 1:
		w.fixed("build digest", e.Build)
		w.fixed("configuration digest", e.Config)
		w.flag("FIPS state", e.FIPS)
		w.str8("version", e.Version)
		w.str8("kernel release", e.Kernel)
		w.num("getrandom in the vDSO", uint64(e.VDSO), 1)
	case 2, 3:
		w.str8("table", e.Table)
	case 4, 5:
		w.num("scope", uint64(e.Scope), 1)
		switch e.Scope {
		case 2:
			w.str8("table", e.Table)
		case 3:
			w.fixed("deck hash", e.Deck)
		}
		w.str8("reason", e.Reason)
	case 6:
		w.num("latch", uint64(e.Cause), 1)
		w.num("instance", e.Instance, 8)
	case 7:
		w.str8("reason", e.Reason)
	case 10:
		w.num("adopted size", e.Size, 8)
		w.fixed("adopted root", e.Root)
		w.num("lost size", e.LostSize, 8)
		w.fixed("lost root", e.LostRoot)
		w.str8("reason", e.Reason)
	case 129:
		w.num("alarm", uint64(e.Alarm), 1)
		w.str8("reason", e.Reason)
	case 130:
		w.num("records", e.Records, 8)
		w.fixed("hash of the newest record", e.Newest)
	default:
		w.fixed("event", e.Opaque)
	}
}

// patch is the encoding of e with the field replaced by other bytes, which may
// be more or fewer. nth counts the fields of that name, lengths apart.
func (e Entry) patch(field string, length bool, nth int, with ...byte) []byte {
	w := e.Write()
	for _, s := range w.Spans {
		if s.Field == field && s.Length == length {
			if nth == 0 {
				return slices.Concat(w.B[:s.At], with, w.B[s.At+s.N:])
			}
			nth--
		}
	}
	panic("no such field: " + field)
}

// Encoded is Bytes, of a context that has no address.
func (c Context) Encoded() []byte { return c.Bytes() }
