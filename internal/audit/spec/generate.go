package spec

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Generators of valid entries by their fields, over all types, subjects, kinds,
// scopes, forms and options, with a liking for the ends of ranges.

// BytesOf returns n bytes that anybody can make again: SHA-256(name ‖ u32 0), SHA-256(name ‖ u32 1) …, cut to n.
func BytesOf(name string, n int) Hexed {
	b := make([]byte, 0, n+32)
	for i := uint32(0); len(b) < n; i++ {
		h := sha256.Sum256(Join(name, i))
		b = append(b, h[:]...)
	}
	return b[:n]
}

// GenBytes is any byte string of a length between the two.
func GenBytes(lo, hi int) *rapid.Generator[Hexed] {
	return rapid.Custom(func(t *rapid.T) Hexed {
		return BytesOf(fmt.Sprint(rapid.Uint32().Draw(t, "seed")), rapid.IntRange(lo, hi).Draw(t, "length"))
	})
}

// GenHash is any 32 bytes.
func GenHash() *rapid.Generator[Hexed] { return GenBytes(32, 32) }

// GenIndex is any integer that an entry may hold.
func GenIndex(lo uint64) *rapid.Generator[uint64] { return rapid.Uint64Range(lo, 1<<53-1) }

func genText(first, rest, last string, max int) *rapid.Generator[string] {
	one := func(set string) *rapid.Generator[string] {
		return rapid.Map(rapid.SampledFrom([]byte(set)), func(c byte) string { return string(c) })
	}
	return rapid.Custom(func(t *rapid.T) string {
		s := one(first).Draw(t, "first")
		if n := rapid.IntRange(0, max-1).Draw(t, "rest"); n > 0 {
			s += strings.Join(rapid.SliceOfN(one(rest), n-1, n-1).Draw(t, "middle"), "") + one(last).Draw(t, "last")
		}
		return s
	})
}

const (
	lower = "abcdefghijklmnopqrstuvwxyz0123456789"
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lower
)

// GenName is any name of section 1.5.
func GenName() *rapid.Generator[string] { return genText(alnum, alnum+"._-", alnum+"._-", 64) }

// GenOrigin is any origin of section 1.5.
func GenOrigin() *rapid.Generator[string] { return genText(lower, lower+"./_-", lower, 128) }

// GenReason is any reason of section 1.5.
func GenReason() *rapid.Generator[string] {
	var printable []byte
	for c := byte(0x20); c <= 0x7e; c++ {
		printable = append(printable, c)
	}
	all := string(printable)
	return genText(all, all, all, 200)
}

func genOptional(g *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), g)
}

func genCode(last uint8) *rapid.Generator[uint8] { return rapid.Uint8Range(1, last) }

func genPolicy(lo int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(lo, 400).Draw(t, "length")
		return strings.Repeat("witness w1 w+1234abcd+AbC/=\n~ ", n/20+1)[:n]
	})
}

// genSigningKey and genSealing are keys by their form.
func genSigningKey() *rapid.Generator[Hexed] { return genPrefixed(32, 1) }
func genSealing() *rapid.Generator[Hexed] {
	hybrid := rapid.Map(GenBytes(1249, 1249), func(b Hexed) Hexed { b[1184] = 4; return append(Hexed{2}, b...) })
	return rapid.OneOf(genPrefixed(64, 1, 4), hybrid)
}

func genPrefixed(n int, prefix ...byte) *rapid.Generator[Hexed] {
	return rapid.Map(GenBytes(n, n), func(b Hexed) Hexed { return append(slices.Clone(prefix), b...) })
}

// GenEntry is any entry that a reader takes.
func GenEntry() *rapid.Generator[Entry] {
	return rapid.Custom(func(t *rapid.T) Entry {
		e := Entry{Time: GenIndex(0).Draw(t, "time")}
		e.Identity, e.Credential = genActor(t)
		switch rapid.IntRange(1, 13).Draw(t, "type") {
		case 1:
			e.Genesis = genGenesis(t)
		case 2:
			e.Commit = genCommit(t)
		case 3:
			e.Mix = genMix(t)
		case 4:
			e.Deal = genDeal(t)
		case 5:
			e.Close = genClose(t)
		case 6:
			e.Key = genKey(t)
		case 7:
			e.Event = genEvent(t)
		case 8:
			e.Takeover = &Takeover{GenIndex(0).Draw(t, "shuffle"), genCode(2).Draw(t, "extent"),
				GenReason().Draw(t, "reason")}
		case 9:
			e.Holder = genHolder(t)
		case 10:
			e.Act = genAct(t)
		case 11:
			e.Reveal = genReveal(t)
		case 12:
			e.Disclose = genDisclose(t)
		case 13:
			e.Opaque = &Opaque{Type: genPassed().Draw(t, "type"), Body: GenBytes(0, 1024).Draw(t, "body")}
		}
		return e
	})
}

// genActor is a header's names: a reserved word stands in both or in none.
func genActor(t *rapid.T) (identity, credential string) {
	if word := rapid.SampledFrom([]string{"daemon", "operator", "", "", ""}).Draw(t, "word"); word != "" {
		return word, word
	}
	free := GenName().Filter(func(s string) bool { return s != "daemon" && s != "operator" })
	return free.Draw(t, "identity"), free.Draw(t, "credential")
}

// genPassed is a code that is not critical and in no list.
func genPassed() *rapid.Generator[uint8] { return rapid.Uint8Range(140, 255) }

// genOpen is a code of an open list, or one that is passed over.
func genOpen(last uint8) *rapid.Generator[uint8] {
	return rapid.OneOf(genCode(last), genCode(last), genCode(last), genPassed())
}

func genExtensions(t *rapid.T) (list []Extension) {
	codes := rapid.SliceOfNDistinct(rapid.Uint8Range(128, 255), 0, 3, rapid.ID).Draw(t, "extensions")
	slices.Sort(codes)
	for _, c := range codes {
		list = append(list, Extension{c, GenBytes(0, 1024).Draw(t, "value")})
	}
	return list
}

// genNames are different names in order.
func genNames(t *rapid.T, lo, hi int) []string {
	names := rapid.SliceOfNDistinct(GenName(), lo, hi, rapid.ID).Draw(t, "names")
	slices.Sort(names)
	return names
}

func genActs(t *rapid.T) (acts []uint16, delay uint32) {
	acts = rapid.SliceOfNDistinct(rapid.Uint16Range(1, 12), 0, 12, rapid.ID).Draw(t, "acts")
	slices.Sort(acts)
	return acts, rapid.Uint32().Draw(t, "delay")
}

func genHolder(t *rapid.T) *Holder {
	h := &Holder{Kind: genCode(2).Draw(t, "kind"), ID: GenName().Draw(t, "credential")}
	if h.Kind == 2 {
		h.Reason = GenReason().Draw(t, "reason")
		return h
	}
	h.Form, h.Role, h.Identity = genCode(2).Draw(t, "form"), genCode(4).Draw(t, "role"), GenName().Draw(t, "identity")
	h.Tables, h.Expires, h.Digest = genNames(t, 0, 4), GenIndex(0).Draw(t, "expires"), GenHash().Draw(t, "digest")
	return h
}

func genAct(t *rapid.T) *Act {
	a := &Act{Act: genCode(12).Draw(t, "act"), Digest: GenHash().Draw(t, "digest"),
		Previous: GenIndex(0).Draw(t, "previous"),
		HeadSize: GenIndex(0).Draw(t, "size"), HeadRoot: GenHash().Draw(t, "root"),
		Expires: GenIndex(0).Draw(t, "expires")}
	for _, name := range genNames(t, 1, 2) {
		a.Signatures = append(a.Signatures, Signature{name, GenBytes(64, 64).Draw(t, "signature")})
	}
	return a
}

func genGenesis(t *rapid.T) *Genesis {
	g := &Genesis{Revision: 1,
		Origin: GenOrigin().Draw(t, "origin"), Production: rapid.Bool().Draw(t, "production"),
		SigningKey: genSigningKey().Draw(t, "signing key"), Deals: genCode(2).Draw(t, "deals"),
		MixModes: rapid.Uint8Range(0, 7).Draw(t, "modes"), Disclosure: genCode(2).Draw(t, "disclosure"),
		MaxCloseBy: rapid.Uint32Min(1).Draw(t, "cap"), Access: genCode(2).Draw(t, "access"),
		Predecessor: GenBytes(0, 300).Draw(t, "predecessor"),
	}
	g.Policy = genPolicy(int(g.Deals)-1).Draw(t, "policy")
	g.DefaultCloseBy = rapid.Uint32Range(1, g.MaxCloseBy).Draw(t, "default")
	g.Auditors = rapid.SliceOfNDistinct(genSealing(), 0, 8, Hexed.String).Draw(t, "auditors")
	for i, name := range genNames(t, 0, 16) {
		g.Admins = append(g.Admins, Admin{name, SigningKey(fmt.Sprint(i))})
	}
	g.TwoPersons, g.Delay = genActs(t)
	g.Extensions = genExtensions(t)
	return g
}

// GenContext is any context that a reader takes.
func GenContext(t *rapid.T) Context {
	c := Context{
		Origin: GenOrigin().Draw(t, "origin"), Genesis: GenHash().Draw(t, "genesis"),
		Production: rapid.Bool().Draw(t, "production"), Table: GenName().Draw(t, "table"), Algorithm: 1,
		Kind:       genCode(3).Draw(t, "kind"),
		Disclosure: genCode(2).Draw(t, "disclosure"),
	}
	if c.Kind == 3 {
		c.Of = rapid.Uint64Range(2, 1<<30).Draw(t, "of")
		c.Take = rapid.Uint64Range(1, min(c.Of, 100)).Draw(t, "m")
	} else if c.Kind == 2 {
		c.Ranges = rapid.SliceOfN(rapid.Uint32Range(1, 1<<30), 1, 20).Draw(t, "ranges")
	} else {
		c.DeckHash = GenHash().Draw(t, "deck hash")
		c.Cards = rapid.Uint64Range(2, 4096).Draw(t, "n")
		c.Take = rapid.Uint64Range(1, c.Cards).Draw(t, "m")
		if rapid.Bool().Draw(t, "child") {
			c.Parent = genParent(t)
			c.Cards = uint64(len(c.Parent.Positions))
			c.Take = rapid.Uint64Range(1, c.Cards).Draw(t, "m")
		}
		c.EndAt = genEndAt(t, c.Take)
	}
	c.Plan = genPlan(t, c.Kind)
	c.Terms = genTerms(t)
	c.Extensions = genExtensions(t)
	return c
}

func genTerms(t *rapid.T) *Terms {
	kind := rapid.Uint8Range(0, 3).Draw(t, "terms")
	if kind == 0 {
		return nil
	}
	out := &Terms{Kind: kind, Hash: GenHash().Draw(t, "hash of the terms")}
	if kind == 3 {
		out.Count = GenIndex(0).Draw(t, "tickets")
	}
	return out
}

func genParent(t *rapid.T) *Parent {
	p := &Parent{ID: GenIndex(0).Draw(t, "parent")}
	p.Positions = rapid.SliceOfNDistinct(rapid.Uint16(), 2, 60, rapid.ID).Draw(t, "positions")
	return p
}

func genEndAt(t *rapid.T, m uint64) EndAt {
	switch form := rapid.Uint8Range(0, 2).Draw(t, "end_at"); {
	case form == 1:
		return EndAt{Form: 1, Place: rapid.Uint64Range(1, m).Draw(t, "place")}
	case form == 2 && m >= 2:
		lo := rapid.Uint64Range(1, m-1).Draw(t, "lo")
		return EndAt{Form: 2, Lo: lo, Hi: rapid.Uint64Range(lo+1, m).Draw(t, "hi")}
	}
	return EndAt{}
}

func genPlan(t *rapid.T, kind uint8) (plan []Source) {
	for _, slot := range rapid.SliceOfNDistinct(GenHash(), 0, 30, Hexed.String).Draw(t, "slots") {
		plan = append(plan, Source{Source: 1, Slot: slot})
	}
	if rapid.Bool().Draw(t, "beacon") {
		plan = append(plan, Source{Source: 2, Chain: GenHash().Draw(t, "chain"),
			Round: GenIndex(1).Draw(t, "round")})
	}
	if kind == 1 && rapid.Bool().Draw(t, "cut") {
		plan = append(plan, Source{Source: 3})
	}
	return plan
}

func genCommit(t *rapid.T) *Commit {
	c := &Commit{
		Context: GenContext(t), Commitment: GenHash().Draw(t, "commitment"), DeckRoot: GenHash().Draw(t, "deck root"),
		Serial: GenIndex(1).Draw(t, "serial"), CloseBy: GenIndex(0).Draw(t, "close-by"),
		GameRef: genOptional(GenName()).Draw(t, "game reference"), KeyTag: GenHash().Draw(t, "key tag"),
		Request: GenHash().Draw(t, "request hash"), Instance: GenIndex(0).Draw(t, "instance"),
	}
	if c.Serial > 1 {
		c.Previous = GenIndex(1).Draw(t, "previous")
	}
	c.Extensions = genExtensions(t)
	return c
}

func genMix(t *rapid.T) *Mix {
	value := rapid.Custom(func(t *rapid.T) Value {
		v := Value{Source: genCode(3).Draw(t, "source")}
		switch v.Source {
		case 1:
			v.Value = GenHash().Draw(t, "slot")
		case 2:
			v.Value = GenBytes(48, 48).Draw(t, "beacon")
		case 3:
			v.Cut = uint64(rapid.Uint16().Draw(t, "cut"))
		}
		return v
	})
	return &Mix{Shuffle: GenIndex(0).Draw(t, "shuffle"), Checkpoint: GenIndex(0).Draw(t, "checkpoint"),
		Values: rapid.SliceOfN(value, 1, 32).Draw(t, "values")}
}

func genDeal(t *rapid.T) *Deal {
	d := &Deal{Shuffle: GenIndex(0).Draw(t, "shuffle"), First: rapid.Uint64Range(0, 4095).Draw(t, "first"),
		Checkpoint: GenIndex(0).Draw(t, "checkpoint"), Final: rapid.Bool().Draw(t, "final")}
	for left := 4096 - d.First; left > 0 && len(d.Runs) < 20; {
		cards := rapid.Uint64Range(1, left).Draw(t, "cards")
		d.Runs = append(d.Runs, Run{Cards: cards, Purpose: genOpen(6).Draw(t, "purpose"),
			Recipient: genOptional(GenName()).Draw(t, "recipient"), Public: rapid.Bool().Draw(t, "public"),
			Round: rapid.Uint64Range(0, 0xffff).Draw(t, "round")})
		if left -= cards; rapid.Bool().Draw(t, "enough") {
			break
		}
	}
	d.Extensions = genExtensions(t)
	return d
}

func genReveal(t *rapid.T) *Reveal {
	places := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 4095), 1, 40, rapid.ID).Draw(t, "places")
	slices.Sort(places)
	return &Reveal{Shuffle: GenIndex(0).Draw(t, "shuffle"), Final: rapid.Bool().Draw(t, "final"),
		Exposed: rapid.Bool().Draw(t, "exposed"), Places: places, Extensions: genExtensions(t)}
}

func genDisclose(t *rapid.T) *Disclose {
	d := &Disclose{Shuffle: GenIndex(0).Draw(t, "shuffle"), Entries: rapid.Uint16().Draw(t, "entries"),
		Form: rapid.Uint8Range(0, 2).Draw(t, "form")}
	if d.Form > 0 {
		d.Tape = GenBytes(1, 2000).Draw(t, "tape")
	}
	if d.Form == 2 {
		d.Key = GenIndex(0).Draw(t, "key")
	}
	d.Extensions = genExtensions(t)
	return d
}

func genClose(t *rapid.T) *Close {
	c := &Close{Shuffle: GenIndex(0).Draw(t, "shuffle"), Entries: rapid.Uint16().Draw(t, "entries"),
		Outcome: genCode(5).Draw(t, "outcome")}
	if c.Outcome == 4 {
		c.Reason = genOpen(10).Draw(t, "reason")
	}
	if c.Reason != 10 && c.Outcome != 3 {
		c.Form, c.Tape = genCode(2).Draw(t, "form"), GenBytes(1, 2000).Draw(t, "tape")
	}
	if c.Form == 2 {
		c.Key = GenIndex(0).Draw(t, "key")
	}
	c.Extensions = genExtensions(t)
	return c
}

func genKey(t *rapid.T) *Key {
	k := &Key{Subject: genCode(7).Draw(t, "subject")}
	switch k.Subject {
	case 1:
		k.Public = genSigningKey().Draw(t, "key")
	case 3:
		k.Public = genSealing().Draw(t, "key")
	case 2:
		k.Public = genSealing().Draw(t, "key")
		size := added(k.Public) + 32
		for _, id := range rapid.SliceOfNDistinct(GenHash(), 1, 20, Hexed.String).Draw(t, "auditors") {
			k.Wraps = append(k.Wraps, Wrap{Auditor: id, Sealed: GenBytes(size, size).Draw(t, "sealed")})
		}
		sortWraps(k.Wraps)
	case 4:
		k.Policy = genPolicy(0).Draw(t, "policy")
	case 5:
		k.Retired, k.ID, k.From = genCode(3).Draw(t, "retired"), GenHash().Draw(t, "id"), GenIndex(0).Draw(t, "from")
	case 6:
		k.Change, k.Name = genCode(3).Draw(t, "change"), GenName().Draw(t, "administrator")
		if k.Change != 2 {
			k.Public = genSigningKey().Draw(t, "key")
		}
	case 7:
		k.Acts, k.Delay = genActs(t)
	}
	return k
}

func sortWraps(wraps []Wrap) {
	slices.SortFunc(wraps, func(a, b Wrap) int { return slices.Compare(a.Auditor, b.Auditor) })
}

func genEvent(t *rapid.T) *Event {
	e := &Event{Kind: rapid.SampledFrom([]uint8{1, 2, 3, 4, 5, 6, 7, 10, 129, 130, 200}).Draw(t, "kind")}
	switch e.Kind {
	case 1:
		e.Build, e.Config = GenHash().Draw(t, "build"), GenHash().Draw(t, "configuration")
		e.FIPS, e.Version = rapid.Bool().Draw(t, "fips"), GenName().Draw(t, "version")
		e.Kernel, e.VDSO = genOptional(genText(alnum+"+~", alnum+"+~.-_", alnum, 64)).Draw(t, "kernel"),
			rapid.Uint8Range(0, 2).Draw(t, "vdso")
	case 2, 3:
		e.Table = GenName().Draw(t, "table")
	case 4, 5:
		switch e.Scope = genCode(3).Draw(t, "scope"); e.Scope {
		case 2:
			e.Table = GenName().Draw(t, "table")
		case 3:
			e.Deck = GenHash().Draw(t, "deck hash")
		}
	case 6:
		e.Cause, e.Instance = genOpen(11).Draw(t, "cause"), GenIndex(0).Draw(t, "instance")
	case 10:
		e.Size, e.Root = GenIndex(0).Draw(t, "size"), GenHash().Draw(t, "root")
		e.LostSize, e.LostRoot = GenIndex(0).Draw(t, "lost size"), GenHash().Draw(t, "lost root")
		if e.LostSize == 0 {
			e.LostRoot = make(Hexed, 32)
		}
	case 129:
		e.Alarm = rapid.Uint8Range(128, 255).Draw(t, "alarm")
	case 130:
		e.Records, e.Newest = GenIndex(0).Draw(t, "records"), GenHash().Draw(t, "newest")
	case 200:
		e.Kind, e.Opaque = genPassed().Draw(t, "kind"), GenBytes(0, 1024).Draw(t, "opaque")
	}
	if slices.Contains([]uint8{4, 5, 7, 10, 129}, e.Kind) {
		e.Reason = GenReason().Draw(t, "reason")
	}
	return e
}
