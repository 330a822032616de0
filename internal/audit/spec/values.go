package audit

import (
	"errors"
	"slices"

	"shuffled/internal/shuffle"
)

// From the fields of the data files to the values of the package.

func (e refEntry) entry() Entry {
	out := Entry{Time: int64(e.Time), Actor: Actor{e.Identity, e.Credential}}
	switch {
	case e.Genesis != nil:
		out.Body = e.Genesis.body()
	case e.Commit != nil:
		out.Body = e.Commit.body()
	case e.Mix != nil:
		out.Body = e.Mix.body()
	case e.Deal != nil:
		out.Body = e.Deal.body()
	case e.Close != nil:
		c := e.Close
		out.Body = &Close{Shuffle: c.Shuffle, Entries: int(c.Entries), Outcome: Outcome(c.Outcome),
			Reason: Reason(c.Reason), Form: Form(c.Form), Tape: c.Tape, Key: c.Key, Blind: c.Blind.value(),
			Follows: c.Follows.value(), Extensions: extensions(c.Extensions)}
	case e.Key != nil:
		out.Body = e.Key.body()
	case e.Event != nil:
		out.Body = e.Event.body()
	case e.Takeover != nil:
		out.Body = &Takeover{Shuffle: e.Takeover.Shuffle, Extent: Extent(e.Takeover.Extent), Reason: e.Takeover.Reason}
	case e.Holder != nil:
		h := e.Holder
		out.Body = &Credential{Kind: CredentialKind(h.Kind), ID: h.ID, Form: CredentialForm(h.Form), Role: Role(h.Role),
			Identity: h.Identity, Tables: h.Tables, Expires: int64(h.Expires), Digest: array(h.Digest),
			Reason: h.Reason}
	case e.Act != nil:
		out.Body = e.Act.body()
	case e.Reveal != nil:
		r := &Reveal{Shuffle: e.Reveal.Shuffle, Final: e.Reveal.Final, Exposed: e.Reveal.Exposed,
			Extensions: extensions(e.Reveal.Extensions)}
		for _, p := range e.Reveal.Places {
			r.Places = append(r.Places, uint16(p))
		}
		out.Body = r
	case e.Disclose != nil:
		d := e.Disclose
		out.Body = &DisclosureEntry{Shuffle: d.Shuffle, Entries: int(d.Entries), Form: Form(d.Form), Tape: d.Tape,
			Key: d.Key, Extensions: extensions(d.Extensions)}
	case e.Opaque != nil:
		out.Body = &Opaque{Code: Type(e.Opaque.Type), Data: e.Opaque.Body}
	}
	return out
}

// someone is an actor of a sandbox without credentials.
var someone = Actor{"a", "a"}

func extensions(list []refExtension) (out []Extension) {
	for _, e := range list {
		out = append(out, Extension{e.Code, e.Value})
	}
	return out
}

func actList(list []uint16) (out []Act) {
	for _, a := range list {
		out = append(out, Act(a))
	}
	return out
}

func (a *refAct) body() *ActEntry {
	out := &ActEntry{Act: Act(a.Act), Digest: array(a.Digest), Previous: a.Previous, HeadSize: a.HeadSize,
		HeadRoot: array(a.HeadRoot), Expires: int64(a.Expires)}
	for _, s := range a.Signatures {
		out.Signatures = append(out.Signatures, ActSignature{s.Administrator, [64]byte(s.Signature)})
	}
	return out
}

// array is b as 32 bytes, zero when there are none.
func array(b hexed) (a [32]byte) {
	copy(a[:], b)
	return a
}

func (g *refGenesis) body() *Genesis {
	out := &Genesis{Revision: g.Revision, Origin: g.Origin, Production: g.Production, SigningKey: g.SigningKey,
		Policy: []byte(g.Policy),
		Deals:  Deals(g.Deals), MixModes: g.MixModes, Disclosure: Disclosure(g.Disclosure),
		DefaultCloseBy: g.DefaultCloseBy, MaxCloseBy: g.MaxCloseBy, Access: Access(g.Access),
		Predecessor: g.Predecessor,
		TwoPersons:  actList(g.TwoPersons), Delay: g.Delay, Extensions: extensions(g.Extensions)}
	for _, a := range g.Admins {
		out.Administrators = append(out.Administrators, Administrator{a.Name, a.Key})
	}
	for _, k := range g.Auditors {
		out.AuditorKeys = append(out.AuditorKeys, k)
	}
	return out
}

func (c *refContext) value() *Context {
	out := &Context{Origin: c.Origin, Genesis: array(c.Genesis), Production: c.Production, Table: c.Table,
		DeckHash: array(c.DeckHash),
		Recipe: shuffle.Recipe{Cards: int(c.Cards), Take: int(c.Take), Ranges: refRanges(c),
			EndLo: int(c.EndAt.Lo), EndHi: int(c.EndAt.Hi)},
		Of:    uint32(c.Of),
		EndAt: int(c.EndAt.Place), Disclosure: Disclosure(c.Disclosure), Extensions: extensions(c.Extensions)}
	if c.Kind == 3 {
		out.Recipe.Take = 0 // the ranges say it
	}
	if t := c.Terms; t != nil {
		out.Terms = &Terms{Kind: TermsKind(t.Kind), Count: t.Count, Hash: array(t.Hash)}
	}
	if c.Parent != nil {
		out.Parent = &Parent{ID: c.Parent.ID, Positions: c.Parent.Positions}
	}
	for _, p := range c.Plan {
		planned := Planned{Source: Source(p.Source), Slot: array(p.Slot), Chain: array(p.Chain), Round: p.Round,
			Origin: p.Origin}
		if p.Commit != nil {
			planned.Index, planned.Leaf = p.Commit.Index, array(p.Commit.Leaf)
		}
		out.Plan = append(out.Plan, planned)
	}
	out.ForLedger = c.ForLedger
	return out
}

func (c *refCommit) body() *Commit {
	return &Commit{Context: c.Context.value(), Commitment: array(c.Commitment), DeckRoot: array(c.DeckRoot),
		Serial: c.Serial, Previous: c.Previous, CloseBy: int64(c.CloseBy), GameRef: c.GameRef,
		KeyTag: array(c.KeyTag), Request: array(c.Request), Instance: c.Instance, AskKey: c.AskKey,
		Extensions: extensions(c.Extensions)}
}

func (m *refMix) body() *Mix {
	return &Mix{Shuffle: m.Shuffle, Checkpoint: m.Checkpoint, Values: mixValuesOf(m.Values)}
}

func (d *refDeal) body() *Deal {
	out := &Deal{Shuffle: d.Shuffle, First: int(d.First), Checkpoint: d.Checkpoint, Final: d.Final,
		Asked: d.Asked.value(), Blind: d.Blind.value(), Extensions: extensions(d.Extensions)}
	for _, r := range d.Runs {
		out.Runs = append(out.Runs, Run{Count: int(r.Cards), Purpose: Purpose(r.Purpose), Recipient: r.Recipient,
			Public: r.Public, Round: uint16(r.Round)})
	}
	return out
}

func (f refForeign) value() Foreign { return Foreign{f.Index, array(f.Leaf)} }

func (f *refFollows) value() *Follows {
	if f == nil {
		return nil
	}
	return &Follows{f.refForeign.value(), int(f.Places)}
}

func (a *refAsked) value() *Asked {
	if a == nil {
		return nil
	}
	return &Asked{Commit: a.Commit.value(), After: array(a.After), Head: Head{a.Head.Index, array(a.Head.Leaf)},
		State: array(a.State), Ask: [64]byte(a.Ask)}
}

func (b *refBlind) value() *Blind {
	if b == nil {
		return nil
	}
	return &Blind{Deal: b.Deal.value(), Head: Head{b.Head.Index, array(b.Head.Leaf)}, Values: b.Values}
}

func (k *refKey) body() *Key {
	out := &Key{Subject: Subject(k.Subject), Public: k.Public, Policy: []byte(k.Policy),
		Retired: Subject(k.Retired), ID: array(k.ID), From: int64(k.From),
		Admin: Change(k.Change), Name: k.Name, Acts: actList(k.Acts), Delay: k.Delay,
		Origin: k.Origin, Every: k.Every}
	for _, w := range k.Wraps {
		out.Wraps = append(out.Wraps, Wrap{Auditor: array(w.Auditor), Sealed: w.Sealed})
	}
	return out
}

// body puts the version or the table into Name, which holds whichever the kind has, and so with Size and Digest.
func (e *refEvent) body() *Event {
	return &Event{Kernel: e.Kernel, VDSO: VDSO(e.VDSO), LostSize: e.LostSize, LostRoot: array(e.LostRoot),
		Records: e.Records, Opaque: e.Opaque,
		Kind: EventKind(e.Kind), Build: array(e.Build), Config: array(e.Config), FIPS: e.FIPS, Name: e.Version +
			e.Table,
		Scope: Scope(e.Scope), Deck: array(e.Deck), Latch: Latch(e.Cause), Instance: e.Instance, Reason: e.Reason,
		Size: e.Size, Digest: array(slices.Concat(e.Root, e.Newest)), Alarm: Alarm(e.Alarm)}
}

// faultOf is the verdict of section 1.4, "" for none.
func faultOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnknown):
		return malformed
	case errors.Is(err, ErrUnknown) && !errors.Is(err, ErrMalformed):
		return unknown
	}
	return "neither: " + err.Error()
}

func mixValuesOf(values []refValue) (out []MixValue) {
	for _, v := range values {
		value := MixValue{Source: Source(v.Source), Cut: uint16(v.Cut)}
		switch value.Source {
		case SourceSlot:
			copy(value.Slot[:], v.Value)
		case SourceBeacon:
			copy(value.Beacon[:], v.Value)
		}
		out = append(out, value)
	}
	return out
}
