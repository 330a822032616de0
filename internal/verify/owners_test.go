package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// takenFiles are of shuffles that another dealer took over, and of a release that wrote
// codes that this one does not know and that are not critical.
func takenFiles(t testing.TB, add adder) {
	dealt := func() *game {
		h := open(t)
		return h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2))
	}
	g := dealt().takeOver("second", audit.ExtentClose)
	add("taken-to-close-open", "taken over to close, and still open", g.file(""))
	g.close(audit.OutcomeVoid, audit.ReasonSystemFault)
	add("taken-to-close", "taken over by another dealer, who voids it", g.file(""))
	add("taken-to-close-recipient", "one recipient's file shows the takeover, too", g.file("seat-1"))
	add("receipt-takeover", "a takeover alone", []byte(g.h.receipt(g.indexes[2]).Text()))
	g = dealt().takeOver("second", audit.ExtentClose).close(audit.OutcomeEndedEarly, 0)
	add("taken-to-close-ended-early", "who may only close may close it otherwise than void", g.file(""))

	g = dealt().takeOver("second", audit.ExtentPlay)
	add("receipt-act", "what two administrators signed, alone", []byte(g.h.receipt(g.h.act).Text()))
	g.deal(board(2)).close(audit.OutcomeEndedEarly, 0)
	add("taken-to-play", "taken over by another dealer, who deals on", g.file(""))
	g = dealt().takeOver("second", audit.ExtentClose).takeOver("second", audit.ExtentPlay).deal(board(1))
	add("taken-to-close-then-play", "who could only close takes over to play", g.file(""))
	g = dealt().takeOver("second", audit.ExtentPlay).takeOver("dealer", audit.ExtentPlay).deal(board(1))
	add("taken-back", "taken over, and taken back by the first owner", g.file(""))
	g = mixed(t, func(g *game) { g.takeOver("second", audit.ExtentPlay) }).deal(board(2))
	add("taken-before-the-mix", "the taker mixes and deals", g.file(""))
	g = dealt()
	for i := range audit.MaxTakeovers {
		g.takeOver([]string{"second", "dealer"}[i%2], audit.ExtentPlay)
	}
	add("taken-16-times", "as many takeovers as there may be", g.deal(board(1)).file(""))

	g = dealt()
	g.dealAs(&audit.Deal{Shuffle: g.id, First: 2, Runs: []audit.Run{board(1), {Count: 1, Purpose: 200, Public: true}},
		Extensions: []audit.Extension{{Code: 128}, {Code: 255, Value: seeded("later", audit.MaxOpaque)}}})
	add("passed-over", "a purpose and two extensions that are not critical and not known", g.file(""))
	g.closeAs(&audit.Close{Shuffle: g.id, Outcome: audit.OutcomeVoid, Reason: 200, Form: audit.FormTape, Tape: g.tape,
		Extensions: []audit.Extension{{Code: 130, Value: []byte("later")}}})
	add("passed-over-closed", "and a reason and an extension of the close", g.file(""))
	h := open(t, func(g *audit.Genesis) { g.Extensions = []audit.Extension{{Code: 140}} })
	ctx := h.cards(sixCards)
	ctx.Extensions = []audit.Extension{{Code: 150, Value: []byte{1}}}
	g = h.commitTo(ctx, sixCards, func(c *audit.Commit, _ *game) {
		c.Extensions = []audit.Extension{{Code: 160}}
	}).deal(board(1))
	add("passed-over-commit", "extensions of genesis, context and commit that are not critical and not known",
		g.file(""))
	h = open(t).cheating()
	last := h.addBytes(slices.Concat([]byte{1, 200}, h.entries[1][2:10], []byte("\x06dealer\x08dealer-1later")))
	add("receipt-passed-over", "an entry of a type that is not critical and not known", []byte(h.receipt(last).Text()))
}

// takenOver are takeovers and actors that break a rule, and codes of a later version.
func takenOver(b *badAdder) {
	of := func(step, name, about string, do func(g *game)) {
		b.cheat(step, name, about, func(h *house) *game {
			g := h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2))
			do(g)
			return g
		})
	}
	by := func(g *game, name string) *game {
		g.h.dealer = service(name)
		return g
	}
	of(stepLegality, "owner-deal", "another dealer's deal", func(g *game) { by(g, "second").deal(board(1)) })
	of(stepLegality, "owner-close", "another dealer's close",
		func(g *game) { by(g, "second").close(audit.OutcomeVoid, audit.ReasonMisdeal) })
	of(stepLegality, "owner-close-daemon", "a close as completed by the daemon", func(g *game) {
		g.h.dealer = audit.Daemon
		g.close(audit.OutcomeCompleted, 0)
	})
	of(stepLegality, "owner-credential", "the owner's credential under another identity", func(g *game) {
		g.h.dealer.Identity = "second"
		g.deal(board(1))
	})
	b.cheat(stepLegality, "owner-mix", "another dealer's mix", func(h *house) *game {
		ctx := h.cards(sixCards)
		ctx.Plan = []audit.Planned{{Source: audit.SourceCut}}
		return by(h.commitTo(ctx, sixCards), "second").mix(audit.MixValue{Source: audit.SourceCut, Cut: 1})
	})
	b.cheat(stepLegality, "owner-commit-daemon", "a commit of the daemon, which nobody could own",
		func(h *house) *game {
			h.dealer = audit.Daemon
			return h.commitTo(h.cards(sixCards), sixCards)
		})
	of(stepLegality, "owner-close-taken-deals", "who took over to close deals on", func(g *game) {
		g.takeOver("second", audit.ExtentClose).deal(board(1))
	})
	of(stepLegality, "owner-before-deals", "the earlier owner deals on", func(g *game) {
		by(g.takeOver("second", audit.ExtentPlay), "dealer").deal(board(1))
	})
	of(stepLegality, "owner-before-closes", "the earlier owner closes", func(g *game) {
		by(g.takeOver("second", audit.ExtentClose), "dealer").close(audit.OutcomeVoid, audit.ReasonMisdeal)
	})
	of(stepLegality, "owner-takes-own", "the owner takes over",
		func(g *game) { g.takeOver("dealer", audit.ExtentPlay) })
	of(stepLegality, "owner-closes-twice", "who may only close takes over to close again", func(g *game) {
		g.takeOver("second", audit.ExtentClose).takeOver("second", audit.ExtentClose)
	})
	of(stepLegality, "owner-operator", "the operator takes over", func(g *game) {
		g.h.dealer = audit.Operator
		g.add(&audit.Takeover{Shuffle: g.id, Extent: audit.ExtentPlay, Reason: "by hand"})
	})
	of(stepLegality, "owner-17", "a takeover more than there may be", func(g *game) {
		for i := range audit.MaxTakeovers + 1 {
			g.takeOver([]string{"second", "dealer"}[i%2], audit.ExtentPlay)
		}
	})
	of(stepLegality, "takeover-backwards", "a takeover of a time before the deal", func(g *game) {
		g.h.now -= 10_000
		g.takeOver("second", audit.ExtentPlay)
	})
	of(stepEntries, "takeover-after-close", "a takeover of what is closed", func(g *game) {
		g.close(audit.OutcomeVoid, audit.ReasonMisdeal).takeOver("second", audit.ExtentClose)
	})

	taken := func() *game { return plainTaken(b.T) }
	const atTakeover = atMix + 1 // genesis, commit, deal, takeover, deal, close
	b.edited(stepEntries, "takeover-left-out", "the receipt of the takeover is missing", taken(),
		func(f *openings.Transcript) {
			f.Receipts = slices.Delete(f.Receipts, atTakeover, atTakeover+1)
		})
	b.edited(stepEntries, "takeover-twice", "the receipt of the takeover twice", taken(), func(f *openings.Transcript) {
		f.Receipts = slices.Insert(f.Receipts, atTakeover, f.Receipts[atTakeover])
	})
	entry := func(step, name, about string, i int, change func([]byte) []byte) {
		b.edited(step, name, about, taken(), func(f *openings.Transcript) { reentry(b.T, f, i, change) })
	}
	takeover := func(step, name, about string, change func(*audit.Entry, *audit.Takeover)) {
		entry(step, "field-takeover-"+name, about, atTakeover, func(bytes []byte) []byte {
			e, err := audit.ParseEntry(bytes)
			must(b.T, err)
			change(&e, e.Body.(*audit.Takeover))
			out, err := e.Encode()
			must(b.T, err)
			return out
		})
	}
	takeover(stepInclusion, "extent", "another extent",
		func(_ *audit.Entry, t *audit.Takeover) { t.Extent = audit.ExtentClose })
	takeover(stepInclusion, "reason", "another reason",
		func(_ *audit.Entry, t *audit.Takeover) { t.Reason = "she asked for it" })
	takeover(stepInclusion, "identity", "another identity",
		func(e *audit.Entry, _ *audit.Takeover) { e.Actor.Identity = "third" })
	takeover(stepInclusion, "credential", "another credential",
		func(e *audit.Entry, _ *audit.Takeover) { e.Actor.Credential = "second-2" })
	takeover(stepEntries, "shuffle", "of another shuffle", func(_ *audit.Entry, t *audit.Takeover) { t.Shuffle++ })

	set := func(at int, v byte) func([]byte) []byte {
		return func(e []byte) []byte { e[at] = v; return e }
	}
	entry(unjudged, "unknown-extent", "an extent that this version does not know", atTakeover, set(inBody+8, 3))
	entry(stepEntries, "malformed-extent-0", "an extent of 0", atTakeover, set(inBody+8, 0))
	entry(stepEntries, "malformed-takeover-reason", "a takeover without a reason", atTakeover,
		func(e []byte) []byte { return append(e[:inBody+9], 0) })

	// A deal ends in its list of extensions, here an empty one.
	list := func(items ...byte) func([]byte) []byte {
		return func(e []byte) []byte { return append(e[:len(e)-1], items...) }
	}
	long := append([]byte{1, 200, 4, 1}, make([]byte, audit.MaxOpaque+1)...)
	entry(unjudged, "unknown-extension", "an extension that is critical and not known", 2, list(1, 5, 0, 0))
	entry(unjudged, "unknown-extension-behind", "one that is passed over, and one that is critical", 2,
		list(2, 5, 0, 0, 200, 0, 0))
	entry(unjudged, "unknown-reserved-type", "a type that a later version assigns", 2, set(1, 14))
	entry(unjudged, "unknown-type-127", "the last type that is critical", 2, set(1, 127))
	entry(stepEntries, "passed-over-type", "an entry of a type that is not critical, where a shuffle's stands", 2,
		set(1, 128))
	entry(stepEntries, "malformed-extension-order", "extensions in descending order", 2, list(2, 201, 0, 0, 200, 0, 0))
	entry(stepEntries, "malformed-extension-twice", "an extension twice", 2, list(2, 200, 0, 0, 200, 0, 0))
	entry(stepEntries, "malformed-extension-0", "an extension of code 0", 2, list(1, 0, 0, 0))
	entry(stepEntries, "malformed-extension-long", "an extension that is passed over, and too long for that", 2,
		list(long...))
	entry(stepEntries, "malformed-extension-short", "an extension less than counted", 2, list(1))

	// A header of which one name alone is reserved.
	named := func(identity, credential string) func([]byte) []byte {
		return func(e []byte) []byte {
			names := slices.Concat([]byte{byte(len(identity))}, []byte(identity), []byte{byte(len(credential))},
				[]byte(credential))
			return slices.Concat(e[:10], names, e[inBody:])
		}
	}
	entry(stepEntries, "malformed-identity-daemon", "the identity daemon with another credential", 2,
		named("daemon", "dealer-1"))
	entry(stepEntries, "malformed-credential-daemon", "the credential daemon of another identity", 2,
		named("dealer", "daemon"))
	entry(stepEntries, "malformed-identity-operator", "the identity operator with the credential daemon", 2,
		named("operator", "daemon"))
	entry(stepEntries, "malformed-identity-empty", "no identity", 2, named("", "dealer-1"))
	entry(stepEntries, "malformed-credential-empty", "no credential", 2, named("dealer", ""))
	entry(stepInclusion, "field-entry-identity", "another identity", 2, named("second", "dealer-1"))
	entry(stepInclusion, "field-entry-credential", "another credential", 2, named("dealer", "dealer-2"))
}

// plainTaken is a closed shuffle that was taken over to play after its first deal.
func plainTaken(t testing.TB) *game {
	h := open(t)
	return h.commitTo(h.cards(sixCards), sixCards).deal(seat("seat-1", 2)).
		takeOver("second", audit.ExtentPlay).deal(board(2)).close(audit.OutcomeEndedEarly, 0)
}

// TestOwners: a file in which somebody else than the owner acted fails by the rule owner
// and no other, and an honest one says who took the shuffle over.
func TestOwners(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, v := range load(t, "bad") {
		if !strings.HasPrefix(v.Name, "cheat-owner-") {
			continue
		}
		seen++
		got := File(v.bytes(), v.trust())
		i := slices.IndexFunc(got.Steps, func(s Step) bool { return s.Name == stepLegality })
		if !strings.Contains(got.Steps[i].Detail, audit.RuleOwner+":") {
			t.Errorf("%s fails, and not by the rule %s: %s", v.Name, audit.RuleOwner, got.Steps[i].Detail)
		}
	}
	if seen < 12 {
		t.Errorf("%d files break the rule, at least 12 are wanted", seen)
	}

	g := plainTaken(t)
	v := File(g.file(""), Trust{VKey: g.h.key.vkey})
	if len(v.Takeovers) != 1 {
		t.Fatalf("takeovers: %+v", v.Takeovers)
	}
	got := v.Takeovers[0]
	got.Time = ""
	want := Takeover{Index: g.indexes[2], Identity: "second", Credential: "second-1", From: "dealer", Place: 2,
		Extent: "play", Reason: "the dealer does not answer"}
	if diff := cmp.Diff(want, got); v.Owner != "dealer" || diff != "" {
		t.Errorf("first owner %q, takeover (-want +got):\n%s", v.Owner, diff)
	}
}
