package spec

import (
	"errors"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// From the fields of the data files to the values of package audit.

// Value is the entry as the package has it.
func (e Entry) Value() audit.Entry {
	out := audit.Entry{Time: int64(e.Time), Actor: audit.Actor{Identity: e.Identity, Credential: e.Credential}}
	switch {
	case e.Genesis != nil:
		out.Body = e.Genesis.Body()
	case e.Commit != nil:
		out.Body = e.Commit.Body()
	case e.Mix != nil:
		out.Body = e.Mix.body()
	case e.Deal != nil:
		out.Body = e.Deal.Body()
	case e.Close != nil:
		c := e.Close
		out.Body = &audit.Close{Shuffle: c.Shuffle, Entries: int(c.Entries), Outcome: audit.Outcome(c.Outcome),
			Reason: audit.Reason(c.Reason), Form: audit.Form(c.Form), Tape: c.Tape, Key: c.Key, Blind: c.Blind.value(),
			Follows: c.Follows.value(), Extensions: extensions(c.Extensions)}
	case e.Key != nil:
		out.Body = e.Key.body()
	case e.Event != nil:
		out.Body = e.Event.body()
	case e.Takeover != nil:
		out.Body = &audit.Takeover{Shuffle: e.Takeover.Shuffle, Extent: audit.Extent(e.Takeover.Extent),
			Reason: e.Takeover.Reason}
	case e.Holder != nil:
		h := e.Holder
		out.Body = &audit.Credential{Kind: audit.CredentialKind(h.Kind), ID: h.ID, Form: audit.CredentialForm(h.Form),
			Role:     audit.Role(h.Role),
			Identity: h.Identity, Tables: h.Tables, Expires: int64(h.Expires), Digest: array(h.Digest),
			Reason: h.Reason}
	case e.Act != nil:
		out.Body = e.Act.body()
	case e.Reveal != nil:
		r := &audit.Reveal{Shuffle: e.Reveal.Shuffle, Final: e.Reveal.Final, Exposed: e.Reveal.Exposed,
			Extensions: extensions(e.Reveal.Extensions)}
		for _, p := range e.Reveal.Places {
			r.Places = append(r.Places, uint16(p))
		}
		out.Body = r
	case e.Disclose != nil:
		d := e.Disclose
		out.Body = &audit.DisclosureEntry{Shuffle: d.Shuffle, Entries: int(d.Entries), Form: audit.Form(d.Form),
			Tape: d.Tape, Key: d.Key, Extensions: extensions(d.Extensions)}
	case e.Opaque != nil:
		out.Body = &audit.Opaque{Code: audit.Type(e.Opaque.Type), Data: e.Opaque.Body}
	}
	return out
}

// Someone is an actor of a sandbox without credentials.
var Someone = audit.Actor{Identity: "a", Credential: "a"}

func extensions(list []Extension) (out []audit.Extension) {
	for _, e := range list {
		out = append(out, audit.Extension{Code: e.Code, Value: e.Value})
	}
	return out
}

func actList(list []uint16) (out []audit.Act) {
	for _, a := range list {
		out = append(out, audit.Act(a))
	}
	return out
}

func (a *Act) body() *audit.ActEntry {
	out := &audit.ActEntry{Act: audit.Act(a.Act), Digest: array(a.Digest), Previous: a.Previous, HeadSize: a.HeadSize,
		HeadRoot: array(a.HeadRoot), Expires: int64(a.Expires)}
	for _, s := range a.Signatures {
		out.Signatures = append(out.Signatures, audit.ActSignature{Administrator: s.Administrator,
			Signature: [64]byte(s.Signature)})
	}
	return out
}

// array is b as 32 bytes, zero when there are none.
func array(b Hexed) (a [32]byte) {
	copy(a[:], b)
	return a
}

// Body is the body as the package has it.
func (g *Genesis) Body() *audit.Genesis {
	out := &audit.Genesis{Revision: g.Revision, Origin: g.Origin, Production: g.Production, SigningKey: g.SigningKey,
		Policy: []byte(g.Policy),
		Deals:  audit.Deals(g.Deals), MixModes: g.MixModes, Disclosure: audit.Disclosure(g.Disclosure),
		DefaultCloseBy: g.DefaultCloseBy, MaxCloseBy: g.MaxCloseBy, Access: audit.Access(g.Access),
		Predecessor: g.Predecessor,
		TwoPersons:  actList(g.TwoPersons), Delay: g.Delay, Extensions: extensions(g.Extensions)}
	for _, a := range g.Admins {
		out.Administrators = append(out.Administrators, audit.Administrator{Name: a.Name, Key: a.Key})
	}
	for _, k := range g.Auditors {
		out.AuditorKeys = append(out.AuditorKeys, k)
	}
	return out
}

// Value is the context as the package has it.
func (c *Context) Value() *audit.Context {
	out := &audit.Context{Origin: c.Origin, Genesis: array(c.Genesis), Production: c.Production, Table: c.Table,
		DeckHash: array(c.DeckHash),
		Recipe: shuffle.Recipe{Cards: int(c.Cards), Take: int(c.Take), Ranges: Ranges(c),
			EndLo: int(c.EndAt.Lo), EndHi: int(c.EndAt.Hi)},
		Of:    uint32(c.Of),
		EndAt: int(c.EndAt.Place), Disclosure: audit.Disclosure(c.Disclosure), Extensions: extensions(c.Extensions)}
	if c.Kind == 3 {
		out.Recipe.Take = 0 // the ranges say it
	}
	if t := c.Terms; t != nil {
		out.Terms = &audit.Terms{Kind: audit.TermsKind(t.Kind), Count: t.Count, Hash: array(t.Hash)}
	}
	if c.Parent != nil {
		out.Parent = &audit.Parent{ID: c.Parent.ID, Positions: c.Parent.Positions}
	}
	for _, p := range c.Plan {
		planned := audit.Planned{Source: audit.Source(p.Source), Slot: array(p.Slot), Chain: array(p.Chain),
			Round: p.Round, Origin: p.Origin}
		if p.Commit != nil {
			planned.Index, planned.Leaf = p.Commit.Index, array(p.Commit.Leaf)
		}
		out.Plan = append(out.Plan, planned)
	}
	out.ForLedger = c.ForLedger
	return out
}

// Body is the body as the package has it.
func (c *Commit) Body() *audit.Commit {
	return &audit.Commit{Context: c.Context.Value(), Commitment: array(c.Commitment), DeckRoot: array(c.DeckRoot),
		Serial: c.Serial, Previous: c.Previous, CloseBy: int64(c.CloseBy), GameRef: c.GameRef,
		KeyTag: array(c.KeyTag), Request: array(c.Request), Instance: c.Instance, AskKey: c.AskKey,
		Extensions: extensions(c.Extensions)}
}

func (m *Mix) body() *audit.Mix {
	return &audit.Mix{Shuffle: m.Shuffle, Checkpoint: m.Checkpoint, Values: MixValues(m.Values)}
}

// Body is the body as the package has it.
func (d *Deal) Body() *audit.Deal {
	out := &audit.Deal{Shuffle: d.Shuffle, First: int(d.First), Checkpoint: d.Checkpoint, Final: d.Final,
		Asked: d.Asked.value(), Blind: d.Blind.value(), Extensions: extensions(d.Extensions)}
	for _, r := range d.Runs {
		out.Runs = append(out.Runs, audit.Run{Count: int(r.Cards), Purpose: audit.Purpose(r.Purpose),
			Recipient: r.Recipient, Public: r.Public, Round: uint16(r.Round)})
	}
	return out
}

func (f Foreign) value() audit.Foreign { return audit.Foreign{Index: f.Index, Leaf: array(f.Leaf)} }

func (f *Follows) value() *audit.Follows {
	if f == nil {
		return nil
	}
	return &audit.Follows{Foreign: f.Foreign.value(), Places: int(f.Places)}
}

func (a *Asked) value() *audit.Asked {
	if a == nil {
		return nil
	}
	return &audit.Asked{Commit: a.Commit.value(), After: array(a.After), Head: audit.Head{Size: a.Head.Index,
		Root: array(a.Head.Leaf)}, State: array(a.State), Ask: [64]byte(a.Ask)}
}

func (b *Blind) value() *audit.Blind {
	if b == nil {
		return nil
	}
	return &audit.Blind{Deal: b.Deal.value(), Head: audit.Head{Size: b.Head.Index, Root: array(b.Head.Leaf)},
		Values: b.Values}
}

func (k *Key) body() *audit.Key {
	out := &audit.Key{Subject: audit.Subject(k.Subject), Public: k.Public, Policy: []byte(k.Policy),
		Retired: audit.Subject(k.Retired), ID: array(k.ID), From: int64(k.From),
		Admin: audit.Change(k.Change), Name: k.Name, Acts: actList(k.Acts), Delay: k.Delay,
		Origin: k.Origin, Every: k.Every}
	for _, w := range k.Wraps {
		out.Wraps = append(out.Wraps, audit.Wrap{Auditor: array(w.Auditor), Sealed: w.Sealed})
	}
	return out
}

// body puts the version or the table into Name, which holds whichever the kind has, and so with Size and Digest.
func (e *Event) body() *audit.Event {
	return &audit.Event{Kernel: e.Kernel, VDSO: audit.VDSO(e.VDSO), LostSize: e.LostSize, LostRoot: array(e.LostRoot),
		Records: e.Records, Opaque: e.Opaque,
		Kind: audit.EventKind(e.Kind), Build: array(e.Build), Config: array(e.Config), FIPS: e.FIPS, Name: e.Version +
			e.Table,
		Scope: audit.Scope(e.Scope), Deck: array(e.Deck), Latch: audit.Latch(e.Cause), Instance: e.Instance,
		Reason: e.Reason, Size: e.Size, Digest: array(slices.Concat(e.Root, e.Newest)), Alarm: audit.Alarm(e.Alarm)}
}

// FaultOf is the verdict of section 1.4, "" for none.
func FaultOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, audit.ErrMalformed) && !errors.Is(err, audit.ErrUnknown):
		return Malformed
	case errors.Is(err, audit.ErrUnknown) && !errors.Is(err, audit.ErrMalformed):
		return Unknown
	}
	return "neither: " + err.Error()
}

// MixValues are the values as the package has them.
func MixValues(values []Value) (out []audit.MixValue) {
	for _, v := range values {
		value := audit.MixValue{Source: audit.Source(v.Source), Cut: uint16(v.Cut)}
		switch value.Source {
		case audit.SourceSlot:
			copy(value.Slot[:], v.Value)
		case audit.SourceBeacon:
			copy(value.Beacon[:], v.Value)
		}
		out = append(out, value)
	}
	return out
}
