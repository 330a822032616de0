package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// limit is a limit of docs/SPEC.md (section 1.2), or a bound of section 5: of is
// an entry with n of it, which is good from lo to hi.
type limit struct {
	name   string
	lo, hi uint64
	below  string // the fault at lo−1; "" when there is no lower bound
	above  string // the fault at hi+1; "" when its field holds no more
	of     func(n uint64) spec.Entry
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
		_, err := audit.ParseEntry(l.of(c.n).Bytes())
		if got := spec.FaultOf(err); got != c.want {
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
func integer(name string, lo uint64, of func(n uint64) spec.Entry) limit {
	l := limit{name: name, lo: lo, hi: spec.MaxInteger, above: spec.Malformed, of: of}
	if lo > 0 {
		l.below = spec.Malformed
	}
	return l
}

// codes is a list 1..last, after which a critical code that is not known follows.
func codes(name string, last uint64, of func(n uint64) spec.Entry) limit {
	return limit{name, 1, last, spec.Malformed, spec.Unknown, of}
}

// passed are the codes of an open list from the first that is not critical.
func passed(name string, of func(n uint64) spec.Entry) limit {
	return limit{name, 128, 255, spec.Unknown, "", of}
}

func limitsOfHeads() []limit {
	open := spec.Event{Kind: 2, Table: "t"}
	return []limit{
		integer("time", 0, func(n uint64) spec.Entry {
			return spec.Entry{Time: n, Identity: "a", Credential: "a", Event: &open}
		}),
		{"bytes of an identity", 1, 64, spec.Malformed, spec.Malformed,
			func(n uint64) spec.Entry { return spec.Entry{Identity: spec.Letters(n), Credential: "a", Event: &open} }},
		{"bytes of a credential", 1, 64, spec.Malformed, spec.Malformed,
			func(n uint64) spec.Entry { return spec.Entry{Identity: "a", Credential: spec.Letters(n), Event: &open} }},
		passed("type", func(n uint64) spec.Entry {
			return spec.Entry{Identity: "a", Credential: "a", Opaque: &spec.Opaque{Type: uint8(n), Body: nil}}
		}),
		{"bytes behind a type", 0, 1024, "", spec.Malformed, func(n uint64) spec.Entry {
			return spec.Entry{Identity: "a", Credential: "a",
				Opaque: &spec.Opaque{Type: 200, Body: make(spec.Hexed, n)}}
		}},
	}
}

func limitsOfGenesis() []limit {
	of := func(change func(g *spec.Genesis, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			g := spec.SampleGenesis()
			change(&g, n)
			return spec.Entry{Identity: "a", Credential: "a", Genesis: &g}
		}
	}
	return []limit{
		{"bytes of an origin", 1, 128, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Origin = spec.Letters(n) })},
		{"bytes of a signing key", 33, 33, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.SigningKey = spec.KeyLike(n) })},
		{"bytes of an auditor key", 66, 66, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Auditors = []spec.Hexed{spec.KeyLike(n)} })},
		{"bytes of a hybrid auditor key", 1250, 1250, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Auditors = []spec.Hexed{spec.HybridLike(n)} })},
		{"bytes of a policy", 0, 32_768, "", spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Policy = spec.Letters(n) })},
		{"bytes of a policy for cosigned deals", 1, 32_768, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Deals, g.Policy = 2, spec.Letters(n) })},
		{"auditors", 0, 8, "", spec.Malformed, of(func(g *spec.Genesis, n uint64) {
			for i := range n {
				g.Auditors = append(g.Auditors, append(spec.KeyLike(65), byte(i)))
			}
		})},
		codes("deals", 2, of(func(g *spec.Genesis, n uint64) { g.Deals, g.Policy = uint8(n), "p" })),
		{"mix modes", 0, 15, "", spec.Unknown, of(func(g *spec.Genesis, n uint64) { g.MixModes = uint8(n) })},
		codes("disclosure", 2, of(func(g *spec.Genesis, n uint64) { g.Disclosure = uint8(n) })),
		codes("access", 2, of(func(g *spec.Genesis, n uint64) { g.Access = uint8(n) })),
		{"default close-by", 1, 86_400, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.DefaultCloseBy = uint32(n) })},
		{"revision", 1, 1, spec.Malformed, spec.Unknown,
			of(func(g *spec.Genesis, n uint64) { g.Revision = uint16(n) })},
		{"administrators", 0, 16, "", spec.Malformed, of(func(g *spec.Genesis, n uint64) {
			for i := range n {
				g.Admins = append(g.Admins,
					spec.Admin{Name: fmt.Sprintf("a%02d", i),
						Key: append(spec.Hexed{1}, append(make(spec.Hexed, 31), byte(i))...)})
			}
		})},
		{"bytes of an administrator", 1, 64, spec.Malformed, spec.Malformed, of(func(g *spec.Genesis, n uint64) {
			g.Admins = []spec.Admin{{Name: spec.Letters(n), Key: spec.KeyLike(33)}}
		})},
		{"bytes of an administrator's key", 33, 33, spec.Malformed, spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Admins = []spec.Admin{{Name: "a", Key: spec.KeyLike(n)}} })},
		codes("act of two persons", 13, of(func(g *spec.Genesis, n uint64) { g.TwoPersons = []uint16{uint16(n)} })),
		{"delay", 0, 1<<32 - 1, "", "", of(func(g *spec.Genesis, n uint64) { g.Delay = uint32(n) })},
		extensionBytes("genesis", of(func(g *spec.Genesis, n uint64) {
			g.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a genesis",
			of(func(g *spec.Genesis, n uint64) { g.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}} })),
		{"bytes of a predecessor", 0, 16_384, "", spec.Malformed,
			of(func(g *spec.Genesis, n uint64) { g.Predecessor = make(spec.Hexed, n) })},
	}
}

func commitWith(change func(c *spec.Commit, n uint64)) func(uint64) spec.Entry {
	return func(n uint64) spec.Entry {
		c := spec.SampleCommit(spec.SampleContext())
		change(&c, n)
		return spec.Entry{Identity: "a", Credential: "a", Commit: &c}
	}
}

func limitsOfContexts() []limit {
	of := func(change func(c *spec.Context, n uint64)) func(uint64) spec.Entry {
		return commitWith(func(c *spec.Commit, n uint64) { change(&c.Context, n) })
	}
	child := func(c *spec.Context, n uint64) {
		c.Cards, c.Take, c.Parent = n, 1, &spec.Parent{ID: 2}
		for i := range n {
			c.Parent.Positions = append(c.Parent.Positions, uint16(i))
		}
	}
	return []limit{
		{"bytes of an origin", 1, 128, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Origin = spec.Letters(n) })},
		{"bytes of a table", 1, 64, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Table = spec.Letters(n) })},
		codes("algorithm", 1, of(func(c *spec.Context, n uint64) { c.Algorithm = uint8(n) })),
		{"cards", 2, 4096, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Cards, c.Take = n, min(n, 2) })},
		{"cards taken", 1, 52, spec.Malformed, spec.Malformed, of(func(c *spec.Context, n uint64) { c.Take = n })},
		{"ranges", 1, 4096, spec.Malformed, spec.Malformed, of(func(c *spec.Context, n uint64) {
			*c = spec.SampleDraw()
			c.Ranges = slices.Repeat([]uint32{9}, int(n))
		})},
		{"one range", 1, 1 << 30, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { *c = spec.SampleDraw(); c.Ranges[2] = uint32(n) })},
		{"numbers", 2, 1 << 30, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { *c = spec.SampleNumbers(); c.Of, c.Take = n, 1 })},
		{"numbers taken", 1, 4096, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { *c = spec.SampleNumbers(); c.Of, c.Take = 1<<30, n })},
		{"numbers taken of 80", 1, 80, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { *c = spec.SampleNumbers(); c.Take = n })},
		{"positions of a child", 2, 4096, spec.Malformed, spec.Malformed, of(child)},
		integer("parent", 0, of(func(c *spec.Context, n uint64) { child(c, 2); c.Parent.ID = n })),
		{"sources", 0, 32, "", spec.Malformed, of(func(c *spec.Context, n uint64) { c.Plan = spec.Slots(int(n)) })},
		{"sources with a cut", 0, 31, "", spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Plan = append(spec.Slots(int(n)), spec.Source{Source: 3}) })},
		integer("round", 1, of(func(c *spec.Context, n uint64) { c.Plan = []spec.Source{spec.Beacon(n)} })),
		{"fixed end_at", 1, 40, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Take, c.EndAt = 40, spec.EndAt{Form: 1, Place: n} })},
		{"drawn end_at from", 1, 39, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Take, c.EndAt = 40, spec.EndAt{Form: 2, Lo: n, Hi: 40} })},
		{"drawn end_at to", 8, 40, spec.Malformed, spec.Malformed,
			of(func(c *spec.Context, n uint64) { c.Take, c.EndAt = 40, spec.EndAt{Form: 2, Lo: 7, Hi: n} })},
		codes("disclosure", 2, of(func(c *spec.Context, n uint64) { c.Disclosure = uint8(n) })),
		extensionBytes("context", of(func(c *spec.Context, n uint64) {
			c.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a context",
			of(func(c *spec.Context, n uint64) { c.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}} })),
	}
}

func limitsOfCommits() []limit {
	return []limit{
		integer("serial", 2, commitWith(func(c *spec.Commit, n uint64) { c.Serial, c.Previous = n, 1 })),
		integer("previous", 1, commitWith(func(c *spec.Commit, n uint64) { c.Serial, c.Previous = 2, n })),
		{"previous of serial 1", 0, 0, "", spec.Malformed,
			commitWith(func(c *spec.Commit, n uint64) { c.Previous = n })},
		integer("close-by", 0, commitWith(func(c *spec.Commit, n uint64) { c.CloseBy = n })),
		{"bytes of a game reference", 0, 64, "", spec.Malformed,
			commitWith(func(c *spec.Commit, n uint64) { c.GameRef = spec.Letters(n) })},
		integer("instance", 0, commitWith(func(c *spec.Commit, n uint64) { c.Instance = n })),
		extensionBytes("commit", commitWith(func(c *spec.Commit, n uint64) {
			c.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a commit", commitWith(func(c *spec.Commit, n uint64) {
			c.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}}
		})),
	}
}

func limitsOfPlay() []limit {
	mix := func(change func(m *spec.Mix, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			m := spec.Mix{Values: []spec.Value{{Source: 3}}}
			change(&m, n)
			return spec.Entry{Identity: "a", Credential: "a", Mix: &m}
		}
	}
	deal := func(change func(d *spec.Deal, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			d := spec.Deal{Runs: []spec.Run{{Cards: 1, Purpose: 3}}}
			change(&d, n)
			return spec.Entry{Identity: "a", Credential: "a", Deal: &d}
		}
	}
	closed := func(change func(c *spec.Close, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			c := spec.Close{Outcome: 1, Form: 1, Tape: spec.Hexed{9}}
			change(&c, n)
			return spec.Entry{Identity: "a", Credential: "a", Close: &c}
		}
	}
	taken := func(change func(x *spec.Takeover, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			x := spec.Takeover{Extent: 1, Reason: "r"}
			change(&x, n)
			return spec.Entry{Identity: "a", Credential: "a", Takeover: &x}
		}
	}
	revealed := func(change func(r *spec.Reveal, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			r := spec.Reveal{Places: []uint64{0}}
			change(&r, n)
			return spec.Entry{Identity: "a", Credential: "a", Reveal: &r}
		}
	}
	disclosed := func(change func(d *spec.Disclose, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			d := spec.Disclose{Form: 1, Tape: spec.Hexed{9}}
			change(&d, n)
			return spec.Entry{Identity: "a", Credential: "a", Disclose: &d}
		}
	}
	return []limit{
		integer("shuffle of a disclosure", 0, disclosed(func(d *spec.Disclose, n uint64) { d.Shuffle = n })),
		{"tape of a disclosure", 1, 32_768, spec.Malformed, spec.Malformed,
			disclosed(func(d *spec.Disclose, n uint64) { d.Tape = make(spec.Hexed, n) })},
		{"sealed tape of a disclosure", 1, 33_937, spec.Malformed, spec.Malformed,
			disclosed(func(d *spec.Disclose, n uint64) { d.Form, d.Tape = 2, make(spec.Hexed, n) })},
		integer("key of a disclosure", 0, disclosed(func(d *spec.Disclose, n uint64) { d.Form, d.Key = 2, n })),
		extensionBytes("disclosure", disclosed(func(d *spec.Disclose, n uint64) {
			d.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a disclosure", disclosed(func(d *spec.Disclose, n uint64) {
			d.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}}
		})),
		integer("shuffle of a reveal", 0, revealed(func(r *spec.Reveal, n uint64) { r.Shuffle = n })),
		{"places of a reveal", 1, 4096, spec.Malformed, spec.Malformed,
			revealed(func(r *spec.Reveal, n uint64) { r.Places = spec.PlacesBelow(n) })},
		{"place of a reveal", 0, 4095, "", spec.Malformed,
			revealed(func(r *spec.Reveal, n uint64) { r.Places = []uint64{n} })},
		extensionBytes("reveal", revealed(func(r *spec.Reveal, n uint64) {
			r.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a reveal", revealed(func(r *spec.Reveal, n uint64) {
			r.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}}
		})),
		integer("shuffle of a mix", 0, mix(func(m *spec.Mix, n uint64) { m.Shuffle = n })),
		integer("checkpoint of a mix", 0, mix(func(m *spec.Mix, n uint64) { m.Checkpoint = n })),
		{"values", 1, 32, spec.Malformed, spec.Malformed,
			mix(func(m *spec.Mix, n uint64) { m.Values = slices.Repeat(m.Values, int(n)) })},
		integer("shuffle of a deal", 0, deal(func(d *spec.Deal, n uint64) { d.Shuffle = n })),
		integer("checkpoint of a deal", 0, deal(func(d *spec.Deal, n uint64) { d.Checkpoint = n })),
		{"runs", 1, 512, spec.Malformed, spec.Malformed,
			deal(func(d *spec.Deal, n uint64) { d.Runs = slices.Repeat(d.Runs, int(n)) })},
		{"cards of a run", 1, 4096, spec.Malformed, spec.Malformed,
			deal(func(d *spec.Deal, n uint64) { d.Runs[0].Cards = n })},
		{"first place", 0, 4095, "", spec.Malformed, deal(func(d *spec.Deal, n uint64) { d.First = n })},
		{"first place and cards", 1, 96, spec.Malformed, spec.Malformed,
			deal(func(d *spec.Deal, n uint64) { d.First, d.Runs[0].Cards = 4000, n })},
		codes("purpose", 6, deal(func(d *spec.Deal, n uint64) { d.Runs[0].Purpose = uint8(n) })),
		passed("purpose passed over", deal(func(d *spec.Deal, n uint64) { d.Runs[0].Purpose = uint8(n) })),
		extensionBytes("deal", deal(func(d *spec.Deal, n uint64) {
			d.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a deal", deal(func(d *spec.Deal, n uint64) {
			d.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}}
		})),
		{"bytes of a recipient", 0, 64, "", spec.Malformed,
			deal(func(d *spec.Deal, n uint64) { d.Runs[0].Recipient = spec.Letters(n) })},
		integer("shuffle of a close", 0, closed(func(c *spec.Close, n uint64) { c.Shuffle = n })),
		{"outcome that needs no reason", 1, 3, spec.Malformed, spec.Malformed, closed(func(c *spec.Close, n uint64) {
			if c.Outcome = uint8(n); n == 3 {
				c.Form, c.Tape = 0, nil
			}
		})},
		{"outcome with a reason", 4, 4, spec.Malformed, spec.Malformed,
			closed(func(c *spec.Close, n uint64) { c.Outcome, c.Reason = uint8(n), 1 })},
		{"outcome", 5, 5, spec.Malformed, spec.Unknown, closed(func(c *spec.Close, n uint64) { c.Outcome = uint8(n) })},
		{"reason with a tape", 1, 9, spec.Malformed, spec.Malformed,
			closed(func(c *spec.Close, n uint64) { c.Outcome, c.Reason = 4, uint8(n) })},
		{"reason without a tape", 10, 10, spec.Malformed, spec.Malformed,
			closed(func(c *spec.Close, n uint64) { c.Outcome, c.Reason, c.Form = 4, uint8(n), 0 })},
		passed("reason passed over", closed(func(c *spec.Close, n uint64) { c.Outcome, c.Reason = 4, uint8(n) })),
		extensionBytes("close", closed(func(c *spec.Close, n uint64) {
			c.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, n)}}
		})),
		passed("extension of a close", closed(func(c *spec.Close, n uint64) {
			c.Extensions = []spec.Extension{{Code: uint8(n), Value: nil}}
		})),
		integer("shuffle of a takeover", 0, taken(func(x *spec.Takeover, n uint64) { x.Shuffle = n })),
		codes("extent", 2, taken(func(x *spec.Takeover, n uint64) { x.Extent = uint8(n) })),
		{"bytes of a takeover's reason", 1, 200, spec.Malformed, spec.Malformed,
			taken(func(x *spec.Takeover, n uint64) { x.Reason = spec.Letters(n) })},
		{"form", 1, 2, spec.Malformed, spec.Unknown, closed(func(c *spec.Close, n uint64) { c.Form = uint8(n) })},
		{"bytes of a tape", 1, 32_768, spec.Malformed, spec.Malformed,
			closed(func(c *spec.Close, n uint64) { c.Tape = make(spec.Hexed, n) })},
		{"bytes of a sealed tape", 1, 33_937, spec.Malformed, spec.Malformed,
			closed(func(c *spec.Close, n uint64) { c.Form, c.Tape = 2, make(spec.Hexed, n) })},
		integer("disclosure key", 0, closed(func(c *spec.Close, n uint64) { c.Form, c.Key = 2, n })),
	}
}

func limitsOfKeys() []limit {
	of := func(k spec.Key, change func(k *spec.Key, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			k := k
			change(&k, n)
			return spec.Entry{Identity: "a", Credential: "a", Key: &k}
		}
	}
	wraps := spec.Key{Subject: 2, Public: spec.KeyLike(66),
		Wraps: []spec.Wrap{{Auditor: spec.BytesOf("id", 32), Sealed: make(spec.Hexed, 113)}}}
	hybrids := spec.Key{Subject: 2, Public: spec.HybridLike(1250),
		Wraps: []spec.Wrap{{Auditor: spec.BytesOf("id", 32), Sealed: make(spec.Hexed, 1201)}}}
	retired := spec.Key{Subject: 5, Retired: 1, ID: spec.BytesOf("id", 32)}
	public := func(k *spec.Key, n uint64) { k.Public = spec.KeyLike(n) }
	typed := func(k *spec.Key, n uint64) { k.Public = slices.Clone(k.Public); k.Public[0] = byte(n) }
	return []limit{
		{"bytes of a signing key", 33, 33, spec.Malformed, spec.Malformed, of(spec.Key{Subject: 1}, public)},
		{"bytes of a disclosure key", 66, 66, spec.Malformed, spec.Malformed, of(wraps, public)},
		{"bytes of an auditor key", 66, 66, spec.Malformed, spec.Malformed, of(spec.Key{Subject: 3}, public)},
		{"bytes of a hybrid disclosure key", 1250, 1250, spec.Malformed, spec.Malformed,
			of(hybrids, func(k *spec.Key, n uint64) { k.Public = spec.HybridLike(n) })},
		{"bytes of a hybrid auditor key", 1250, 1250, spec.Malformed, spec.Malformed,
			of(spec.Key{Subject: 3}, func(k *spec.Key, n uint64) { k.Public = spec.HybridLike(n) })},
		{"type of a signing key", 1, 1, spec.Unknown, spec.Unknown, of(spec.Key{Subject: 1, Public: spec.KeyLike(33)},
			typed)}, {"type of a disclosure key", 2, 2, spec.Malformed, spec.Unknown, of(hybrids, typed)},
		{"type of an auditor key", 1, 1, spec.Unknown, spec.Malformed,
			of(spec.Key{Subject: 3, Public: spec.KeyLike(66)}, typed)},
		{"form of a point", 4, 4, spec.Malformed, spec.Malformed,
			of(spec.Key{Subject: 3, Public: spec.KeyLike(66)},
				func(k *spec.Key, n uint64) { k.Public = append(spec.Hexed{1, byte(n)}, k.Public[2:]...) })},
		{"form of a hybrid key's point", 4, 4, spec.Malformed, spec.Malformed,
			of(spec.Key{Subject: 3},
				func(k *spec.Key, n uint64) { k.Public = slices.Replace(spec.HybridLike(1250), 1185, 1186, byte(n)) })},
		{"wraps", 1, 32, spec.Malformed, spec.Malformed, of(wraps, func(k *spec.Key, n uint64) {
			k.Wraps = nil
			for i := range n {
				k.Wraps = append(k.Wraps, spec.Wrap{Auditor: append(make(spec.Hexed, 31), byte(i)),
					Sealed: make(spec.Hexed, 113)})
			}
		})},
		{"bytes of a wrap", 113, 113, spec.Malformed, spec.Malformed, of(wraps, func(k *spec.Key, n uint64) {
			k.Wraps = []spec.Wrap{{Auditor: k.Wraps[0].Auditor, Sealed: make(spec.Hexed, n)}}
		})},
		{"bytes of a hybrid wrap", 1201, 1201, spec.Malformed, spec.Malformed, of(hybrids, func(k *spec.Key, n uint64) {
			k.Wraps = []spec.Wrap{{Auditor: k.Wraps[0].Auditor, Sealed: make(spec.Hexed, n)}}
		})},
		{"bytes of a policy", 0, 32_768, "", spec.Malformed,
			of(spec.Key{Subject: 4}, func(k *spec.Key, n uint64) { k.Policy = spec.Letters(n) })},
		codes("retired subject", 3, of(retired, func(k *spec.Key, n uint64) { k.Retired = uint8(n) })),
		integer("retired from", 0, of(retired, func(k *spec.Key, n uint64) { k.From = n })),
		codes("change", 3, of(spec.Key{Subject: 6, Name: "a", Public: spec.KeyLike(33)},
			func(k *spec.Key, n uint64) { k.Change = uint8(n) })),
		{"bytes of an administrator", 1, 64, spec.Malformed, spec.Malformed,
			of(spec.Key{Subject: 6, Change: 2}, func(k *spec.Key, n uint64) { k.Name = spec.Letters(n) })},
		{"bytes of an administrator's key", 33, 33, spec.Malformed, spec.Malformed,
			of(spec.Key{Subject: 6, Change: 1, Name: "a"}, public)},
		{"type of an administrator's key", 1, 1, spec.Unknown, spec.Unknown,
			of(spec.Key{Subject: 6, Change: 3, Name: "a", Public: spec.KeyLike(33)}, typed)},
		codes("act that needs two", 13, of(spec.Key{Subject: 7},
			func(k *spec.Key, n uint64) { k.Acts = []uint16{uint16(n)} })),
	}
}

func extensionBytes(what string, of func(n uint64) spec.Entry) limit {
	return limit{"bytes of an extension of a " + what, 0, 1024, "", spec.Malformed, of}
}

func limitsOfHolders() []limit {
	of := func(change func(h *spec.Holder, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			h := spec.SampleHolder()
			change(h, n)
			return spec.Entry{Identity: "a", Credential: "a", Holder: h}
		}
	}
	return []limit{
		{"bytes of a credential's id", 1, 64, spec.Malformed, spec.Malformed,
			of(func(h *spec.Holder, n uint64) { h.ID = spec.Letters(n) })},
		codes("form of a credential", 2, of(func(h *spec.Holder, n uint64) { h.Form = uint8(n) })),
		codes("role", 5, of(func(h *spec.Holder, n uint64) { h.Role = uint8(n) })),
		{"bytes of a credential's identity", 1, 64, spec.Malformed, spec.Malformed,
			of(func(h *spec.Holder, n uint64) { h.Identity = spec.Letters(n) })},
		{"tables", 0, 256, "", spec.Malformed, of(func(h *spec.Holder, n uint64) {
			for i := range n {
				h.Tables = append(h.Tables, fmt.Sprintf("t%03d", i))
			}
		})},
		{"bytes of a credential's table", 1, 64, spec.Malformed, spec.Malformed,
			of(func(h *spec.Holder, n uint64) { h.Tables = []string{spec.Letters(n)} })},
		integer("expiry of a credential", 0, of(func(h *spec.Holder, n uint64) { h.Expires = n })),
		{"bytes of a revocation's reason", 1, 200, spec.Malformed, spec.Malformed,
			of(func(h *spec.Holder, n uint64) { h.Kind, h.Reason = 2, spec.Letters(n) })},
	}
}

func limitsOfActs() []limit {
	of := func(change func(a *spec.Act, n uint64)) func(uint64) spec.Entry {
		return func(n uint64) spec.Entry {
			a := spec.Act{Act: 1, Digest: make(spec.Hexed, 32), HeadRoot: make(spec.Hexed, 32),
				Signatures: []spec.Signature{{Administrator: "a", Signature: make(spec.Hexed, 64)}}}
			change(&a, n)
			return spec.Entry{Identity: "a", Credential: "a", Act: &a}
		}
	}
	return []limit{
		codes("act", 13, of(func(a *spec.Act, n uint64) { a.Act = uint8(n) })),
		integer("previous act", 0, of(func(a *spec.Act, n uint64) { a.Previous = n })),
		integer("size of a head", 0, of(func(a *spec.Act, n uint64) { a.HeadSize = n })),
		integer("expiry of an act", 0, of(func(a *spec.Act, n uint64) { a.Expires = n })),
		{"signatures", 1, 2, spec.Malformed, spec.Malformed, of(func(a *spec.Act, n uint64) {
			a.Signatures = nil
			for i := range n {
				a.Signatures = append(a.Signatures, spec.Signature{Administrator: fmt.Sprint("a", i),
					Signature: make(spec.Hexed, 64)})
			}
		})},
		{"bytes of a signature", 64, 64, spec.Malformed, spec.Malformed,
			of(func(a *spec.Act, n uint64) { a.Signatures[0].Signature = make(spec.Hexed, n) })},
	}
}

func limitsOfEvents() []limit {
	start := spec.Event{Kind: 1, Build: make(spec.Hexed, 32), Config: make(spec.Hexed, 32), Version: "v", VDSO: 1}
	return []limit{
		{"bytes of a version", 1, 64, spec.Malformed, spec.Malformed,
			func(n uint64) spec.Entry { e := start; e.Version = spec.Letters(n); return spec.EventOf(e) }},
		{"bytes of a table", 1, 64, spec.Malformed, spec.Malformed,
			func(n uint64) spec.Entry { return spec.EventOf(spec.Event{Kind: 3, Table: spec.Letters(n)}) }},
		{"bytes of a killed table", 1, 64, spec.Malformed, spec.Malformed, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 4, Scope: 2, Table: spec.Letters(n), Reason: "r"})
		}},
		codes("scope", 3, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 5, Scope: uint8(n), Table: "t", Deck: make(spec.Hexed, 32),
				Reason: "r"})
		}),
		{"bytes of a kill reason", 1, 200, spec.Malformed, spec.Malformed,
			func(n uint64) spec.Entry { return spec.EventOf(spec.Event{Kind: 5, Scope: 1, Reason: spec.Letters(n)}) }},
		codes("cause", 11, func(n uint64) spec.Entry { return spec.EventOf(spec.Event{Kind: 6, Cause: uint8(n)}) }),
		integer("instance", 0, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 6, Cause: 1, Instance: n})
		}), {"bytes of a clearing reason", 1, 200, spec.Malformed, spec.Malformed,
			func(n uint64) spec.Entry { return spec.EventOf(spec.Event{Kind: 7, Reason: spec.Letters(n)}) }},
		passed("cause passed over", func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 6, Cause: uint8(n)})
		}),
		passed("alarm", func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 129, Alarm: uint8(n), Reason: "r"})
		}), {"bytes of an alarm's reason", 1, 200, spec.Malformed, spec.Malformed, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 129, Alarm: 130, Reason: spec.Letters(n)})
		}},
		{"bytes of a kernel release", 0, 64, "", spec.Malformed,
			func(n uint64) spec.Entry { e := start; e.Kernel = spec.Letters(n); return spec.EventOf(e) }},
		{"vdso", 0, 2, "", spec.Unknown,
			func(n uint64) spec.Entry { e := start; e.VDSO = uint8(n); return spec.EventOf(e) }},
		{"bytes behind a kind", 0, 1024, "", spec.Malformed,
			func(n uint64) spec.Entry { return spec.EventOf(spec.Event{Kind: 131, Opaque: make(spec.Hexed, n)}) }},
		integer("adopted size", 0, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 10, Size: n, Root: make(spec.Hexed, 32), LostRoot: make(spec.Hexed,
				32), Reason: "r"})
		}),
		integer("lost size", 0, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 10, LostSize: n, Root: make(spec.Hexed, 32),
				LostRoot: make(spec.Hexed, 32), Reason: "r"})
		}),
		integer("records", 0, func(n uint64) spec.Entry {
			return spec.EventOf(spec.Event{Kind: 130, Records: n, Newest: make(spec.Hexed, 32)})
		}),
	}
}

// TestLongestEntry: size comes before everything else. No entry of this version is as long.
func TestLongestEntry(t *testing.T) {
	b := append(spec.Entry{Identity: "a", Credential: "a", Event: &spec.Event{Kind: 2, Table: "t"}}.Bytes(),
		make([]byte, 48_001)...)
	for n, field := range map[int]string{48_000: "after the end", 48_001: "48001 bytes"} {
		if _, err := audit.ParseEntry(b[:n]); spec.FaultOf(err) != spec.Malformed || !strings.Contains(err.Error(),
			field) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestFull: entries whose every list and text is at its limit, together, are entries.
func TestFull(t *testing.T) {
	key := spec.Key{Subject: 2, Public: spec.AuditorKey("hybrid disclosure")}
	for i := range 32 {
		key.Wraps = append(key.Wraps, spec.Wrap{Auditor: append(make(spec.Hexed, 31), byte(i)),
			Sealed: make(spec.Hexed, 1201)})
	}
	full := spec.SampleGenesis()
	full.Origin, full.Policy, full.Predecessor = spec.Letters(128), spec.Letters(8192), make(spec.Hexed, 16_384)
	for i := range 8 {
		full.Auditors = append(full.Auditors, spec.AuditorKey(fmt.Sprint("hybrid ", i)))
	}
	for i := range 16 {
		full.Admins = append(full.Admins, spec.Admin{Name: spec.Letters(62) + fmt.Sprintf("%02d", i),
			Key: spec.AdminKey(fmt.Sprint(i))})
	}
	full.TwoPersons = []uint16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	full.Extensions = []spec.Extension{{Code: 200, Value: make(spec.Hexed, 1024)}}
	tape := spec.Close{Shuffle: spec.MaxInteger, Outcome: 1, Form: 2, Key: spec.MaxInteger, Tape: make(spec.Hexed,
		33_937), Extensions: full.Extensions}
	for name, c := range map[string]struct {
		e    spec.Entry
		want int
	}{
		"a disclosure key for 32 auditors": {spec.Entry{Key: &key}, 40_914},
		"a genesis":                        {spec.Entry{Genesis: &full}, 37_562},
		"a close with the longest tape":    {spec.Entry{Close: &tape}, 35_128},
	} {
		c.e.Time, c.e.Identity, c.e.Credential = spec.MaxInteger, spec.Letters(64), spec.Letters(64)
		b := c.e.Bytes()
		if _, err := audit.ParseEntry(b); err != nil || len(b) != c.want {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(b), c.want, err)
		}
	}
}

// TestLaterKeys: a key of a later type is not judged, whatever its size; one
// that no reader can take for a key is malformed.
func TestLaterKeys(t *testing.T) {
	for n, want := range map[int]string{0: spec.Malformed, 1: spec.Malformed, 2: spec.Unknown, 33: spec.Unknown,
		66: spec.Unknown, 2048: spec.Unknown, 2049: spec.Malformed} {
		for _, subject := range []uint8{1, 3} {
			e := spec.Entry{Identity: "a", Credential: "a",
				Key: &spec.Key{Subject: subject, Public: slices.Repeat(spec.Hexed{7}, n)}}
			if _, err := audit.ParseEntry(e.Bytes()); spec.FaultOf(err) != want {
				t.Errorf("%d bytes, subject %d: %v, want %s", n, subject, err, want)
			}
		}
	}
}

// TestLongSigningKey: a key of ML-DSA-44 has one size.
func TestLongSigningKey(t *testing.T) {
	for n, want := range map[int]string{2: spec.Malformed, 33: spec.Malformed, 1312: spec.Malformed, 1313: "",
		1314: spec.Malformed} {
		e := spec.Entry{Identity: "a", Credential: "a",
			Key: &spec.Key{Subject: 1, Public: slices.Repeat(spec.Hexed{6}, n)}}
		if _, err := audit.ParseEntry(e.Bytes()); spec.FaultOf(err) != want {
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
			{"name", audit.CheckName, alone(letter, letter || mark, letter || mark)},
			{"origin", audit.CheckOrigin, alone(digit, digit || mark || b == "/", digit)},
			{"reason", audit.CheckReason, alone(printable, printable, printable)},
			{"idempotency key", audit.CheckIdempotencyKey,
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
	}{{audit.CheckName, 64}, {audit.CheckOrigin, 128}, {audit.CheckReason, 200}, {audit.CheckIdempotencyKey, 255}} {
		for n, good := range map[int]bool{0: false, 1: true, c.most: true, c.most + 1: false} {
			if err := c.check(spec.Letters(uint64(n))); (err == nil) != good {
				t.Errorf("%d characters of at most %d: %v", n, c.most, err)
			}
		}
	}
}

// TestPolicyBytes: a policy is printable ASCII and newlines.
func TestPolicyBytes(t *testing.T) {
	for c := 0; c < 256; c++ {
		e := spec.Entry{Identity: "a", Credential: "a",
			Key: &spec.Key{Subject: 4, Policy: "x" + string([]byte{byte(c)})}}
		_, err := audit.ParseEntry(e.Bytes())
		if good := c == '\n' || c >= 0x20 && c <= 0x7e; (spec.FaultOf(err) == "") != good || !good &&
			spec.FaultOf(err) != spec.Malformed {
			t.Errorf("a policy with byte %#x: %v", c, err)
		}
	}
}
