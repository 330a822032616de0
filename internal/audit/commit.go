package audit

// Commit opens a shuffle or draw: its index becomes the id (docs/SPEC.md
// section 5.3).
type Commit struct {
	Context    *Context
	Commitment [32]byte // hash of label, context and tape
	DeckRoot   [32]byte // over the committed positions
	Serial     uint64   // of the table, from 1
	Previous   uint64   // index of the table's previous commit, 0 for serial 1
	CloseBy    int64    // UTC milliseconds
	GameRef    string   // the operator's name for the game, or empty
	KeyTag     [32]byte // KeyTag of origin, identity, table and idempotency key
	Request    [32]byte // hash of the request, to know a repeated one
	Instance   uint64   // index of the instance_start event of the daemon that drew the tape
	Extensions []Extension
}

// Type returns TypeCommit.
func (*Commit) Type() Type { return TypeCommit }

func (c *Commit) encode(w *writer) {
	w.nested(func() { c.Context.encode(w) })
	w.raw(c.Commitment[:])
	w.raw(c.DeckRoot[:])
	w.u64(c.Serial)
	w.u64(c.Previous)
	w.u64(uint64(c.CloseBy))
	w.str(c.GameRef)
	w.raw(c.KeyTag[:])
	w.raw(c.Request[:])
	w.u64(c.Instance)
	w.extensions(c.Extensions)
}

func (c *Commit) parse(r *reader) {
	context := r.take("context", int(r.u16("context")))
	if r.err == nil {
		inner := &reader{s: context}
		c.Context, r.err = parseContext(inner)
		r.passed = append(r.passed, inner.passed...)
	}
	c.Commitment = r.hash("commitment")
	c.DeckRoot = r.hash("deck root")
	if c.Serial = r.u64("serial"); c.Serial == 0 {
		r.fail("serial", "counts from 1")
	}
	if c.Previous = r.u64("previous"); (c.Serial == 1) != (c.Previous == 0) {
		r.fail("previous", "0 for serial 1 and only then")
	}
	c.CloseBy = int64(r.u64("close-by"))
	c.GameRef = r.nameOrNone("game reference")
	c.KeyTag = r.hash("key tag")
	c.Request = r.hash("request hash")
	c.Instance = r.u64("instance")
	c.Extensions = r.extensions(&codesOfCommitExtension)
}
