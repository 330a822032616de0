package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// limit is a limit of docs/SPEC.md (section 1.2), or a bound of section 5: of is
// an entry with n of it, which is good from lo to hi.
type limit struct {
	name   string
	lo, hi uint64
	below  string // the fault at lo−1; "" when there is no lower bound
	above  string // the fault at hi+1; "" when its field holds no more
	of     func(n uint64) refEntry
}

func (l limit) check(t *testing.T) {
	type try struct {
		n    uint64
		want string
	}
	tries := []try{{l.lo, ""}, {l.lo + (l.hi-l.lo)/2, ""}, {l.hi, ""}}
	if l.above != "" {
		tries = append(tries, try{l.hi + 1, l.above})
	}
	if l.below != "" {
		tries = append(tries, try{l.lo - 1, l.below})
	}
	if l.hi > l.lo {
		tries = append(tries, try{l.lo + 1, ""}, try{l.hi - 1, ""})
	}
	for _, c := range tries {
		_, err := ParseEntry(l.of(c.n).bytes())
		if got := faultOf(err); got != c.want {
			t.Errorf("%s %d: %v, want %q", l.name, c.n, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	limits := slices.Concat(limitsOfHeads(), limitsOfGenesis(), limitsOfContexts(), limitsOfCommits(), limitsOfPlay(),
		limitsOfKeys(), limitsOfEvents(),
		limitsOfHolders(), limitsOfActs())
	if len(limits) < 110 {
		t.Fatalf("only %d limits", len(limits))
	}
	for _, l := range limits {
		l.check(t)
	}
}

// integer is the limit of every u64.
func integer(name string, lo uint64, of func(n uint64) refEntry) limit {
	l := limit{name: name, lo: lo, hi: maxInteger, above: malformed, of: of}
	if lo > 0 {
		l.below = malformed
	}
	return l
}

// codes is a list 1..last, after which a critical code that is not known follows.
func codes(name string, last uint64, of func(n uint64) refEntry) limit {
	return limit{name, 1, last, malformed, unknown, of}
}

// passed are the codes of an open list from the first that is not critical.
func passed(name string, of func(n uint64) refEntry) limit {
	return limit{name, 128, 255, unknown, "", of}
}

func limitsOfHeads() []limit {
	open := refEvent{Kind: 2, Table: "t"}
	return []limit{
		integer("time", 0, func(n uint64) refEntry {
			return refEntry{Time: n, Identity: "a", Credential: "a",
				Event: &open}
		}),
		{"bytes of an identity", 1, 64, malformed, malformed,
			func(n uint64) refEntry { return refEntry{Identity: letters(n), Credential: "a", Event: &open} }},
		{"bytes of a credential", 1, 64, malformed, malformed,
			func(n uint64) refEntry { return refEntry{Identity: "a", Credential: letters(n), Event: &open} }},
		passed("type", func(n uint64) refEntry {
			return refEntry{Identity: "a", Credential: "a", Opaque: &refOpaque{uint8(n), nil}}
		}),
		{"bytes behind a type", 0, 1024, "", malformed, func(n uint64) refEntry {
			return refEntry{Identity: "a", Credential: "a", Opaque: &refOpaque{200, make(hexed, n)}}
		}},
	}
}

func limitsOfGenesis() []limit {
	of := func(change func(g *refGenesis, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			g := sampleGenesis()
			change(&g, n)
			return refEntry{Identity: "a", Credential: "a", Genesis: &g}
		}
	}
	return []limit{
		{"bytes of an origin", 1, 128, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.Origin = letters(n) })},
		{"bytes of a signing key", 33, 33, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.SigningKey = keyLike(n) })},
		{"bytes of an auditor key", 66, 66, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.Auditors = []hexed{keyLike(n)} })},
		{"bytes of a hybrid auditor key", 1250, 1250, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.Auditors = []hexed{hybridLike(n)} })},
		{"bytes of a policy", 0, 32_768, "", malformed, of(func(g *refGenesis, n uint64) { g.Policy = letters(n) })},
		{"bytes of a policy for cosigned deals", 1, 32_768, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.Deals, g.Policy = 2, letters(n) })},
		{"auditors", 0, 8, "", malformed, of(func(g *refGenesis, n uint64) {
			for i := range n {
				g.Auditors = append(g.Auditors, append(keyLike(65), byte(i)))
			}
		})},
		codes("deals", 2, of(func(g *refGenesis, n uint64) { g.Deals, g.Policy = uint8(n), "p" })),
		{"mix modes", 0, 15, "", unknown, of(func(g *refGenesis, n uint64) { g.MixModes = uint8(n) })},
		codes("disclosure", 2, of(func(g *refGenesis, n uint64) { g.Disclosure = uint8(n) })),
		codes("access", 2, of(func(g *refGenesis, n uint64) { g.Access = uint8(n) })),
		{"default close-by", 1, 86_400, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.DefaultCloseBy = uint32(n) })},
		{"revision", 1, 1, malformed, unknown, of(func(g *refGenesis, n uint64) { g.Revision = uint16(n) })},
		{"administrators", 0, 16, "", malformed, of(func(g *refGenesis, n uint64) {
			for i := range n {
				g.Admins = append(g.Admins,
					refAdmin{fmt.Sprintf("a%02d", i), append(hexed{1}, append(make(hexed, 31), byte(i))...)})
			}
		})},
		{"bytes of an administrator", 1, 64, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.Admins = []refAdmin{{letters(n), keyLike(33)}} })},
		{"bytes of an administrator's key", 33, 33, malformed, malformed,
			of(func(g *refGenesis, n uint64) { g.Admins = []refAdmin{{"a", keyLike(n)}} })},
		codes("act of two persons", 13, of(func(g *refGenesis, n uint64) { g.TwoPersons = []uint16{uint16(n)} })),
		{"delay", 0, 1<<32 - 1, "", "", of(func(g *refGenesis, n uint64) { g.Delay = uint32(n) })},
		extensionBytes("genesis", of(func(g *refGenesis,
			n uint64) {
			g.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a genesis",
			of(func(g *refGenesis, n uint64) { g.Extensions = []refExtension{{uint8(n), nil}} })),
		{"bytes of a predecessor", 0, 16_384, "", malformed,
			of(func(g *refGenesis, n uint64) { g.Predecessor = make(hexed, n) })},
	}
}

func commitWith(change func(c *refCommit, n uint64)) func(uint64) refEntry {
	return func(n uint64) refEntry {
		c := sampleCommit(sampleContext())
		change(&c, n)
		return refEntry{Identity: "a", Credential: "a", Commit: &c}
	}
}

func limitsOfContexts() []limit {
	of := func(change func(c *refContext, n uint64)) func(uint64) refEntry {
		return commitWith(func(c *refCommit, n uint64) { change(&c.Context, n) })
	}
	child := func(c *refContext, n uint64) {
		c.Cards, c.Take, c.Parent = n, 1, &refParent{ID: 2}
		for i := range n {
			c.Parent.Positions = append(c.Parent.Positions, uint16(i))
		}
	}
	return []limit{
		{"bytes of an origin", 1, 128, malformed, malformed,
			of(func(c *refContext, n uint64) { c.Origin = letters(n) })},
		{"bytes of a table", 1, 64, malformed, malformed, of(func(c *refContext, n uint64) { c.Table = letters(n) })},
		codes("algorithm", 1, of(func(c *refContext, n uint64) { c.Algorithm = uint8(n) })),
		{"cards", 2, 4096, malformed, malformed, of(func(c *refContext, n uint64) { c.Cards, c.Take = n, min(n, 2) })},
		{"cards taken", 1, 52, malformed, malformed, of(func(c *refContext, n uint64) { c.Take = n })},
		{"ranges", 1, 4096, malformed, malformed,
			of(func(c *refContext, n uint64) { *c = sampleDraw(); c.Ranges = slices.Repeat([]uint32{9}, int(n)) })},
		{"one range", 1, 1 << 30, malformed, malformed,
			of(func(c *refContext, n uint64) { *c = sampleDraw(); c.Ranges[2] = uint32(n) })},
		{"numbers", 2, 1 << 30, malformed, malformed,
			of(func(c *refContext, n uint64) { *c = sampleNumbers(); c.Of, c.Take = n, 1 })},
		{"numbers taken", 1, 4096, malformed, malformed,
			of(func(c *refContext, n uint64) { *c = sampleNumbers(); c.Of, c.Take = 1<<30, n })},
		{"numbers taken of 80", 1, 80, malformed, malformed,
			of(func(c *refContext, n uint64) { *c = sampleNumbers(); c.Take = n })},
		{"positions of a child", 2, 4096, malformed, malformed, of(child)},
		integer("parent", 0, of(func(c *refContext, n uint64) { child(c, 2); c.Parent.ID = n })),
		{"sources", 0, 32, "", malformed, of(func(c *refContext, n uint64) { c.Plan = slots(int(n)) })},
		{"sources with a cut", 0, 31, "", malformed,
			of(func(c *refContext, n uint64) { c.Plan = append(slots(int(n)), refSource{Source: 3}) })},
		integer("round", 1, of(func(c *refContext, n uint64) { c.Plan = []refSource{beacon(n)} })),
		{"fixed end_at", 1, 40, malformed, malformed,
			of(func(c *refContext, n uint64) { c.Take, c.EndAt = 40, refEndAt{Form: 1, Place: n} })},
		{"drawn end_at from", 1, 39, malformed, malformed,
			of(func(c *refContext, n uint64) { c.Take, c.EndAt = 40, refEndAt{Form: 2, Lo: n, Hi: 40} })},
		{"drawn end_at to", 8, 40, malformed, malformed,
			of(func(c *refContext, n uint64) { c.Take, c.EndAt = 40, refEndAt{Form: 2, Lo: 7, Hi: n} })},
		codes("disclosure", 2, of(func(c *refContext, n uint64) { c.Disclosure = uint8(n) })),
		extensionBytes("context", of(func(c *refContext,
			n uint64) {
			c.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a context",
			of(func(c *refContext, n uint64) { c.Extensions = []refExtension{{uint8(n), nil}} })),
	}
}

func limitsOfCommits() []limit {
	return []limit{
		integer("serial", 2, commitWith(func(c *refCommit, n uint64) { c.Serial, c.Previous = n, 1 })),
		integer("previous", 1, commitWith(func(c *refCommit, n uint64) { c.Serial, c.Previous = 2, n })),
		{"previous of serial 1", 0, 0, "", malformed, commitWith(func(c *refCommit, n uint64) { c.Previous = n })},
		integer("close-by", 0, commitWith(func(c *refCommit, n uint64) { c.CloseBy = n })),
		{"bytes of a game reference", 0, 64, "", malformed,
			commitWith(func(c *refCommit, n uint64) { c.GameRef = letters(n) })},
		integer("instance", 0, commitWith(func(c *refCommit, n uint64) { c.Instance = n })),
		extensionBytes("commit", commitWith(func(c *refCommit,
			n uint64) {
			c.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a commit", commitWith(func(c *refCommit,
			n uint64) {
			c.Extensions = []refExtension{{uint8(n), nil}}
		})),
	}
}

func limitsOfPlay() []limit {
	mix := func(change func(m *refMix, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			m := refMix{Values: []refValue{{Source: 3}}}
			change(&m, n)
			return refEntry{Identity: "a", Credential: "a", Mix: &m}
		}
	}
	deal := func(change func(d *refDeal, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			d := refDeal{Runs: []refRun{{Cards: 1, Purpose: 3}}}
			change(&d, n)
			return refEntry{Identity: "a", Credential: "a", Deal: &d}
		}
	}
	closed := func(change func(c *refClose, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			c := refClose{Outcome: 1, Form: 1, Tape: hexed{9}}
			change(&c, n)
			return refEntry{Identity: "a", Credential: "a", Close: &c}
		}
	}
	taken := func(change func(x *refTakeover, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			x := refTakeover{Extent: 1, Reason: "r"}
			change(&x, n)
			return refEntry{Identity: "a", Credential: "a", Takeover: &x}
		}
	}
	revealed := func(change func(r *refReveal, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			r := refReveal{Places: []uint64{0}}
			change(&r, n)
			return refEntry{Identity: "a", Credential: "a", Reveal: &r}
		}
	}
	disclosed := func(change func(d *refDisclose, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			d := refDisclose{Form: 1, Tape: hexed{9}}
			change(&d, n)
			return refEntry{Identity: "a", Credential: "a", Disclose: &d}
		}
	}
	return []limit{
		integer("shuffle of a disclosure", 0, disclosed(func(d *refDisclose, n uint64) { d.Shuffle = n })),
		{"tape of a disclosure", 1, 32_768, malformed, malformed,
			disclosed(func(d *refDisclose, n uint64) { d.Tape = make(hexed, n) })},
		{"sealed tape of a disclosure", 1, 33_937, malformed, malformed,
			disclosed(func(d *refDisclose, n uint64) { d.Form, d.Tape = 2, make(hexed, n) })},
		integer("key of a disclosure", 0, disclosed(func(d *refDisclose, n uint64) { d.Form, d.Key = 2, n })),
		extensionBytes("disclosure", disclosed(func(d *refDisclose, n uint64) {
			d.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a disclosure", disclosed(func(d *refDisclose, n uint64) {
			d.Extensions = []refExtension{{uint8(n), nil}}
		})),
		integer("shuffle of a reveal", 0, revealed(func(r *refReveal, n uint64) { r.Shuffle = n })),
		{"places of a reveal", 1, 4096, malformed, malformed,
			revealed(func(r *refReveal, n uint64) { r.Places = placesBelow(n) })},
		{"place of a reveal", 0, 4095, "", malformed,
			revealed(func(r *refReveal, n uint64) { r.Places = []uint64{n} })},
		extensionBytes("reveal", revealed(func(r *refReveal, n uint64) {
			r.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a reveal", revealed(func(r *refReveal, n uint64) {
			r.Extensions = []refExtension{{uint8(n), nil}}
		})),
		integer("shuffle of a mix", 0, mix(func(m *refMix, n uint64) { m.Shuffle = n })),
		integer("checkpoint of a mix", 0, mix(func(m *refMix, n uint64) { m.Checkpoint = n })),
		{"values", 1, 32, malformed, malformed,
			mix(func(m *refMix, n uint64) { m.Values = slices.Repeat(m.Values, int(n)) })},
		integer("shuffle of a deal", 0, deal(func(d *refDeal, n uint64) { d.Shuffle = n })),
		integer("checkpoint of a deal", 0, deal(func(d *refDeal, n uint64) { d.Checkpoint = n })),
		{"runs", 1, 512, malformed, malformed,
			deal(func(d *refDeal, n uint64) { d.Runs = slices.Repeat(d.Runs, int(n)) })},
		{"cards of a run", 1, 4096, malformed, malformed, deal(func(d *refDeal, n uint64) { d.Runs[0].Cards = n })},
		{"first place", 0, 4095, "", malformed, deal(func(d *refDeal, n uint64) { d.First = n })},
		{"first place and cards", 1, 96, malformed, malformed,
			deal(func(d *refDeal, n uint64) { d.First, d.Runs[0].Cards = 4000, n })},
		codes("purpose", 6, deal(func(d *refDeal, n uint64) { d.Runs[0].Purpose = uint8(n) })),
		passed("purpose passed over", deal(func(d *refDeal, n uint64) { d.Runs[0].Purpose = uint8(n) })),
		extensionBytes("deal", deal(func(d *refDeal,
			n uint64) {
			d.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a deal", deal(func(d *refDeal,
			n uint64) {
			d.Extensions = []refExtension{{uint8(n), nil}}
		})),
		{"bytes of a recipient", 0, 64, "", malformed,
			deal(func(d *refDeal, n uint64) { d.Runs[0].Recipient = letters(n) })},
		integer("shuffle of a close", 0, closed(func(c *refClose, n uint64) { c.Shuffle = n })),
		{"outcome that needs no reason", 1, 3, malformed, malformed,
			closed(func(c *refClose, n uint64) {
				if c.Outcome = uint8(n); n == 3 {
					c.Form, c.Tape = 0, nil
				}
			})},
		{"outcome with a reason", 4, 4, malformed, malformed,
			closed(func(c *refClose, n uint64) { c.Outcome, c.Reason = uint8(n), 1 })},
		{"outcome", 5, 5, malformed, unknown, closed(func(c *refClose, n uint64) { c.Outcome = uint8(n) })},
		{"reason with a tape", 1, 9, malformed, malformed,
			closed(func(c *refClose, n uint64) { c.Outcome, c.Reason = 4, uint8(n) })},
		{"reason without a tape", 10, 10, malformed, malformed,
			closed(func(c *refClose, n uint64) { c.Outcome, c.Reason, c.Form = 4, uint8(n), 0 })},
		passed("reason passed over", closed(func(c *refClose, n uint64) { c.Outcome, c.Reason = 4, uint8(n) })),
		extensionBytes("close", closed(func(c *refClose,
			n uint64) {
			c.Extensions = []refExtension{{200, make(hexed, n)}}
		})),
		passed("extension of a close", closed(func(c *refClose,
			n uint64) {
			c.Extensions = []refExtension{{uint8(n), nil}}
		})),
		integer("shuffle of a takeover", 0, taken(func(x *refTakeover, n uint64) { x.Shuffle = n })),
		codes("extent", 2, taken(func(x *refTakeover, n uint64) { x.Extent = uint8(n) })),
		{"bytes of a takeover's reason", 1, 200, malformed, malformed,
			taken(func(x *refTakeover, n uint64) { x.Reason = letters(n) })},
		{"form", 1, 2, malformed, unknown, closed(func(c *refClose, n uint64) { c.Form = uint8(n) })},
		{"bytes of a tape", 1, 32_768, malformed, malformed,
			closed(func(c *refClose, n uint64) { c.Tape = make(hexed, n) })},
		{"bytes of a sealed tape", 1, 33_937, malformed, malformed,
			closed(func(c *refClose, n uint64) { c.Form, c.Tape = 2, make(hexed, n) })},
		integer("disclosure key", 0, closed(func(c *refClose, n uint64) { c.Form, c.Key = 2, n })),
	}
}

func limitsOfKeys() []limit {
	of := func(k refKey, change func(k *refKey, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			k := k
			change(&k, n)
			return refEntry{Identity: "a", Credential: "a", Key: &k}
		}
	}
	wraps := refKey{Subject: 2, Public: keyLike(66), Wraps: []refWrap{{bytesOf("id", 32), make(hexed, 113)}}}
	hybrids := refKey{Subject: 2, Public: hybridLike(1250), Wraps: []refWrap{{bytesOf("id", 32), make(hexed, 1201)}}}
	retired := refKey{Subject: 5, Retired: 1, ID: bytesOf("id", 32)}
	public := func(k *refKey, n uint64) { k.Public = keyLike(n) }
	typed := func(k *refKey, n uint64) { k.Public = slices.Clone(k.Public); k.Public[0] = byte(n) }
	return []limit{
		{"bytes of a signing key", 33, 33, malformed, malformed, of(refKey{Subject: 1}, public)},
		{"bytes of a disclosure key", 66, 66, malformed, malformed, of(wraps, public)},
		{"bytes of an auditor key", 66, 66, malformed, malformed, of(refKey{Subject: 3}, public)},
		{"bytes of a hybrid disclosure key", 1250, 1250, malformed, malformed,
			of(hybrids, func(k *refKey, n uint64) { k.Public = hybridLike(n) })},
		{"bytes of a hybrid auditor key", 1250, 1250, malformed, malformed,
			of(refKey{Subject: 3}, func(k *refKey, n uint64) { k.Public = hybridLike(n) })},
		{"type of a signing key", 1, 1, unknown, unknown, of(refKey{Subject: 1, Public: keyLike(33)}, typed)},
		{"type of a disclosure key", 2, 2, malformed, unknown, of(hybrids, typed)},
		{"type of an auditor key", 1, 1, unknown, malformed, of(refKey{Subject: 3, Public: keyLike(66)}, typed)},
		{"form of a point", 4, 4, malformed, malformed,
			of(refKey{Subject: 3, Public: keyLike(66)},
				func(k *refKey, n uint64) { k.Public = append(hexed{1, byte(n)}, k.Public[2:]...) })},
		{"form of a hybrid key's point", 4, 4, malformed, malformed,
			of(refKey{Subject: 3},
				func(k *refKey, n uint64) { k.Public = slices.Replace(hybridLike(1250), 1185, 1186, byte(n)) })},
		{"wraps", 1, 32, malformed, malformed, of(wraps, func(k *refKey, n uint64) {
			k.Wraps = nil
			for i := range n {
				k.Wraps = append(k.Wraps, refWrap{append(make(hexed, 31), byte(i)), make(hexed, 113)})
			}
		})},
		{"bytes of a wrap", 113, 113, malformed, malformed, of(wraps, func(k *refKey, n uint64) {
			k.Wraps = []refWrap{{k.Wraps[0].Auditor, make(hexed, n)}}
		})},
		{"bytes of a hybrid wrap", 1201, 1201, malformed, malformed, of(hybrids, func(k *refKey, n uint64) {
			k.Wraps = []refWrap{{k.Wraps[0].Auditor, make(hexed, n)}}
		})},
		{"bytes of a policy", 0, 32_768, "", malformed,
			of(refKey{Subject: 4}, func(k *refKey, n uint64) { k.Policy = letters(n) })},
		codes("retired subject", 3, of(retired, func(k *refKey, n uint64) { k.Retired = uint8(n) })),
		integer("retired from", 0, of(retired, func(k *refKey, n uint64) { k.From = n })),
		codes("change", 3, of(refKey{Subject: 6, Name: "a", Public: keyLike(33)},
			func(k *refKey, n uint64) { k.Change = uint8(n) })),
		{"bytes of an administrator", 1, 64, malformed, malformed,
			of(refKey{Subject: 6, Change: 2}, func(k *refKey, n uint64) { k.Name = letters(n) })},
		{"bytes of an administrator's key", 33, 33, malformed, malformed,
			of(refKey{Subject: 6, Change: 1, Name: "a"}, public)},
		{"type of an administrator's key", 1, 1, unknown, unknown,
			of(refKey{Subject: 6, Change: 3, Name: "a", Public: keyLike(33)}, typed)},
		codes("act that needs two", 13, of(refKey{Subject: 7},
			func(k *refKey, n uint64) { k.Acts = []uint16{uint16(n)} })),
	}
}

func extensionBytes(what string, of func(n uint64) refEntry) limit {
	return limit{"bytes of an extension of a " + what, 0, 1024, "", malformed, of}
}

func limitsOfHolders() []limit {
	of := func(change func(h *refHolder, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			h := sampleHolder()
			change(h, n)
			return refEntry{Identity: "a", Credential: "a", Holder: h}
		}
	}
	return []limit{
		{"bytes of a credential's id", 1, 64, malformed, malformed,
			of(func(h *refHolder, n uint64) { h.ID = letters(n) })},
		codes("form of a credential", 2, of(func(h *refHolder, n uint64) { h.Form = uint8(n) })),
		codes("role", 5, of(func(h *refHolder, n uint64) { h.Role = uint8(n) })),
		{"bytes of a credential's identity", 1, 64, malformed, malformed,
			of(func(h *refHolder, n uint64) { h.Identity = letters(n) })},
		{"tables", 0, 256, "", malformed, of(func(h *refHolder, n uint64) {
			for i := range n {
				h.Tables = append(h.Tables, fmt.Sprintf("t%03d", i))
			}
		})},
		{"bytes of a credential's table", 1, 64, malformed, malformed,
			of(func(h *refHolder, n uint64) { h.Tables = []string{letters(n)} })},
		integer("expiry of a credential", 0, of(func(h *refHolder, n uint64) { h.Expires = n })),
		{"bytes of a revocation's reason", 1, 200, malformed, malformed,
			of(func(h *refHolder, n uint64) { h.Kind, h.Reason = 2, letters(n) })},
	}
}

func limitsOfActs() []limit {
	of := func(change func(a *refAct, n uint64)) func(uint64) refEntry {
		return func(n uint64) refEntry {
			a := refAct{Act: 1, Digest: make(hexed, 32), HeadRoot: make(hexed, 32),
				Signatures: []refSignature{{"a", make(hexed, 64)}}}
			change(&a, n)
			return refEntry{Identity: "a", Credential: "a", Act: &a}
		}
	}
	return []limit{
		codes("act", 13, of(func(a *refAct, n uint64) { a.Act = uint8(n) })),
		integer("previous act", 0, of(func(a *refAct, n uint64) { a.Previous = n })),
		integer("size of a head", 0, of(func(a *refAct, n uint64) { a.HeadSize = n })),
		integer("expiry of an act", 0, of(func(a *refAct, n uint64) { a.Expires = n })),
		{"signatures", 1, 2, malformed, malformed, of(func(a *refAct, n uint64) {
			a.Signatures = nil
			for i := range n {
				a.Signatures = append(a.Signatures, refSignature{fmt.Sprint("a", i), make(hexed, 64)})
			}
		})},
		{"bytes of a signature", 64, 64, malformed, malformed,
			of(func(a *refAct, n uint64) { a.Signatures[0].Signature = make(hexed, n) })},
	}
}

func limitsOfEvents() []limit {
	start := refEvent{Kind: 1, Build: make(hexed, 32), Config: make(hexed, 32), Version: "v", VDSO: 1}
	return []limit{
		{"bytes of a version", 1, 64, malformed, malformed,
			func(n uint64) refEntry { e := start; e.Version = letters(n); return event(e) }},
		{"bytes of a table", 1, 64, malformed, malformed,
			func(n uint64) refEntry { return event(refEvent{Kind: 3, Table: letters(n)}) }},
		{"bytes of a killed table", 1, 64, malformed, malformed, func(n uint64) refEntry {
			return event(refEvent{Kind: 4, Scope: 2, Table: letters(n), Reason: "r"})
		}},
		codes("scope", 3, func(n uint64) refEntry {
			return event(refEvent{Kind: 5, Scope: uint8(n), Table: "t", Deck: make(hexed, 32), Reason: "r"})
		}),
		{"bytes of a kill reason", 1, 200, malformed, malformed,
			func(n uint64) refEntry { return event(refEvent{Kind: 5, Scope: 1, Reason: letters(n)}) }},
		codes("cause", 11, func(n uint64) refEntry { return event(refEvent{Kind: 6, Cause: uint8(n)}) }),
		integer("instance", 0, func(n uint64) refEntry { return event(refEvent{Kind: 6, Cause: 1, Instance: n}) }),
		{"bytes of a clearing reason", 1, 200, malformed, malformed,
			func(n uint64) refEntry { return event(refEvent{Kind: 7, Reason: letters(n)}) }},
		passed("cause passed over", func(n uint64) refEntry { return event(refEvent{Kind: 6, Cause: uint8(n)}) }),
		passed("alarm", func(n uint64) refEntry { return event(refEvent{Kind: 129, Alarm: uint8(n), Reason: "r"}) }),
		{"bytes of an alarm's reason", 1, 200, malformed, malformed,
			func(n uint64) refEntry { return event(refEvent{Kind: 129, Alarm: 130, Reason: letters(n)}) }},
		{"bytes of a kernel release", 0, 64, "", malformed,
			func(n uint64) refEntry { e := start; e.Kernel = letters(n); return event(e) }},
		{"vdso", 0, 2, "", unknown,
			func(n uint64) refEntry { e := start; e.VDSO = uint8(n); return event(e) }},
		{"bytes behind a kind", 0, 1024, "", malformed,
			func(n uint64) refEntry { return event(refEvent{Kind: 131, Opaque: make(hexed, n)}) }},
		integer("adopted size", 0, func(n uint64) refEntry {
			return event(refEvent{Kind: 10, Size: n, Root: make(hexed, 32), LostRoot: make(hexed, 32), Reason: "r"})
		}),
		integer("lost size", 0, func(n uint64) refEntry {
			return event(refEvent{Kind: 10, LostSize: n, Root: make(hexed, 32), LostRoot: make(hexed, 32), Reason: "r"})
		}),
		integer("records", 0, func(n uint64) refEntry {
			return event(refEvent{Kind: 130, Records: n,
				Newest: make(hexed, 32)})
		}),
	}
}

// TestLongestEntry: size comes before everything else. No entry of this version is as long.
func TestLongestEntry(t *testing.T) {
	b := append(refEntry{Identity: "a", Credential: "a", Event: &refEvent{Kind: 2, Table: "t"}}.bytes(),
		make([]byte, 48_001)...)
	for n, field := range map[int]string{48_000: "after the end", 48_001: "48001 bytes"} {
		if _, err := ParseEntry(b[:n]); faultOf(err) != malformed || !strings.Contains(err.Error(), field) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestFull: entries whose every list and text is at its limit, together, are entries.
func TestFull(t *testing.T) {
	key := refKey{Subject: 2, Public: auditorKey("hybrid disclosure")}
	for i := range 32 {
		key.Wraps = append(key.Wraps, refWrap{append(make(hexed, 31), byte(i)), make(hexed, 1201)})
	}
	full := sampleGenesis()
	full.Origin, full.Policy, full.Predecessor = letters(128), letters(8192), make(hexed, 16_384)
	for i := range 8 {
		full.Auditors = append(full.Auditors, auditorKey(fmt.Sprint("hybrid ", i)))
	}
	for i := range 16 {
		full.Admins = append(full.Admins, refAdmin{letters(62) + fmt.Sprintf("%02d", i), adminKey(fmt.Sprint(i))})
	}
	full.TwoPersons = []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	full.Extensions = []refExtension{{200, make(hexed, 1024)}}
	tape := refClose{Shuffle: maxInteger, Outcome: 1, Form: 2, Key: maxInteger, Tape: make(hexed, 33_937),
		Extensions: full.Extensions}
	for name, c := range map[string]struct {
		e    refEntry
		want int
	}{
		"a disclosure key for 32 auditors": {refEntry{Key: &key}, 40_914},
		"a genesis":                        {refEntry{Genesis: &full}, 37_562},
		"a close with the longest tape":    {refEntry{Close: &tape}, 35_128},
	} {
		c.e.Time, c.e.Identity, c.e.Credential = maxInteger, letters(64), letters(64)
		b := c.e.bytes()
		if _, err := ParseEntry(b); err != nil || len(b) != c.want {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(b), c.want, err)
		}
	}
}

// TestLaterKeys: a key of a later type is not judged, whatever its size; one
// that no reader can take for a key is malformed.
func TestLaterKeys(t *testing.T) {
	for n, want := range map[int]string{0: malformed, 1: malformed, 2: unknown, 33: unknown, 66: unknown, 2048: unknown,
		2049: malformed} {
		for _, subject := range []uint8{1, 3} {
			e := refEntry{Identity: "a", Credential: "a",
				Key: &refKey{Subject: subject, Public: slices.Repeat(hexed{7}, n)}}
			if _, err := ParseEntry(e.bytes()); faultOf(err) != want {
				t.Errorf("%d bytes, subject %d: %v, want %s", n, subject, err, want)
			}
		}
	}
}

// TestLongSigningKey: a key of ML-DSA-44 has one size.
func TestLongSigningKey(t *testing.T) {
	for n, want := range map[int]string{2: malformed, 33: malformed, 1312: malformed, 1313: "", 1314: malformed} {
		e := refEntry{Identity: "a", Credential: "a", Key: &refKey{Subject: 1, Public: slices.Repeat(hexed{6}, n)}}
		if _, err := ParseEntry(e.bytes()); faultOf(err) != want {
			t.Errorf("%d bytes: %v, want %q", n, err, want)
		}
	}
}

// TestGrammars tries every byte at the first, a middle and the last place of the texts of section 1.5.
func TestGrammars(t *testing.T) {
	alone := func(first, middle, last bool) [3]bool { return [3]bool{first, middle, last} }
	for c := 0; c < 256; c++ {
		b := string([]byte{byte(c)})
		digit := strings.Contains("0123456789abcdefghijklmnopqrstuvwxyz", b)
		letter := digit || strings.Contains("ABCDEFGHIJKLMNOPQRSTUVWXYZ", b)
		mark := strings.Contains("._-", b)
		printable := c >= 0x20 && c <= 0x7e
		for _, g := range []struct {
			name  string
			check func(string) error
			want  [3]bool
		}{
			{"name", CheckName, alone(letter, letter || mark, letter || mark)},
			{"origin", CheckOrigin, alone(digit, digit || mark || b == "/", digit)},
			{"reason", CheckReason, alone(printable, printable, printable)},
			{"idempotency key", CheckIdempotencyKey,
				alone(printable && c != ' ', printable && c != ' ', printable && c != ' ')},
		} {
			for i, s := range []string{b + "xx", "x" + b + "x", "xx" + b} {
				if err := g.check(s); (err == nil) != g.want[i] {
					t.Errorf("%s %q: %v", g.name, s, err)
				}
			}
			if err := g.check(b); (err == nil) != (g.want[0] && g.want[2]) {
				t.Errorf("%s %q: %v", g.name, b, err)
			}
		}
	}
	for _, c := range []struct {
		check func(string) error
		most  int
	}{{CheckName, 64}, {CheckOrigin, 128}, {CheckReason, 200}, {CheckIdempotencyKey, 255}} {
		for n, good := range map[int]bool{0: false, 1: true, c.most: true, c.most + 1: false} {
			if err := c.check(letters(uint64(n))); (err == nil) != good {
				t.Errorf("%d characters of at most %d: %v", n, c.most, err)
			}
		}
	}
}

// TestPolicyBytes: a policy is printable ASCII and newlines.
func TestPolicyBytes(t *testing.T) {
	for c := 0; c < 256; c++ {
		e := refEntry{Identity: "a", Credential: "a", Key: &refKey{Subject: 4, Policy: "x" + string([]byte{byte(c)})}}
		_, err := ParseEntry(e.bytes())
		if good := c == '\n' || c >= 0x20 && c <= 0x7e; (faultOf(err) == "") != good || !good &&
			faultOf(err) != malformed {
			t.Errorf("a policy with byte %#x: %v", c, err)
		}
	}
}
